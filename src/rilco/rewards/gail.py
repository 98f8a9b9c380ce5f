"""GAIL with any margin loss, and FAIRL: one classifier, every demonstration taken for expert."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp

from rilco.rewards.config import ClassifierConfig
from rilco.rewards.learner import RewardLearner
from rilco.rewards.ril import classifier_learner

LARGEST_EXPONENT = 10.0
"""Scores above this count as this in FAIRL's exponential: e^g would overflow float32 at g = 89."""


def gail(
    config: ClassifierConfig = ClassifierConfig(),
    *,
    loss: str = "logistic",
    reward_of_score: Callable[[jax.Array], jax.Array] | None = None,
) -> RewardLearner:
    """GAIL: RIL-P with lambda = 0. `loss` replaces the config's, whose default is RIL-Co's.

    "logistic" is the original, "ap" is RIL-Co without pseudo-labels. The reward is l(-g) unless another
    function of the score g is given; Wasserstein GAIL is "unhinged" with g itself.
    """
    config = dataclasses.replace(config, loss=loss, lam=0.0)
    return classifier_learner(config, num_classifiers=1, reward_of_score=reward_of_score)


def fairl(config: ClassifierConfig = ClassifierConfig()) -> RewardLearner:
    """FAIRL: GAIL's logistic classifier with the reward of the forward Kullback-Leibler divergence, exp(g) * (-g)."""
    return gail(config, loss="logistic", reward_of_score=fairl_reward)


def fairl_reward(score: jax.Array) -> jax.Array:
    """-u log u of the density ratio u = e^g of demonstrations to policy; largest, 1/e, at g = -1.

    Only the exponent is bounded, and only from above, so that the reward still falls with g everywhere beyond
    -1: at g = 1e4 it is -2.2e8, and finite.
    """
    return -jnp.exp(jnp.minimum(score, LARGEST_EXPONENT)) * score
