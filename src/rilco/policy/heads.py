"""The meaning of a policy network's outputs to a learner: quantities with Gaussian noise, or choices.

A head is all that ACKTR, PPO and behaviour cloning know of actions. Sampling is for whoever acts, with NumPy
(`rilco.tasks.actions`); both write actions the same way.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from rilco.tasks.actions import Actions


class Head(NamedTuple):
    """A distribution of actions [..., A] by a network's outputs [..., A] and a log-std that all states share."""

    log_prob: Callable[[jax.Array, jax.Array, jax.Array], jax.Array]
    """`log_prob(output, log_std, action) -> [...]`. Its gradient at sampled actions also makes up the Fisher matrix."""
    entropy: Callable[[jax.Array, jax.Array], jax.Array]
    """`entropy(output, log_std) -> []`, a mean over states and over numbers or choices"""
    loss: Callable[[jax.Array, jax.Array], jax.Array]
    """`loss(output, action) -> [..., n]` of behaviour cloning: squared errors, or a cross-entropy for each choice"""
    has_spread: bool
    """Whether there is a log-std, and not an empty array in its place."""
    gain: float
    """Scale of the last layer's first weights with ACKTR. Choices begin about even, so that first rollouts hold them all."""

    def init_log_std(self, action_dim: int, value: float) -> jax.Array:
        return jnp.full(action_dim if self.has_spread else 0, value, jnp.float32)

    def info(self, log_std: jax.Array) -> dict[str, jax.Array]:
        """Values to log of the spread, where there is one."""
        return {"log_std": jnp.mean(log_std)} if self.has_spread else {}


def _gaussian_log_prob(mean: jax.Array, log_std: jax.Array, action: jax.Array) -> jax.Array:
    log_std = jnp.broadcast_to(log_std, mean.shape)
    standardised = (action - mean) * jnp.exp(-log_std)
    return jnp.sum(-0.5 * jnp.square(standardised) - log_std - 0.5 * math.log(2.0 * math.pi), axis=-1)


GAUSSIAN = Head(
    _gaussian_log_prob,
    lambda output, log_std: jnp.mean(log_std) + 0.5 * math.log(2.0 * math.pi * math.e),
    lambda output, action: jnp.square(output - action),
    has_spread=True,
    gain=1.0,
)
"""Outputs are means of a diagonal Gaussian."""


def make_head(actions: Actions) -> Head:
    """The head for a kind of actions; the same one every time, so that what was compiled for it is found again."""
    return categorical(actions) if actions.choices else GAUSSIAN


@functools.cache
def categorical(actions: Actions) -> Head:
    """Outputs are logits, side by side for each choice; actions are one-hot in the same places."""

    def log_probs(output: jax.Array) -> jax.Array:
        """[..., A]"""
        parts = [jax.nn.log_softmax(part, axis=-1) for part in actions.split(output)]
        return jnp.concatenate(parts, axis=-1)

    def log_prob(output: jax.Array, log_std: jax.Array, action: jax.Array) -> jax.Array:
        return jnp.sum(action * log_probs(output), axis=-1)

    def entropy(output: jax.Array, log_std: jax.Array) -> jax.Array:
        each = log_probs(output)
        return jnp.mean(-jnp.sum(jnp.exp(each) * each, axis=-1)) / len(actions.choices)

    def loss(output: jax.Array, action: jax.Array) -> jax.Array:
        terms = actions.split(action * log_probs(output))
        return jnp.stack([-jnp.sum(term, axis=-1) for term in terms], axis=-1)

    return Head(log_prob, entropy, loss, has_spread=False, gain=0.01)
