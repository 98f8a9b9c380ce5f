"""Parts that ACKTR and PPO share: an actor beside a critic of its own, diagnostics and schedules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from rilco.networks import Layer
from rilco.policy.learner import Actor, PolicyLearner


class Params(NamedTuple):
    """The networks: a policy and a separate critic."""

    actor: Actor
    critic: tuple[Layer, ...]


def policy_learner(init: Callable[..., Any], update: Callable[..., Any]) -> PolicyLearner:
    """The learner of these functions, whose states hold `Params` under the name `params`."""

    def actor(state: Any) -> Actor:
        return state.params.actor

    def with_actor(state: Any, actor: Actor) -> Any:
        return state._replace(params=state.params._replace(actor=actor))

    return PolicyLearner(init, update, actor, with_actor)


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
