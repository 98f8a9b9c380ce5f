"""What a person sees of a sweep: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import heapq
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rilco.experiment.grid import Job
from rilco.runs.metrics import Progress, read_progress
from rilco.runs.standing import Standing

if TYPE_CHECKING:
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

LOOK_EVERY = 2.0  # seconds between looks at the runs' metrics
SUMMARY_EVERY = 30.0  # seconds between plain lines of numbers
MOST_NAMED = 16  # runs in a plain line
# States in the order of the table, which may not have room for all runs, and in that of a summary.
IN_TABLE = ("running", "failed", "started", "queued", "waiting", "stopped", "finished")
IN_SUMMARY = ("finished", "failed", "stopped", "running", "started", "queued", "waiting")


@dataclass
class Row:
    """One run as the table shows it."""

    job: Job
    state: str
    """`waiting`, `queued` or `started` (nothing learned yet), `running`, `finished`, `stopped`, `failed`."""
    progress: Progress = field(default_factory=Progress)
    before: Progress = field(default_factory=Progress)
    """Its progress when the sweep began."""
    reason: str = ""
    """Why it failed."""

    @property
    def total(self) -> int:
        return self.job.config.iterations * self.job.config.transitions_per_iteration

    @property
    def pace(self) -> float | None:
        """Seconds per transition, once this sweep has seen some."""
        new = self.progress.done > self.before.done
        return self.progress.seconds / self.progress.done if new else None

    @property
    def seconds_left(self) -> float | None:
        if self.state != "running" or self.pace is None:
            return None
        return (self.total - self.progress.done) * self.pace

    def look(self, folder: Path) -> None:
        """Read how far the run is. It is running once its metrics have changed."""
        progress = read_progress(folder)
        if self.state in ("started", "queued") and progress.done != self.progress.done:
            self.state = "running"
        self.progress = progress


@dataclass
class Board:
    """The rows of all runs."""

    out: Path
    rows: dict[str, Row]
    _looked: float = 0.0

    @classmethod
    def of(cls, jobs: Sequence[Job], standings: Sequence[Standing], out: Path) -> Board:
        rows = {}
        for job, there in zip(jobs, standings, strict=True):
            state = "finished" if there.state == "finished" else "waiting"
            rows[job.name] = Row(job, state, there.progress, there.progress)
        return cls(out, rows)

    def end(self, job: Job, state: str, reason: str = "") -> Row:
        """A run is `finished`, `stopped` or `failed`."""
        row = self.rows[job.name]
        row.look(self.out / job.name)
        row.state, row.reason = state, reason
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

        A run that has not been seen to learn is taken to be as fast as the others are on average.
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


def makespan(seconds: Sequence[float], side_by_side: int) -> float:
    """When the last run ends if each begins, in order, as soon as there is room."""
    free = [0.0] * max(1, side_by_side)
    for length in seconds:
        heapq.heapreplace(free, free[0] + length)
    return max(free)


class Display:
    """A live table; or a line for every start and end, and now and then one for all that are running."""

    def __init__(self, board: Board, console: Console, live: Live | None = None) -> None:
        self._board, self._console, self._live = board, console, live
        self._begun = self._last = time.monotonic()
        self._told: set[str] = set()  # runs whose start was announced

    def refresh(self) -> None:
        """Show where the runs are. Called often."""
        self._board.look()
        if self._live is not None:
            table = make_table(self._board, rows=max(3, self._console.height - 6))
            self._live.update(table, refresh=True)
            return
        for name, row in self._board.rows.items():
            if row.state in ("started", "running") and name not in self._told:
                self._told.add(name)
                more = f", resuming after {row.before.done:,} transitions" if row.before.done else ""
                self.note(f"{name}: started{more}")
        now = time.monotonic()
        if now - self._last >= SUMMARY_EVERY:
            self._last = now
            self.note(f"{duration(now - self._begun)}: {under_way(self._board)}")

    def ended(self, row: Row) -> None:
        """Say how a run ended, unless the table does."""
        if self._live is None:
            self.note(ending(row))

    def note(self, text: str) -> None:
        """Say something once, above the table."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=self._live is None)


@contextlib.contextmanager
def make_display(board: Board, console: Console, *, quiet: bool = False) -> Iterator[Display]:
    """The display that fits where the output goes."""
    if quiet or not console.is_terminal:
        yield Display(board, console)
        return
    from rich.live import Live

    with Live(console=console, auto_refresh=False) as live:
        display = Display(board, console, live)
        yield display
        display.refresh()


def under_way(board: Board) -> str:
    """`3 finished, 2 running, about 12 min left | hopper/... 45%, return 812 | ...`."""
    left = board.seconds_left
    parts = [board.summary() + ("" if left is None else f", about {duration(left)} left")]
    running = [row for row in board.rows.values() if row.state == "running"]
    for row in running[:MOST_NAMED]:
        parts.append(f"{row.job.name} {100 * row.progress.done // row.total}%{_last_return(row)}")
    if len(running) > MOST_NAMED:
        parts.append(f"{len(running) - MOST_NAMED:,} more")
    return " | ".join(parts)


def ending(row: Row) -> str:
    """`ant/noise-0.4/ril-co/seed-1: finished after 5,000,000 transitions in 1 h 10 min, return 812`."""
    took = f" in {duration(row.progress.seconds)}" if row.progress.done else ""
    why = f": {row.reason}" if row.reason else ""
    return (
        f"{row.job.name}: {row.state} after {row.progress.done:,} transitions{took}{_last_return(row)}{why}"
    )


def _last_return(row: Row) -> str:
    last = row.progress.last_return
    return "" if last is None else f", return {last:,.0f}"


def make_table(board: Board, rows: int) -> Table:
    """As many runs as fit, those that need attention first, otherwise in the grid's order."""
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
    """`3 h 05 min`, `12 min` or `40 s`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60:,} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
