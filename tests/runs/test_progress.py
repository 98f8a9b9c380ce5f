"""What a run's progress display says."""

from __future__ import annotations

import time

import pytest

from rilco.runs.progress import Measure, Meter, describe


def test_nobody_knows_how_long_it_goes_on_for_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """An audit may train for longer than its display counted; the time left is then unknown, not negative."""
    now = iter([0.0, 10.0, 20.0, 20.0, 30.0, 30.0, 40.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    meter = Meter(Measure("transitions", 1000, 1.0))
    assert meter.left == "--:--"
    meter.update({"transitions": 100})
    meter.update({"transitions": 550})
    assert meter.left == "0:10"
    meter.update({"transitions": 1100})
    assert meter.left == "--:--"


def test_a_line_says_in_plain_words_how_it_goes() -> None:
    record = {"transitions": 640, "episode_return": -65.2, "risk": 0.4931, "called_nonexpert": 0.43}
    evaluation = {"eval_return": 1234.4, "eval_std": 56.0}
    assert (
        describe(record, evaluation) == "return 1,234 ± 56   while exploring -65   43% of the pairs look bad"
    )
    assert describe({"train_loss": 0.01234}, None) == "loss 0.0123"
