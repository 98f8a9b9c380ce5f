"""Working through a grid: start runs as there is room, note how each ends, stop cleanly when asked to."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from rilco.data.standard import standard_files
from rilco.errors import ConfigError, RunError, check_choice, whole
from rilco.experiment.grid import Grid, Job, make_jobs
from rilco.experiment.launch import Settings
from rilco.experiment.local import LocalEngine, share_cores
from rilco.experiment.published import paper
from rilco.experiment.selection import load_grid, parse_seeds, select, with_seeds, with_steps
from rilco.experiment.status import LINE_EVERY, Board
from rilco.methods import find
from rilco.runs.folder import Run
from rilco.runs.interrupt import StopSignal
from rilco.runs.progress import StatusLine
from rilco.runs.standing import Standing, standing
from rilco.words import plural

POLL = 0.5  # seconds


class Engine(Protocol):
    """Works on runs until they end: `LocalEngine` or `ClusterEngine`. Leaving its context ends all of them."""

    first_state: str
    """What a run is at first: `started`, or `queued` where it may have to wait."""

    def room(self) -> bool:
        """Whether another run can be started or queued."""

    def start(self, job: Job) -> None: ...

    def poll(self, seconds: float) -> list[tuple[Job, str]]:
        """Runs that ended since the last call, each with `finished`, `stopped` or why it failed.

        Waits up to `seconds` for the first.
        """

    def stop(self) -> None:
        """Ask all runs to end after their iteration, with a checkpoint."""

    def __enter__(self) -> Engine: ...

    def __exit__(self, *exception: object) -> None: ...


class Swept(NamedTuple):
    """The outcome of a sweep."""

    runs: dict[str, Run]
    """The finished runs, by their folders below the sweep's."""
    failures: dict[str, str]
    """Why the others failed."""
    summary: str = ""
    """The number of runs in each state, in words."""


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

    `grid` is `"paper"`, `"FILE.py:NAME"`, or a table of options of `train`, in which a list or range varies. It can
    also be anything that yields such tables, or pairs of a name and a table. `only` leaves out the runs that do not
    fit. `seeds` and `steps` replace those of the grid. `jobs` runs go side by side. Finished runs are skipped,
    interrupted ones are resumed, and a failed one does not stop the others.

        >>> grid = {"env": "Pendulum-v1", "method": "acktr", "seed": [1, 2], "steps": 2_000}
        >>> swept = rilco.sweep(grid, "runs/both", quiet=True)
        >>> sorted(swept.runs), swept.failures
        (['Pendulum-v1/acktr/seed-1', 'Pendulum-v1/acktr/seed-2'], {})
    """
    chosen = choose(grid, only=only, seeds=seeds, steps=steps)
    how: dict[str, Any] = {"workers": workers, "engine": engine, "address": address, "quiet": quiet}
    with StopSignal() as stop:
        swept = train_all(chosen, Path(out), side_by_side=jobs, stop=stop, **how)
        stop.raise_if_requested()
    return swept


def choose(
    grid: str | Mapping[str, Any] | Iterable[Any],
    *,
    only: Sequence[str] = (),
    seeds: str | Sequence[int] | None = None,
    steps: float | None = None,
    parts: Sequence[str] = (),
) -> list[Job]:
    """The runs of a grid that are wanted."""
    if grid == "paper":
        jobs = make_jobs(paper(parts) if parts else paper())
    elif parts:
        raise ConfigError(
            f"--part is for the paper's grid only. Leave it out, and choose the runs in {grid}."
        )
    elif isinstance(grid, str):
        jobs = load_grid(grid)
    else:
        jobs = make_jobs(Grid(grid) if isinstance(grid, Mapping) else grid)
    if seeds is not None:
        jobs = with_seeds(jobs, parse_seeds(seeds) if isinstance(seeds, str) else list(seeds))
    return select(jobs if steps is None else with_steps(jobs, whole("steps", steps)), only)


def survey(jobs: Sequence[Job], out: Path) -> list[Standing]:
    """Where every run is; raises RunError if a folder holds something that the run would not continue."""
    standings, conflicts = [], []
    for job in jobs:
        try:
            standings.append(standing(job.config, out / job.name))
        except RunError as error:
            conflicts.append(str(error))
    if conflicts:
        more = [f"... and {len(conflicts) - 3} more."] if len(conflicts) > 3 else []
        raise RunError("\n".join(conflicts[:3] + more))
    return standings


def make_datasets(jobs: Sequence[Job], say: Callable[[str], None]) -> None:
    """Make the standard datasets that the runs will read, before many processes need them at once."""
    wanted = dict.fromkeys(
        (job.config.task, job.config.demo_kind)
        for job in jobs
        if find(job.config.method).imitates and not job.config.demos
    )
    for task, kind in wanted:
        standard_files(task, kind, say=say)


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
    """Train the runs that are not finished, and show them meanwhile."""
    line = StatusLine(quiet=quiet, every=LINE_EVERY)
    board = Board(jobs, survey(jobs, out), out, line)
    left = [job for job in jobs if board.rows[job.name].state != "finished"]
    failures: dict[str, str] = {}
    line.note(f"{plural(len(jobs), 'run')}, {len(jobs) - len(left):,} of them finished already -> {out}")
    if left:
        local, share = share_cores(len(left), side_by_side, workers)
        settings = Settings(out, (workers or 1) if engine == "ray" else share, checkpoint_every)
        with _engine(engine, settings, side_by_side if engine == "ray" else local, address) as working, line:
            with stop.at_once():
                make_datasets(left, line.note)
            failures = work_through(left, working, board, stop)
    done = {name: Run(out / name) for name, row in board.rows.items() if row.state == "finished"}
    return Swept(done, failures, board.summary())


def _engine(name: str, settings: Settings, side_by_side: int | None, address: str | None) -> Engine:
    check_choice("--engine", name, ("local", "ray"))
    if name == "ray":
        from rilco.experiment.cluster import ClusterEngine

        # All nodes read the datasets that are made here. Nodes that made their own could round differently, and a
        # run does not resume with changed demonstrations.
        os.environ["RILCO_CACHE"] = os.environ.get("RILCO_CACHE") or str(settings.out.resolve() / ".cache")
        return ClusterEngine(settings, address, side_by_side)
    if address is not None:
        raise ConfigError("--address is for --engine ray; the local engine uses this machine alone.")
    return LocalEngine(settings, side_by_side or 1)


def work_through(jobs: Sequence[Job], engine: Engine, board: Board, stop: StopSignal) -> dict[str, str]:
    """Run the jobs to their ends. Returns why some failed; they do not stop the others.

    When asked to stop, running runs leave a checkpoint and the others are not begun. A second Ctrl-C raises
    KeyboardInterrupt from within.
    """
    waiting, running = deque(jobs), set[str]()
    failures: dict[str, str] = {}
    asked = False
    while running or (waiting and not stop.requested):
        while waiting and not stop.requested and engine.room():
            job = waiting.popleft()
            engine.start(job)
            running.add(job.name)
            board.rows[job.name].state = engine.first_state
        if stop.requested and not asked:
            asked = True
            board.line.note(
                f"Stopping; each of {len(running)} running leaves a checkpoint. Ctrl-C again ends them at once."
            )
            engine.stop()
        board.refresh()  # before any of them ends: a start is told first
        for job, how in engine.poll(POLL):
            running.discard(job.name)
            reason = _why_failed(job, how, board.out, asked=asked)
            board.end(job, "failed" if reason else how, reason)
            if reason:
                failures[job.name] = reason
    return failures


def _why_failed(job: Job, how: str, out: Path, *, asked: bool) -> str:
    """Empty for a run that finished, or stopped when asked to."""
    if how == "finished" and standing(job.config, out / job.name).state == "new":
        return "its folder is empty although it ended well: is --out a file system that all nodes share?"
    if how == "stopped" and not asked:
        return "stopped by a signal from elsewhere; it goes on when the sweep is called again"
    return "" if how in ("finished", "stopped") else how
