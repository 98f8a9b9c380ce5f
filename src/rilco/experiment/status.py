"""What a person sees of a sweep: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rilco.experiment.cost import makespan
from rilco.experiment.grid import Job
from rilco.runs.metrics import Progress, read_progress
from rilco.runs.standing import Standing

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

LOOK_EVERY = 2.0  # seconds between looks at the runs' metrics
SUMMARY_EVERY = 30.0  # seconds between plain lines of numbers
MOST_NAMED = 16  # runs in such a line
# Of what the table shows first if not all fits, and of what a summary counts.
IN_TABLE = ("running", "failed", "started", "queued", "waiting", "stopped", "finished")
IN_SUMMARY = ("finished", "failed", "stopped", "running", "started", "queued", "waiting")


@dataclass
class Row:
    """One run as the table shows it."""

    job: Job
    state: str
    """`waiting`, `queued` or `started` (nothing learned yet), `running`, `finished`, `stopped`, `failed`."""
    progress: Progress = field(default_factory=Progress)
    before: int = 0
    """Transitions that were done when the sweep began."""
    since: float | None = None
    """When this sweep started it; of one that was queued, when it was first seen to learn."""
    began: tuple[float, int] | None = None
    """When this process first saw it learn, and how far it was."""
    pace: float | None = None
    """Seconds a transition since then, once there are some."""
    took: float | None = None
    """Seconds from `since` to its end."""
    reason: str = ""
    """Why it failed."""

    @property
    def total(self) -> int:
        return self.job.config.iterations * self.job.config.transitions_per_iteration

    @property
    def seconds_left(self) -> float | None:
        if self.state != "running" or self.pace is None:
            return None
        return (self.total - self.progress.done) * self.pace

    def look(self, folder: Path) -> None:
        """Read how far the run is; it learns once its metrics have grown."""
        progress, now = read_progress(folder), time.monotonic()
        if self.state in ("started", "queued") and progress.done != self.progress.done:
            self.state, self.began = "running", (now, progress.done)
            self.since = now if self.since is None else self.since
        elif self.began is not None and progress.done < self.began[1]:  # gone back to a checkpoint
            self.began = (now, progress.done)
        self.progress = progress
        if self.began is not None and progress.done > self.began[1]:
            self.pace = (now - self.began[0]) / (progress.done - self.began[1])


@dataclass
class Board:
    """The rows of all runs."""

    out: Path
    rows: dict[str, Row]
    _looked: float = field(default=0.0)

    @classmethod
    def of(cls, jobs: Sequence[Job], standings: Sequence[Standing], out: Path) -> Board:
        rows = {
            job.name: Row(
                job,
                "finished" if there.state == "finished" else "waiting",
                there.progress,
                before=there.progress.done,
            )
            for job, there in zip(jobs, standings, strict=True)
        }
        return cls(out, rows)

    def begin(self, job: Job, state: str) -> Row:
        """A run is `started`, or `queued`."""
        row = self.rows[job.name]
        row.state, row.since = state, time.monotonic() if state == "started" else None
        return row

    def end(self, job: Job, state: str, reason: str = "") -> Row:
        """A run is `finished`, `stopped` or `failed`, and why."""
        row = self.rows[job.name]
        row.look(self.out / job.name)
        row.state, row.reason = state, reason
        row.took = None if row.since is None else time.monotonic() - row.since
        return row

    def look(self) -> None:
        if time.monotonic() - self._looked > LOOK_EVERY:
            for row in self.rows.values():
                if row.state in ("queued", "started", "running"):
                    row.look(self.out / row.job.name)
            self._looked = time.monotonic()

    def summary(self) -> str:
        """`3 finished, 2 running, 15 waiting`."""
        counts = Counter(row.state for row in self.rows.values())
        return ", ".join(f"{counts[state]:,} {state}" for state in IN_SUMMARY if counts[state])

    @property
    def seconds_left(self) -> float | None:
        """Until the last run ends, with as many side by side as now.

        Runs that have not been seen to learn are taken to be as fast as the others were on average.
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
        return makespan(left, len(begun))


class Display(Protocol):
    """Called often; decides by itself when to show something."""

    def refresh(self) -> None: ...

    def ended(self, row: Row) -> None:
        """A run has just ended, as its row says."""

    def note(self, text: str) -> None:
        """Say something once."""


class Lines:
    """A line for every start and end, and now and then one for all that is under way."""

    def __init__(self, board: Board, console: Console) -> None:
        self._board, self._console = board, console
        self._begun = self._last = time.monotonic()
        self._told: set[str] = set()  # runs whose start was

    def refresh(self) -> None:
        self._board.look()
        for name, row in self._board.rows.items():
            if row.state in ("started", "running") and name not in self._told:
                self._told.add(name)
                more = f", going on after {row.before:,} transitions" if row.before else ""
                self.note(f"{name}: started{more}")
        now = time.monotonic()
        if now - self._last >= SUMMARY_EVERY:
            self._last = now
            self.note(f"{duration(now - self._begun)}: {under_way(self._board)}")

    def ended(self, row: Row) -> None:
        self.note(ending(row))

    def note(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)


def under_way(board: Board) -> str:
    """`3 finished, 2 running, about 12 min left | hopper/... 45%, return 812 | ...`."""
    left = board.seconds_left
    parts = [board.summary() + ("" if left is None else f", about {duration(left)} left")]
    running = [row for row in board.rows.values() if row.state == "running"]
    for row in running[:MOST_NAMED]:
        share = 100 * row.progress.done // row.total
        parts.append(f"{row.job.name} {share}%{_last_return(row)}")
    if len(running) > MOST_NAMED:
        parts.append(f"{len(running) - MOST_NAMED:,} more")
    return " | ".join(parts)


def ending(row: Row) -> str:
    """`ant/noise-0.4/ril-co/seed-1: finished after 5,000,000 transitions in 1 h 10 min, return 812`."""
    took = "" if row.took is None else f" in {duration(row.took)}"
    why = f": {row.reason}" if row.reason else ""
    return (
        f"{row.job.name}: {row.state} after {row.progress.done:,} transitions{took}{_last_return(row)}{why}"
    )


def _last_return(row: Row) -> str:
    last = row.progress.last_return
    return "" if last is None else f", return {last:,.0f}"


class LiveTable:
    def __init__(self, board: Board, console: Console, live: Any) -> None:
        self._board, self._console, self._live = board, console, live

    def refresh(self) -> None:
        self._board.look()
        self._live.update(make_table(self._board, rows=max(3, self._console.height - 6)), refresh=True)

    def ended(self, row: Row) -> None:
        """The table says it."""

    def note(self, text: str) -> None:
        """Above the table."""
        self._console.print(text, highlight=False, markup=False)


@contextlib.contextmanager
def make_display(board: Board, console: Console, *, quiet: bool = False) -> Iterator[Display]:
    if quiet or not console.is_terminal:
        yield Lines(board, console)
        return
    from rich.live import Live

    with Live(console=console, auto_refresh=False) as live:
        display = LiveTable(board, console, live)
        yield display
        display.refresh()


def make_table(board: Board, rows: int) -> Table:
    """As many runs as fit, those that need attention first, each kind in the grid's order."""
    from rich import box
    from rich.table import Table

    shown = sorted(board.rows.values(), key=lambda row: IN_TABLE.index(row.state))
    hidden = len(shown) - rows
    caption = board.summary() + (f"   ({hidden:,} not shown)" if hidden > 0 else "")
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), caption=caption, caption_justify="left")
    for title in ("run", "state"):
        table.add_column(title, no_wrap=True)
    for title in ("transitions", "return", "left"):
        table.add_column(title, justify="right", no_wrap=True)
    colours = {"failed": "red", "running": "bold", "finished": "dim"}
    for row in shown[:rows]:
        table.add_row(*cells(row), style=colours.get(row.state, ""))
    return table


def cells(row: Row) -> tuple[str, str, str, str, str]:
    last, left = row.progress.last_return, row.seconds_left
    return (
        row.job.name,
        row.state,
        f"{row.progress.done:,} of {row.total:,}" if row.progress.done else f"{row.total:,}",
        "" if last is None else f"{last:,.0f}",
        "" if left is None else duration(left),
    )


def duration(seconds: float) -> str:
    """`3 h 05 min`, `12 min` or `40 s`, as a person would round it."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60:,} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
