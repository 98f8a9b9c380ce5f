"""How to run: all that changes how fast, how safe and how talkative training is, and not its result."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rilco.rollout.pool import default_workers
from rilco.runs.interrupt import StopSignal

Callback = Callable[[Mapping[str, Any]], bool | None]


@dataclass(frozen=True)
class How:
    """How to run."""

    workers: int | None = None
    """Rollout processes; None is one a core."""
    quiet: bool = False
    """Whether to leave out the progress display."""
    checkpoint_every: int = 100
    """Iterations between checkpoints."""
    tensorboard: bool = True
    """Whether to write TensorBoard events, where TensorBoard is installed."""
    video: bool = False
    """Whether these get a moving picture of the policy at the end."""
    callbacks: tuple[Callback, ...] = ()
    """Called with each line of metrics once it is written. If one returns False, the run leaves a checkpoint and ends.
    Those that have a method `begin` are told the configuration first; those that have a method `end`, the policy at last."""
    stop: StopSignal = field(default_factory=StopSignal)
    """Says when to stop. Training listens for signals itself, unless a caller does already."""

    @property
    def num_workers(self) -> int:
        return self.workers or default_workers()

    def say(self, line: str) -> None:
        """For a person who watches."""
        if not self.quiet:
            sys.stderr.write(f"{line}\n")
