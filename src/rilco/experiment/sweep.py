"""Working through a grid: start runs as there is room, note how each ends, stop cleanly when asked to."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rilco.errors import ConfigError, RunError
from rilco.experiment.datasets import make_datasets, shared_cache
from rilco.experiment.engine import Ended, Engine, Settings
from rilco.experiment.grid import Grid, Job, make_jobs
from rilco.experiment.local import LocalEngine, share_cores
from rilco.experiment.published import paper
from rilco.experiment.selection import load_grid, parse_seeds, select, with_seeds, with_steps
from rilco.experiment.status import Board, Display, make_display
from rilco.runs.folder import Run
from rilco.runs.interrupt import StopSignal
from rilco.runs.standing import Standing, standing

POLL = 0.5  # seconds


class Failure(NamedTuple):
    job: Job
    reason: str


class Swept(NamedTuple):
    """What came of a sweep."""

    runs: dict[str, Run]
    """The finished ones, by their folders below the sweep's."""
    failures: dict[str, str]
    """Why the others failed."""
    summary: str = ""
    """How many of each there are, in words."""


def sweep(
    grid: str | Mapping[str, Any] | Iterable[Any],
    out: str | os.PathLike[str],
    *,
    only: Sequence[str] = (),
    seeds: str | Sequence[int] | None = None,
    steps: float | None = None,
    jobs: int | None = None,
    workers: int | None = None,
    engine: str = "local",
    address: str | None = None,
    quiet: bool = False,
) -> Swept:
    """Train every run of a grid in a folder of its own below `out`; the same as `rilco sweep`.

    `grid` is `"paper"`, `"FILE.py:NAME"`, a table of options of `train`, in which a list or range varies, or anything
    that yields such tables, or pairs of a name and a table. `only` leaves out the runs that do not fit; `seeds` and
    `steps` stand for the grid's own. Finished runs are skipped, interrupted ones go on, and a failed one does
    not stop the others. `jobs` runs go side by side.

        >>> grid = {"env": "Pendulum-v1", "method": "acktr", "seed": [1, 2], "steps": 2_000}
        >>> swept = rilco.sweep(grid, "runs/both", quiet=True)
        >>> sorted(swept.runs), swept.failures
        (['Pendulum-v1/acktr/seed-1', 'Pendulum-v1/acktr/seed-2'], {})
    """
    chosen = choose(grid, only=only, seeds=seeds, steps=steps)
    with StopSignal() as stop:
        swept = train_all(
            chosen, Path(out), side_by_side=jobs, workers=workers, engine=engine, address=address, quiet=quiet, stop=stop
        )  # fmt: skip
        stop.raise_if_requested()
    return swept


def choose(
    grid: str | Mapping[str, Any] | Iterable[Any],
    *,
    only: Sequence[str] = (),
    seeds: str | Sequence[int] | None = None,
    steps: float | None = None,
    parts: Sequence[str] = (),
    demos_root: str | None = None,
) -> list[Job]:
    """The runs that are meant."""
    if grid == "paper":
        jobs = make_jobs(paper(tuple(parts) or ("main", "ablation", "gaussian"), demos_root=demos_root))
    elif parts or demos_root:
        option = "--part" if parts else "--demos-root"
        raise ConfigError(f"{option} is about the paper's grid; {grid} says itself what its runs are.")
    elif isinstance(grid, str):
        jobs = load_grid(grid)
    else:
        jobs = make_jobs(Grid(grid) if isinstance(grid, Mapping) else grid)
    if seeds is not None:
        jobs = with_seeds(jobs, parse_seeds(seeds) if isinstance(seeds, str) else list(seeds))
    return select(jobs if steps is None else with_steps(jobs, int(steps)), only)


def train_all(
    jobs: Sequence[Job],
    out: Path,
    *,
    side_by_side: int | None = None,
    workers: int | None = None,
    checkpoint_every: int = 100,
    engine: str = "local",
    address: str | None = None,
    quiet: bool = False,
    stop: StopSignal,
) -> Swept:
    """Train the runs that are not finished, with what the display says on the way."""
    from rich.console import Console

    standings = survey(jobs, out)
    left = [job for job, there in zip(jobs, standings, strict=True) if there.state != "finished"]
    failures: list[Failure] = []
    board = Board.of(jobs, standings, out)
    if left:
        local, share = share_cores(len(left), side_by_side, workers)
        settings = Settings(out, (workers or 1) if engine == "ray" else share, checkpoint_every)
        with (
            _engine(engine, settings, side_by_side if engine == "ray" else local, address) as working,
            make_display(board, Console(stderr=True), quiet=quiet) as display,
        ):
            with stop.at_once():
                make_datasets(left, display.note)
            failures = work_through(left, working, board, display, stop)
    done = {name: Run(out / name) for name, row in board.rows.items() if row.state == "finished"}
    return Swept(done, {job.name: reason for job, reason in failures}, board.summary())


def _engine(name: str, settings: Settings, side_by_side: int | None, address: str | None) -> Engine:
    if name == "ray":
        from rilco.experiment.cluster import ClusterEngine

        os.environ.update(shared_cache(settings.out))  # for the datasets that are made here
        return ClusterEngine(settings, address, side_by_side, shared_cache(settings.out))
    if name != "local":
        raise ConfigError(f"--engine {name}: unknown engine; known are local, ray.")
    if address is not None:
        raise ConfigError("--address is for --engine ray; the local engine uses this machine alone.")
    return LocalEngine(settings, side_by_side or 1)


def work_through(
    jobs: Sequence[Job], engine: Engine, board: Board, display: Display, stop: StopSignal
) -> list[Failure]:
    """Run the jobs to their ends; returns those that failed, which do not stop the others.

    When asked to stop, the runs that are under way leave a checkpoint and the others are not begun; the caller
    then finds `stop.requested`. A second Ctrl-C raises KeyboardInterrupt from within.
    """
    waiting, running = deque(jobs), set[str]()
    failures: list[Failure] = []
    asked = False
    while running or (waiting and not stop.requested):
        while waiting and not stop.requested and engine.room():
            job = waiting.popleft()
            engine.start(job)
            running.add(job.name)
            board.begin(job, engine.first_state)
        if stop.requested and not asked:
            asked = True
            display.note(
                f"Stopping; each of {len(running)} running leaves a checkpoint. Ctrl-C again ends them at once."
            )
            engine.stop()
        display.refresh()  # before any of them ends: a start is told first
        for ended in engine.poll(POLL):
            running.discard(ended.job.name)
            failures += _take_down(ended, board, display, asked=asked)
    return failures


def _take_down(ended: Ended, board: Board, display: Display, *, asked: bool) -> list[Failure]:
    """Take down how a run ended."""
    job, how = ended
    if how == "finished" and standing(job.config, board.out / job.name).state == "new":
        how = "its folder is empty although it ended well: is --out a file system that all nodes share?"
    if how == "stopped" and not asked:
        how = "stopped by a signal from elsewhere; it goes on when the sweep is called again"
    if how in ("finished", "stopped"):
        display.ended(board.end(job, how))
        return []
    display.ended(board.end(job, "failed", how))
    return [Failure(job, how)]


def survey(jobs: Sequence[Job], out: Path) -> list[Standing]:
    """Where every run is; raises if a folder holds something that the run would not continue."""
    standings, conflicts = [], []
    for job in jobs:
        try:
            standings.append(standing(job.config, out / job.name))
        except RunError as error:
            conflicts.append(str(error))
    if conflicts:
        more = f"\n... and {len(conflicts) - 3} more." if len(conflicts) > 3 else ""
        raise RunError("\n".join(conflicts[:3]) + more)
    return standings
