"""Demonstrations from policies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest.mock import Mock

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box
from tests.environments import env_id

from rilco.data.collect import GAUSSIAN_FRACTIONS, collect, find_variances
from rilco.errors import ConfigError, DemonstrationError, RunError, TaskError
from rilco.policy.saved import Policy
from rilco.tasks.table import Task

DRIFT = Task(env=env_id("Drift"))


def make_policy(gain: float = 0.5, obs_dim: int = 2) -> Policy:
    weight = np.zeros((obs_dim, 1), np.float32)
    weight[0] = gain
    zeros, ones = np.zeros(obs_dim, np.float32), np.ones(obs_dim, np.float32)
    return Policy(zeros, ones, [(weight, np.zeros(1, np.float32))], np.zeros(1, np.float32))


class Steady(gymnasium.Env):
    """Pays exp(-action^2 / 2) a step, so that noise of variance v on the action 0 leaves 1 / sqrt(1 + v)."""

    def __init__(self, pay: float = 1.0) -> None:
        self.observation_space = Box(-1.0, 1.0, (2,), np.float32)
        self.action_space = Box(-1000.0, 1000.0, (1,), np.float32)
        self.pay = pay

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.age = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        self.age += 1
        reward = self.pay * float(np.exp(-(action[0] ** 2) / 2))
        return np.zeros(2, np.float32), reward, False, self.age >= 400, {}


@pytest.fixture
def steady() -> Iterator[Task]:
    gymnasium.register("Steady-v0", entry_point=Steady)
    yield Task(env="Steady-v0")
    gymnasium.registry.pop("Steady-v0")


def test_whole_episodes_in_order() -> None:
    demos = collect(make_policy(), DRIFT, pairs=200, expert=True, name="me")
    assert 200 <= len(demos) < 213
    assert demos.noise_fraction == 0.0
    assert demos.demonstrator_names == ("me",)
    for episode in demos.episodes():
        age = np.rint(10 * episode.obs[:, 1]).astype(int)
        assert np.array_equal(age, np.arange(len(episode)))  # from its start, nothing left out
        assert episode.terminated.tolist() == [False] * (len(episode) - 1) + [True]
        np.testing.assert_allclose(episode.action[:, 0], 0.5 * episode.obs[:, 0], atol=1e-6)
    assert np.all(np.diff(demos.episode) >= 0)


def test_so_many_episodes() -> None:
    seven = collect(make_policy(), DRIFT, episodes=7)
    assert np.array_equal(np.unique(seven.episode), np.arange(7))
    by_pairs = collect(make_policy(), DRIFT, pairs=len(seven))
    assert by_pairs.fingerprint() == seven.fingerprint()
    assert len(np.unique(collect(make_policy(), DRIFT, episodes=1).episode)) == 1


@pytest.mark.parametrize("how", [{}, {"deterministic": False}, {"action_noise": 0.3}])
def test_repeatable_and_not_dependent_on_how_many_play_side_by_side(how: dict[str, Any]) -> None:
    one, two, three = (collect(make_policy(), DRIFT, pairs=100, num_envs=n, **how) for n in (4, 4, 1))
    assert one.fingerprint() == two.fingerprint()
    np.testing.assert_allclose(one.obs, three.obs, atol=1e-5)
    np.testing.assert_allclose(one.action, three.action, atol=1e-5)
    assert collect(make_policy(), DRIFT, pairs=100, seed=1, **how).fingerprint() != one.fingerprint()


def test_stochastic_actions_spread() -> None:
    demos = collect(make_policy(), DRIFT, pairs=500, deterministic=False)
    residual = demos.action[:, 0] - 0.5 * demos.obs[:, 0]
    assert 0.8 < residual.std() < 1.2


def test_action_noise_has_the_variance_asked_for_and_is_executed() -> None:
    demos = collect(make_policy(), DRIFT, pairs=3000, action_noise=0.04)
    residual = demos.action[:, 0] - 0.5 * demos.obs[:, 0]
    assert residual.std() == pytest.approx(0.2, rel=0.1)
    assert abs(residual.mean()) < 0.02
    both = collect(make_policy(), DRIFT, pairs=3000, action_noise=3.0, deterministic=False)
    assert (both.action[:, 0] - 0.5 * both.obs[:, 0]).std() == pytest.approx(2.0, rel=0.1)
    # The environment moved by the recorded, noisy action; its own noise has a spread of 0.01.
    for episode in demos.episodes():
        moved = np.diff(episode.obs[:, 0])
        assert np.abs(moved - 0.1 * np.clip(episode.action[:-1, 0], -1, 1)).max() < 0.06


def test_progress_counts_what_was_asked_for() -> None:
    seen: list[int] = []
    collect(make_policy(), DRIFT, pairs=50, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 50
    seen.clear()
    collect(make_policy(), DRIFT, episodes=5, progress=seen.append)
    assert seen[-1] == 5


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"pairs": 0}, "--pairs 0"),
        ({"episodes": 0}, "--episodes 0"),
        ({"action_noise": -1.0}, "--action-noise -1.0"),
        ({"action_noise": float("nan")}, "--action-noise nan"),
    ],
)
def test_amounts_that_cannot_be(how: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        collect(make_policy(), DRIFT, **how)


def test_policy_for_another_environment_is_refused() -> None:
    with pytest.raises(RunError, match="The policy was trained for another environment"):
        collect(make_policy(obs_dim=3), DRIFT)


def test_environments_that_fail() -> None:
    with pytest.raises(TaskError, match="RuntimeError: the gripper is stuck"):
        collect(make_policy(), Task(env=env_id("Raises")))
    with pytest.raises(DemonstrationError, match="must be finite"):
        collect(make_policy(), Task(env=env_id("Explodes")), num_envs=1)


def test_variances_bring_the_return_where_it_is_wanted(steady: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Mock(side_effect=collect)
    monkeypatch.setattr("rilco.data.collect.collect", counted)
    variances = find_variances(make_policy(), steady, episodes=4)
    for variance, wanted in zip(variances, GAUSSIAN_FRACTIONS, strict=True):
        assert 1 / np.sqrt(1 + variance) == pytest.approx(wanted, abs=0.06)
        again = collect(make_policy(), steady, episodes=4, action_noise=variance)
        assert again.reward.sum() / 1600 == pytest.approx(wanted, abs=0.02)
    assert variances == sorted(variances)
    assert counted.call_count <= 20  # what was tried for one fraction serves the others


def test_variances_with_too_few_rounds_are_the_nearest_tried(
    steady: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rilco.data.collect.ROUNDS", 0)
    # Of what is left without noise and with the most, 1 and 0.1, the latter is nearer to 0.5.
    assert find_variances(make_policy(), steady, (0.5, 0.9), episodes=1) == [100.0, 1e-3]


def test_variances_that_do_not_exist(steady: Task) -> None:
    with pytest.raises(TaskError, match=r"no noise brings the return from 400\.0 to 0\.01 of that"):
        find_variances(make_policy(), steady, (0.01,), episodes=1)
    with pytest.raises(TaskError, match="no noise brings"):
        find_variances(make_policy(), steady, (1.0,), episodes=1)
    with pytest.raises(TaskError, match="only if it is positive"):
        find_variances(make_policy(), DRIFT, episodes=1)
