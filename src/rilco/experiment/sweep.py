"""Working through a grid: start runs as there is room, note how each ends, stop cleanly when asked to."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from rilco.errors import RunError
from rilco.experiment.engine import Ended, Engine
from rilco.experiment.grid import Job
from rilco.experiment.status import Board, Display
from rilco.runs.interrupt import StopSignal
from rilco.runs.standing import Standing, standing

POLL = 0.5  # seconds


class Failure(NamedTuple):
    job: Job
    reason: str


def sweep(
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
