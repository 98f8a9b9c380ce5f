"""How long a run has taken, and where the time went."""

from __future__ import annotations

import time
from collections import defaultdict


class Clock:
    """Adds up the time between laps, by phase; `before` is what earlier processes of the run took."""

    def __init__(self, before: float = 0.0) -> None:
        self._before = before
        self._start = self._last = time.perf_counter()
        self.phases: dict[str, float] = defaultdict(float)

    def lap(self, phase: str) -> None:
        """Count the time since the last lap to `phase`."""
        now = time.perf_counter()
        self.phases[phase] += now - self._last
        self._last = now

    @property
    def total(self) -> float:
        return self._before + time.perf_counter() - self._start
