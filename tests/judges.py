"""Judges made by hand, and drivers whom they judge."""

from __future__ import annotations

from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np

from rilco.normalizer import init_normalizer
from rilco.policy.saved import Policy

OBS, ACTION = 2, 2  # of a vehicle


def sigmoid(x: np.ndarray | float) -> np.ndarray | float:
    return 1.0 / (1.0 + np.exp(-x))


def judges(*scores_of_sum: float) -> SimpleNamespace:
    """A classifier for each number c, with g(s, a) = c tanh(sum of a)."""
    count = len(scores_of_sum)
    inputs = np.tile(np.r_[np.zeros(OBS), np.ones(ACTION)][None, :, None], (count, 1, 1))
    layers = (
        {"w": jnp.asarray(inputs, jnp.float32), "b": jnp.zeros((count, 1))},
        {"w": jnp.asarray(scores_of_sum, jnp.float32).reshape(count, 1, 1), "b": jnp.zeros((count, 1))},
    )
    return SimpleNamespace(reward=SimpleNamespace(params=layers), normalizer=init_normalizer(OBS))


def driver(throttle: float = 0.0, gain: float = 0.0) -> Policy:
    """Throttle that is always the same, or grows with the velocity; the spread, were it used, would drown it."""
    layers = [(gain * np.eye(OBS, ACTION, dtype=np.float32), np.full(ACTION, throttle, np.float32))]
    return Policy(
        np.zeros(OBS, np.float32), np.ones(OBS, np.float32), layers, np.full(ACTION, 3.0, np.float32)
    )
