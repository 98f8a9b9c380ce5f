"""Demonstrations from policies."""

from __future__ import annotations

import numpy as np
from tests.environments import env_id

from rilco.collect import collect
from rilco.policy.saved import Policy
from rilco.tasks.table import Task


def make_policy() -> Policy:
    layers = [(np.array([[0.5], [0.0]], np.float32), np.zeros(1, np.float32))]
    return Policy(np.zeros(2, np.float32), np.ones(2, np.float32), layers, np.zeros(1, np.float32))


def test_whole_episodes_in_order():
    demos = collect(make_policy(), Task(env=env_id("Drift")), pairs=200, expert=True, name="me")
    assert 200 <= len(demos) < 213
    assert demos.noise_fraction == 0.0
    assert demos.demonstrator_names == ("me",)
    for episode in demos.episodes():
        age = np.rint(10 * episode.obs[:, 1]).astype(int)
        assert np.array_equal(age, np.arange(len(episode)))  # from its start, nothing left out
        assert episode.terminated.tolist() == [False] * (len(episode) - 1) + [True]
        np.testing.assert_allclose(episode.action[:, 0], 0.5 * episode.obs[:, 0], atol=1e-6)
    assert np.all(np.diff(demos.episode) >= 0)


def test_repeatable_and_not_dependent_on_how_many_play_side_by_side():
    task, policy = Task(env=env_id("Drift")), make_policy()
    one, two, three = (collect(policy, task, pairs=100, num_envs=n) for n in (4, 4, 1))
    assert one.fingerprint() == two.fingerprint()
    np.testing.assert_allclose(one.obs, three.obs)
    assert collect(policy, task, pairs=100, seed=1).fingerprint() != one.fingerprint()


def test_stochastic_actions_spread():
    demos = collect(make_policy(), Task(env=env_id("Drift")), pairs=500, deterministic=False)
    residual = demos.action[:, 0] - 0.5 * demos.obs[:, 0]
    assert 0.8 < residual.std() < 1.2
