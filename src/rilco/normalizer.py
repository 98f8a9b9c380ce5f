"""Running statistics: observations to zero mean and unit variance, rewards to a steady scale of return."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

CLIP = 10.0
"""Normalised observations and scaled rewards stay within +-CLIP."""

EPSILON = 1e-8
"""Added to variances before the square root, so that a constant feature divides by something."""


class Normalizer(NamedTuple):
    """Mean and variance of every sample seen so far, per feature. JAX's arrays, or NumPy's on the host."""

    mean: Any  # [D]
    var: Any  # [D]
    count: Any  # []


def init_normalizer(dim: int) -> Normalizer:
    """Start at the identity, with so little weight that the first batch replaces it."""
    return Normalizer(jnp.zeros(dim, jnp.float32), jnp.ones(dim, jnp.float32), jnp.asarray(1e-4, jnp.float32))


def update_normalizer(normalizer: Normalizer, x: jax.Array | np.ndarray) -> Normalizer:
    """Merge a batch x [N, D] into the statistics (Chan's parallel variance).

    NumPy's arrays do as well as JAX's: on the host the statistics are float64.
    """
    x = x.astype(normalizer.mean.dtype)
    count = normalizer.count + float(x.shape[0])
    # Weights that sum to one, in place of sums of squares, keep every term at the scale of the variance: in
    # float32, sums over 20 million samples would round away what a batch adds.
    new = float(x.shape[0]) / count
    old = normalizer.count / count
    delta = x.mean(axis=0) - normalizer.mean
    mean = normalizer.mean + new * delta
    var = old * normalizer.var + new * x.var(axis=0) + old * new * delta**2
    return Normalizer(mean, var, count)


def on_host(normalizer: Normalizer) -> Normalizer:
    """Copy to NumPy's float64, to be moved step by step."""
    return Normalizer(*(np.asarray(array, np.float64) for array in normalizer))


def on_device(normalizer: Normalizer) -> Normalizer:
    """Copy to JAX's float32."""
    return jax.device_put(Normalizer(*(np.asarray(array, np.float32) for array in normalizer)))


def normalize(normalizer: Normalizer, x: jax.Array) -> jax.Array:
    """Standardise x [..., D] and clip it to +-10."""
    return standardize(x, normalizer.mean, normalizer.var)


def standardize(x: jax.Array, mean: jax.Array, var: jax.Array) -> jax.Array:
    """(x - mean) / sqrt(var), clipped to +-10; mean and var broadcast over x."""
    x = jnp.asarray(x, jnp.float32)
    mean, std = (jnp.broadcast_to(y, x.shape) for y in (mean, jnp.sqrt(var + EPSILON)))
    return jnp.clip((x - mean) / std, -CLIP, CLIP)


class RewardScaler(NamedTuple):
    """Running statistics of the discounted return, by whose standard deviation rewards are divided."""

    discounted_return: jax.Array  # [B] so far, of the episode each environment is in
    statistics: Normalizer  # of dimension 1


def init_reward_scaler(num_envs: int) -> RewardScaler:
    """Start with no return so far in any environment; see `init_normalizer` for the statistics."""
    return RewardScaler(jnp.zeros(num_envs, jnp.float32), init_normalizer(1))


def scale_rewards(
    scaler: RewardScaler,
    reward: jax.Array,  # [T, B]
    terminated: jax.Array,  # [T, B] bool
    truncated: jax.Array,  # [T, B] bool
    discount: float,
) -> tuple[RewardScaler, jax.Array]:
    """Divide rewards by the standard deviation of the discounted return, theirs included; clip to +-10.

    Rewards are not centred: shifting them would change what the agent wants wherever episodes can end early.
    """
    reward = jnp.asarray(reward, jnp.float32)

    def step(carried: jax.Array, inputs: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        reward, ended = inputs
        discounted = discount * carried + reward
        return jnp.where(ended, 0.0, discounted), discounted

    carried, discounted = jax.lax.scan(step, scaler.discounted_return, (reward, terminated | truncated))
    statistics = update_normalizer(scaler.statistics, discounted.reshape(-1, 1))
    scaled = jnp.clip(reward / jnp.sqrt(statistics.var[0] + EPSILON), -CLIP, CLIP)
    return RewardScaler(carried, statistics), scaled
