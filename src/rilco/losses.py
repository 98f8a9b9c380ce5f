"""Margin losses l(z): z is how expert-like a pair looks, so l falls as z grows (table 1 of the paper).

A loss is *symmetric* when l(z) + l(-z) is constant. Lemma 1 needs that: only then does the risk on noisy
demonstrations have the same minimiser as the risk on clean ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp


class Loss(NamedTuple):
    """A margin loss: a pure elementwise function and what is known of its symmetry."""

    fn: Callable[[jax.Array], jax.Array]
    symmetric: float | None
    """The constant l(z) + l(-z), or None where that sum depends on z."""


def _sigmoid(z: jax.Array) -> jax.Array:
    return jax.nn.sigmoid(-z)  # 1/(1+e^z) written so that e^z never overflows


def _normalized_logistic(z: jax.Array) -> jax.Array:
    # softplus(z) = softplus(-z) + z, so the normaliser softplus(-z) + softplus(z) needs no second
    # transcendental; it is at least 2 log 2, so the division is safe everywhere.
    negative = jax.nn.softplus(-z)
    return negative / (2.0 * negative + z)


def _normalized_hinge(z: jax.Array) -> jax.Array:
    # max(1-z,0) / (max(1-z,0) + max(1+z,0)): the normaliser is 2 within |z| <= 1 and equals the larger
    # of its two parts outside, where the ratio is 0 or 1. That is a ramp, with nothing left to divide.
    return jnp.clip(0.5 * (1.0 - z), 0.0, 1.0)


LOSSES = {
    "logistic": Loss(lambda z: jax.nn.softplus(-z), None),
    "hinge": Loss(lambda z: jnp.maximum(1.0 - z, 0.0), None),
    "sigmoid": Loss(_sigmoid, 1.0),
    "unhinged": Loss(lambda z: 1.0 - z, 2.0),
    "normalized-logistic": Loss(_normalized_logistic, 1.0),
    "normalized-hinge": Loss(_normalized_hinge, 1.0),
    "ap": Loss(lambda z: 0.5 * _normalized_logistic(z) + 0.5 * _sigmoid(z), 1.0),
}
"""By name. Configurations check that a name is one of these."""
