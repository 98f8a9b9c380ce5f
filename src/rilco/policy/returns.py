"""Bootstrapped returns of a rollout."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def n_step_returns(
    reward: jax.Array,  # [T, B]
    terminated: jax.Array,  # [T, B] bool
    truncated: jax.Array,  # [T, B] bool
    value: jax.Array,  # [T, B] of the observation acted on
    last_value: jax.Array,  # [B] of the observation after the last step
    discount: float,
) -> jax.Array:
    """Sum discounted rewards to the end of the rollout, and take the critic's word for the rest: [T, B].

    A terminal step is worth its reward. A truncated step is worth its own value estimate, which gives it no
    advantage: the observation after it was replaced by the reset, so what would have followed is unknown. A
    step that is both is terminal, since its return is then known exactly.
    """
    cut = truncated & ~terminated

    def step(following: jax.Array, inputs: tuple[jax.Array, ...]) -> tuple[jax.Array, jax.Array]:
        reward, terminated, cut, value = inputs
        bootstrapped = reward + discount * jnp.where(terminated, 0.0, following)
        current = jnp.where(cut, value, bootstrapped)
        return current, current

    _, returns = jax.lax.scan(step, last_value, (reward, terminated, cut, value), reverse=True)
    return returns
