"""GAIL with any margin loss: one classifier, every demonstration taken for expert."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax

from rilco.rewards.config import ClassifierConfig
from rilco.rewards.learner import RewardLearner
from rilco.rewards.ril import classifier_learner


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
