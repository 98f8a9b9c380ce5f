"""Workers: the same results however many, and nothing left behind when one is lost."""

from __future__ import annotations

import itertools
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from tests.environments import env_id

from rilco.errors import ConfigError, TaskError, WorkerError
from rilco.policy.saved import Policy
from rilco.rollout.episodes import UnfinishedEpisodes
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import RolloutPool, patience
from rilco.tasks.table import Task

HIDDEN = (8, 8)


def make_policy(obs_dim: int, action_dim: int) -> Policy:
    rng = np.random.default_rng(0)
    widths = [obs_dim, *HIDDEN, action_dim]
    layers = [
        (rng.normal(0, 0.4, (a, b)).astype(np.float32), rng.normal(0, 0.1, b).astype(np.float32))
        for a, b in itertools.pairwise(widths)
    ]
    return Policy(
        np.zeros(obs_dim, np.float32), np.ones(obs_dim, np.float32), layers, np.zeros(action_dim, np.float32)
    )


def open_pool(task: Task, workers: int, num_envs: int = 8, num_steps: int = 20) -> tuple[RolloutPool, Policy]:
    obs_dim, action_dim = task.dimensions()
    sizes = Sizes(num_envs, num_steps, obs_dim, task.spaces().actions.fitted(None), HIDDEN)
    return RolloutPool(task, sizes, seed=3, num_workers=workers), make_policy(obs_dim, action_dim)


def experience(task: Task, workers: int, iterations: int = 3) -> list[bytes]:
    pool, policy = open_pool(task, workers)
    with pool:
        pool.start()
        collected = []
        for i in range(iterations):
            collected += [array.tobytes() for array in pool.collect(policy, i)]
            if i == 1:  # in between, so that an evaluation must not disturb the training environments
                collected.append(pool.evaluate(policy, episodes=5, seed=7).returns.tobytes())
        return collected


BOTH = [Task(env=env_id("Drift")), pytest.param(Task(task="hopper"), marks=pytest.mark.bullet)]


@pytest.mark.parametrize("task", BOTH, ids=["gymnasium", "bullet"])
def test_results_do_not_depend_on_the_number_of_workers(task: Task) -> None:
    expected = experience(task, 1)
    assert experience(task, 2) == expected
    assert experience(task, 4) == expected


def test_more_workers_than_environments() -> None:
    pool, policy = open_pool(Task(env=env_id("Drift")), workers=5, num_envs=2)
    with pool:
        pool.start()
        assert pool.collect(policy, 0).action.shape == (20, 2, 1)
        assert len(pool.pids) == 2
        assert len(pool.evaluate(policy, episodes=1, seed=0).returns) == 1


def test_transitions_are_what_the_environment_did() -> None:
    """Observation, action and reward line up, and an episode's return is the sum of its rewards."""
    pool, policy = open_pool(Task(env=env_id("Drift")), workers=2, num_envs=3)
    with pool:
        pool.start()
        t = pool.collect(policy, 0)
        sums, returns = np.zeros(3), []
        for step in range(20):
            sums += t.reward[step]
            for env in np.flatnonzero(t.terminated[step] | t.truncated[step]):
                returns.append(sums[env])
                sums[env] = 0.0
                assert t.obs[step + 1, env, 1] == 0.0  # a new episode's age
        np.testing.assert_allclose(t.episode_returns, returns)
        assert len(returns) >= 3
        # The action's mean follows the observation that is stored with it.
        residual = t.action - policy.predict(t.obs[:-1].reshape(-1, 2)).reshape(t.action.shape)
        assert abs(residual.mean()) < 0.5
        assert 0.6 < residual.std() < 1.5


def test_worker_whose_environment_raises_is_named_with_its_traceback() -> None:
    pool, policy = open_pool(Task(env=env_id("Raises")), workers=2)
    pids = pool.pids
    pool.start()
    pool.collect(policy, 0)  # 20 steps: still well
    with pytest.raises(WorkerError) as caught:
        pool.collect(policy, 1)
    message = str(caught.value)
    assert "Worker 0 (environments 0 to 3, " in message or "Worker 1 (environments 4 to 7, " in message
    assert "the gripper is stuck" in message
    assert "in step" in message
    assert_gone(pids)


def test_memory_that_is_not_there_is_our_error() -> None:
    """A file may be no longer than this, and shared memory is one."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(WorkerError, match=r"need [\d,]+ bytes.*fewer environments"):
            open_pool(Task(env=env_id("Drift")), workers=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_an_environment_that_hangs_is_noticed() -> None:
    pool, policy = open_pool(Task(env=env_id("Hangs")), workers=2)
    pids = pool.pids
    pool.start()
    pool.patience = 1.0
    with pytest.raises(WorkerError, match=r"took no step for 1 s during 'collect'.*RILCO_STEP_TIMEOUT"):
        pool.collect(policy, 0)
    assert_gone(pids)


def test_slow_is_not_hanging() -> None:
    """An evaluation may take longer than a step may: this one takes at least 1.4 s."""
    pool, policy = open_pool(Task(env=env_id("Slow")), workers=1)
    with pool:
        pool.patience = 1.0
        assert len(pool.evaluate(policy, episodes=20, seed=0).returns) == 20


@pytest.mark.parametrize("text", ["soon", "-1", "nan"])
def test_a_time_limit_that_is_none(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RILCO_STEP_TIMEOUT", text)
    with pytest.raises(ConfigError, match=f"RILCO_STEP_TIMEOUT={text}: expected a number of seconds"):
        open_pool(Task(env=env_id("Drift")), workers=1)


@pytest.mark.parametrize("text, seconds", [(None, 600.0), ("30", 30.0), ("0", None)])
def test_the_time_limit_is_a_setting_and_0_waits_for_ever(
    text: str | None, seconds: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if text is None:
        monkeypatch.delenv("RILCO_STEP_TIMEOUT", raising=False)
    else:
        monkeypatch.setenv("RILCO_STEP_TIMEOUT", text)
    assert patience() == seconds


HANGING = """
import sys
sys.path.insert(0, sys.argv[1])
from tests.rollout.test_pool import Task, env_id, open_pool
pool, policy = open_pool(Task(env=env_id("Hangs")), workers=2)
pool.start()
print(*pool.pids, flush=True)
pool.collect(policy, 0)
"""


def test_workers_end_with_their_parent_even_while_they_hang() -> None:
    root = str(Path(__file__).resolve().parents[2])
    parent = subprocess.Popen([sys.executable, "-c", HANGING, root], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(pids) == 2
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert_gone(pids)


def test_worker_that_dies_is_named() -> None:
    pool, policy = open_pool(Task(env=env_id("Dies")), workers=2)
    pids = pool.pids
    pool.start()
    with pytest.raises(WorkerError, match=r"Worker \d .*killed by SIGKILL"):
        pool.collect(policy, 0)
    assert_gone(pids)


def test_workers_leave_when_the_learner_goes_away() -> None:
    pool, _ = open_pool(Task(env=env_id("Drift")), workers=2)
    pids = pool.pids
    for process in pool._processes:
        process.connection.close()  # what the workers see when the learner is killed
    assert_gone(pids)
    pool.close()


def test_no_shared_memory_has_a_name() -> None:
    shm = Path("/dev/shm")
    before = set(os.listdir(shm)) if shm.exists() else set()
    pool, policy = open_pool(Task(env=env_id("Drift")), workers=2)
    with pool:
        pool.start()
        pool.collect(policy, 0)
        assert not shm.exists() or set(os.listdir(shm)) <= before


def test_environment_that_cannot_be_built_is_our_error() -> None:
    with pytest.raises((TaskError, WorkerError), match="NoSuch-v0"):
        open_pool(Task(env="NoSuch-v0"), workers=1)


@pytest.mark.parametrize("task", BOTH, ids=["gymnasium", "bullet"])
def test_replay_brings_every_environment_back(task: Task) -> None:
    pool, policy = open_pool(task, workers=2)
    with pool:
        pool.start()
        episodes = UnfinishedEpisodes(8)
        for i in range(4):
            episodes.record(pool.collect(policy, i))
        saved = {name: array.copy() for name, array in episodes.arrays().items()}
        expected = [array.tobytes() for array in pool.collect(policy, 4)]
    pool, _ = open_pool(task, workers=1)
    with pool:
        restored, exact = UnfinishedEpisodes.restore(saved, pool)
        assert exact
        assert [array.tobytes() for array in pool.collect(policy, 4)] == expected
        assert {k: v.tobytes() for k, v in restored.arrays().items()} == {
            k: v.tobytes() for k, v in saved.items()
        }


@pytest.mark.parametrize("name", ["Forgetful", "Moody"])
def test_replay_notices_an_environment_that_does_not_repeat(name: str) -> None:
    task = Task(env=env_id(name))
    pool, policy = open_pool(task, workers=1)
    with pool:
        pool.start()
        episodes = UnfinishedEpisodes(8)
        episodes.record(pool.collect(policy, 0))
        _, exact = UnfinishedEpisodes.restore(episodes.arrays(), pool)
        assert not exact


def assert_gone(pids: list[int]) -> None:
    """No process of `pids` is left, give it a moment."""
    for _ in range(600):
        if all(map(gone, pids)):
            return
        time.sleep(0.1)
    pytest.fail(f"still running: {[pid for pid in pids if not gone(pid)]}")


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for yet counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
