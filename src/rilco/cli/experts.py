"""`rilco experts`: policies to take demonstrations from."""

from __future__ import annotations

from typing import Any

import click

from rilco.cli.common import COUNT
from rilco.cli.train import run_options, start
from rilco.methods import POLICY_LEARNERS

SNAPSHOT_EVERY = 100_000


@click.group(short_help="Train experts on the true reward.")
def command() -> None:
    """Experts learn from the environment's own reward, and leave snapshots of every quality on the way."""


@command.command("train")
@click.option("--snapshot-every", type=COUNT, help="Transitions between snapshots.  [default: 100k]")
@click.option("--decay/--no-decay", default=True, show_default=True, help="Decay the learning rate to zero.")
@click.option("--policy-learner", default="acktr", show_default=True, type=click.Choice(POLICY_LEARNERS))
@run_options
def train_expert(decay: bool, policy_learner: str, resume: bool, **options: Any) -> None:
    """Train an expert on the true reward, keeping snapshots of the policy.

    \b
    rilco experts train --task ant --steps 20e6 --out runs/ant-expert
    """
    if not resume:  # a resumed run has these settings already
        options["method"] = policy_learner
        options["snapshot_every"] = options["snapshot_every"] or SNAPSHOT_EVERY
        options[f"{policy_learner}.learning_rate_decay"] = decay
    start({**options, "resume": resume})


@command.command("list")
def list_command() -> None:
    """Show the policies that come with rilco: six to a ladder, named halfcheetah#1 (the expert) to ant#6.

    \b
    rilco experts list
    rilco demos collect ant#1 --out expert.npz
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from rilco.data.standard import RUNGS
    from rilco.policy.saved import LADDERS, shipped_rung

    for ladder in LADDERS:
        columns = ("#", "return", "of the expert", "published", "transitions")
        table = Table(*columns, box=box.SIMPLE_HEAD, title=ladder)
        for rung in RUNGS:
            card = shipped_rung(ladder, rung)[1]
            table.add_row(
                str(rung),
                f"{card['mean_return']:,.0f} ± {card['std_return']:,.0f}",
                f"{card['fraction']:.2f}",
                f"{card['published_fraction']:.2f}",
                f"{card['transitions']:,}",
            )
        Console().print(table)
