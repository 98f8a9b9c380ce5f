"""Parts that ACKTR and PPO share: parameters, Gaussian densities, and diagnostics."""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from rilco.networks import Layer
from rilco.policy.learner import Actor


class Params(NamedTuple):
    """The networks: a Gaussian policy and a separate critic."""

    actor: Actor
    critic: tuple[Layer, ...]


def log_prob(mean: jax.Array, log_std: jax.Array, action: jax.Array) -> jax.Array:
    """Log-density of a diagonal Gaussian, summed over action dimensions: [N]."""
    log_std = jnp.broadcast_to(log_std, mean.shape)
    standardised = (action - mean) * jnp.exp(-log_std)
    return jnp.sum(-0.5 * jnp.square(standardised) - log_std - 0.5 * math.log(2.0 * math.pi), axis=-1)


def mean_entropy(log_std: jax.Array) -> jax.Array:
    """Entropy of a diagonal Gaussian, as a mean over action dimensions."""
    return jnp.mean(log_std) + 0.5 * math.log(2.0 * math.pi * math.e)


def explained_variance(error: jax.Array, returns: jax.Array) -> jax.Array:
    """1 - var(error) / var(returns), and 0 for constant returns."""
    largest = jnp.maximum(jnp.max(jnp.abs(returns)), jnp.max(jnp.abs(error)))
    # Divided by the largest, the squares cannot overflow; the floor serves returns that do not vary.
    scale = 1.0 / jnp.maximum(largest, jnp.finfo(jnp.float32).tiny)
    spread = jnp.var(returns * scale)
    return jnp.where(spread > 1e-12, 1.0 - jnp.var(error * scale) / jnp.maximum(spread, 1e-12), 0.0)


def linear_decay(step: jax.Array, total: int) -> jax.Array:
    """1 at step 0, falling linearly to 0 at `total`, and 0 from there on."""
    return jnp.maximum(0.0, 1.0 - step.astype(jnp.float32) / total)
