"""What a run's progress line says."""

from __future__ import annotations

import io
from fnmatch import fnmatch
from pathlib import Path

import pytest
from rich.console import Console

from rilco.config import RunConfig
from rilco.runs.progress import Progress, StatusLine, describe
from rilco.words import duration

CONFIG = RunConfig(method="acktr", steps=1280, num_envs=32, num_steps=20)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.4, "0 s"), (59, "59 s"), (61, "1 min"), (3599, "1 h 00 min"), (36_300, "10 h 05 min")],
)
def test_durations(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    ("done", "said"), [(1280, "1,280 of 1,280   *   0 s left   *"), (12800, "12,800 of 1,280   *")]
)
def test_a_log_has_a_line_for_each_evaluation(done: int, said: str) -> None:
    """Also where a run goes on for longer than was planned: then no time is left."""
    shown = io.StringIO()
    progress = Progress(CONFIG, Path("out"), quiet=False, console=Console(file=shown, width=200))
    progress.update({"transitions": 640})
    progress.update({"transitions": done, "eval_return": 5.0, "eval_std": 1.0})
    first, line = shown.getvalue().splitlines()
    assert first == "acktr on halfcheetah, seed 1, 1,280 transitions -> out"
    assert fnmatch(line, f"{said}return 5 ± 1")
    assert ("left" in line) == (done == 1280)


def test_a_line_on_a_terminal_is_rewritten_below_what_was_said() -> None:
    shown = io.StringIO()
    console = Console(file=shown, width=100, force_terminal=True)
    with StatusLine(console=console) as line:
        line.show("[1] of 3")
        line.show("[2] of 3")
        line.note("Stopping; Ctrl-C again ends all [at once].")
    assert "[2] of 3" in shown.getvalue()
    assert "ends all [at once]." in shown.getvalue()


def test_nothing_is_said_if_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(CONFIG, Path("out"), quiet=True) as progress:
        progress.update({"transitions": 640, "eval_return": 5.0, "eval_std": 1.0})
    assert capsys.readouterr() == ("", "")


def test_a_line_says_in_plain_words_how_it_goes() -> None:
    record = {"transitions": 640, "episode_return": -65.2, "risk": 0.4931, "called_nonexpert": 0.43}
    evaluation = {"eval_return": 1234.4, "eval_std": 56.0}
    assert describe(record, evaluation) == [
        "return 1,234 ± 56",
        "while exploring -65",
        "43% of the pairs look bad",
    ]
    assert describe({"train_loss": 0.01234}, None) == ["loss 0.0123"]
