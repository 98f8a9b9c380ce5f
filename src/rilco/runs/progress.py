"""What a person sees of long work: one line that is rewritten in place on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from rilco.methods import find
from rilco.words import duration

if TYPE_CHECKING:
    from rich.console import Console

    from rilco.config import RunConfig


class StatusLine:
    """A line about what goes on. Where there is no terminal, it is printed every `every` seconds."""

    def __init__(self, *, quiet: bool = False, every: float = 15.0, console: Console | None = None) -> None:
        if console is None and not quiet:
            from rich.console import Console

            console = Console(stderr=True)
        self._console, self._every = console, every
        self._live: Any = None
        self._printed = time.monotonic()

    def show(self, text: str, *, at_once: bool = False) -> None:
        """Replace the line. `at_once`: worth a line in a log, whenever the last one was."""
        if self._console is None:
            return
        if self._console.is_terminal:
            if self._live is None:
                self._live = self._console.status("", refresh_per_second=4)
                self._live.start()
            from rich.text import Text

            self._live.update(Text(text))
        elif at_once or time.monotonic() - self._printed >= self._every:
            self._printed = time.monotonic()
            self.note(text)

    def note(self, text: str) -> None:
        """Say something once, above the line."""
        if self._console is not None:
            narrow = self._console.is_terminal
            self._console.print(text, highlight=False, markup=False, soft_wrap=not narrow)

    def clear(self) -> None:
        """Remove the line, so that another can take its place."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.clear()


class Measure(NamedTuple):
    """What the length of a run is counted in."""

    words: str
    total: int
    each: float  # units per transition. Cloning makes no transitions, so its gradient steps count.


def measure_of(config: RunConfig) -> Measure:
    if find(config.method).makes_transitions:
        return Measure("transitions", config.transitions, 1.0)
    steps = config.bc.steps_per_iteration
    return Measure("gradient steps", config.iterations * steps, steps / config.transitions_per_iteration)


class Progress(StatusLine):
    """The line of a run that trains."""

    def __init__(self, config: RunConfig, path: Path, *, quiet: bool, console: Console | None = None) -> None:
        super().__init__(quiet=quiet, console=console)
        self._measure = measure_of(config)
        self._begun: tuple[float, int] | None = None
        self._evaluation: Mapping[str, Any] | None = None
        length = f"{self._measure.total:,} {self._measure.words}"
        where = (
            f"on {config.task.name}" if config.task.name else "without an environment, so without evaluations"
        )
        self.note(f"{config.method} {where}, seed {config.seed}, {length} -> {path}")
        self.show("compiling")

    def update(self, record: Mapping[str, Any]) -> None:
        """Take in an iteration's metrics."""
        done, now = round(record["transitions"] * self._measure.each), time.monotonic()
        if self._begun is None:  # after the first iteration, which compiles
            self._begun = now, done
        evaluated = "eval_return" in record
        if evaluated:
            self._evaluation = record
        parts = [f"{done:,} of {self._measure.total:,}"]
        elapsed, left = now - self._begun[0], self._measure.total - done
        if done > self._begun[1] and elapsed > 0:
            speed = (done - self._begun[1]) / elapsed
            parts.append(f"{speed:,.0f}/s")
            if left >= 0:  # a run may go on for longer than was planned
                parts.append(f"{duration(left / speed)} left")
        self.show("   ".join([*parts, *describe(record, self._evaluation)]), at_once=evaluated)


def describe(record: Mapping[str, Any], evaluation: Mapping[str, Any] | None) -> list[str]:
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
    return parts
