"""The table of a sweep."""

from __future__ import annotations

import io
import time

import pytest
from rich.console import Console
from tests.experiment.tiny import fake_run, tiny

from rilco.experiment.grid import make_jobs
from rilco.experiment.standing import survey
from rilco.experiment.status import Board, Row, cells, duration, make_display, make_table


@pytest.fixture
def board(tmp_path):
    jobs = make_jobs([(f"run{seed}", tiny(seed=seed)) for seed in range(5)])
    fake_run(tmp_path / "run0", jobs[0].config)
    fake_run(tmp_path / "run1", jobs[1].config, iterations=3)
    return Board.of(jobs, survey(jobs, tmp_path), tmp_path)


def text(table) -> str:
    console = Console(file=io.StringIO(), width=100)
    console.print(table)
    return console.file.getvalue()


def test_rows_show_state_transitions_and_return(board):
    assert board.summary() == "1 finished, 4 waiting"
    job = board.rows["run2"].job
    board.set(job, "started")
    fake_run(board.out / "run2", job.config, iterations=6)
    board.look()
    assert board.rows["run2"].state == "running"
    lines = text(make_table(board, rows=9)).splitlines()
    shown = {
        line.split()[0]: line.split()[1:]
        for line in lines
        if line.strip().startswith("run") and "state" not in line
    }
    assert shown["run2"] == ["running", "120", "of", "200", "60"]
    assert shown["run0"] == ["finished", "200", "of", "200", "100"]
    assert shown["run1"] == ["waiting", "60", "of", "200", "30"]
    assert shown["run3"] == ["waiting", "200"]
    assert list(shown) == ["run2", "run1", "run3", "run4", "run0"]  # what needs attention first
    assert "not shown" in text(make_table(board, rows=3))


def test_time_left_follows_the_speed_since_the_sweep_began(board, monkeypatch):
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    row = board.rows["run1"]
    row.state = "started"
    folder = board.out / "run1"
    row.look(folder)
    assert (row.state, row.seconds_left) == ("started", None)  # the 60 transitions of before say nothing
    lines = (folder / "metrics.jsonl").read_text()
    (folder / "metrics.jsonl").write_text(lines + '{"transitions":80}\n')
    row.look(folder)
    assert (row.state, row.seconds_left) == ("running", None)
    now = 1010.0
    (folder / "metrics.jsonl").write_text(lines + '{"transitions":120}\n')
    row.look(folder)
    assert row.seconds_left == pytest.approx(20.0)  # 40 in ten seconds, 80 to go
    assert cells(row)[-1] == "20 s"


def test_a_finished_row_has_no_time_left():
    (job,) = make_jobs([tiny()])
    assert Row(job, "finished").seconds_left is None


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.4, "0 s"), (59, "59 s"), (61, "1 min"), (3599, "1 h 00 min"), (36_300, "10 h 05 min")],
)
def test_durations(seconds, shown):
    assert duration(seconds) == shown


def test_plain_lines_where_there_is_no_terminal(board):
    console = Console(file=io.StringIO(), width=100)
    with make_display(board, console) as display:
        display.refresh()
        display.note("[run0]: finished")
    assert console.file.getvalue() == "[run0]: finished\n"


def test_a_live_table_on_a_terminal(board):
    console = Console(file=io.StringIO(), width=100, height=20, force_terminal=True)
    with make_display(board, console) as display:
        display.refresh()
    assert "run3" in console.file.getvalue()
    assert "1 finished, 4 waiting" in console.file.getvalue()
