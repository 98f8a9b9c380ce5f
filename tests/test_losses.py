from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rilco.errors import ConfigError
from rilco.losses import LOSSES
from rilco.rewards import config

EXTREMES = [-1e4, -1e3, -100.0, -1.0, 0.0, 1.0, 100.0, 1e3, 1e4]
GRID = np.array([*np.linspace(-30, 30, 601), *EXTREMES], np.float32)
SYMMETRIC = [name for name, loss in LOSSES.items() if loss.symmetric is not None]


def softplus(z: np.ndarray) -> np.ndarray:
    return np.logaddexp(0.0, z)


def hinge(z: np.ndarray) -> np.ndarray:
    return np.maximum(1.0 - z, 0.0)


# The table of the paper, written out in float64.
FORMULAS = {
    "logistic": lambda z: softplus(-z),
    "hinge": hinge,
    "sigmoid": lambda z: np.exp(-softplus(z)),
    "unhinged": lambda z: 1.0 - z,
    "normalized-logistic": lambda z: softplus(-z) / (softplus(-z) + softplus(z)),
    "normalized-hinge": lambda z: hinge(z) / (hinge(z) + hinge(-z)),
    "ap": lambda z: 0.5 * softplus(-z) / (softplus(-z) + softplus(z)) + 0.5 * np.exp(-softplus(z)),
}


def value(name: str, z: np.ndarray) -> np.ndarray:
    return np.asarray(jax.jit(LOSSES[name].fn)(jnp.asarray(z, jnp.float32)))


def slope(name: str, z: np.ndarray) -> np.ndarray:
    return np.asarray(jax.jit(jax.vmap(jax.grad(LOSSES[name].fn)))(jnp.asarray(z, jnp.float32)))


def test_the_table_holds_every_loss_of_the_paper_under_its_own_name() -> None:
    assert set(LOSSES) == set(FORMULAS)
    assert tuple(LOSSES) == config.LOSSES


@pytest.mark.parametrize("name", FORMULAS)
def test_values_follow_the_formula(name: str) -> None:
    np.testing.assert_allclose(
        value(name, GRID), FORMULAS[name](GRID.astype(np.float64)), rtol=2e-6, atol=1e-7
    )


@pytest.mark.parametrize("name", FORMULAS)
def test_values_and_gradients_are_finite_at_large_margins(name: str) -> None:
    values, slopes = value(name, GRID), slope(name, GRID)
    assert values.dtype == slopes.dtype == np.float32
    assert np.isfinite(values).all()
    assert np.isfinite(slopes).all()
    assert (slopes <= 1e-8).all(), "a more expert-like pair may not cost more, rounding aside"


@pytest.mark.parametrize("name", FORMULAS)
def test_gradients_follow_the_formula(name: str) -> None:
    z = np.array([-50.3, -3.2, -0.7, 0.4, 2.6, 47.1])  # no kink of a hinge nearby
    step = 1e-5
    expected = (FORMULAS[name](z + step) - FORMULAS[name](z - step)) / (2 * step)
    np.testing.assert_allclose(slope(name, z), expected, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_symmetric_losses_sum_to_their_constant(name: str) -> None:
    total = value(name, GRID) + value(name, -GRID)
    np.testing.assert_allclose(total, LOSSES[name].symmetric, atol=1e-6)


@pytest.mark.parametrize("name", sorted(set(LOSSES) - set(SYMMETRIC)))
def test_other_losses_have_no_such_constant(name: str) -> None:
    assert np.ptp(value(name, GRID) + value(name, -GRID)) > 1.0


@pytest.mark.parametrize(
    "wrong, suggestion",
    [("logisitc", "logistic"), ("Sigmoid", "sigmoid"), ("normalized_hinge", "normalized-hinge")],
)
def test_an_unknown_loss_is_answered_with_the_names_and_a_near_one(wrong: str, suggestion: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config.ClassifierConfig(loss=wrong)
    message = str(caught.value)
    assert repr(wrong) in message
    assert all(name in message for name in LOSSES)
    assert repr(suggestion) in message.split("Did you mean")[1]


def test_a_far_off_name_gets_no_suggestion() -> None:
    with pytest.raises(ConfigError) as caught:
        config.ClassifierConfig(loss="zzz")
    assert "Did you mean" not in str(caught.value)
