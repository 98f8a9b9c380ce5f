"""`rilco sweep`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rilco.cli.parsing import COUNT
from rilco.words import plural

if TYPE_CHECKING:
    from rilco.experiment.grid import Job
    from rilco.experiment.sweep import Swept
    from rilco.runs.interrupt import StopSignal
    from rilco.runs.standing import Standing

ELSEWHERE = (64, 1000)  # cores, for the estimate


@click.command(short_help="Many runs: the paper's, or a grid of your own.")
@click.argument("grid")
@click.argument("more_only", nargs=-1, metavar="[NAME=VALUE]...")
@click.option(
    "--part", "parts", multiple=True, help="Of the paper: main, ablation, gaussian, headline.  [default: all]"
)
@click.option(
    "--only", multiple=True, metavar="NAME=VALUE[,VALUE]...", help="Leave out the runs that do not fit."
)
@click.option("--seeds", help="Instead of the grid's own, for example 1-3 or 1,2,7.")
@click.option(
    "--steps", type=COUNT, help="Transitions of each run, instead of the grid's own, for example 5e6."
)
@click.option(
    "--demos-root", help="A folder with a folder of files for every task, instead of the standard datasets."
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder of all runs.")
@click.option("--engine", default="local", show_default=True, type=click.Choice(["local", "ray"]))
@click.option("--address", help="Of a Ray cluster, or `auto`.  [default: start one on this machine]")
@click.option(
    "--jobs", type=click.IntRange(1), help="Runs side by side.  [default: as many as there are cores]"
)
@click.option(
    "--workers", type=click.IntRange(1), help="Rollout processes of each run.  [default: cores / jobs]"
)
@click.option(
    "--checkpoint-every", default=100, show_default=True, type=click.IntRange(1), help="In iterations."
)
@click.option("--dry-run", is_flag=True, help="List the runs and estimate the time, and train nothing.")
@click.option(
    "--quiet", is_flag=True, help="Plain lines instead of a live table, as where there is no terminal."
)
def command(**options: Any) -> None:
    """Train every run of GRID, as many at a time as there is room for.

    GRID is `paper`, or FILE.py:NAME with a function that yields runs. Each run is a folder below --out. Finished
    runs are skipped, interrupted ones go on exactly where they were, and a failed one does not stop the others.

    \b
    rilco sweep paper --dry-run --out results/
    rilco sweep paper --only task=ant noise_rate=0.4 method=ril-co,gail-logistic --seeds 1-3 --steps 5e6 --out results/
    rilco sweep mygrid.py:grid --engine ray --address auto --out /shared/results
    """
    from rilco.runs.interrupt import StopSignal, exit_code

    try:
        with StopSignal() as stop:  # before the heavy imports, which do not take an interrupt well
            failures = _sweep(stop, **options)
            stop.raise_if_requested()
    except KeyboardInterrupt as interrupt:
        kept = f"; everything so far is in {options['out']}. The same command goes on."
        click.echo("\nStopped" + ("." if options["dry_run"] else kept), err=True)
        sys.exit(exit_code(interrupt))
    sys.exit(1 if failures else 0)


def _sweep(stop: StopSignal, **options: Any) -> Mapping[str, str]:
    """Choose the runs and work through them; returns those that failed."""
    from rilco.errors import ConfigError
    from rilco.experiment.sweep import choose, survey, train_all

    grid, out = options["grid"], options["out"]
    if "=" in grid:
        raise ConfigError(
            f"{grid}: the grid comes first, then what to choose: rilco sweep paper --only {grid}"
        )
    what = {name: options[name] for name in ("parts", "seeds", "steps", "demos_root")}
    jobs = choose(grid, only=(*options["only"], *options["more_only"]), **what)
    standings = survey(jobs, out)
    if options["dry_run"]:
        dry_run(jobs, standings, options, stop)
        return {}
    finished = sum(there.state == "finished" for there in standings)
    click.echo(f"{plural(len(jobs), 'run')}, {finished:,} of them finished already -> {out}")
    if finished == len(jobs):
        return {}
    how = {name: options[name] for name in ("workers", "checkpoint_every", "engine", "address", "quiet")}
    swept = train_all(jobs, out, side_by_side=options["jobs"], stop=stop, **how)
    report(swept, out)
    return swept.failures


def report(swept: Swept, out: Path) -> None:
    """What happened, the failed runs with the ends of their logs."""
    from rilco.experiment.launch import LOGS, last_lines

    for name, reason in swept.failures.items():
        log = out / LOGS / f"{name}.log"
        click.echo(f"\n{name} failed: {reason}\nThe end of {log}:", err=True)
        click.echo("\n".join(f"    {line}" for line in last_lines(log).splitlines()), err=True)
    click.echo(f"{swept.summary} -> {out}")


def dry_run(
    jobs: Sequence[Job], standings: Sequence[Standing], options: dict[str, Any], stop: StopSignal
) -> None:
    """List the runs; then measure, and say what each kind of them will take, and the sum of it."""
    from rilco.experiment.cost import estimate, label, makespan
    from rilco.experiment.datasets import make_datasets
    from rilco.experiment.local import share_cores
    from rilco.experiment.status import duration

    left = [job for job, there in zip(jobs, standings, strict=True) if there.state != "finished"]
    side_by_side, workers = share_cores(max(1, len(left)), options["jobs"], options["workers"])
    for job, there in zip(jobs, standings, strict=True):
        state = there.state if there.state != "interrupted" else f"at {there.progress.done:,}"
        click.echo(f"{job.name:<60} {job.config.steps:>12,}  {state}")
    say = lambda text: click.echo(text, err=True)  # noqa: E731 (one line, used thrice)
    with stop.at_once():
        make_datasets(left, say)
    say("Measuring a few iterations of each kind of run ...")
    costs = estimate(jobs, standings, options["out"], side_by_side=side_by_side, workers=workers, stop=stop)
    kinds = Counter(label(job.config) for job in left)
    for kind, count in kinds.items():
        own = [costs.seconds.get(job.name) for job in left if label(job.config) == kind]
        cost = "?" if None in own else duration(sum(filter(None, own)))
        click.echo(f"{kind:<60} {plural(count, 'run'):>12}  {cost}")
    for name, reason in costs.failures.items():
        say(f"\n{name} could not be measured: {reason}")
    known = list(costs.seconds.values())
    cores = side_by_side * workers
    here = makespan(known, side_by_side)
    click.echo(
        f"\n{plural(len(jobs), 'run')}, {len(jobs) - len(left):,} of them finished. The rest takes about {sum(known) * workers / 3600:,.1f} "
        f"core hours: {duration(here)} here ({side_by_side} side by side on {cores} cores)"
        + "".join(f", {duration(makespan(known, n // workers))} on {n:,} such cores" for n in ELSEWHERE)
        + "."
    )
