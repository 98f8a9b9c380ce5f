"""Signals to stop that come at a certain moment."""

from __future__ import annotations

import signal
from collections.abc import Callable

from rilco.runs.interrupt import StopSignal


class StopsWhen(StopSignal):
    """A signal that comes when something is so, or after so many looks at it."""

    def __init__(self, condition: Callable[[], bool] = lambda: False, looks: float = float("inf")) -> None:
        super().__init__()
        self._condition, self._looks = condition, looks

    @property
    def requested(self) -> bool:
        self._looks -= 1
        if self._looks < 0 or self._condition():
            self.signum = signal.SIGTERM
        return self.signum is not None

    def raise_if_requested(self) -> None:
        if self.requested:
            super().raise_if_requested()


class CrashAfter(StopSignal):
    """Takes the place of a crash: raises when the loop looks whether to stop for the `looks`-th time."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self._looks = looks

    @property
    def requested(self) -> bool:
        self._looks -= 1
        if self._looks < 0:
            raise RuntimeError("crash")
        return False
