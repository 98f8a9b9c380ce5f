"""What a person sees while a run trains: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from rilco.methods import find

if TYPE_CHECKING:
    from rilco.config import RunConfig

PLAIN_INTERVAL = 15.0  # seconds between lines where there is no terminal


class Progress(Protocol):
    def update(self, record: Mapping[str, Any]) -> None:
        """Take in an iteration's metrics."""

    def note(self, text: str) -> None:
        """Say something once, above the live line."""


class Silent:
    def update(self, record: Mapping[str, Any]) -> None: ...

    def note(self, text: str) -> None: ...


class Meter:
    """Speed and time left, from what was seen since this process began."""

    def __init__(self, measure: Measure) -> None:
        self.total, self._each = measure.total, measure.each
        self.begun_at = time.monotonic()
        self.begun_with: int | None = None
        self.speed = 0.0
        self.done = 0

    def update(self, record: Mapping[str, Any]) -> None:
        self.done = round(record["transitions"] * self._each)
        if self.begun_with is None:  # the first iteration compiles; it would spoil the estimate
            self.begun_with, self.begun_at = self.done, time.monotonic()
        elapsed = time.monotonic() - self.begun_at
        self.speed = (self.done - self.begun_with) / elapsed if elapsed > 0 else 0.0

    @property
    def left(self) -> str:
        if not self.speed or self.done > self.total:  # going on for longer than was thought: nobody knows
            return "--:--"
        seconds = int((self.total - self.done) / self.speed)
        hours, minutes = seconds // 3600, seconds // 60 % 60
        return f"{hours}:{minutes:02d}:{seconds % 60:02d}" if hours else f"{minutes}:{seconds % 60:02d}"


def describe(record: Mapping[str, Any], evaluation: Mapping[str, Any] | None) -> str:
    """The numbers of a line that need no explanation: returns, what is thought of the demonstrations, cloning's error."""
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


class Measure(NamedTuple):
    """What the length of a run is counted in."""

    words: str
    total: int
    each: float
    """Of these for a transition: cloning makes none, so its steps of learning count."""


def measure_of(config: RunConfig) -> Measure:
    if find(config.method).makes_transitions:
        return Measure("transitions", config.iterations * config.transitions_per_iteration, 1.0)
    steps = config.bc.steps_per_iteration
    return Measure("gradient steps", config.iterations * steps, steps / config.transitions_per_iteration)


class Plain:
    """One line now and then, for logs."""

    def __init__(self, console: Any, config: RunConfig) -> None:
        self._console, self._meter = console, Meter(measure_of(config))
        self._evaluation: Mapping[str, Any] | None = None
        self._last_line = time.monotonic()

    def update(self, record: Mapping[str, Any]) -> None:
        self._meter.update(record)
        evaluated = "eval_return" in record
        if evaluated:
            self._evaluation = record
        now = time.monotonic()
        if evaluated or now - self._last_line > PLAIN_INTERVAL:
            self._last_line = now
            self.note(
                f"{self._meter.done:>11,} of {self._meter.total:,}  {self._meter.speed:,.0f}/s  "
                f"{self._meter.left} left  {describe(record, self._evaluation)}"
            )

    def note(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)


class Live:
    """A bar that is redrawn in place."""

    def __init__(self, console: Any, bar: Any, config: RunConfig) -> None:
        self._console, self._bar, self._meter = console, bar, Meter(measure_of(config))
        self._evaluation: Mapping[str, Any] | None = None
        self._task = bar.add_task("", total=self._meter.total, speed="", left="--:--", numbers="compiling")

    def update(self, record: Mapping[str, Any]) -> None:
        self._meter.update(record)
        if "eval_return" in record:
            self._evaluation = record
        self._bar.update(
            self._task,
            completed=self._meter.done,
            speed=f"{self._meter.speed:,.0f}/s",
            left=self._meter.left,
            numbers=describe(record, self._evaluation),
        )

    def note(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False)


@contextlib.contextmanager
def make_progress(config: RunConfig, path: Path, *, quiet: bool) -> Iterator[Progress]:
    """The progress display that fits where the output goes."""
    if quiet:
        yield Silent()
        return
    from rich.console import Console

    console = Console(stderr=True)
    measure = measure_of(config)
    where = f"on {config.task.name}" if config.task.name else "without an environment, so without evaluations"
    console.print(
        f"{config.method} {where}, seed {config.seed}, {measure.total:,} {measure.words} -> {path}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    if not console.is_terminal:
        yield Plain(console, config)
        return
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        BarColumn(bar_width=16),
        TextColumn("{task.completed:,} of {task.total:,}"),
        TextColumn("{task.fields[speed]}  {task.fields[left]} left"),
        TextColumn("{task.fields[numbers]}"),
    )
    with Bar(*columns, console=console, refresh_per_second=4) as bar:
        yield Live(console, bar, config)
