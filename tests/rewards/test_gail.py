from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rilco.rewards.classifier import score
from rilco.rewards.config import ClassifierConfig
from rilco.rewards.gail import LARGEST_EXPONENT, fairl, fairl_reward, gail
from rilco.rewards.learner import DemoArrays, Info

CONFIG = ClassifierConfig(batch=8, candidates=16, minibatches=5, hidden=(8,))
PAIRS = DemoArrays(np.ones((30, 2), np.float32), np.ones((30, 1), np.float32))


def test_it_has_one_classifier_and_draws_no_candidates() -> None:
    learner = gail(CONFIG)
    state = jax.eval_shape(lambda key: learner.init(key, 2, 1), jax.random.key(0))
    assert state.params[0]["w"].shape == (1, 3, 8)
    assert learner.sample(PAIRS, np.random.default_rng(0)).obs.shape == (5, 1, 8, 2)


def test_it_reports_no_pseudo_labels() -> None:
    learner = gail(CONFIG, loss="ap")

    def iterate(key: jax.Array) -> tuple[Any, Info]:
        draws = learner.sample(PAIRS, np.random.default_rng(0))
        state = learner.init(key, 2, 1)
        return learner.update(state, draws, PAIRS.obs, PAIRS.action, lambda obs: obs, key)

    _, info = jax.eval_shape(iterate, jax.random.key(0))
    assert "risk" in info
    assert not {"selected", "called_nonexpert"} & set(info)


# -- FAIRL


@pytest.mark.parametrize("g", [-30.0, -1.0, -0.5, 0.0, 0.5, 3.0, LARGEST_EXPONENT])
def test_the_reward_is_minus_u_log_u_of_the_density_ratio(g: float) -> None:
    u = np.exp(np.float64(g))
    np.testing.assert_allclose(fairl_reward(jnp.float32(g)), -u * g, rtol=1e-5, atol=1e-12)


def test_the_reward_is_largest_where_the_policy_is_a_little_denser_than_the_demonstrations() -> None:
    scores = jnp.linspace(-20.0, 20.0, 4001)
    best = jnp.argmax(fairl_reward(scores))
    np.testing.assert_allclose(scores[best], -1.0, atol=0.01)
    np.testing.assert_allclose(fairl_reward(scores)[best], np.exp(-1.0), rtol=1e-4)


def test_the_reward_is_finite_and_keeps_falling_at_any_score() -> None:
    scores = jnp.array([10.0, 11.0, 89.0, 1e3, 1e4], jnp.float32)
    rewards = np.asarray(fairl_reward(scores))
    assert np.isfinite(rewards).all()
    assert (np.diff(rewards) < 0).all()
    np.testing.assert_array_equal(fairl_reward(-scores[2:]), 0.0)


def test_its_classifier_is_gails_and_only_the_reward_differs() -> None:
    ours, theirs = fairl(CONFIG), gail(CONFIG)
    state = jax.jit(ours.init, static_argnums=(1, 2))(jax.random.key(0), 3, 2)
    obs, action = np.ones((2, 3), np.float32), np.ones((2, 2), np.float32)
    g = score(jax.tree.map(lambda stacked: stacked[0], state.params), obs, action)
    np.testing.assert_allclose(ours.reward(state, obs, action), fairl_reward(g), rtol=1e-5)
    np.testing.assert_allclose(theirs.reward(state, obs, action), jax.nn.softplus(g), rtol=1e-5)
