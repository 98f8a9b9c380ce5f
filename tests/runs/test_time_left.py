"""The time that a run has left, as its progress display says it."""

from __future__ import annotations

import time

import pytest

from rilco.runs.progress import Meter


def test_nobody_knows_how_long_it_goes_on_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """An audit may train for longer than its display counted; the time left is then unknown, not negative."""
    now = iter([0.0, 10.0, 20.0, 20.0, 30.0, 30.0, 40.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    meter = Meter(1000)
    assert meter.left == "--:--"
    meter.update({"transitions": 100})
    meter.update({"transitions": 550})
    assert meter.left == "0:10"
    meter.update({"transitions": 1100})
    assert meter.left == "--:--"
