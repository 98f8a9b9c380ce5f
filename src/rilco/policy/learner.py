"""The interface of policy learners, pure functions over a state of their own, and the parts that they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from rilco.networks import Layer


class Rollout(NamedTuple):
    """T steps of B environments, acted by the current policy."""

    obs: jax.Array  # [T, B, obs_dim] normalised
    action: jax.Array  # [T, B, action_dim] as sampled, not clipped; see `rilco.tasks.actions`
    reward: jax.Array  # [T, B]
    terminated: jax.Array  # [T, B] bool: the episode ended here and nothing follows
    truncated: jax.Array  # [T, B] bool: a time limit cut the episode here
    last_obs: jax.Array  # [B, obs_dim] normalised; after the last step and after any reset


class Actor(NamedTuple):
    """`apply_mlp(layers, obs)` is a Gaussian's mean, `exp(log_std)` its spread in every state; or logits of choices."""

    layers: tuple[Layer, ...]
    log_std: jax.Array  # [action_dim]; of choices [0]


class Params(NamedTuple):
    """The networks: a policy and a separate critic."""

    actor: Actor
    critic: tuple[Layer, ...]


class PolicyLearner(NamedTuple):
    """An algorithm that improves a policy for one kind of actions from rollouts.

    Its state is a pytree of arrays, so that a checkpoint can hold it, and has `Params` under the name `params`.
    """

    init: Callable[[jax.Array, int, int], Any]
    """`init(key, obs_dim, action_dim) -> state`"""

    update: Callable[[Any, Rollout, jax.Array], tuple[Any, dict[str, jax.Array]]]
    """`update(state, rollout, key) -> (state, info)`, with info a dict of scalars to log; can be jitted"""


def with_actor(state: Any, actor: Actor) -> Any:
    """The state of a policy learner with another policy to act with, of the same shape."""
    return state._replace(params=state.params._replace(actor=actor))


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
