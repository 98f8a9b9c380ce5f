"""Ctrl-C and SIGTERM ask a run to stop after its iteration; a second one stops it at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
GRACE = 5.0
"""Seconds after SIGTERM in which an iteration may come to its end; then the last checkpoint has to do."""


class Interrupted(KeyboardInterrupt):
    """A run was stopped by a signal and left a checkpoint."""

    def __init__(self, signum: int) -> None:
        super().__init__(signal.Signals(signum).name)
        self.signum = signum


def exit_code(interrupt: KeyboardInterrupt) -> int:
    """What a shell expects of a program that a signal ended: 130 after Ctrl-C."""
    return 128 + (interrupt.signum if isinstance(interrupt, Interrupted) else signal.SIGINT)


class StopSignal:
    """Context manager that notes the first signal instead of raising in the middle of an update."""

    def __init__(self) -> None:
        self.signum: int | None = None
        self._before: dict[int, Any] = {}

    @property
    def requested(self) -> bool:
        return self.signum is not None

    def raise_if_requested(self) -> None:
        if self.signum is not None:
            raise Interrupted(self.signum)

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        if self.signum is not None:
            raise Interrupted(self.signum)
        self.signum = signum
        if signum == signal.SIGTERM:  # comes once, and then SIGKILL
            self._before[signal.SIGALRM] = signal.signal(signal.SIGALRM, self._handle)
            signal.setitimer(signal.ITIMER_REAL, GRACE)

    def __enter__(self) -> StopSignal:
        if threading.current_thread() is threading.main_thread():  # signals are the main thread's
            self._before = {number: signal.signal(number, self._handle) for number in SIGNALS}
        return self

    def __exit__(self, *exception: object) -> None:
        if signal.SIGALRM in self._before:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in self._before.items():
            signal.signal(number, handler)
