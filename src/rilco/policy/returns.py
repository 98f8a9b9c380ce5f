"""Bootstrapped returns of a rollout, by the critic's values of its observations [T, B] and of the last one [B]."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from rilco.networks import Layer, apply_mlp
from rilco.policy.learner import Rollout


def values(critic: tuple[Layer, ...], rollout: Rollout) -> tuple[jax.Array, jax.Array]:
    """What a critic makes of the observations acted on [T, B], and of the one after the last step [B]."""
    return apply_mlp(critic, rollout.obs)[..., 0], apply_mlp(critic, rollout.last_obs)[..., 0]


def n_step_returns(rollout: Rollout, value: jax.Array, last_value: jax.Array, discount: float) -> jax.Array:
    """Sum discounted rewards to the end of the rollout, and take the critic's word for the rest: [T, B].

    A terminal step is worth its reward. A truncated step is worth its own value estimate, so it has no advantage: what
    would have followed is unknown, because the reset replaced the observation after it. A step that is both is
    terminal, since its return is known exactly.
    """
    cut = rollout.truncated & ~rollout.terminated

    def step(following: jax.Array, inputs: tuple[jax.Array, ...]) -> tuple[jax.Array, jax.Array]:
        reward, terminated, cut, value = inputs
        bootstrapped = reward + discount * jnp.where(terminated, 0.0, following)
        current = jnp.where(cut, value, bootstrapped)
        return current, current

    _, returns = jax.lax.scan(
        step, last_value, (rollout.reward, rollout.terminated, cut, value), reverse=True
    )
    return returns


def generalized_advantages(
    rollout: Rollout, value: jax.Array, last_value: jax.Array, discount: float, gae_lambda: float
) -> jax.Array:
    """Average the advantages of all n-step returns with weights lambda^(n-1) (GAE; Schulman et al. 2016): [T, B].

    Lambda 1 gives `n_step_returns` minus the value. Ends count as there: nothing follows a terminal step, and a truncated
    step has no advantage. What came before it relies on its value estimate.
    """
    following_value = jnp.concatenate([value[1:], last_value[None]])
    delta = rollout.reward + discount * jnp.where(rollout.terminated, 0.0, following_value) - value
    cut = rollout.truncated & ~rollout.terminated

    def step(following: jax.Array, inputs: tuple[jax.Array, ...]) -> tuple[jax.Array, jax.Array]:
        delta, terminated, cut = inputs
        advantage = delta + discount * gae_lambda * jnp.where(terminated, 0.0, following)
        current = jnp.where(cut, 0.0, advantage)
        return current, current

    _, advantages = jax.lax.scan(
        step, jnp.zeros_like(last_value), (delta, rollout.terminated, cut), reverse=True
    )
    return advantages
