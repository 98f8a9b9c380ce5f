"""Ctrl-C and SIGTERM ask a run to stop after its iteration; a second one stops it at once.

SIGKILL soon follows a SIGTERM, so after that the iteration has only a few seconds to end.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
GRACE = 5.0
"""Seconds that an iteration has after SIGTERM. Then the last checkpoint has to do."""


class Interrupted(KeyboardInterrupt):
    """A run was stopped by a signal and left a checkpoint."""

    def __init__(self, signum: int) -> None:
        super().__init__(signal.Signals(signum).name)
        self.signum = signum


def exit_code(interrupt: KeyboardInterrupt) -> int:
    """The exit code that a shell expects after a signal: 130 after Ctrl-C."""
    return 128 + (interrupt.signum if isinstance(interrupt, Interrupted) else signal.SIGINT)


class StopSignal:
    """Context manager that notes the first signal instead of raising in the middle of an update.

    It may be entered again within itself. It raises `patience` seconds after a SIGTERM.
    """

    def __init__(self, patience: float = GRACE) -> None:
        self.signum: int | None = None
        self.patience = patience
        self._before: dict[int, Any] = {}
        self._entered = 0
        self._at_once = False

    @property
    def requested(self) -> bool:
        return self.signum is not None

    def raise_if_requested(self) -> None:
        if self.signum is not None:
            raise Interrupted(self.signum)

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Within, the first signal raises at once: for work that loses nothing, such as reading data."""
        before, self._at_once = self._at_once, True
        try:
            self.raise_if_requested()
            yield
        finally:
            self._at_once = before

    def _handle(self, signum: int, frame: FrameType | None) -> None:
        again = self.signum is not None
        self.signum = self.signum or signum
        if again or self._at_once:
            raise Interrupted(self.signum)
        if signum == signal.SIGTERM:
            self._before.setdefault(signal.SIGALRM, signal.signal(signal.SIGALRM, self._handle))
            signal.setitimer(signal.ITIMER_REAL, self.patience)

    def __enter__(self) -> StopSignal:
        self._entered += 1
        # Signals are the main thread's.
        if self._entered == 1 and threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._handle) for number in SIGNALS}
        return self

    def __exit__(self, *exception: object) -> None:
        self._entered -= 1
        if self._entered or not self._before:
            return
        if signal.SIGALRM in self._before:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}
