"""What a sweep says of its runs."""

from __future__ import annotations

import io
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from tests.experiment.tiny import fake_run, tiny

from rilco.experiment import status
from rilco.experiment.grid import make_jobs
from rilco.experiment.status import LINE_EVERY, Board
from rilco.experiment.sweep import survey
from rilco.runs.progress import StatusLine

Said = Callable[[], list[str]]


@pytest.fixture
def shown() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def board(tmp_path: Path, shown: io.StringIO, clock: list[float]) -> Board:
    """One run of five is finished, and one has begun."""
    jobs = make_jobs([(f"run{seed}", tiny(seed=seed)) for seed in range(5)])
    fake_run(tmp_path / "run0", jobs[0].config)
    fake_run(tmp_path / "run1", jobs[1].config, iterations=3)
    console = Console(file=shown, width=40)  # narrower than a line, which must stay one
    return Board(jobs, survey(jobs, tmp_path), tmp_path, StatusLine(every=LINE_EVERY, console=console))


@pytest.fixture
def said(shown: io.StringIO) -> Said:
    """The lines since it was last asked."""

    def lines() -> list[str]:
        text = shown.getvalue()
        shown.seek(0)
        shown.truncate()
        return text.splitlines()

    return lines


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock to set."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def learn(board: Board, name: str, iterations: int) -> None:
    """Metrics of so many iterations, whatever was there before."""
    folder, config = board.out / name, board.rows[name].job.config
    if folder.exists():
        shutil.rmtree(folder)
    fake_run(folder, config, iterations=iterations)


def test_every_start_is_told_once_and_from_where(board: Board, said: Said) -> None:
    for name in ("run1", "run2"):
        board.rows[name].state = "started"
    board.refresh()
    assert said() == ["run1: started, resuming after 60 transitions", "run2: started"]
    board.refresh()
    assert said() == []


def test_what_waits_in_a_queue_starts_when_it_is_seen_to_learn(
    board: Board, said: Said, clock: list[float]
) -> None:
    board.rows["run2"].state = "queued"
    board.refresh()
    assert (said(), board.summary()) == ([], "1 finished, 1 queued, 3 waiting")
    clock[0] += 500
    learn(board, "run2", 1)
    board.refresh()
    assert said()[0] == "run2: started"


def test_every_end_is_told_with_return_and_time_or_why(board: Board, said: Said) -> None:
    learn(board, "run2", 10)
    learn(board, "run3", 4)
    board.end(board.rows["run2"].job, "finished")
    board.end(board.rows["run3"].job, "stopped")
    board.end(board.rows["run4"].job, "failed", "exit code 1")
    assert said() == [
        "run2: finished after 200 transitions in 1 s, return 100",
        "run3: stopped after 80 transitions in 0 s, return 30",
        "run4: failed after 0 transitions: exit code 1",
    ]


def test_now_and_then_a_line_says_how_far_everything_is(board: Board, said: Said, clock: list[float]) -> None:
    for name in ("run1", "run2"):
        board.rows[name].state = "started"
    board.refresh()
    clock[0] += 10
    learn(board, "run1", 4)
    learn(board, "run2", 1)
    board.refresh()
    said()
    clock[0] += 19.9
    learn(board, "run2", 2)
    board.refresh()
    assert said() == []
    clock[0] += 0.1
    board.refresh()
    # 20 transitions in 0.1 s; 120, 160, 200 and 200 to go, two side by side.
    assert said() == ["1 finished, 2 running, 2 waiting, about 2 s left | run1 40%, return 30 | run2 20%"]
    clock[0] += 29
    board.refresh()
    assert said() == []


def test_time_left_of_all_needs_one_that_was_seen_and_counts_what_ended(board: Board) -> None:
    assert board.seconds_left is None
    learn(board, "run2", 10)  # 200 transitions in a second
    board.end(board.rows["run2"].job, "finished")
    board.rows["run1"].state = "started"
    # The one that goes on has 140 to go, the other two 200 each, one at a time.
    assert board.seconds_left == pytest.approx(540 / 200)
    board.end(board.rows["run3"].job, "failed", "exit code 1")
    assert board.seconds_left == pytest.approx(340 / 200)


def test_one_that_only_cloned_is_no_measure_of_time(board: Board, said: Said) -> None:
    learn(board, "run2", 1)
    metrics = board.out / "run2" / "metrics.jsonl"
    metrics.write_text(metrics.read_text().replace('"seconds":', '"stopped_early":true,"seconds":'))
    board.end(board.rows["run2"].job, "finished")
    assert "transitions" not in said()[0]
    assert board.seconds_left is None


def test_a_line_names_only_so_many(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "MOST_NAMED", 2)
    for row in board.rows.values():
        row.state = "running"
    assert board.under_way() == "5 running | run0 100%, return 100 | run1 30%, return 30 | 3 more"
