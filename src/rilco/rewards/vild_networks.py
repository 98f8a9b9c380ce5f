"""VILD's model of demonstrators: how noisy each one is, and what an expert would have done in its place.

Symbols as in the paper: u is the action that demonstrator k was seen to take in state s, a the one an expert
would have taken. The noise model is p(u | a, k) = N(u; a, C_k), and q(a | s, u, k) infers a.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from rilco.networks import Layer, apply_mlp, init_mlp_uniform
from rilco.rewards.classifier import join
from rilco.rewards.config import LOG_STD_RANGE, LOG_VARIANCE_RANGE, VildConfig


class DemonstratorModel(NamedTuple):
    """Parameters of q and C for K demonstrators."""

    trunk: tuple[Layer, ...]  # (s, u) -> the last tanh layer, of width H
    head_w: jax.Array  # [K, H, A]
    head_b: jax.Array  # [K, A]
    log_std: jax.Array  # [K, A] of q, the same in every state
    log_variance: jax.Array  # [K, A] the diagonal of log C_k


class Inferred(NamedTuple):
    """q(a | s, u, k) for n pairs: a Gaussian with a diagonal covariance."""

    mean: jax.Array  # [n, A]
    log_std: jax.Array  # [n, A]


def init_model(
    key: jax.Array, obs_dim: int, action_dim: int, num_demonstrators: int, config: VildConfig
) -> DemonstratorModel:
    """Random weights, drawn as those of the classifiers are; every demonstrator equally noisy."""
    trunk_key, head_key = jax.random.split(key)
    width = config.hidden[-1]
    bound = 1.0 / math.sqrt(width)
    per_demonstrator = (num_demonstrators, action_dim)
    return DemonstratorModel(
        trunk=init_mlp_uniform(trunk_key, (obs_dim + action_dim, *config.hidden)),
        head_w=jax.random.uniform(
            head_key, (num_demonstrators, width, action_dim), jnp.float32, -bound, bound
        ),
        head_b=jnp.zeros(per_demonstrator, jnp.float32),
        log_std=jnp.full(per_demonstrator, config.log_std, jnp.float32),
        log_variance=jnp.full(per_demonstrator, config.log_variance, jnp.float32),
    )


def infer(
    model: DemonstratorModel, scale: jax.Array, obs: jax.Array, action: jax.Array, who: jax.Array
) -> Inferred:
    """q for normalised obs [n, D], seen action [n, A] and demonstrator who [n]; means are within +-scale [A]."""
    scale = jnp.broadcast_to(scale, action.shape)
    features = jnp.tanh(apply_mlp(model.trunk, join(obs, action / scale)))  # [n, H]
    head = jnp.einsum("nh,nha->na", features, model.head_w[who]) + model.head_b[who]
    return Inferred(scale * jnp.tanh(head), model.log_std[who])


def draw(inferred: Inferred, noise: jax.Array) -> jax.Array:
    """An action a ~ q for each pair [n, A], out of standard normal noise."""
    return inferred.mean + jnp.exp(inferred.log_std) * noise


def expected_log_likelihood(inferred: Inferred, action: jax.Array, log_variance: jax.Array) -> jax.Array:
    """E_q log N(u; a, C) in closed form, [n], for the seen action u [n, A] and log C [n, A]."""
    error = (action - inferred.mean) ** 2 + jnp.exp(2.0 * inferred.log_std)  # E_q (u - a)^2
    return -0.5 * jnp.sum(error * jnp.exp(-log_variance) + log_variance + math.log(2.0 * math.pi), axis=-1)


def entropy(inferred: Inferred) -> jax.Array:
    """The entropy of q, [n]."""
    return jnp.sum(inferred.log_std + 0.5 * math.log(2.0 * math.pi * math.e), axis=-1)


def within_range(model: DemonstratorModel) -> DemonstratorModel:
    """The model with both spreads back in their ranges, as after every step."""
    return model._replace(
        log_std=jnp.clip(model.log_std, *LOG_STD_RANGE),
        log_variance=jnp.clip(model.log_variance, *LOG_VARIANCE_RANGE),
    )


def noise_std(log_variance: jax.Array) -> jax.Array:
    """One number for each demonstrator's noise, [K]: the root of mean(C_k)."""
    return jnp.sqrt(jnp.mean(jnp.exp(log_variance), axis=-1))


def sampling_probabilities(log_variance: jax.Array, share: jax.Array) -> jax.Array:
    """How often to draw each demonstrator, [K]: in proportion to 1 / mean(C_k), where it has pairs at all."""
    precision = jnp.where(share > 0, noise_std(log_variance) ** -2, 0.0)
    return precision / jnp.sum(precision)


def choose_demonstrators(key: jax.Array, probability: jax.Array, count: int) -> jax.Array:
    """`count` demonstrators [n]: each as often as its probability [K] says, to within one (systematic sampling)."""
    total = jnp.cumsum(probability)
    # In (0, 1], so that a demonstrator of probability 0 is never found, wherever it stands.
    position = (jnp.arange(count, dtype=jnp.float32) + 1.0 - jax.random.uniform(key)) / count
    return jnp.searchsorted(total / total[-1], position, side="left")
