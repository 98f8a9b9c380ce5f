"""The classifier g(s, a) that tells expert pairs from the policy's, its empirical risk and its penalty.

Everything here is about *one* classifier; `ril.py` stacks as many as a method has and maps over them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from rilco.networks import Layer, apply_mlp, init_mlp_uniform, trace_mlp
from rilco.rewards.config import ClassifierConfig

Params = tuple[Layer, ...]

SCHEDULES: dict[str, Callable[[jax.Array], jax.Array]] = {
    "constant": jnp.ones_like,
    "linear": lambda progress: progress,
    "cosine": lambda progress: 0.5 - 0.5 * jnp.cos(jnp.pi * progress),
    "warm-up": lambda progress: jnp.where(progress < 1.0, 0.0, 1.0),
}
"""Share of lambda that is in force, by progress from 0 to 1."""


def lam_at(config: ClassifierConfig, iteration: jax.Array) -> jax.Array:
    """Lambda in an iteration, counted from 0, of a schedule that is not constant."""
    progress = jnp.minimum(iteration.astype(jnp.float32) / config.lam_iterations, 1.0)
    return config.lam * SCHEDULES[config.lam_schedule](progress)


def init_classifier(key: jax.Array, obs_dim: int, action_dim: int, hidden: tuple[int, ...]) -> Params:
    """Random weights of a classifier of pairs (s, a)."""
    return init_mlp_uniform(key, (obs_dim + action_dim, *hidden, 1))


def join(obs: jax.Array, action: jax.Array) -> jax.Array:
    """x = (s, a) as one vector: normalised obs [..., D], action [..., A] -> [..., D + A]."""
    return jnp.concatenate([obs, action], axis=-1)


def score_joined(params: Params, x: jax.Array) -> jax.Array:
    """g(x) for x [..., D + A]: high means expert."""
    return apply_mlp(params, x)[..., 0]


def score(params: Params, obs: jax.Array, action: jax.Array) -> jax.Array:
    """g(s, a) for normalised obs [..., D] and action [..., A]: high means expert."""
    return score_joined(params, join(obs, action))


def input_gradient(params: Params, x: jax.Array) -> jax.Array:
    """grad_x g(x) of a tanh network in closed form, [n, D + A]: W1 diag(1-h1^2) W2 diag(1-h2^2) w3.

    The penalty on it is itself differentiated; one autodiff over this took 4 to 6% less of the whole update
    than two nested ones.
    """
    *layers, head = params
    _, (_, *activations) = trace_mlp(params, x)
    gradient = jnp.broadcast_to(head["w"][:, 0], activations[-1].shape)
    for layer, activation in zip(reversed(layers), reversed(activations), strict=True):
        gradient = (gradient * (1.0 - activation**2)) @ layer["w"].T
    return gradient


def gradient_penalty(params: Params, x: jax.Array) -> jax.Array:
    """mean((|grad_x g| - 1)^2) over the points x [n, D + A]."""
    squared_norm = jnp.sum(input_gradient(params, x) ** 2, axis=-1)
    norm = jnp.sqrt(squared_norm + 1e-12)  # a norm of exactly 0 would have an infinite slope
    return jnp.mean((norm - 1.0) ** 2)


def interpolate(demo: jax.Array, policy: jax.Array, mixing: jax.Array) -> jax.Array:
    """Points between demonstration pairs [n, D + A] and policy pairs [m, D + A], mixing [n, 1] in [0, 1).

    There are n points whatever m is: policy pairs are reused in turn where m < n, left over where m > n.
    """
    if len(policy) != len(demo):
        policy = jnp.take(policy, jnp.arange(len(demo)) % len(policy), axis=0)
    return mixing * demo + (1.0 - mixing) * policy


class NonExperts(NamedTuple):
    """Pairs taken for non-expert, pseudo-labelled or known: K rows, of which those under the mask count."""

    x: jax.Array  # [K, D + A]
    mask: jax.Array  # [K] bool


class RiskTerms(NamedTuple):
    """The empirical risk and the averages it is made of."""

    risk: jax.Array
    demo_risk: jax.Array
    nonexpert_risk: jax.Array
    policy_risk: jax.Array


def empirical_risk(
    loss: Callable[[jax.Array], jax.Array],
    lam: jax.Array | float,
    demo_score: jax.Array,
    policy_score: jax.Array,
    nonexpert_score: jax.Array,
    nonexpert_mask: jax.Array,
) -> RiskTerms:
    """Twice eq. (r_1): mean_D l(g) + lam mean_P l(-g) + (1 - lam) mean_B l(-g), P being what the mask leaves.

    With P empty its term drops out and the policy's keeps the full weight 1: the risk stays balanced, and
    is GAIL's.
    """
    demo_risk = jnp.mean(loss(demo_score))
    policy_risk = jnp.mean(loss(-policy_score))
    count = jnp.sum(nonexpert_mask, dtype=demo_score.dtype)
    nonexpert_risk = jnp.sum(jnp.where(nonexpert_mask, loss(-nonexpert_score), 0.0)) / jnp.maximum(count, 1.0)
    weight = jnp.where(count > 0, lam, 0.0)
    risk = demo_risk + weight * nonexpert_risk + (1.0 - weight) * policy_risk
    return RiskTerms(risk, demo_risk, nonexpert_risk, policy_risk)
