"""What a person sees of a sweep: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rilco.experiment.grid import Job
from rilco.experiment.standing import Progress, Standing, read_progress

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

LOOK_EVERY = 2.0  # seconds between looks at the runs' metrics
SUMMARY_EVERY = 60.0  # seconds between plain lines of numbers
ORDER = (
    "running",
    "failed",
    "started",
    "waiting",
    "stopped",
    "finished",
)  # of what is shown first if not all fits


@dataclass
class Row:
    """One run as the table shows it."""

    job: Job
    state: str
    """`waiting`, `started` (nothing learned yet; with Ray perhaps queued), `running`, `finished`, `stopped`, `failed`."""
    progress: Progress = field(default_factory=Progress)
    began: tuple[float, int] | None = None
    """When this process first saw it learn, and how far it was."""

    @property
    def total(self) -> int:
        return self.job.config.iterations * self.job.config.transitions_per_iteration

    @property
    def seconds_left(self) -> float | None:
        if self.state != "running" or self.began is None:
            return None
        at, done = self.began
        gained, elapsed = self.progress.done - done, time.monotonic() - at
        return (self.total - self.progress.done) * elapsed / gained if gained > 0 else None

    def look(self, folder: Path) -> None:
        """Read how far the run is; it learns once its metrics have grown."""
        progress = read_progress(folder)
        if self.state == "started" and progress.done != self.progress.done:
            self.state, self.began = "running", (time.monotonic(), progress.done)
        elif self.began is not None and progress.done < self.began[1]:  # gone back to a checkpoint
            self.began = (time.monotonic(), progress.done)
        self.progress = progress


@dataclass
class Board:
    """The rows of all runs."""

    out: Path
    rows: dict[str, Row]
    _looked: float = field(default=0.0)

    @classmethod
    def of(cls, jobs: Sequence[Job], standings: Sequence[Standing], out: Path) -> Board:
        rows = {
            job.name: Row(job, "finished" if there.state == "finished" else "waiting", there.progress)
            for job, there in zip(jobs, standings, strict=True)
        }
        return cls(out, rows)

    def set(self, job: Job, state: str) -> None:
        row = self.rows[job.name]
        if state != "started":
            row.look(self.out / job.name)
        row.state = state

    def look(self) -> None:
        if time.monotonic() - self._looked > LOOK_EVERY:
            for row in self.rows.values():
                if row.state in ("started", "running"):
                    row.look(self.out / row.job.name)
            self._looked = time.monotonic()

    def summary(self) -> str:
        """`3 finished, 2 running, 15 waiting`."""
        counts = Counter(row.state for row in self.rows.values())
        return ", ".join(f"{counts[state]:,} {state}" for state in reversed(ORDER) if counts[state])


class Display(Protocol):
    """Called often; decides by itself when to show something."""

    def refresh(self) -> None: ...

    def note(self, text: str) -> None: ...


class Lines:
    def __init__(self, board: Board, console: Console) -> None:
        self._board, self._console, self._last = board, console, time.monotonic()

    def refresh(self) -> None:
        self._board.look()
        if time.monotonic() - self._last > SUMMARY_EVERY:
            self._last = time.monotonic()
            self.note(self._board.summary())

    def note(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)


class LiveTable:
    def __init__(self, board: Board, console: Console, live: Any) -> None:
        self._board, self._console, self._live = board, console, live

    def refresh(self) -> None:
        self._board.look()
        self._live.update(make_table(self._board, rows=max(3, self._console.height - 6)), refresh=True)

    def note(self, text: str) -> None:
        """On a terminal the table says it all."""


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

    shown = sorted(board.rows.values(), key=lambda row: ORDER.index(row.state))
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
