"""What every policy learner must do, whatever its method: one suite over all of them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rilco.policy.acktr import acktr
from rilco.policy.config import AcktrConfig, PpoConfig
from rilco.policy.learner import PolicyLearner, Rollout, with_actor
from rilco.policy.ppo import ppo
from rilco.runs.checkpoint import flatten, unflatten

OBS_DIM, ACTION_DIM = 3, 2
T, B = 5, 4
NOWHERE = np.zeros((T, B), bool)


def make_rollout(seed: int = 0, reward_scale: float = 1.0) -> Rollout:
    rng = np.random.default_rng(seed)
    return Rollout(
        obs=np.float32(rng.normal(size=(T, B, OBS_DIM))),
        action=np.float32(rng.normal(size=(T, B, ACTION_DIM))),
        reward=np.float32(reward_scale * rng.normal(size=(T, B))),
        terminated=rng.random((T, B)) < 0.2,
        truncated=rng.random((T, B)) < 0.2,
        last_obs=np.float32(rng.normal(size=(B, OBS_DIM))),
    )


def jitted(learner: PolicyLearner) -> PolicyLearner:
    return learner._replace(init=jax.jit(learner.init, static_argnums=(1, 2)), update=jax.jit(learner.update))


def started(learner: PolicyLearner) -> Any:
    return learner.init(jax.random.key(0), OBS_DIM, ACTION_DIM)


def leaves_equal(one: object, other: object) -> bool:
    return all(
        np.array_equal(a, b) for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    )


def all_finite(tree: object) -> bool:
    return all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(tree))


# --- each with a state that it starts from, and with everything that it can do turned on

LEARNERS: dict[str, Callable[[], PolicyLearner]] = {
    "acktr": lambda: acktr(AcktrConfig(hidden_sizes=(8, 8))),
    "ppo": lambda: ppo(PpoConfig(hidden_sizes=(4,), minibatch_size=7, epochs=3, learning_rate=0.01)),
}
WITH_SCHEDULES: dict[str, PolicyLearner] = {
    "acktr": acktr(AcktrConfig(hidden_sizes=(4,), learning_rate_decay=True, total_updates=5)),
    "ppo": ppo(PpoConfig(hidden_sizes=(4,), learning_rate_decay=True, total_updates=5, target_kl=0.1)),
}
compiled = functools.cache(lambda name: jitted(LEARNERS[name]()))


@pytest.fixture(params=LEARNERS)
def learner(request: pytest.FixtureRequest) -> PolicyLearner:
    return compiled(request.param)


@pytest.fixture
def state(learner: PolicyLearner) -> Any:
    return started(learner)


def test_one_program_serves_every_update(learner: PolicyLearner, state: Any) -> None:
    update: Any = learner.update  # jitted, it can say how many programs there are
    before = update._cache_size()
    for seed in range(3):
        state, _ = update(state, make_rollout(seed), jax.random.key(seed))
    assert update._cache_size() <= max(before, 1)


@pytest.mark.parametrize("learner", WITH_SCHEDULES.values(), ids=WITH_SCHEDULES)
def test_an_update_keeps_shapes_and_types_and_logs_scalars(learner: PolicyLearner) -> None:
    state = jax.eval_shape(lambda: started(learner))
    after, info = jax.eval_shape(learner.update, state, make_rollout(), jax.random.key(0))
    assert after == state
    assert {(leaf.shape, leaf.dtype) for leaf in info.values()} == {((), np.dtype(np.float32))}


def test_same_keys_same_bytes(learner: PolicyLearner, state: Any) -> None:
    runs = [learner.update(state, make_rollout(), jax.random.key(seed)) for seed in (1, 1, 2)]
    assert leaves_equal(runs[0], runs[1])
    assert not leaves_equal(runs[0][0].params, runs[2][0].params)


def test_state_survives_a_checkpoint(learner: PolicyLearner, state: Any) -> None:
    state, _ = learner.update(state, make_rollout(), jax.random.key(0))
    restored = unflatten(jax.tree.map(jnp.zeros_like, state), flatten(state))
    runs = [learner.update(each, make_rollout(1), jax.random.key(1)) for each in (state, restored)]
    assert leaves_equal(*runs)


def test_another_actor_takes_the_place_of_the_first(learner: PolicyLearner, state: Any) -> None:
    other = learner.init(jax.random.key(1), OBS_DIM, ACTION_DIM).params.actor
    replaced = with_actor(state, other)
    assert leaves_equal(replaced.params.actor, other)
    assert leaves_equal(replaced._replace(params=state.params), state)
    assert leaves_equal(replaced.params.critic, state.params.critic)


@pytest.mark.parametrize("reward_scale", [0.0, 1e-30, 1e4, 1e18, 1e30])
def test_no_reward_makes_the_policy_nan(learner: PolicyLearner, state: Any, reward_scale: float) -> None:
    for seed in range(12):  # across an eigendecomposition of ACKTR's
        state, info = learner.update(state, make_rollout(seed, reward_scale), jax.random.key(seed))
    assert all_finite(state)
    info.pop("value_loss")  # a mean of squares: may overflow, and is only looked at
    assert all_finite(info)


def test_constant_returns_have_no_variance_to_explain(learner: PolicyLearner, state: Any) -> None:
    rollout = make_rollout()._replace(reward=np.ones((T, B), np.float32), terminated=~NOWHERE)
    _, info = learner.update(state, rollout, jax.random.key(0))
    assert info["explained_variance"] == 0.0
