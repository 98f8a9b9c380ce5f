"""What a run's progress display says."""

from __future__ import annotations

import io

from rich.console import Console

from rilco.runs.progress import Measure, Progress, describe, time_left


def test_the_time_left() -> None:
    assert time_left(450, 45.0) == "0:10"
    assert time_left(7384, 2.0) == "1:01:32"
    assert time_left(450, 0.0) == "--:--"
    assert time_left(-100, 45.0) == "--:--"  # an audit may train for longer than its display counted


def test_a_log_has_a_line_for_each_evaluation() -> None:
    shown = io.StringIO()
    progress = Progress(Console(file=shown, width=200), Measure("transitions", 1000, 1.0))
    progress.update({"transitions": 100})
    progress.update({"transitions": 200, "eval_return": 5.0, "eval_std": 1.0})
    (line,) = shown.getvalue().splitlines()
    assert line.split()[:3] == ["200", "of", "1,000"]
    assert line.endswith("return 5 ± 1")


def test_a_line_says_in_plain_words_how_it_goes() -> None:
    record = {"transitions": 640, "episode_return": -65.2, "risk": 0.4931, "called_nonexpert": 0.43}
    evaluation = {"eval_return": 1234.4, "eval_std": 56.0}
    assert (
        describe(record, evaluation) == "return 1,234 ± 56   while exploring -65   43% of the pairs look bad"
    )
    assert describe({"train_loss": 0.01234}, None) == "loss 0.0123"
