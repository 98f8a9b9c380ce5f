"""`rilco experts`: policies to take demonstrations from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rilco.cli.parsing import COUNT
from rilco.cli.train import run_options, start
from rilco.methods import POLICY_LEARNERS

if TYPE_CHECKING:
    from rich.table import Table

    from rilco.data.ladder import Rung

SNAPSHOT_EVERY = 100_000


@click.group(short_help="Train experts on the true reward.")
def command() -> None:
    """Experts learn from the environment's own reward, and leave snapshots of every quality on the way."""


@command.command("train")
@click.option("--snapshot-every", type=COUNT, help="Transitions between snapshots.  [default: 100k]")
@click.option(
    "--decay/--no-decay", default=True, show_default=True, help="Let the learning rate fall to zero."
)
@click.option(
    "--policy-learner",
    default="acktr",
    show_default=True,
    type=click.Choice(POLICY_LEARNERS),
    help="What learns the policy.",
)
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


@command.command("ladder")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", type=click.Path(path_type=Path))
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder for the six policies and their cards.",
)
@click.option(
    "--episodes", default=20, show_default=True, type=click.IntRange(2), help="To measure the picked ones."
)
@click.option(
    "--screen",
    default=40,
    show_default=True,
    type=click.IntRange(6),
    help="Snapshots of a run to look at first.",
)
@click.option("--plot", type=click.Path(path_type=Path), help="Also draw the ladder as a picture.")
def ladder(runs: tuple[Path, ...], out: Path, episodes: int, screen: int, plot: Path | None) -> None:
    """Pick six snapshots of the qualities in the paper's table from an expert's run, or from several.

    \b
    rilco experts ladder runs/ant-expert --out ladders/ant
    rilco experts ladder runs/cheetah-1 runs/cheetah-2 --out ladders/halfcheetah --plot ladder.png
    """
    from rich.console import Console
    from rich.progress import Progress

    from rilco.data.ladder_search import make_ladder
    from rilco.data.views import check_picture
    from rilco.runs.folder import Run

    if plot is not None:
        check_picture(plot)
    console = Console()
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("evaluating snapshots", total=None)
        rungs = make_ladder(
            [Run(run) for run in runs],
            out,
            episodes=episodes,
            screened=screen,
            progress=lambda: bar.advance(task),
        )
    console.print(table_of(rungs))
    console.print(f"{out}: six policies with a card each", highlight=False)
    draw_if_wanted([rungs], plot)


@command.command("list")
@click.option("--plot", type=click.Path(path_type=Path), help="Also draw the ladders as a picture.")
def list_command(plot: Path | None) -> None:
    """Show the policies that come with rilco: six of each task, named halfcheetah#1 (the expert) to ant#6.

    \b
    rilco experts list
    rilco demos collect ant#1 --out expert.npz
    """
    from rich.console import Console

    from rilco.data.ladder import shipped_ladders

    console, ladders = Console(), shipped_ladders()
    for rungs in ladders:
        console.print(table_of(rungs, title=rungs[0].task))
    draw_if_wanted(ladders, plot)


def table_of(rungs: Sequence[Rung], title: str | None = None) -> Table:
    from rich import box
    from rich.table import Table

    columns = ("#", "return", "of the expert", "published", "transitions")
    table = Table(*columns, box=box.SIMPLE_HEAD, title=title)
    for rung in rungs:
        table.add_row(
            str(rung.rung),
            f"{rung.mean_return:,.0f} ± {rung.std_return:,.0f}",
            f"{rung.fraction:.2f}",
            f"{rung.published_fraction:.2f}",
            f"{rung.transitions:,}",
        )
    return table


def draw_if_wanted(ladders: Sequence[Sequence[Rung]], plot: Path | None) -> None:
    if plot is None:
        return
    from rilco.data.ladder_plot import draw_ladders
    from rilco.data.views import check_picture

    check_picture(plot)
    draw_ladders(ladders, plot)
    click.echo(f"{plot}")
