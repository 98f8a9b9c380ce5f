"""Ordinary Gymnasium environments as a batch."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

from rilco.errors import ConfigError, TaskError
from rilco.tasks.gym_batch import GymBatch
from rilco.tasks.table import Task


def rngs(*seeds: int) -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in seeds]


def test_steps_like_the_environment_itself() -> None:
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


def test_actions_are_clipped_to_the_space() -> None:
    batch = GymBatch("Pendulum-v1", 1)
    outcomes = []
    for action in (2.0, 50.0):
        batch.reset([0], rngs(3))
        outcomes.append(batch.step(np.array([[action]], np.float32)))
    assert outcomes[0].reward == outcomes[1].reward
    batch.close()


def test_time_limit_is_a_truncation() -> None:
    batch = GymBatch("Pendulum-v1", 1)
    batch.reset([0], rngs(0))
    steps = [batch.step(np.zeros((1, 1), np.float32)) for _ in range(200)]
    assert not any(step.terminated[0] for step in steps)
    assert [bool(step.truncated[0]) for step in steps] == [False] * 199 + [True]
    batch.close()


def test_choices_are_taken_and_discrete_observations_are_one_hot() -> None:
    batch = GymBatch("FrozenLake-v1", 2, {"is_slippery": False})
    assert batch.reset([0, 1], rngs(1, 2)).tolist() == [np.eye(16)[0].tolist()] * 2
    step = batch.step(np.array([[1.0], [2.0]], np.float32))  # down, and to the right
    assert step.obs.argmax(axis=1).tolist() == [4, 1]
    batch.close()


def test_unknown_environment() -> None:
    with pytest.raises(TaskError, match="NoSuchThing-v3"):
        GymBatch("NoSuchThing-v3", 1)


def test_task_names() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'walker2d'"):
        Task(task="walker")
    with pytest.raises(ConfigError, match="Choose an environment"):
        Task().spaces()
    with pytest.raises(ConfigError, match="one environment"):
        Task(task="ant", env="Pendulum-v1")
    assert Task(env="Pendulum-v1").dimensions() == (3, 1)
