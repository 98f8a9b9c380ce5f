"""What a person sees while a run trains: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rilco.methods import find

if TYPE_CHECKING:
    from rilco.config import RunConfig

PLAIN_INTERVAL = 15.0  # seconds between lines where there is no terminal


class Measure(NamedTuple):
    """What the length of a run is counted in."""

    words: str
    total: int
    each: float
    """Units per transition. Cloning makes no transitions, so its gradient steps count."""


def measure_of(config: RunConfig) -> Measure:
    if find(config.method).makes_transitions:
        return Measure("transitions", config.iterations * config.transitions_per_iteration, 1.0)
    steps = config.bc.steps_per_iteration
    return Measure("gradient steps", config.iterations * steps, steps / config.transitions_per_iteration)


class Progress:
    """A bar that is redrawn in place, or a line now and then on a console without one; nothing without a console."""

    def __init__(self, console: Any = None, measure: Measure = Measure("", 0, 1.0), bar: Any = None) -> None:
        self._console, self._measure, self._bar = console, measure, bar
        self._begun: tuple[float, int] | None = None
        self._evaluation: Mapping[str, Any] | None = None
        self._last_line = time.monotonic()
        if bar is not None:
            self._task = bar.add_task("", total=measure.total, speed="", left="--:--", numbers="compiling")

    def update(self, record: Mapping[str, Any]) -> None:
        """Take in an iteration's metrics."""
        if self._console is None:
            return
        done, now = round(record["transitions"] * self._measure.each), time.monotonic()
        if self._begun is None:  # after the first iteration, which compiles
            self._begun = now, done
        elapsed = now - self._begun[0]
        speed = (done - self._begun[1]) / elapsed if elapsed > 0 else 0.0
        left = time_left(self._measure.total - done, speed)
        if "eval_return" in record:
            self._evaluation = record
        numbers = describe(record, self._evaluation)
        if self._bar is not None:
            self._bar.update(self._task, completed=done, speed=f"{speed:,.0f}/s", left=left, numbers=numbers)
        elif "eval_return" in record or now - self._last_line > PLAIN_INTERVAL:
            self._last_line = now
            self.note(f"{done:>11,} of {self._measure.total:,}  {speed:,.0f}/s  {left} left  {numbers}")

    def note(self, text: str) -> None:
        """Say something once, above the bar."""
        if self._console is not None:
            self._console.print(text, highlight=False, markup=False, soft_wrap=self._bar is None)


def time_left(amount: int, speed: float) -> str:
    """`1:02:03`, `2:03`, or `--:--` where nobody knows."""
    if not speed or amount < 0:  # a run may go on for longer than was planned
        return "--:--"
    minutes, seconds = divmod(int(amount / speed), 60)
    return (
        f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}" if minutes >= 60 else f"{minutes}:{seconds:02d}"
    )


def describe(record: Mapping[str, Any], evaluation: Mapping[str, Any] | None) -> str:
    """The numbers of a line that need no explanation."""
    parts = []
    if evaluation is not None:
        parts.append(f"return {evaluation['eval_return']:,.0f} ± {evaluation['eval_std']:,.0f}")
    if record.get("episode_return") is not None:
        parts.append(f"while exploring {record['episode_return']:,.0f}")
    if "called_nonexpert" in record:
        parts.append(f"{record['called_nonexpert']:.0%} of the pairs look bad")
    if "train_loss" in record:
        parts.append(f"loss {record['train_loss']:.3g}")
    return "   ".join(parts)


@contextlib.contextmanager
def make_progress(config: RunConfig, path: Path, *, quiet: bool) -> Iterator[Progress]:
    """The display that fits where the output goes."""
    if quiet:
        yield Progress()
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    console, measure = Console(stderr=True), measure_of(config)
    lines = Progress(console, measure)
    where = f"on {config.task.name}" if config.task.name else "without an environment, so without evaluations"
    lines.note(f"{config.method} {where}, seed {config.seed}, {measure.total:,} {measure.words} -> {path}")
    if not console.is_terminal:
        yield lines
        return
    columns = (
        BarColumn(bar_width=16),
        TextColumn("{task.completed:,} of {task.total:,}"),
        TextColumn("{task.fields[speed]}  {task.fields[left]} left"),
        TextColumn("{task.fields[numbers]}"),
    )
    with Bar(*columns, console=console, refresh_per_second=4) as bar:
        yield Progress(console, measure, bar)
