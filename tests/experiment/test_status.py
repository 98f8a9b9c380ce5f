"""The table of a sweep."""

from __future__ import annotations

import io
import shutil
import time
from pathlib import Path

import pytest
from rich.console import Console
from tests.experiment.tiny import fake_run, tiny

from rilco.experiment import status
from rilco.experiment.grid import make_jobs
from rilco.experiment.status import Board, Row, cells, duration, make_display, make_table, under_way
from rilco.experiment.sweep import survey


@pytest.fixture
def board(tmp_path: Path):
    jobs = make_jobs([(f"run{seed}", tiny(seed=seed)) for seed in range(5)])
    fake_run(tmp_path / "run0", jobs[0].config)
    fake_run(tmp_path / "run1", jobs[1].config, iterations=3)
    return Board.of(jobs, survey(jobs, tmp_path), tmp_path)


def text(table) -> str:
    shown = io.StringIO()
    Console(file=shown, width=100).print(table)
    return shown.getvalue()


def test_rows_show_state_transitions_and_return(board) -> None:
    assert board.summary() == "1 finished, 4 waiting"
    job = board.rows["run2"].job
    board.rows[job.name].state = "started"
    fake_run(board.out / "run2", job.config, iterations=6)
    board.look()
    assert board.rows["run2"].state == "running"
    lines = text(make_table(board, rows=9)).splitlines()
    shown = {
        line.split()[0]: line.split()[1:]
        for line in lines
        if line.strip().startswith("run") and "state" not in line
    }
    assert shown["run2"] == ["running", "120", "of", "200", "60", "0", "s"]
    assert shown["run0"] == ["finished", "200", "of", "200", "100"]
    assert shown["run1"] == ["waiting", "60", "of", "200", "30"]
    assert shown["run3"] == ["waiting", "200"]
    assert list(shown) == ["run2", "run1", "run3", "run4", "run0"]  # what needs attention first
    assert "not shown" in text(make_table(board, rows=3))


def test_time_left_follows_the_clock_of_the_run(board) -> None:
    row, folder = board.rows["run1"], board.out / "run1"
    row.state = "started"
    row.look(folder)
    assert (row.state, row.seconds_left) == ("started", None)  # nothing was learned in this sweep
    lines = (folder / "metrics.jsonl").read_text()
    (folder / "metrics.jsonl").write_text(lines + '{"transitions":120,"seconds":30.0}\n')
    row.look(folder)
    assert row.state == "running"
    assert row.seconds_left == pytest.approx(20.0)  # 120 in 30 seconds, 80 to go
    assert cells(row)[-1] == "20 s"


def test_a_finished_row_has_no_time_left() -> None:
    (job,) = make_jobs([tiny()])
    assert Row(job, "finished").seconds_left is None


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.4, "0 s"), (59, "59 s"), (61, "1 min"), (3599, "1 h 00 min"), (36_300, "10 h 05 min")],
)
def test_durations(seconds, shown) -> None:
    assert duration(seconds) == shown


# -- plain lines, where there is no terminal -----------------------------------------------------


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch):
    """A clock to set."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def lines(board, clock):
    """A display, and what it has said since it was last asked."""
    shown = io.StringIO()
    console = Console(file=shown, width=40)  # narrower than a line, which must stay one

    def said() -> list[str]:
        text = shown.getvalue()
        shown.seek(0)
        shown.truncate()
        return text.splitlines()

    with make_display(board, console) as display:
        yield display, said


def learn(board, name, iterations: int):
    """Metrics of so many iterations, whatever was there before."""
    folder, config = board.out / name, board.rows[name].job.config
    if folder.exists():
        shutil.rmtree(folder)
    fake_run(folder, config, iterations=iterations)


def test_a_note_is_said_as_it_is(lines) -> None:
    display, said = lines
    display.refresh()
    display.note("[run0] is *not* markup, and no line is too long to stay one line")
    assert said() == ["[run0] is *not* markup, and no line is too long to stay one line"]


def test_every_start_is_told_once_and_from_where(board, lines) -> None:
    display, said = lines
    for name in ("run1", "run2"):
        board.rows[name].state = "started"
    display.refresh()
    assert said() == ["run1: started, resuming after 60 transitions", "run2: started"]
    display.refresh()
    assert said() == []


def test_what_waits_in_a_queue_starts_when_it_is_seen_to_learn(board, lines, clock) -> None:
    display, said = lines
    job = board.rows["run2"].job
    board.rows[job.name].state = "queued"
    display.refresh()
    assert (said(), board.summary()) == ([], "1 finished, 1 queued, 3 waiting")
    clock[0] += 500
    learn(board, "run2", 1)
    display.refresh()
    assert said()[0] == "run2: started"


def test_every_end_is_told_with_return_and_time_or_why(board, lines) -> None:
    display, said = lines
    learn(board, "run2", 10)
    learn(board, "run3", 4)
    display.ended(board.end(board.rows["run2"].job, "finished"))
    display.ended(board.end(board.rows["run3"].job, "stopped"))
    display.ended(board.end(board.rows["run4"].job, "failed", "exit code 1"))
    assert said() == [
        "run2: finished after 200 transitions in 1 s, return 100",
        "run3: stopped after 80 transitions in 0 s, return 30",
        "run4: failed after 0 transitions: exit code 1",
    ]


def test_now_and_then_a_line_says_how_far_everything_is(board, lines, clock) -> None:
    display, said = lines
    for name in ("run1", "run2"):
        board.rows[name].state = "started"
    display.refresh()
    clock[0] += 10
    learn(board, "run1", 4)
    learn(board, "run2", 1)
    display.refresh()
    said()
    clock[0] += 19.9
    learn(board, "run2", 2)
    display.refresh()
    assert said() == []
    clock[0] += 0.1
    display.refresh()
    # 20 transitions in 0.1 s; 120, 160, 200 and 200 to go, two side by side.
    assert said() == [
        "30 s: 1 finished, 2 running, 2 waiting, about 2 s left | run1 40%, return 30 | run2 20%"
    ]
    clock[0] += 29
    display.refresh()
    assert said() == []


def test_time_left_of_all_needs_one_that_was_seen_and_counts_what_ended(board, clock) -> None:
    assert board.seconds_left is None
    job = board.rows["run2"].job
    learn(board, "run2", 10)  # 200 transitions in a second
    board.end(job, "finished")
    board.rows["run1"].state = "started"
    # The one that goes on has 140 to go, the other two 200 each, one at a time.
    assert board.seconds_left == pytest.approx(540 / 200)
    board.end(board.rows["run3"].job, "failed", "exit code 1")
    assert board.seconds_left == pytest.approx(340 / 200)


def test_a_line_names_only_so_many(board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "MOST_NAMED", 2)
    for row in board.rows.values():
        row.state = "running"
    shown = under_way(board)
    assert shown == "5 running | run0 100%, return 100 | run1 30%, return 30 | 3 more"


# -- a table, where there is one -----------------------------------------------------------------


def test_a_live_table_on_a_terminal(board) -> None:
    shown = io.StringIO()
    console = Console(file=shown, width=100, height=20, force_terminal=True)
    with make_display(board, console) as display:
        display.refresh()
        display.note("Stopping; Ctrl-C again ends all [at once].")
        display.ended(board.end(board.rows["run1"].job, "stopped"))
    assert "run3" in shown.getvalue()
    assert "1 finished, 1 stopped, 3 waiting" in shown.getvalue()
    assert "Ctrl-C again ends all [at once]." in shown.getvalue()
    assert "run1: stopped" not in shown.getvalue()  # the table says so
