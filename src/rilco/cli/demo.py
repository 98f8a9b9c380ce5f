"""`rilco demo`."""

from __future__ import annotations

from pathlib import Path

import click

from rilco.cli.common import stopping


@click.command(short_help="A small example from start to end.")
@click.option("--out", default="runs/demo", show_default=True, type=click.Path(path_type=Path))
def command(out: Path) -> None:
    """Make noisy demonstrations, audit them, clone what is good, and imitate them with RIL-Co and with GAIL.

    The robot is PyBullet's HalfCheetah, or a MuJoCo pendulum where PyBullet is not installed. The demo takes several
    minutes on two cores. If you interrupt it, call it again to go on.
    """
    with stopping(
        lambda: f"Stopped; everything so far is in {out}. To go on: rilco demo --out {out}"
    ) as stop:
        from rilco.cli.example import run_demo

        with stop.at_once():
            run_demo(out, click.echo)
