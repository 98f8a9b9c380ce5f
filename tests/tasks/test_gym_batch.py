"""Ordinary Gymnasium environments as a batch."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from rilco.errors import ConfigError, TaskError
from rilco.tasks.gym_batch import GymBatch
from rilco.tasks.table import Task


def rngs(*seeds):
    return [np.random.default_rng(seed) for seed in seeds]


def test_steps_like_the_environment_itself():
    batch, env = GymBatch("Pendulum-v1", 2), gymnasium.make("Pendulum-v1")
    obs = batch.reset([0, 1], rngs(1, 2))
    expected, _ = env.reset(seed=int(np.random.default_rng(2).integers(2**31)))
    assert np.array_equal(obs[1], expected)
    for _ in range(5):
        step = batch.step(np.array([[0.5], [-1.5]], np.float32))
        expected, reward, *_ = env.step(np.array([-1.5], np.float32))
        assert np.array_equal(step.obs[1], expected.astype(np.float32))
        assert step.reward[1] == pytest.approx(reward)
    batch.close()


def test_actions_are_clipped_to_the_space():
    batch = GymBatch("Pendulum-v1", 1)
    outcomes = []
    for action in (2.0, 50.0):
        batch.reset([0], rngs(3))
        outcomes.append(batch.step(np.array([[action]], np.float32)))
    assert outcomes[0].reward == outcomes[1].reward
    batch.close()


def test_time_limit_is_a_truncation():
    batch = GymBatch("Pendulum-v1", 1)
    batch.reset([0], rngs(0))
    steps = [batch.step(np.zeros((1, 1), np.float32)) for _ in range(200)]
    assert not any(step.terminated[0] for step in steps)
    assert [bool(step.truncated[0]) for step in steps] == [False] * 199 + [True]
    batch.close()


@pytest.mark.parametrize(
    ("env_id", "named"), [("CartPole-v1", "Discrete(2)"), ("FrozenLake-v1", "Discrete(16)")]
)
def test_other_spaces_are_refused_by_name(env_id, named):
    with pytest.raises(TaskError) as caught:
        GymBatch(env_id, 1)
    assert named in str(caught.value)
    assert "Box" in str(caught.value)


def test_unknown_environment():
    with pytest.raises(TaskError, match="NoSuchThing-v3"):
        GymBatch("NoSuchThing-v3", 1)


def test_task_names():
    with pytest.raises(ConfigError, match="Did you mean 'walker2d'"):
        Task(task="walker")
    with pytest.raises(ConfigError, match="one environment"):
        Task()
    with pytest.raises(ConfigError, match="one environment"):
        Task(task="ant", env="Pendulum-v1")
    assert Task(env="Pendulum-v1").dimensions() == (3, 1)
