from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from tests.policy.test_conformance import (
    ACTION_DIM,
    NOWHERE,
    B,
    T,
    all_finite,
    compiled,
    jitted,
    leaves_equal,
    make_rollout,
    started,
)

import rilco
from rilco.networks import apply_mlp
from rilco.policy.config import PpoConfig
from rilco.policy.learner import Actor, Params, PolicyLearner
from rilco.policy.ppo import clipped_surrogate, minibatch_shape, ppo, standardise

forward = jax.jit(apply_mlp)  # one program compiles faster than its operations one by one


@functools.cache
def small(**settings: Any) -> PolicyLearner:
    """A learner whose update takes as many equal steps on the whole rollout as it has epochs, unless told otherwise."""
    defaults = {"hidden_sizes": (4,), "minibatch_size": T * B, "learning_rate": 0.01}
    return jitted(ppo(PpoConfig(**defaults | settings)))


@pytest.fixture(scope="module")
def learner() -> PolicyLearner:
    return compiled("ppo")


@pytest.fixture(scope="module")
def state(learner: PolicyLearner) -> Any:
    return started(learner)


def log_prob(actor: Actor, obs: jax.Array, action: jax.Array) -> jax.Array:
    mean = apply_mlp(actor.layers, obs)
    return jnp.sum(
        jax.scipy.stats.norm.logpdf(action, mean, jnp.broadcast_to(jnp.exp(actor.log_std), mean.shape)),
        axis=-1,
    )


# -- the parts ---------------------------------------------------------------------------------------


def test_no_gradient_where_the_ratio_has_gone_far_enough_the_advantages_way() -> None:
    ratio = np.float32([0.5, 0.9, 1.1, 1.5, 0.5, 0.9, 1.1, 1.5])
    advantage = np.float32([2, 2, 2, 2, -3, -3, -3, -3])
    value, gradient = jax.vmap(jax.value_and_grad(lambda r, a: clipped_surrogate(r, a, 0.2)))(
        ratio, advantage
    )
    np.testing.assert_allclose(value, [1.0, 1.8, 2.2, 2.4, -2.4, -2.7, -3.3, -4.5], rtol=1e-6)
    # Gone too far the wrong way, a step is still pushed back.
    np.testing.assert_array_equal(gradient, [2, 2, 2, 0, 0, -3, -3, -3])


def test_advantages_are_standardised_over_the_steps_that_count() -> None:
    advantage = np.float32([1.0, 2.0, 3.0, 4.0, 0.0, 0.0])
    counted = np.float32([1, 1, 1, 1, 0, 0]) / 4
    result = np.asarray(standardise(advantage, counted))[:4]
    np.testing.assert_allclose(result, (advantage[:4] - 2.5) / np.std(advantage[:4]), rtol=1e-5)


@pytest.mark.parametrize("constant", [0.0, 1e-30, 0.1, 1e30])
def test_equal_advantages_say_nothing(constant: float) -> None:
    result = standardise(np.full(7, constant, np.float32), np.full(7, 1 / 7, np.float32))
    np.testing.assert_allclose(result, 0.0, atol=0.2)  # rounding, not blown up to unit variance


@pytest.mark.parametrize(
    "transitions, largest, expected",
    [
        pytest.param(2048, 256, (8, 256), id="divides"),
        pytest.param(640, 256, (3, 213), id="one-left-over"),
        pytest.param(20, 256, (1, 20), id="fewer-than-one"),
        pytest.param(257, 256, (2, 128), id="one-too-many"),
        pytest.param(7, 1, (7, 1), id="single-steps"),
    ],
)
def test_an_epoch_is_cut_into_equal_minibatches(
    transitions: int, largest: int, expected: tuple[int, int]
) -> None:
    assert minibatch_shape(transitions, largest) == expected


# -- the update --------------------------------------------------------------------------------------


def test_the_policy_starts_near_zero_with_the_spread_asked_for() -> None:
    learner = small(log_std_init=-0.7)
    state = started(learner)
    np.testing.assert_allclose(state.params.actor.log_std, np.full(ACTION_DIM, -0.7), rtol=1e-6)
    assert [layer["w"].shape for layer in state.params.actor.layers] == [(3, 4), (4, 2)]
    assert [layer["w"].shape for layer in state.params.critic] == [(3, 4), (4, 1)]
    assert np.max(np.abs(forward(state.params.actor.layers, make_rollout().obs))) < 0.1


def test_full_batch_steps_follow_adam_on_the_clipped_objective() -> None:
    """Against the objective written out another way, with gradients only where it is not clipped."""
    config = PpoConfig(
        hidden_sizes=(4,),
        epochs=4,
        minibatch_size=T * B,
        learning_rate=0.03,  # so large that ratios leave the clip range
        clip_range=0.1,
        gae_lambda=1.0,
        entropy_coef=0.1,
        max_grad_norm=2.0,
    )
    learner = jitted(ppo(config))
    state = started(learner)
    rollout = make_rollout()._replace(terminated=~NOWHERE, truncated=NOWHERE)  # returns are then the rewards
    advantage = rollout.reward - np.asarray(forward(state.params.critic, rollout.obs))[..., 0]
    standardised = (advantage - advantage.mean()) / advantage.std()
    old = np.asarray(log_prob(state.params.actor, rollout.obs, rollout.action))

    def loss(params: Params) -> tuple[jax.Array, jax.Array]:
        ratio = jnp.exp(log_prob(params.actor, rollout.obs, rollout.action) - old)
        far = jnp.where(standardised > 0, ratio > 1.1, ratio < 0.9)
        surrogate = jnp.where(far, 0.0, ratio * standardised)  # a clipped term is constant: left out
        error = rollout.reward - apply_mlp(params.critic, rollout.obs)[..., 0]
        entropy = params.actor.log_std + 0.5 * math.log(2.0 * math.pi * math.e)
        total = 0.5 * jnp.mean(error**2) - jnp.mean(surrogate) - 0.1 * jnp.mean(entropy)
        return total, jnp.mean(far.astype(jnp.float32))

    expected, gradient = state.params, jax.jit(jax.grad(loss, has_aux=True))
    optimiser = optax.adam(0.03, eps=1e-5)
    adam = optimiser.init(expected)
    norms = []
    for _ in range(config.epochs):
        grads, clipped = gradient(expected)
        norms.append(math.sqrt(sum(float(np.sum(np.square(leaf))) for leaf in jax.tree.leaves(grads))))
        grads = jax.tree.map(lambda x: x * min(1.0, config.max_grad_norm / norms[-1]), grads)
        updates, adam = optimiser.update(grads, adam)
        expected = optax.apply_updates(expected, updates)
    # The oracle shows both sides of both limits.
    assert 0.1 < float(clipped) < 0.9
    assert min(norms) < config.max_grad_norm < max(norms), norms
    after, info = learner.update(state, rollout, jax.random.key(0))
    for one, other in zip(jax.tree.leaves(after.params), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
    assert float(info["clip_fraction"]) >= float(clipped)


def test_info_says_what_happened() -> None:
    learner = small(epochs=1)  # one step: what is logged is from before it
    state = started(learner)
    rollout = make_rollout()._replace(terminated=~NOWHERE, truncated=NOWHERE)
    _, info = learner.update(state, rollout, jax.random.key(0))
    advantage = rollout.reward - np.asarray(forward(state.params.critic, rollout.obs))[..., 0]
    expected = {
        "policy_loss": 0.0,  # the ratio is 1 and the standardised advantages' mean is 0
        "value_loss": np.mean(advantage**2),
        "entropy": 0.5 * math.log(2.0 * math.pi * math.e) - 1.0,
        "log_std": -1.0,
        "clip_fraction": 0.0,
        "approx_kl": 0.0,
        "explained_variance": 1.0 - np.var(advantage) / np.var(rollout.reward),
    }
    assert info.keys() == expected.keys()
    for name, number in expected.items():
        assert float(info[name]) == pytest.approx(number, rel=1e-4, abs=1e-5), name


def test_a_step_cut_by_a_time_limit_teaches_nothing() -> None:
    learner = small(epochs=5)
    state = started(learner)
    truncated = NOWHERE.copy()
    truncated[-1, 0] = True
    rollout = make_rollout()._replace(terminated=NOWHERE, truncated=truncated)
    changed = rollout._replace(
        action=np.where(truncated[..., None], np.float32(0.5), rollout.action),
        reward=np.where(truncated, np.float32(100.0), rollout.reward),
    )
    one, other = (learner.update(state, each, jax.random.key(0)) for each in (rollout, changed))
    assert leaves_equal(one, other)
    elsewhere = rollout._replace(reward=rollout.reward + np.float32(100.0) * np.roll(truncated, 1, axis=1))
    assert not leaves_equal(one, learner.update(state, elsewhere, jax.random.key(0)))


def test_a_rollout_of_nothing_but_cuts_leaves_the_networks_alone(learner: PolicyLearner, state: Any) -> None:
    rollout = make_rollout()._replace(terminated=NOWHERE, truncated=~NOWHERE)
    after, info = learner.update(state, rollout, jax.random.key(0))
    assert leaves_equal(after.params, state.params)
    assert all_finite(info)


def test_no_observation_or_action_makes_the_policy_nan(learner: PolicyLearner, state: Any) -> None:
    for seed in range(12):
        rollout = make_rollout(seed)
        # Observations at the normaliser's bounds, and actions that the policy would hardly take.
        extreme = rollout._replace(obs=10.0 * np.sign(rollout.obs), action=1e6 * rollout.action)
        state, info = learner.update(state, extreme, jax.random.key(seed))
    assert all_finite(state)
    assert all_finite(info)


def test_a_policy_that_has_gone_far_enough_stops() -> None:
    """The first step sees no distance and is taken; the second sees some, and nothing is taken from there on."""
    one, many, stopping = small(epochs=1), small(epochs=5), small(epochs=5, target_kl=1e-6)
    rollout, key = make_rollout()._replace(truncated=NOWHERE), jax.random.key(0)
    state = started(one)
    (first, _), (unhindered, _), (stopped, info) = (
        learner.update(state, rollout, key) for learner in (one, many, stopping)
    )
    for a, b, c in zip(*map(jax.tree.leaves, (first.params, stopped.params, unhindered.params)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
        assert not np.allclose(a, c, rtol=1e-5, atol=1e-6)
    # What is logged is how far that one step went: E[ratio - 1 - log ratio] under the old policy.
    old, new = (
        np.asarray(log_prob(each.params.actor, rollout.obs, rollout.action)) for each in (state, first)
    )
    assert float(info["approx_kl"]) == pytest.approx(np.mean(np.expm1(new - old) - (new - old)), rel=1e-3)
    assert float(info["clip_fraction"]) == pytest.approx(np.mean(np.abs(np.expm1(new - old)) > 0.2))


def test_stopping_lasts_for_one_update_only() -> None:
    learner = small(epochs=5, target_kl=1e-6)
    state = started(learner)
    for seed in range(2):
        before = state.params
        state, _ = learner.update(state, make_rollout(seed), jax.random.key(seed))
        assert not leaves_equal(before, state.params)


def test_schedules_reach_their_ends_and_stay() -> None:
    """With one step an update, Adam's direction shows how long the step was."""
    learner = small(
        epochs=1, learning_rate_decay=True, total_updates=4, log_std_init=-0.5, log_std_final=-1.5
    )
    state = started(learner)
    for count, fraction in enumerate((1.0, 0.75, 0.5, 0.25, 0.0, 0.0), start=1):
        np.testing.assert_allclose(state.params.actor.log_std, -1.5 + fraction, rtol=1e-6)
        before = np.asarray(state.params.critic[0]["w"])
        state, info = learner.update(state, make_rollout(), jax.random.key(0))
        assert float(info["log_std"]) == pytest.approx(-1.5 + fraction)  # that of the policy that acted
        step = np.asarray(state.params.critic[0]["w"]) - before
        averages = state.adam[1]
        assert not np.any(averages.mu.actor.log_std)  # a scheduled spread is not learned
        mean = np.asarray(averages.mu.critic[0]["w"]) / (1 - 0.9**count)
        square = np.asarray(averages.nu.critic[0]["w"]) / (1 - 0.999**count)
        direction = mean / (np.sqrt(square) + 1e-5)
        assert np.max(np.abs(direction)) > 0.5
        np.testing.assert_allclose(step, -0.01 * fraction * direction, rtol=1e-2, atol=1e-5)


# -- a real environment ------------------------------------------------------------------------------

PENDULUM = {
    "num_envs": 8,
    "num_steps": 128,
    "evaluate_every": 0,
    "evaluation_episodes": 20,
    "ppo.learning_rate": 1e-3,
    "ppo.learning_rate_decay": True,
    "ppo.minibatch_size": 64,
    "ppo.discount": 0.98,
    "ppo.gae_lambda": 0.9,
    "ppo.log_std_init": 0.5,
}
"""Eight seeds ended between -201 and -165; a policy at its start is near -1200."""


@pytest.mark.slow
def test_pendulum_is_solved(tmp_path: Path) -> None:
    run = rilco.train(
        tmp_path / "run", method="ppo", env="Pendulum-v1", steps=49_152, seed=1, quiet=True, settings=PENDULUM
    )
    assert run.evaluations()[-1]["eval_return"] > -250
