"""What a person sees of a sweep: how every run starts and ends, and one line about those that are under way."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rilco.experiment.grid import Job
from rilco.runs.metrics import Progress, read_progress
from rilco.runs.progress import StatusLine
from rilco.runs.standing import Standing
from rilco.words import duration

LOOK_EVERY = 2.0  # seconds between looks at the runs' metrics
LINE_EVERY = 30.0  # seconds between lines where there is no terminal
MOST_NAMED = 16  # runs in a line
STATES = ("finished", "failed", "stopped", "running", "started", "queued", "waiting")


@dataclass
class Row:
    """Where one run is."""

    job: Job
    state: str
    """`waiting`, `queued` or `started` (nothing learned yet), `running`, `finished`, `stopped`, `failed`."""
    progress: Progress = field(default_factory=Progress)
    before: Progress = field(default_factory=Progress)
    """Its progress when the sweep began."""

    @property
    def total(self) -> int:
        return self.job.config.transitions

    @property
    def pace(self) -> float | None:
        """Seconds per transition, once this sweep has seen some. One that ended early did something else for most of them."""
        new = self.progress.done > self.before.done and not self.progress.stopped
        return self.progress.seconds / self.progress.done if new else None

    @property
    def last_return(self) -> str:
        last = self.progress.last_return
        return "" if last is None else f", return {last:,.0f}"

    def look(self, folder: Path) -> None:
        """Read how far the run is. It is running once its metrics have changed."""
        progress = read_progress(folder)
        if self.state in ("started", "queued") and progress.done != self.progress.done:
            self.state = "running"
        self.progress = progress


class Board:
    """All runs of a sweep. Tells of them on a line."""

    def __init__(
        self, jobs: Sequence[Job], standings: Sequence[Standing], out: Path, line: StatusLine
    ) -> None:
        self.out, self.line = out, line
        self.rows: dict[str, Row] = {}
        for job, there in zip(jobs, standings, strict=True):
            state = "finished" if there.state == "finished" else "waiting"
            self.rows[job.name] = Row(job, state, there.progress, there.progress)
        self._looked = 0.0
        self._told: set[str] = set()  # runs whose start was announced

    def refresh(self) -> None:
        """Look at the runs, and tell what is new. Called often."""
        if time.monotonic() - self._looked > LOOK_EVERY:
            for row in self.rows.values():
                if row.state in ("queued", "started", "running"):
                    row.look(self.out / row.job.name)
            self._looked = time.monotonic()
        for name, row in self.rows.items():
            if row.state in ("started", "running") and name not in self._told:
                self._told.add(name)
                more = f", resuming after {row.before.done:,} transitions" if row.before.done else ""
                self.line.note(f"{name}: started{more}")
        self.line.show(self.under_way())

    def end(self, job: Job, state: str, reason: str = "") -> None:
        """A run is `finished`, `stopped`, or `failed` for a reason."""
        row = self.rows[job.name]
        row.look(self.out / job.name)
        row.state = state
        took = f" in {duration(row.progress.seconds)}" if row.progress.done else ""
        why = f": {reason}" if reason else ""
        # Phases that only clone make none, and stand in the metrics as one iteration.
        cloned = row.progress.stopped and row.progress.done <= job.config.transitions_per_iteration
        after = "" if cloned else f" after {row.progress.done:,} transitions"
        self.line.note(f"{job.name}: {state}{after}{took}{row.last_return}{why}")

    def summary(self) -> str:
        """`3 finished, 2 running, 15 waiting`."""
        counts = Counter(row.state for row in self.rows.values())
        return ", ".join(f"{counts[state]:,} {state}" for state in STATES if counts[state])

    def under_way(self) -> str:
        """`3 finished, 2 running, about 12 min left | hopper/... 45%, return 812 | ...`."""
        left = self.seconds_left
        parts = [self.summary() + ("" if left is None else f", about {duration(left)} left")]
        running = [row for row in self.rows.values() if row.state == "running"]
        for row in running[:MOST_NAMED]:
            parts.append(f"{row.job.name} {100 * row.progress.done // row.total}%{row.last_return}")
        if len(running) > MOST_NAMED:
            parts.append(f"{len(running) - MOST_NAMED:,} more")
        return " | ".join(parts)

    @property
    def seconds_left(self) -> float | None:
        """Until all runs are done, with as many side by side as now; None before any was seen to learn.

        A run that was not seen to learn is taken to be as fast as the others are on average.
        """
        paces = [row.pace for row in self.rows.values() if row.pace is not None]
        if not paces:
            return None
        usual = sum(paces) / len(paces)
        begun = [row for row in self.rows.values() if row.state in ("started", "running")]
        later = [row for row in self.rows.values() if row.state in ("queued", "waiting")]
        left = [
            (row.total - row.progress.done) * (usual if row.pace is None else row.pace)
            for row in (*begun, *later)
        ]
        return sum(left) / max(1, len(begun))
