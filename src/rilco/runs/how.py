"""How to run: settings that do not change the result of training."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rilco.rollout.pool import num_workers
from rilco.runs.interrupt import StopSignal

Callback = Callable[[Mapping[str, Any]], bool | None]


@dataclass(frozen=True)
class How:
    """Settings of how to run. The result does not depend on them."""

    workers: int | None = None
    """Rollout processes; None is one a core."""
    quiet: bool = False
    """No progress display."""
    checkpoint_every: int = 100
    """Iterations between checkpoints."""
    tensorboard: bool = True
    """Write TensorBoard events, where TensorBoard is installed."""
    video: bool = False
    """Show the policy in TensorBoard at the end of the run."""
    callbacks: tuple[Callback, ...] = ()
    """Called with each line of metrics once it is written. If one returns False, the run leaves a checkpoint and ends.
    A method `begin` is called with the configuration first, a method `end` with the policy in the end."""
    stop: StopSignal = field(default_factory=StopSignal)
    """Says when to stop. Training listens for signals itself, unless a caller does already."""

    def __post_init__(self) -> None:
        num_workers(self.workers)  # refused before anything is done

    @property
    def num_workers(self) -> int:
        return num_workers(self.workers)

    def say(self, line: str) -> None:
        """Print a line for a person who watches."""
        if not self.quiet:
            sys.stderr.write(f"{line}\n")
