"""Working through a grid: with an engine that only pretends, and with real processes."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console
from tests.experiment.tiny import fake_run, tiny

from rilco.experiment.cluster import ClusterEngine
from rilco.experiment.grid import Job, make_jobs
from rilco.experiment.launch import Settings, ask_to_stop, how_it_ended, search_path, start_run
from rilco.experiment.local import LocalEngine, share_cores
from rilco.experiment.status import Board
from rilco.experiment.sweep import survey, work_through
from rilco.runs.interrupt import StopSignal
from rilco.runs.progress import StatusLine

ROOT = Path(__file__).resolve().parents[2]


class Pretender:
    """Ends runs as it is told to, without training; two at a time."""

    first_state = "started"

    def __init__(self, out: Path, ends: dict[str, str]) -> None:
        self.out, self.ends = out, ends
        self.running: list[Job] = []
        self.most = 0
        self.stopped = False
        self.writes = True
        self.started: list[str] = []

    def room(self) -> bool:
        return len(self.running) < 2

    def start(self, job: Job) -> None:
        self.running.append(job)
        self.started.append(job.name)
        self.most = max(self.most, len(self.running))

    def poll(self, seconds: float) -> list[tuple[Job, str]]:
        if self.stopped:
            ended, self.running = self.running, []
            return [(job, "stopped") for job in ended]
        job = self.running.pop(0)
        how = self.ends.get(job.name, "finished")
        if how == "finished" and self.writes:
            fake_run(self.out / job.name, job.config)
        return [(job, how)]

    def stop(self) -> None:
        self.stopped = True


def pretend(
    tmp_path: Path, ends: dict[str, str], stop: StopSignal | None = None, count: int = 5, writes: bool = True
) -> tuple[Pretender, Board, dict[str, str], str]:
    jobs = make_jobs([(f"run{seed}", tiny(seed=seed)) for seed in range(count)])
    shown = io.StringIO()
    line = StatusLine(console=Console(file=shown, width=200))
    board = Board(jobs, survey(jobs, tmp_path), tmp_path, line)
    engine = Pretender(tmp_path, ends)
    engine.writes = writes
    failures = work_through(jobs, engine, board, stop or StopSignal())
    return engine, board, failures, shown.getvalue()


def test_every_run_ends_and_failures_stop_nothing(tmp_path: Path) -> None:
    engine, board, failures, said = pretend(tmp_path, {"run1": "exit code 1", "run3": "killed by SIGKILL"})
    assert engine.started == [f"run{i}" for i in range(5)]
    assert engine.most == 2
    assert failures == {"run1": "exit code 1", "run3": "killed by SIGKILL"}
    assert board.summary() == "3 finished, 2 failed"
    lines = re.sub(r"in \d+ s", "in no time", said).splitlines()
    assert lines[:3] == [
        "run0: started",
        "run1: started",
        "run0: finished after 200 transitions in no time, return 100",
    ]
    assert "run1: failed after 0 transitions: exit code 1" in lines


def test_a_run_that_ended_well_but_left_nothing_is_a_failure(tmp_path: Path) -> None:
    _, _, failures, _ = pretend(tmp_path, {}, count=1, writes=False)
    assert "is --out a file system that all nodes share" in failures["run0"]


def test_when_asked_to_stop_nothing_new_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = StopSignal()
    poll = Pretender.poll

    def stop_after_one(self: Pretender, seconds: float) -> list[tuple[Job, str]]:
        ended = poll(self, seconds)
        stop.signum = signal.SIGINT
        return ended

    monkeypatch.setattr(Pretender, "poll", stop_after_one)
    engine, board, failures, said = pretend(tmp_path, {}, stop)
    assert failures == {}
    assert engine.started == ["run0", "run1"]
    assert board.summary() == "1 finished, 1 stopped, 3 waiting"
    assert "each of 1 running" in said


def test_a_run_stopped_by_somebody_else_is_reported(tmp_path: Path) -> None:
    _, board, failures, _ = pretend(tmp_path, {"run0": "stopped"}, count=1)
    assert "signal from elsewhere" in failures["run0"]
    assert board.summary() == "1 failed"


def test_only_a_cluster_may_let_a_run_wait_that_was_handed_over() -> None:
    """A display must not say that a thousand runs have started."""
    assert (LocalEngine.first_state, ClusterEngine.first_state) == ("started", "queued")


@pytest.mark.parametrize(
    ("runs", "jobs", "workers", "expected"),
    [
        (100, None, None, (8, 1)),
        (2, None, None, (2, 4)),
        (1, None, None, (1, 8)),
        (100, 3, None, (3, 2)),
        (100, None, 2, (4, 2)),
        (100, 16, None, (16, 1)),
        (3, 16, 5, (3, 5)),
    ],
)
def test_cores_are_shared(
    monkeypatch: pytest.MonkeyPatch,
    runs: int,
    jobs: int | None,
    workers: int | None,
    expected: tuple[int, int],
) -> None:
    monkeypatch.setattr("rilco.experiment.local.num_workers", lambda: 8)
    assert share_cores(runs, jobs, workers) == expected


# -- real processes ------------------------------------------------------------------------------

GRID = """
from tests.experiment.tiny import tiny

def grid():
    for seed in (1, 2):
        yield f"good/seed-{seed}", tiny(seed=seed, steps=STEPS, evaluate_every=2000)

def with_a_bad_one():
    yield from grid()
    yield "bad", tiny("Raises", steps=STEPS)
"""


def grid_file(folder: Path, steps: int) -> Path:
    file = folder / "grid.py"
    file.write_text(GRID.replace("STEPS", str(steps)))
    return file


def start_sweep(*arguments: object) -> subprocess.Popen:
    command = [sys.executable, "-c", "from rilco.cli import main; main()", "sweep", *map(str, arguments)]
    marked = {**os.environ, "RILCO_TEST_SWEEP": str(arguments[arguments.index("--out") + 1])}
    return subprocess.Popen(
        command, cwd=ROOT, env=marked, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def contents(folder: Path) -> dict[str, bytes]:
    """What a run computed: metrics without the clock, and policies."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    files = {file.name: file.read_bytes() for file in (folder / "policy").iterdir()}
    return {**files, "metrics": repr([{**line, "seconds": None} for line in lines]).encode()}


def assert_checkpointed(folder: Path) -> None:
    """Nothing was lost: the newest checkpoint is of the last iteration that was logged."""
    newest = max((folder / "checkpoints").glob("*.json"))
    logged = (folder / "metrics.jsonl").read_text().splitlines()
    assert json.loads(newest.read_text())["iteration"] == len(logged)


def wait_until(condition: Callable[[], object], process: subprocess.Popen) -> None:
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def processes_of(folder: Path) -> list[int]:
    """Processes that a sweep into a folder has started, and those that they started."""
    mark, found = f"RILCO_TEST_SWEEP={folder}".encode(), []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            with contextlib.suppress(OSError):  # it ended meanwhile
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    found.append(int(process.name))
    return found


@pytest.mark.slow
def test_a_sweep_from_the_command_line(tmp_path: Path) -> None:
    """Two runs finish beside one that fails; what is finished is not begun again."""
    out = tmp_path / "out"
    grid = f"{grid_file(tmp_path, 2000)}:with_a_bad_one"
    command = (grid, "--out", out, "--jobs", 2, "--checkpoint-every", 2)
    process = start_sweep(*command)
    said, errors = process.communicate()
    assert process.returncode == 1, errors
    assert "3 runs, 0 of them finished already" in errors
    assert "2 finished, 1 failed" in said
    assert "good/seed-1: started" in errors
    assert re.search(r"good/seed-1: finished after 2,000 transitions in .*, return", errors)
    assert re.search(r"bad: failed after [0-9]+ transitions.*: exit code 1", errors)
    assert "bad failed: exit code 1" in errors
    assert "the gripper is stuck" in errors
    assert str(out / "logs" / "bad.log") in errors
    again = start_sweep(*command, "--only", "seed=2")
    said, errors = again.communicate()
    assert (said.strip(), "1 run, 1 of them finished already" in errors) == (f"1 finished -> {out}", True)
    assert again.returncode == 0


@pytest.mark.slow
def test_ctrl_c_lets_all_runs_checkpoint_and_the_next_call_goes_on_exactly(tmp_path: Path) -> None:
    """Also with other workers, and other runs beside it, than the sweep that was left alone."""
    grid, out = grid_file(tmp_path, 10_000), tmp_path / "out"
    names = ("good/seed-1", "good/seed-2")
    process = start_sweep(grid, "--out", out, "--jobs", 2)
    wait_until(lambda: all((out / name / "metrics.jsonl").exists() for name in names), process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "The same command goes on" in errors
    assert processes_of(out) == []
    for name in names:
        assert_checkpointed(out / name)
    for arguments in (
        ("--out", out, "--jobs", 2),
        ("--out", tmp_path / "left-alone", "--jobs", 1, "--workers", 2, "--only", "seed=2"),
    ):
        process = start_sweep(grid, *arguments)
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors
    assert contents(out / names[1]) == contents(tmp_path / "left-alone" / names[1])


@pytest.mark.slow
@pytest.mark.parametrize("how", ["second Ctrl-C", "kill -9"])
def test_nothing_is_left_behind(tmp_path: Path, how: str) -> None:
    out = tmp_path / "out"
    process = start_sweep(grid_file(tmp_path, 10_000_000), "--out", out, "--workers", 1, "--jobs", 2)
    runs = [out / "good" / f"seed-{seed}" for seed in (1, 2)]
    wait_until(lambda: all((run / "metrics.jsonl").exists() for run in runs), process)
    assert len(processes_of(out)) == 1 + 2 * 2  # the sweep, and two runs with a worker each
    if how == "kill -9":
        process.kill()
    else:
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    until = time.monotonic() + 300
    while processes_of(out) and time.monotonic() < until:
        time.sleep(0.1)
    assert processes_of(out) == []


def test_a_log_on_a_full_disk_does_not_end_a_run(tmp_path: Path) -> None:
    request = Settings(tmp_path, 1).request(Job("one", tiny(steps=20)))
    process = start_run({**request, "log": "/dev/full"}, search_path())
    how = how_it_ended(process)
    ask_to_stop(process)
    assert how == "finished"
