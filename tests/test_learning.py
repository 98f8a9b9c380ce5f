"""The learners composed: what sees what, and when the statistics stop."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rilco.learning import Experience, Learner, LearnerState, run_key
from rilco.networks import apply_mlp
from rilco.normalizer import normalize, update_normalizer
from rilco.policy.acktr import acktr
from rilco.policy.config import AcktrConfig
from rilco.policy.learner import PolicyLearner, Rollout
from rilco.rewards.config import ClassifierConfig
from rilco.rewards.learner import DemoArrays, Info, RewardLearner
from rilco.rewards.ril import ril_co

T, B, D, A = 5, 4, 3, 2
FREEZE = 2
KEY = jax.random.key(0)
SMALL = ClassifierConfig(hidden=(8, 8), batch=8, candidates=8, selected=4)


@functools.cache
def reward_learner() -> RewardLearner:
    return ril_co(SMALL)


@functools.cache
def learner(imitates: bool) -> Learner:
    policy_learner = acktr(AcktrConfig(hidden_sizes=(8, 8)))
    return Learner(reward_learner() if imitates else None, policy_learner, 0.99, FREEZE)


def experience(seed: int) -> Experience:
    rng = np.random.default_rng(seed)
    ended = rng.uniform(size=(2, T, B)) < 0.1
    return Experience(
        jnp.asarray(3.0 + 2.0 * rng.standard_normal((T + 1, B, D), np.float32)),
        jnp.asarray(np.linspace(0.0, 3.0, (T + 1) * D, dtype=np.float32).reshape(T + 1, D)),
        jnp.asarray(np.linspace(4.0, 1.0, (T + 1) * D, dtype=np.float32).reshape(T + 1, D)),
        jnp.asarray(rng.standard_normal((T, B, A), np.float32)),
        jnp.asarray(rng.standard_normal((T, B), np.float32)),
        *map(jnp.asarray, ended),
    )


def batches(seed: int) -> Any:
    rng = np.random.default_rng(seed)
    demos = DemoArrays(rng.standard_normal((100, D), np.float32), rng.standard_normal((100, A), np.float32))
    return reward_learner().sample(demos, rng)


def run(
    imitates: bool,
    iterations: int,
    change: Callable[[Experience], Experience] = lambda experience: experience,
) -> tuple[list[LearnerState], list[Info]]:
    this = learner(imitates)
    states = [this.init(KEY, D, A, B)]
    infos = []
    for i in range(iterations):
        drawn = batches(i) if imitates else None
        state, info = this.learn(states[-1], change(experience(i)), drawn, i, KEY)
        states.append(state)
        infos.append(info)
    return states, infos


def test_statistics_stay_in_imitation_and_with_the_true_reward_move_once_the_collector_has_stopped() -> None:
    counts = {
        imitates: [round(float(state.normalizer.count)) for state in run(imitates, 4)[0]]
        for imitates in (True, False)
    }
    assert counts == {True: [0] * 5, False: [0, 0, 0, 20, 40]}
    assert learner(True).moving_iterations == FREEZE


def test_statistics_count_each_new_observation_once() -> None:
    state = run(False, FREEZE + 1)[0][-1]
    new = experience(FREEZE).obs[1:].reshape(-1, D)
    expected = update_normalizer(learner(False).init(KEY, D, A, B).normalizer, new)
    np.testing.assert_allclose(state.normalizer.mean, expected.mean, rtol=1e-6)
    np.testing.assert_allclose(state.normalizer.var, expected.var, rtol=1e-6)


def watching() -> PolicyLearner:
    """A policy learner that only remembers its rollout shows what it was given."""
    return PolicyLearner(
        init=lambda key, obs_dim, action_dim: Rollout(
            obs=jnp.zeros((T, B, D)),
            action=jnp.zeros((T, B, A)),
            reward=jnp.zeros((T, B)),
            terminated=jnp.zeros((T, B), bool),
            truncated=jnp.zeros((T, B), bool),
            last_obs=jnp.zeros((B, D)),
        ),
        update=lambda state, rollout, key: (rollout, {}),
    )


def test_policy_learns_from_what_it_acted_on_and_from_the_learned_reward() -> None:
    this = Learner(reward_learner(), watching(), 0.99, FREEZE)
    before = this.init(KEY, D, A, B)
    before, _ = this.learn(before, experience(0), batches(0), 0, KEY)
    after, _ = this.learn(before, experience(1), batches(1), 1, KEY)
    # Each line by the statistics that the policy saw it with.
    mean, var = (np.asarray(array)[:, None] for array in (experience(1).obs_mean, experience(1).obs_var))
    seen, obs = after.policy, np.clip((experience(1).obs - mean) / np.sqrt(var + 1e-8), -10.0, 10.0)
    np.testing.assert_allclose(seen.obs, obs[:-1], rtol=1e-6)
    np.testing.assert_allclose(seen.last_obs, obs[-1], rtol=1e-6)
    learned = reward_learner().reward(
        after.reward, obs[:-1], experience(1).action
    )  # by the classifiers just trained
    np.testing.assert_allclose(seen.reward, learned, rtol=1e-5)


def test_lasting_ends_pay_the_reward_of_a_terminal_step_for_ever() -> None:
    """Where a time limit cut an episode nothing changes: what would have followed is unknown."""
    ends = experience(0)
    assert np.any(ends.terminated)
    assert np.any(ends.truncated & ~ends.terminated)
    rewards = []
    for lasting in (False, True):
        this = Learner(reward_learner(), watching(), 0.9, FREEZE, lasting_ends=lasting)
        rewards.append(this.learn(this.init(KEY, D, A, B), ends, batches(0), 0, KEY)[0].policy.reward)
    np.testing.assert_allclose(rewards[1], np.where(ends.terminated, 10.0, 1.0) * rewards[0], rtol=1e-5)


def test_lasting_ends_leave_the_true_reward_alone() -> None:
    rewards = []
    for lasting in (False, True):
        this = Learner(None, watching(), 0.9, FREEZE, lasting_ends=lasting)
        rewards.append(this.learn(this.init(KEY, D, A, B), experience(0), None, 0, KEY)[0].policy.reward)
    np.testing.assert_array_equal(*rewards)


def test_the_true_reward_does_not_reach_imitation() -> None:
    plain = run(True, 3)[0][-1]
    changed = run(True, 3, lambda e: e._replace(reward=100.0 * e.reward - 7.0))[0][-1]
    assert all(
        np.array_equal(a, b) for a, b in zip(jax.tree.leaves(plain), jax.tree.leaves(changed), strict=True)
    )
    moved = run(False, 3, lambda e: e._replace(reward=-e.reward))[0][-1]
    still = run(False, 3)[0][-1]
    assert not np.array_equal(
        moved.policy.params.actor.layers[0]["w"], still.policy.params.actor.layers[0]["w"]
    )


def test_same_key_same_bytes_and_compiled_once() -> None:
    compiled: Any = learner(True).learn
    a, programs = run(True, 3)[0][-1], compiled._cache_size()
    learner.cache_clear()
    b = run(True, 3)[0][-1]
    assert all(np.array_equal(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))
    assert compiled._cache_size() == programs


@pytest.mark.parametrize("part", ["reward", "policy"])
def test_nan_in_the_state_is_counted(part: str) -> None:
    state = run(True, 1)[0][1]
    spoiled = jax.tree.map(
        lambda leaf: leaf.at[...].set(jnp.nan) if leaf.dtype == jnp.float32 else leaf, getattr(state, part)
    )
    _, info = learner(True).learn(state._replace(**{part: spoiled}), experience(1), batches(1), 1, KEY)
    assert info[f"nonfinite_{part}_learner"] > 0
    healthy = learner(True).learn(state, experience(1), batches(1), 1, KEY)[1]
    assert healthy["nonfinite_reward_learner"] == healthy["nonfinite_policy_learner"] == 0


def test_numpy_policy_acts_like_the_learners_actor() -> None:
    state = run(True, 3)[0][-1]
    obs = 3.0 + 2.0 * np.random.default_rng(5).standard_normal((50, D), np.float32)
    expected = apply_mlp(state.policy.params.actor.layers, normalize(state.normalizer, jnp.asarray(obs)))
    np.testing.assert_allclose(learner(True).policy(state).predict(obs), expected, atol=1e-5)


@pytest.mark.parametrize("seed", [0, 7, 2**31 - 1])
def test_the_key_of_a_run_is_jaxs(seed: int) -> None:
    keys = run_key(seed), jax.random.key(seed)
    assert np.array_equal(*map(jax.random.key_data, keys))
