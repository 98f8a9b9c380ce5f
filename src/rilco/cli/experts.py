"""`rilco experts`: policies to take demonstrations from."""

from __future__ import annotations

from typing import Any

import click

from rilco.cli.parsing import COUNT
from rilco.cli.train import run_options, start


@click.group(short_help="Train experts on the true reward.")
def command() -> None:
    """Experts learn from the environment's own reward, and leave snapshots of every quality on the way."""


@command.command("train")
@click.option(
    "--snapshot-every", default="500k", show_default=True, type=COUNT, help="Transitions between snapshots."
)
@click.option(
    "--decay/--no-decay", default=True, show_default=True, help="Let the learning rate fall to zero."
)
@run_options
def train_expert(decay: bool, resume: bool, **options: Any) -> None:
    """Train an expert with ACKTR, keeping snapshots of the policy.

    \b
    rilco experts train --task ant --steps 20e6 --out runs/ant-expert
    """
    options["method"] = "acktr"
    if not resume and decay:
        options["acktr.learning_rate_decay"] = True
    start({**options, "resume": resume})
