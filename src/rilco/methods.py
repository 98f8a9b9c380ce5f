"""The methods by name. Knows which exist without importing what they are made of."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from typing import TYPE_CHECKING

from rilco.errors import ConfigError, suggestion

if TYPE_CHECKING:
    from rilco.config import RunConfig
    from rilco.policy.learner import PolicyLearner
    from rilco.rewards.learner import RewardLearner
    from rilco.tasks.actions import Actions

IMITATION = {
    "ril-co": "robust imitation by co-pseudo-labelling (the default)",
    "ril-co-clean": "a short RIL-Co, an audit by its classifiers, and a clone of what it kept",
    "ril-co-logistic": "RIL-Co with the logistic loss, which is not symmetric",
    "ril-p": "one classifier that labels its own candidates",
    "ril-p-logistic": "RIL-P with the logistic loss",
    "gail": "one classifier that takes every demonstration for expert, with any loss",
    "gail-logistic": "GAIL with the logistic loss, the original",
    "gail-ap": "GAIL with the AP loss",
    "gail-unhinged": "Wasserstein GAIL",
    "fairl": "matches the forward divergence",
    "vild": "models each demonstrator's noise; needs to know who made which pair",
    "bc": "behaviour cloning: supervised, without transitions; five gradient steps stand for an iteration",
}
TRUE_REWARD = {
    "acktr": "ACKTR on the environment's own reward",
    "ppo": "PPO on the environment's own reward",
}
POLICY_LEARNERS = tuple(TRUE_REWARD)
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


FIXED_LOSS = ("gail-ap", "gail-unhinged", "fairl", "vild")
LABELS = ("lam", "lam_schedule", "lam_iterations", "pseudo_labels", "candidates", "selected")


def check_options(method: str, policy_learner: str, given: Collection[str]) -> None:
    """Refuses options that a method would ignore."""
    fixed = {f"{other}." for other in POLICY_LEARNERS if other != policy_learner}
    if method in FIXED_LOSS or method.endswith("-logistic"):
        fixed.add("classifier.loss")
    if not method.startswith("ril"):
        fixed |= {f"classifier.{name}" for name in LABELS} | {"nonexpert_demos"}
    if not method.startswith("ril-p"):
        fixed.add("classifier.as_published")
    if method != "vild":
        fixed |= {"vild.", "episodes_as_demonstrators"}
    if method in TRUE_REWARD:
        fixed |= {"classifier.", "policy_learner", "noise_rate", "demo_kind"}
    if method != "ril-co-clean":
        fixed.add("clean.")
    if method == "bc":
        fixed |= {
            "classifier.",
            "policy_learner",
            "start_from",
            "hold_actor_for",
            "freeze_normalizer_after",
            *(f"{learner}." for learner in POLICY_LEARNERS),
        }
    elif method != "ril-co-clean":
        fixed.add("bc.")
    ignored = sorted(
        name
        for name in given
        if name in fixed or any(name.startswith(part) for part in fixed if part[-1] == ".")
    )
    if ignored:
        raise ConfigError(
            f"--method {method} has no use for {', '.join(ignored)}: leave it out, or choose another method."
        )


def make_reward_learner(config: RunConfig, num_demonstrators: int = 1) -> RewardLearner | None:
    """The reward learner of a run, or None where it has none. The run's seed fixes the split into halves."""
    from rilco.rewards.fairl import fairl
    from rilco.rewards.gail import gail
    from rilco.rewards.ril import ril_co, ril_p
    from rilco.rewards.vild import vild

    classifier = config.classifier
    logistic = dataclasses.replace(classifier, loss="logistic")
    match config.method:
        case "ril-co":
            return ril_co(classifier, split_seed=config.seed)
        case "ril-co-logistic":
            return ril_co(logistic, split_seed=config.seed)
        case "ril-p":
            return ril_p(classifier)
        case "ril-p-logistic":
            return ril_p(logistic)
        case "gail":
            return gail(classifier, loss=classifier.loss)
        case "gail-logistic":
            return gail(classifier, loss="logistic")
        case "gail-ap":
            return gail(classifier, loss="ap")
        case "gail-unhinged":
            return gail(classifier, loss="unhinged", reward_of_score=lambda score: score)
        case "fairl":
            return fairl(classifier)
        case "vild":
            return vild(classifier, config.vild, num_demonstrators=num_demonstrators)
        case _:
            return None


def make_policy_learner(config: RunConfig, actions: Actions) -> PolicyLearner:
    """The policy learner of a run with this kind of actions."""
    from rilco.policy.heads import make_head

    if config.policy_learner == "ppo":
        from rilco.policy.ppo import ppo

        return ppo(config.ppo, make_head(actions))
    from rilco.policy.acktr import acktr

    return acktr(config.acktr, make_head(actions))


def check_actions(method: str, actions: Actions) -> None:
    """Refuses actions that a method cannot learn."""
    if method == "vild" and actions.choices:
        raise ConfigError(
            "--method vild: models Gaussian noise on actions, which has no meaning where actions are choices. Take any "
            "other method, ril-co for example."
        )
