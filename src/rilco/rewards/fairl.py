"""FAIRL: GAIL's logistic classifier with the reward of the forward Kullback-Leibler divergence."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from rilco.rewards.config import ClassifierConfig
from rilco.rewards.gail import gail
from rilco.rewards.learner import RewardLearner

LARGEST_EXPONENT = 10.0
"""Scores above this count as this inside the exponential: e^g would overflow float32 at g = 89."""


def fairl(config: ClassifierConfig = ClassifierConfig()) -> RewardLearner:
    """FAIRL, whose reward is a function of GAIL's score g: exp(g) * (-g)."""
    return gail(config, loss="logistic", reward_of_score=fairl_reward)


def fairl_reward(score: jax.Array) -> jax.Array:
    """-u log u of the density ratio u = e^g of demonstrations to policy; largest, 1/e, at g = -1.

    Only the exponent is bounded, and only from above, so that the reward still falls with g everywhere beyond
    -1: at g = 1e4 it is -2.2e8, and finite.
    """
    return -jnp.exp(jnp.minimum(score, LARGEST_EXPONENT)) * score
