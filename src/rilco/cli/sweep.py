"""`rilco sweep`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rilco.cli.common import COUNT, checkpoints_option, stopping
from rilco.words import plural

if TYPE_CHECKING:
    from rilco.experiment.grid import Job
    from rilco.runs.interrupt import StopSignal
    from rilco.runs.standing import Standing

ELSEWHERE = (64, 1000)  # cores, for the estimate
PARTS = "Part of the paper's grid: main, ablation, gaussian, headline.  [default: all]"


@click.command(short_help="Many runs: the paper's, or a grid of your own.")
@click.argument("grid")
@click.argument("more_only", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--part", "parts", multiple=True, help=PARTS)
@click.option("--only", multiple=True, metavar="NAME=VALUE[,VALUE]...", help="Only the runs that fit.")
@click.option("--seeds", help="Instead of the grid's own, for example 1-3 or 1,2,7.")
@click.option("--steps", type=COUNT, help="Transitions of each run.  [default: the grid's own]")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder of all runs.")
@click.option("--engine", default="local", show_default=True, type=click.Choice(["local", "ray"]))
@click.option("--address", help="Of a Ray cluster, or `auto`.  [default: start one on this machine]")
@click.option("--jobs", type=click.IntRange(1), help="Runs side by side.  [default: one a core]")
@click.option("--workers", type=click.IntRange(1), help="Rollout processes a run.  [default: cores / jobs]")
@checkpoints_option
@click.option("--dry-run", is_flag=True, help="List the runs, estimate the time, and train nothing.")
@click.option("--quiet", is_flag=True, help="No progress display.")
def command(**options: Any) -> None:
    """Train every run of GRID, as many at a time as there is room for.

    GRID is `paper`, or FILE.py:NAME with a function that yields runs. Each run is a folder below --out. Finished runs
    are skipped, interrupted ones go on exactly where they were, and a failed one does not stop the others.

    \b
    rilco sweep paper --dry-run --out results/
    rilco sweep paper --only task=ant noise_rate=0.4 method=ril-co,gail-logistic --seeds 1-3 --steps 5e6 --out results/
    rilco sweep mygrid.py:grid --engine ray --address auto --out /shared/results
    """
    kept = f"; everything so far is in {options['out']}. The same command goes on."
    with stopping(lambda: "Stopped" + ("." if options["dry_run"] else kept)) as stop:
        failed = _sweep(options, stop)
        stop.raise_if_requested()
    sys.exit(1 if failed else 0)


def _sweep(options: dict[str, Any], stop: StopSignal) -> bool:
    """Choose the runs and work through them. Returns whether any failed."""
    from rilco.errors import ConfigError
    from rilco.experiment.launch import last_lines, log_file
    from rilco.experiment.sweep import choose, survey, train_all

    grid, out = options["grid"], options["out"]
    if "=" in grid:
        raise ConfigError(
            f"{grid}: the grid comes first, then what to choose: rilco sweep paper --only {grid}"
        )
    what = {name: options[name] for name in ("parts", "seeds", "steps")}
    jobs = choose(grid, only=(*options["only"], *options["more_only"]), **what)
    if options["dry_run"]:
        dry_run(jobs, survey(jobs, out), options, stop)
        return False
    how = {name: options[name] for name in ("workers", "checkpoint_every", "engine", "address", "quiet")}
    swept = train_all(jobs, out, side_by_side=options["jobs"], stop=stop, **how)
    for name, reason in swept.failures.items():
        log = log_file(out, name)
        click.echo(f"\n{name} failed: {reason}\nThe end of {log}:", err=True)
        click.echo("\n".join(f"    {line}" for line in last_lines(log).splitlines()), err=True)
    click.echo(f"{swept.summary} -> {out}")
    return bool(swept.failures)


def dry_run(
    jobs: Sequence[Job], standings: Sequence[Standing], options: dict[str, Any], stop: StopSignal
) -> None:
    """List the runs, then measure and print the time of each kind and of all."""
    from rilco.experiment.cost import estimate, label, makespan
    from rilco.experiment.local import share_cores
    from rilco.experiment.sweep import make_datasets
    from rilco.words import duration

    for job, there in zip(jobs, standings, strict=True):
        state = there.state if there.state != "interrupted" else f"at {there.progress.done:,}"
        click.echo(f"{job.name:<60} {job.config.steps:>12,}  {state}")
    left = [job for job, there in zip(jobs, standings, strict=True) if there.state != "finished"]
    side_by_side, workers = share_cores(max(1, len(left)), options["jobs"], options["workers"])
    with stop.at_once():
        make_datasets(left, lambda text: click.echo(text, err=True))
    click.echo("Measuring a few iterations of each kind of run ...", err=True)
    times, failures = estimate(jobs, standings, side_by_side=side_by_side, workers=workers, stop=stop)
    for kind, count in Counter(label(job.config) for job in left).items():
        known = [times[job.name] for job in left if label(job.config) == kind and job.name in times]
        click.echo(f"{kind:<60} {plural(count, 'run'):>12}  {duration(sum(known)) if known else '?'}")
    for name, reason in failures.items():
        click.echo(f"\n{name} could not be measured: {reason}", err=True)
    seconds = list(times.values())
    click.echo(f"\n{plural(len(jobs), 'run')}, {len(jobs) - len(left):,} of them finished.")
    click.echo(f"The rest takes about {sum(seconds) * workers / 3600:,.1f} core hours.")
    for cores in (side_by_side * workers, *ELSEWHERE):
        here = "cores here" if cores not in ELSEWHERE else "such cores"
        click.echo(f"  {duration(makespan(seconds, cores // workers)):>14} on {cores:,} {here}")
