from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.policy.test_conformance import (
    ACTION_DIM,
    NOWHERE,
    OBS_DIM,
    compiled,
    jitted,
    make_rollout,
    started,
)

from rilco.networks import apply_mlp
from rilco.policy.acktr import acktr
from rilco.policy.config import AcktrConfig
from rilco.policy.learner import Actor, Params, PolicyLearner

forward = jax.jit(apply_mlp)  # one program compiles faster than its operations one by one


@pytest.fixture(scope="module")
def learner() -> PolicyLearner:
    return compiled("acktr")


@pytest.fixture(scope="module")
def state(learner: PolicyLearner) -> Any:
    return started(learner)


def test_the_policy_starts_as_a_unit_gaussian_around_its_network(learner: PolicyLearner, state: Any) -> None:
    actor = state.params.actor
    np.testing.assert_array_equal(actor.log_std, np.zeros(ACTION_DIM))
    assert [layer["w"].shape for layer in actor.layers] == [(3, 8), (8, 8), (8, 2)]
    critic = state.params.critic
    assert [layer["w"].shape for layer in critic] == [(3, 8), (8, 8), (8, 1)]
    assert not np.array_equal(actor.layers[0]["w"], critic[0]["w"])


def test_info_says_what_happened(learner: PolicyLearner, state: Any) -> None:
    rollout = make_rollout()._replace(terminated=~NOWHERE, truncated=NOWHERE)  # returns are then the rewards
    _, info = learner.update(state, rollout, jax.random.key(0))
    value = np.asarray(forward(state.params.critic, rollout.obs))[..., 0]
    mean = np.asarray(forward(state.params.actor.layers, rollout.obs))
    advantage = rollout.reward - value
    log_prob = np.sum(-0.5 * (rollout.action - mean) ** 2 - 0.5 * math.log(2.0 * math.pi), axis=-1)
    expected = {
        "value_loss": np.mean(advantage**2),
        "policy_loss": -np.mean(advantage * log_prob),
        "entropy": 0.5 * math.log(2.0 * math.pi * math.e),
        "log_std": 0.0,
        "explained_variance": 1.0 - np.var(advantage) / np.var(rollout.reward),
    }
    assert info.keys() == expected.keys() | {"trust_scale"}
    for name, number in expected.items():
        assert float(info[name]) == pytest.approx(number, rel=1e-4, abs=1e-6), name
    assert 0.0 < info["trust_scale"] <= 1.0


def test_first_factors_are_second_moments_of_single_sample_scores(learner: PolicyLearner, state: Any) -> None:
    """Against gradients of log N(action; mean, std), taken one sample at a time."""
    rollout = make_rollout()
    after, _ = learner.update(state, rollout, jax.random.key(0))
    actor = state.params.actor

    def log_prob(actor: Actor, obs: jax.Array, action: jax.Array) -> jax.Array:
        mean = apply_mlp(actor.layers, obs)
        return jnp.sum(
            jax.scipy.stats.norm.logpdf(action, mean, jnp.broadcast_to(jnp.exp(actor.log_std), mean.shape))
        )

    obs, action = rollout.obs.reshape(-1, OBS_DIM), rollout.action.reshape(-1, ACTION_DIM)
    scores = jax.jit(jax.vmap(jax.grad(log_prob), in_axes=(None, 0, 0)))(actor, obs, action)
    factors = after.kfac.factors
    for index, layer in enumerate(scores.layers):
        np.testing.assert_allclose(factors[index].outputs, layer["b"].T @ layer["b"] / len(obs), atol=1e-4)
    np.testing.assert_allclose(
        factors[3].outputs, scores.log_std.T @ scores.log_std / len(obs), rtol=1e-4, atol=1e-4
    )
    assert factors[3].inputs is None
    for index in (0, 4):
        np.testing.assert_allclose(factors[index].inputs, obs.T @ obs / len(obs), rtol=1e-4, atol=1e-4)
    # The gradient of (value - target)^2 is twice the unit noise, so its square is 4 on average.
    assert 1.0 < float(factors[6].outputs[0, 0]) < 10.0


def test_first_step_follows_the_gradient_of_the_loss() -> None:
    """With damping that swamps the curvature and no trust region, K-FAC is plain gradient descent."""
    damping = 1e6
    config = AcktrConfig(
        hidden_sizes=(4,), damping=damping, kl_clip=1e30, learning_rate=damping, momentum=0.0
    )
    learner = jitted(acktr(config))
    state = started(learner)
    state = state._replace(params=jax.tree.map(lambda x: np.asarray(x) + np.float32(0.1), state.params))
    rollout = make_rollout()._replace(terminated=~NOWHERE, truncated=NOWHERE)
    constant = rollout.reward - np.asarray(forward(state.params.critic, rollout.obs))[..., 0]

    def loss(params: Params) -> jax.Array:
        value = apply_mlp(params.critic, rollout.obs)[..., 0]
        std = jnp.exp(params.actor.log_std)
        mean = apply_mlp(params.actor.layers, rollout.obs)
        log_prob = jax.scipy.stats.norm.logpdf(rollout.action, mean, jnp.broadcast_to(std, mean.shape))
        entropy = jnp.log(std * math.sqrt(2.0 * math.pi * math.e))
        policy_loss = -jnp.mean(constant * log_prob.sum(axis=-1))
        return 0.5 * jnp.mean((rollout.reward - value) ** 2) + policy_loss - 0.01 * jnp.mean(entropy)

    expected = jax.tree.map(
        lambda x, g: x - np.asarray(g), state.params, jax.jit(jax.grad(loss))(state.params)
    )
    after, info = learner.update(state, rollout, jax.random.key(0))
    assert info["trust_scale"] == 1.0
    for one, other in zip(jax.tree.leaves(after.params), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_learning_rate_decays_to_zero_and_stays() -> None:
    config = AcktrConfig(hidden_sizes=(4,), momentum=0.0, learning_rate_decay=True, total_updates=4)
    learner = jitted(acktr(config))
    state = started(learner)
    for fraction in (1.0, 0.75, 0.5, 0.25, 0.0, 0.0):
        before = np.asarray(state.params.actor.layers[0]["w"])
        state, _ = learner.update(state, make_rollout(), jax.random.key(0))
        step = np.asarray(state.params.actor.layers[0]["w"]) - before
        # Without momentum the velocity is this update's trust-region direction, which does not decay.
        direction = np.asarray(state.kfac.velocity[0]["w"])
        assert np.max(np.abs(direction)) > 1e-3
        np.testing.assert_allclose(step, -config.learning_rate * fraction * direction, rtol=1e-2, atol=1e-6)
