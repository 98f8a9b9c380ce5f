"""Margin losses l(z): z is how expert-like a pair looks, so l falls as z grows (table 1 of the paper).

A loss is *symmetric* when l(z) + l(-z) is constant. Lemma 1 needs that: only then does the risk on noisy
demonstrations have the same minimiser as the risk on clean ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from rilco.errors import check_choice


class Loss(NamedTuple):
    """A margin loss: a pure elementwise function and what is known of its symmetry."""

    name: str
    fn: Callable[[jax.Array], jax.Array]
    symmetric: float | None
    """The constant l(z) + l(-z), or None where that sum depends on z."""


def _logistic(z: jax.Array) -> jax.Array:
    return jax.nn.softplus(-z)


def _hinge(z: jax.Array) -> jax.Array:
    return jnp.maximum(1.0 - z, 0.0)


def _sigmoid(z: jax.Array) -> jax.Array:
    return jax.nn.sigmoid(-z)  # 1/(1+e^z) written so that e^z never overflows


def _unhinged(z: jax.Array) -> jax.Array:
    return 1.0 - z


def _normalized_logistic(z: jax.Array) -> jax.Array:
    # softplus(z) = softplus(-z) + z, so the normaliser softplus(-z) + softplus(z) needs no second
    # transcendental; it is at least 2 log 2, so the division is safe everywhere.
    negative = jax.nn.softplus(-z)
    return negative / (2.0 * negative + z)


def _normalized_hinge(z: jax.Array) -> jax.Array:
    # max(1-z,0) / (max(1-z,0) + max(1+z,0)): the normaliser is 2 within |z| <= 1 and equals the larger
    # of its two parts outside, where the ratio is 0 or 1. That is a ramp, with nothing left to divide.
    return jnp.clip(0.5 * (1.0 - z), 0.0, 1.0)


def _active_passive(z: jax.Array) -> jax.Array:
    return 0.5 * _normalized_logistic(z) + 0.5 * _sigmoid(z)


LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        Loss("logistic", _logistic, None),
        Loss("hinge", _hinge, None),
        Loss("sigmoid", _sigmoid, 1.0),
        Loss("unhinged", _unhinged, 2.0),
        Loss("normalized-logistic", _normalized_logistic, 1.0),
        Loss("normalized-hinge", _normalized_hinge, 1.0),
        Loss("ap", _active_passive, 1.0),
    )
}


def get_loss(name: str) -> Loss:
    """The loss of that name, or a ConfigError that lists the names and suggests near ones."""
    check_choice("loss", name, LOSSES)
    return LOSSES[name]
