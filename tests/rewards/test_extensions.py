"""Lambda that grows, known non-expert pairs, and RIL-P as its authors' code has it."""

from __future__ import annotations

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from rilco.rewards.classifier import Params, lam_at
from rilco.rewards.config import ClassifierConfig
from rilco.rewards.learner import DemoArrays, Info, RewardLearner
from rilco.rewards.ril import ClassifierState, MiniBatch, find_nonexperts, minibatch_step, ril_co, ril_p

CONFIG = ClassifierConfig(batch=4, candidates=12, selected=3, minibatches=2, hidden=(8, 8))
rng = np.random.default_rng(0)
DEMOS = rng.normal(size=(2, 16, 3)).astype(np.float32)
KNOWN = rng.normal(size=(2, 3, 3)).astype(np.float32)
POLICY = rng.normal(size=(5, 3)).astype(np.float32)
MIXING = rng.uniform(size=(2, 4, 1)).astype(np.float32)


def params_of(learner: RewardLearner, obs_dim: int = 2, action_dim: int = 1) -> Params:
    return learner.init(jax.random.key(0), obs_dim, action_dim).params


def gradients(config: ClassifierConfig, params: Params, minibatch: MiniBatch) -> tuple[Params, Info]:
    """Of one step of plain descent."""
    optimizer = optax.sgd(1.0)
    state, info = jax.jit(functools.partial(minibatch_step, config, optimizer))(
        ClassifierState(params, optimizer.init(params)), minibatch
    )
    return jax.tree.map(lambda before, after: before - after, params, state.params), info


# --- lambda


@pytest.mark.parametrize(
    "schedule, expected",
    [
        ("linear", [0.0, 0.1, 0.2, 0.4, 0.4]),
        ("cosine", [0.0, 0.4 * (1 - np.cos(np.pi / 4)) / 2, 0.2, 0.4, 0.4]),
        ("warm-up", [0.0, 0.0, 0.0, 0.4, 0.4]),
    ],
)
def test_lambda_grows_as_its_schedule_says(schedule: str, expected: list[float]) -> None:
    config = ClassifierConfig(lam=0.4, lam_schedule=schedule, lam_iterations=8)
    values = [lam_at(config, jnp.int32(i)) for i in (0, 2, 4, 8, 100)]
    np.testing.assert_allclose(values, expected, atol=1e-6)


def test_an_update_uses_and_logs_the_lambda_of_its_iteration() -> None:
    """Half way through a linear schedule the same step is taken as with half the constant lambda."""
    config = dataclasses.replace(CONFIG, lam_schedule="linear", lam_iterations=4)
    learner, constant = ril_co(config), ril_co(dataclasses.replace(CONFIG, lam=0.25))
    demos = DemoArrays(*(rng.normal(size=(60, d)).astype(np.float32) for d in (2, 1)))
    draws = learner.sample(demos, np.random.default_rng(0))
    state, logged = learner.init(jax.random.key(0), 2, 1), []
    for i in range(3):
        before = state
        state, info = learner.update(
            state, draws, POLICY[:, :2], POLICY[:, 2:], jnp.asarray, jax.random.key(i)
        )
        logged.append(float(info["lam"]))
    assert logged == pytest.approx([0.0, 0.125, 0.25])
    expected, _ = constant.update(before, draws, POLICY[:, :2], POLICY[:, 2:], jnp.asarray, jax.random.key(2))
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-5), state.params, expected.params)


# --- known non-expert pairs


def test_known_pairs_replace_pseudo_labels_or_join_them() -> None:
    params = params_of(ril_co(CONFIG))
    minibatch = MiniBatch(DEMOS, KNOWN, POLICY, MIXING)
    alone, info = find_nonexperts(dataclasses.replace(CONFIG, pseudo_labels=False), params, minibatch)
    np.testing.assert_array_equal(alone.x, KNOWN)
    assert alone.mask.all()
    assert not info
    together, info = find_nonexperts(CONFIG, params, minibatch)
    labelled, _ = find_nonexperts(CONFIG, params, minibatch._replace(known=None))
    np.testing.assert_array_equal(together.x, np.concatenate([labelled.x, KNOWN], axis=1))
    np.testing.assert_array_equal(together.mask[:, -3:], True)
    assert info["selected"].tolist() == labelled.mask.sum(1).tolist()[::-1], (
        "the metric is about pseudo-labels"
    )


def test_the_risk_averages_over_known_pairs() -> None:
    config = dataclasses.replace(CONFIG, pseudo_labels=False, loss="unhinged", gradient_penalty=0.0)
    params = params_of(ril_p(config))
    _, info = gradients(config, params, MiniBatch(DEMOS[:1, :4], KNOWN[:1], POLICY, MIXING[:1]))
    np.testing.assert_allclose(
        info["risk"], info["demo_risk"] + 0.5 * info["nonexpert_risk"] + 0.5 * info["policy_risk"], rtol=1e-6
    )
    twice = MiniBatch(DEMOS[:1, :4], np.concatenate([KNOWN[:1]] * 2, axis=1), POLICY, MIXING[:1])
    np.testing.assert_allclose(gradients(config, params, twice)[1]["risk"], info["risk"], rtol=1e-6)


def test_draws_of_known_pairs_come_from_the_known_pairs() -> None:
    obs, action = rng.normal(size=(60, 2)), rng.normal(size=(60, 1))
    known = np.arange(7, dtype=np.float32)[:, None]
    demos = DemoArrays(
        obs.astype(np.float32), action.astype(np.float32), None, known + np.array([[0, 0.5]]), known + 0.25
    )
    draws = ril_co(CONFIG).sample(demos, np.random.default_rng(0))
    assert draws.known_obs.shape == (2, 2, 3, 2)
    np.testing.assert_array_equal(draws.known_action[..., 0], draws.known_obs[..., 0] + 0.25)


# --- RIL-P as published


def test_as_published_is_gail_with_half_the_policy_term() -> None:
    """A constant added to the risk, and a policy term that weighs 1 - lambda: no candidate has a gradient."""
    config = dataclasses.replace(CONFIG, as_published=True, gradient_penalty=0.0, loss="unhinged")
    params = params_of(ril_p(config))
    found, info = gradients(config, params, MiniBatch(DEMOS[:1], None, POLICY, MIXING[:1]))

    def gail_with_half_the_policy(params: Params) -> jax.Array:
        from rilco.rewards.classifier import score_joined

        one = jax.tree.map(lambda leaf: leaf[0], params)
        demo, policy = score_joined(one, DEMOS[0, :4]), score_joined(one, POLICY)
        return jnp.mean(1.0 - demo) + 0.5 * jnp.mean(1.0 + policy)

    expected = jax.grad(gail_with_half_the_policy)(params)
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-6), found, expected)
    assert info["nonexpert_risk"] != 0, "logged, though it moves nothing"
    corrected, _ = gradients(
        dataclasses.replace(config, as_published=False),
        params,
        MiniBatch(DEMOS[:1], None, POLICY, MIXING[:1]),
    )
    assert not np.allclose(jax.tree.leaves(found)[0], jax.tree.leaves(corrected)[0], rtol=1e-3)
