"""`rilco results`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rilco.runs.results import Skipped


@click.group(short_help="Read and thin folders of runs.")
def command() -> None:
    """A results folder holds runs at any depth, whole or thinned."""


@command.command("list")
@click.argument("results", type=click.Path(path_type=Path))
def list_runs(results: Path) -> None:
    """List the runs below RESULTS with their progress and last evaluation, and what was skipped."""
    from rilco.runs.results import read_results

    runs, skipped = read_results(results)
    for run in runs:
        state = "finished" if run.finished else f"{run.done:,} of {run.config.steps:,}"
        last = f"{run.returns[-1]:,.0f} ± {run.stds[-1]:,.0f}" if len(run.returns) else ""
        click.echo(f"{run.path.relative_to(results)!s:<60} {state:>24}  {last}")
    click.echo(f"{len(runs):,} runs, {sum(run.finished for run in runs):,} of them finished")
    _tell(skipped)


@command.command("thin")
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder for the thinned copies.")
def thin_runs(results: Path, out: Path) -> None:
    """Copy the runs below RESULTS as small files to share: configurations and evaluations, no checkpoints.

    \b
    rilco results thin runs/ --out results/
    """
    from rilco.runs.results import thin

    copied, skipped = thin(results, out)
    size = sum(file.stat().st_size for run in copied for file in run.path.iterdir())
    click.echo(f"{len(copied):,} runs, {size / 1000:,.0f} kB -> {out}")
    _tell(skipped)


def _tell(skipped: list[Skipped]) -> None:
    for item in skipped:
        click.echo(f"skipped {item.reason}", err=True)
