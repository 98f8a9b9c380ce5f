"""The Ray engine, on a real cluster of two nodes; and what its task does without one."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.experiment.test_sweep import (
    ROOT,
    assert_checkpointed,
    contents,
    grid_file,
    processes_of,
    start_sweep,
    wait_until,
)
from tests.experiment.tiny import tiny

from rilco import __version__
from rilco.errors import ConfigError
from rilco.experiment.cluster import ClusterEngine, Preempted, run_on_node
from rilco.experiment.grid import Job
from rilco.experiment.launch import Settings, search_path

has_ray = pytest.mark.skipif(
    subprocess.run([sys.executable, "-c", "import ray"], capture_output=True, check=False).returncode != 0,
    reason="Ray is not installed",
)


def test_without_ray_the_engine_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"\.\[ray\]"):
        ClusterEngine(Settings(tmp_path, workers=1))


def test_nothing_heavy_is_imported_where_tasks_run() -> None:
    code = "import sys, rilco.experiment.cluster; print({'jax', 'ray', 'h5py'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"


def request(tmp_path: Path, **options: object) -> dict:
    settings = Settings(tmp_path / "out", workers=1, checkpoint_every=5)
    return settings.request(Job("run", tiny(**options)))


def test_a_node_that_cannot_work_says_why(tmp_path: Path) -> None:
    token = tmp_path / "token"
    assert "does not see" in run_on_node(request(tmp_path), {}, str(token), __version__)
    token.touch()
    assert "this node has rilco" in run_on_node(request(tmp_path), {}, str(token), "0.0.0")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_preempted_run_leaves_a_checkpoint_and_asks_to_be_tried_again(tmp_path: Path) -> None:
    (tmp_path / "token").touch()
    run, log = tmp_path / "out" / "run", tmp_path / "out" / "logs" / "run.log"
    ended = threading.Event()

    def preempt() -> None:
        while not list(run.glob("checkpoints/*.json")) and not ended.wait(0.02):
            pass
        os.kill(int(re.findall(r"process (\d+) on", log.read_text())[-1]), signal.SIGTERM)

    thread = threading.Thread(target=preempt)
    thread.start()
    try:
        asked = request(tmp_path, steps=10_000_000)
        with pytest.raises(Preempted):
            run_on_node(asked, search_path(), str(tmp_path / "token"), __version__)
    finally:
        ended.set()
        thread.join()
    assert_checkpointed(run)


@pytest.fixture(autouse=True)
def own_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one, Ray would make a token for all clusters of this user, and keep it in the home folder."""
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", uuid.uuid4().hex)


@pytest.fixture
def cluster() -> Iterator[tuple[str, int]]:
    """Address, and process of the second node."""
    script = Path(__file__).with_name("ray_cluster.py")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}  # for tests.environments
    process = subprocess.Popen(
        [sys.executable, str(script)],
        env=environment,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    address, raylet = process.stdout.readline().split()
    yield address, int(raylet)
    process.communicate()  # closes its input, and it ends


def kill_node(raylet: int) -> None:
    """Ray's processes of a node. The run itself is left to notice that nobody waits for it any more."""
    own = Path(f"/proc/{raylet}/task/{raylet}/children").read_text().split()
    for pid in (raylet, *map(int, own)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


# Neither run can end before both have begun, however late a node starts its own.
SLOW_UNTIL = """
from tests.experiment.tiny import tiny

def grid():
    for seed in (1, 2):
        yield f"good/seed-{seed}", tiny("Slow", env_kwargs={"until": "HURRY"}, seed=seed, steps=10_000, evaluate_every=2000)
"""


@has_ray
@pytest.mark.slow
def test_a_killed_node_loses_nothing(tmp_path: Path, cluster: tuple[str, int]) -> None:
    """Runs go on elsewhere from their checkpoints, and end with the bytes of a sweep on one machine."""
    address, raylet = cluster
    hurry, grid, out = tmp_path / "hurry", tmp_path / "grid.py", tmp_path / "out"
    grid.write_text(SLOW_UNTIL.replace("HURRY", str(hurry)))
    names = ("good/seed-1", "good/seed-2")
    arguments = ("--engine", "ray", "--address", address, "--checkpoint-every", 5)
    process = start_sweep(grid, "--out", out, *arguments)
    wait_until(lambda: all(list((out / name).glob("checkpoints/*.json")) for name in names), process)
    kill_node(raylet)
    hurry.touch()
    said, errors = process.communicate()
    assert process.returncode == 0, errors
    assert "2 finished" in said
    logs = [(out / "logs" / f"{name}.log").read_text() for name in names]
    assert sorted(log.count("--- ") for log in logs) == [1, 2]  # one of them began a second time
    assert any("Resuming after" in log for log in logs)
    alone = start_sweep(grid, "--out", tmp_path / "local", "--jobs", 2)
    alone.communicate()
    for name in names:
        assert contents(out / name) == contents(tmp_path / "local" / name)
    assert not list(out.glob(".sweep-*"))


@has_ray
@pytest.mark.slow
def test_ctrl_c_with_ray_leaves_checkpoints(tmp_path: Path) -> None:
    """On a cluster that the sweep starts itself."""
    out = tmp_path / "out"
    process = start_sweep(grid_file(tmp_path, 10_000_000), "--out", out, "--engine", "ray", "--jobs", 2)
    runs = [out / "good" / f"seed-{seed}" for seed in (1, 2)]
    wait_until(lambda: all((run / "metrics.jsonl").exists() for run in runs), process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    for run in runs:
        assert_checkpointed(run)
    assert processes_of(out) == []


@has_ray
@pytest.mark.slow
def test_an_address_where_nothing_is(tmp_path: Path) -> None:
    process = start_sweep(
        grid_file(tmp_path, 200), "--out", tmp_path / "out", "--engine", "ray", "--address", "127.0.0.1:1"
    )
    _, errors = process.communicate()
    assert process.returncode == 1
    assert "no Ray cluster could be joined" in errors
    assert "Traceback" not in errors
