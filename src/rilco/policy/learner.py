"""The interface of policy learners: pure functions over a state of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # the types are for readers: importing this module must stay possible without JAX
    import jax

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


class PolicyLearner(NamedTuple):
    """An algorithm that improves a policy for one kind of actions from rollouts.

    `update` can be jitted, and its state is a pytree of arrays, so that a checkpoint can hold it.
    """

    init: Callable[[jax.Array, int, int], Any]
    """`init(key, obs_dim, action_dim) -> state`"""

    update: Callable[[Any, Rollout, jax.Array], tuple[Any, dict[str, jax.Array]]]
    """`update(state, rollout, key) -> (state, info)`, with info a dict of scalars to log"""

    actor: Callable[[Any], Actor]
    """`actor(state) -> Actor`, the policy to act with"""

    with_actor: Callable[[Any, Actor], Any]
    """`with_actor(state, actor) -> state`, to act with another policy, of the same shape"""
