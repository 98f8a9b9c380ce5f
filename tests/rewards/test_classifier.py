from __future__ import annotations

import dataclasses
import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rilco.losses import LOSSES
from rilco.rewards import config as settings
from rilco.rewards.classifier import (
    SCHEDULES,
    Params,
    empirical_risk,
    gradient_penalty,
    init_classifier,
    input_gradient,
    interpolate,
    join,
    score,
)
from rilco.rewards.config import ClassifierConfig

OBS_DIM, ACTION_DIM, HIDDEN = 3, 2, (7, 5)


# Jitted, because one program compiles faster than its operations one by one.
build = jax.jit(init_classifier, static_argnums=(1, 2, 3))
risk = jax.jit(empirical_risk, static_argnums=0)


@pytest.fixture(scope="module")
def params() -> Params:
    return build(jax.random.key(0), OBS_DIM, ACTION_DIM, HIDDEN)


def test_the_schedules_are_those_that_a_configuration_knows() -> None:
    assert tuple(SCHEDULES) == settings.SCHEDULES


def points(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, OBS_DIM + ACTION_DIM)).astype(np.float32)


def naive_score(params: Params, x: np.ndarray) -> np.ndarray:
    """g(x) in float64, so that finite differences of it are worth something."""
    x = np.asarray(x, np.float64)
    for layer in params[:-1]:
        x = np.tanh(x @ np.asarray(layer["w"], np.float64) + np.asarray(layer["b"], np.float64))
    return (x @ np.asarray(params[-1]["w"], np.float64) + np.asarray(params[-1]["b"], np.float64))[..., 0]


def naive_input_gradient(params: Params, x: np.ndarray, step: float = 1e-5) -> np.ndarray:
    shifts = np.eye(x.shape[-1]) * step
    x = np.asarray(x, np.float64)
    return np.stack(
        [(naive_score(params, x + s) - naive_score(params, x - s)) / (2 * step) for s in shifts], -1
    )


def test_the_default_is_the_papers() -> None:
    config = ClassifierConfig()
    assert dataclasses.asdict(config) == {
        "loss": "ap",
        "lam": 0.5,
        "lam_schedule": "constant",
        "lam_iterations": 0,
        "pseudo_labels": True,
        "as_published": False,
        "batch": 128,
        "candidates": 640,
        "selected": 128,
        "minibatches": 5,
        "learning_rate": 1e-3,
        "gradient_penalty": 10.0,
        "hidden": (100, 100),
    }
    params = jax.eval_shape(lambda key: init_classifier(key, 26, 6, config.hidden), jax.random.key(0))
    assert [layer["w"].shape for layer in params] == [(32, 100), (100, 100), (100, 1)]


@pytest.mark.parametrize("lead", [(), (4,), (2, 3)])
def test_score_maps_pairs_of_any_leading_shape(params: Params, lead: tuple[int, ...]) -> None:
    obs, action = jnp.ones((*lead, OBS_DIM)), jnp.full((*lead, ACTION_DIM), 2.0)
    result = jax.jit(score)(params, obs, action)
    assert result.shape == lead
    np.testing.assert_allclose(result, naive_score(params, np.concatenate([obs, action], -1)), rtol=1e-5)


def test_the_input_gradient_matches_finite_differences(params: Params) -> None:
    x = points(6)
    np.testing.assert_allclose(
        jax.jit(input_gradient)(params, x), naive_input_gradient(params, x), rtol=1e-4, atol=1e-6
    )


def test_the_penalty_matches_finite_differences(params: Params) -> None:
    x = points(6)
    norms = np.linalg.norm(naive_input_gradient(params, x), axis=-1)
    np.testing.assert_allclose(jax.jit(gradient_penalty)(params, x), np.mean((norms - 1) ** 2), rtol=1e-4)


def test_the_penaltys_slope_in_the_weights_matches_finite_differences(params: Params) -> None:
    """The penalty is descended, so its own gradient, a second derivative of g, must be right."""
    x = points(4)

    def naive_penalty(layer: int, shift: np.ndarray) -> float:
        moved = [{k: np.asarray(v, np.float64) for k, v in p.items()} for p in params]
        moved[layer]["w"] = moved[layer]["w"] + shift
        return float(np.mean((np.linalg.norm(naive_input_gradient(moved, x), axis=-1) - 1) ** 2))

    slopes = jax.jit(jax.grad(gradient_penalty))(params, x)
    for layer, (row, column) in itertools.product(range(3), [(0, 0), (4, 0), (2, 0)]):
        shift = np.zeros(params[layer]["w"].shape)
        shift[row, column] = 1e-4
        expected = (naive_penalty(layer, shift) - naive_penalty(layer, -shift)) / 2e-4
        np.testing.assert_allclose(slopes[layer]["w"][row, column], expected, rtol=1e-2, atol=1e-5)


def test_a_flat_classifier_has_a_finite_penalty_and_slope(params: Params) -> None:
    flat = jax.tree.map(np.zeros_like, params)
    value, slopes = jax.jit(jax.value_and_grad(gradient_penalty))(flat, points(4))
    np.testing.assert_allclose(value, 1.0, atol=1e-5)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(slopes))


def test_interpolated_points_lie_between_their_pair() -> None:
    demo, policy = points(4, 1), points(4, 2)
    mixing = jnp.array([[0.0], [0.25], [0.5], [1.0]])
    mixed = interpolate(demo, policy, mixing)
    np.testing.assert_allclose(mixed[0], policy[0])
    np.testing.assert_allclose(mixed[1], 0.25 * demo[1] + 0.75 * policy[1], rtol=1e-6)
    np.testing.assert_allclose(mixed[3], demo[3])


@pytest.mark.parametrize("num_policy", [1, 3, 4, 9])
def test_there_is_one_interpolated_point_for_each_demonstration_pair(num_policy: int) -> None:
    demo, policy = points(4, 1), points(num_policy, 2)
    mixed = interpolate(demo, policy, jnp.zeros((4, 1)))
    np.testing.assert_array_equal(mixed, policy[[k % num_policy for k in range(4)]])


DEMO, POLICY, PSEUDO = (np.array(z, np.float32) for z in ([1.0, -2.0], [0.5, -1.0, 3.0], [-4.0, -0.1, 2.0]))


@pytest.mark.parametrize("mask", [[True, True, True], [True, False, True], [False, False, True]], ids=str)
def test_the_risk_is_the_papers(mask: list[bool]) -> None:
    def naive_mean(scores: np.ndarray) -> float:  # of the sigmoid loss
        return sum(1 / (1 + math.exp(z)) for z in scores) / len(scores)

    terms = risk(LOSSES["sigmoid"].fn, 0.3, DEMO, POLICY, PSEUDO, np.array(mask))
    demo, policy, pseudo = naive_mean(DEMO), naive_mean(-POLICY), naive_mean(-PSEUDO[mask])
    expected = (demo + 0.3 * pseudo + 0.7 * policy, demo, pseudo, policy)
    np.testing.assert_allclose(terms, expected, rtol=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_without_pseudo_labels_the_risk_is_gails_with_full_weight_on_the_policy(loss: str) -> None:
    fn = LOSSES[loss].fn
    nothing_negative = risk(fn, 0.5, DEMO, POLICY, np.abs(PSEUDO), np.zeros(3, bool))
    no_candidates = risk(fn, 0.5, DEMO, POLICY, PSEUDO[:0], np.zeros(0, bool))
    expected = np.mean(fn(DEMO)) + np.mean(fn(-POLICY))
    for terms in (nothing_negative, no_candidates):
        np.testing.assert_allclose(terms.risk, expected, rtol=1e-6)
        assert terms.nonexpert_risk == 0


def test_join_puts_the_observation_first() -> None:
    joined = join(jnp.ones((2, OBS_DIM)), jnp.zeros((2, ACTION_DIM)))
    np.testing.assert_array_equal(joined, [[1.0] * OBS_DIM + [0.0] * ACTION_DIM] * 2)
