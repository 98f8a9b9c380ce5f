"""The methods by name. Knows which exist without importing what they are made of."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import TYPE_CHECKING

from rilco.errors import ConfigError, suggestion

if TYPE_CHECKING:
    from rilco.rewards.classifier import ClassifierConfig
    from rilco.rewards.learner import RewardLearner

IMITATION = {
    "ril-co": "robust imitation by co-pseudo-labelling (the default)",
    "ril-co-logistic": "RIL-Co with the logistic loss, which is not symmetric",
    "ril-p": "one classifier that labels its own candidates",
    "ril-p-logistic": "RIL-P with the logistic loss",
    "gail-logistic": "GAIL",
    "gail-ap": "GAIL with the AP loss",
}
TRUE_REWARD = {"acktr": "reinforcement learning on the environment's own reward"}
METHODS = {**IMITATION, **TRUE_REWARD}


def check_method(name: str) -> None:
    if name not in METHODS:
        known = ", ".join(METHODS)
        raise ConfigError(f"--method {name}: unknown method; known are {known}.{suggestion(name, METHODS)}")


def needs_demonstrations(method: str) -> bool:
    return method in IMITATION


def num_classifiers(method: str) -> int:
    """Into how many parts a method splits the demonstrations."""
    return 2 if method.startswith("ril-co") else 1


def check_options(method: str, given: Collection[str]) -> None:
    """Refuses options that a method would ignore."""
    fixed = set()
    if method.endswith("-logistic") or method == "gail-ap":
        fixed.add("classifier.loss")
    if method.startswith("gail"):
        fixed.add("classifier.lam")
    if method in TRUE_REWARD:
        fixed |= {name for name in given if name.startswith("classifier.")}
    ignored = sorted(fixed & set(given))
    if ignored:
        raise ConfigError(
            f"--method {method} has no use for {', '.join(ignored)}: leave it out, or choose another method."
        )


def make_reward_learner(method: str, config: ClassifierConfig, seed: int) -> RewardLearner | None:
    """The reward learner of a method, or None for the true reward. `seed` fixes the split into halves."""
    from rilco.rewards.gail import gail
    from rilco.rewards.ril import ril_co, ril_p

    logistic = dataclasses.replace(config, loss="logistic")
    match method:
        case "ril-co":
            return ril_co(config, split_seed=seed)
        case "ril-co-logistic":
            return ril_co(logistic, split_seed=seed)
        case "ril-p":
            return ril_p(config)
        case "ril-p-logistic":
            return ril_p(logistic)
        case "gail-logistic":
            return gail(config, loss="logistic")
        case "gail-ap":
            return gail(config, loss="ap")
        case _:
            return None
