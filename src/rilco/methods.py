"""The methods: one table, an entry each. Knows which exist without importing what they are made of.

A method of your own is an entry too: `register("mine", Method(...))`.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rilco.errors import ConfigError, suggestion
from rilco.outside import MODULES, import_modules

if TYPE_CHECKING:
    from rilco.config import RunConfig
    from rilco.policy.learner import PolicyLearner
    from rilco.rewards.learner import RewardLearner
    from rilco.tasks.actions import Actions

POLICY_LEARNERS = ("acktr", "ppo")

# Settings that only some methods read, in groups. A dot at the end stands for all of a part that no group names.
DEMONSTRATIONS = ("demos", "noise_rate", "demo_kind")
ACTING = ("start_from", "hold_actor_for", "freeze_normalizer_after", "acktr.", "ppo.")
REWARD = (*DEMONSTRATIONS, *ACTING, "policy_learner", "classifier.", "lasting_ends")
LOSS = ("classifier.loss",)
LABELS = (
    "nonexpert_demos",
    *("classifier.lam", "classifier.lam_schedule", "classifier.lam_iterations"),
    *("classifier.pseudo_labels", "classifier.candidates", "classifier.selected"),
)
AS_PUBLISHED = ("classifier.as_published",)
DEMONSTRATORS = ("vild.", "episodes_as_demonstrators")
_SOME = {*REWARD, *LOSS, *LABELS, *AS_PUBLISHED, *DEMONSTRATORS, "bc.", "clean."} - {"demos"}


class Look(NamedTuple):
    """How reports show a method. Colour and marker both tell it, so that neither colour vision nor ink is needed."""

    label: str
    colour: str
    marker: str


@dataclass(frozen=True)
class Method:
    """All that rilco knows of one way to learn."""

    summary: str
    """One line for lists of methods."""
    reads: tuple[str, ...] = (*REWARD, *LOSS)
    """Settings that it has a use for, of those that only some methods read. Others are refused."""
    make_reward: Callable[[RunConfig, int], RewardLearner] | None = None
    """`make_reward(config, num_demonstrators)`: its reward learner, where it learns a reward in one run."""
    classifiers: int = 1
    """Into how many parts it splits the demonstrations."""
    policy_learner: str = ""
    """The policy learner that it is, on the true reward; empty where the run chooses one."""
    runner: Literal["acting", "cloning", "several"] = "acting"
    """How it runs: in the environment, on pairs alone, or as several runs one after the other."""
    like: str = ""
    """The method whose iterations take as long, where that need not be measured again."""
    look: Look | None = None
    """Label, colour and marker in reports. None: the name, and the next free ones."""
    learns_choices: bool = True
    """Whether it can also learn actions that are choices."""

    def __post_init__(self) -> None:
        if self.runner not in ("acting", "cloning", "several"):
            raise ConfigError(
                f"Method: the runner {self.runner!r} is unknown; known are acting, cloning, several."
            )
        if self.runner == "acting" and bool(self.make_reward) == bool(self.policy_learner):
            raise ConfigError(
                "Method: what acts learns either a reward, by make_reward, or from the true one, as a policy_learner."
            )

    @property
    def imitates(self) -> bool:
        return "demos" in self.reads

    @property
    def makes_transitions(self) -> bool:
        return self.runner != "cloning"


def find(name: str) -> Method:
    """The method of a name, also if it comes from a module that `RILCO_MODULES` names."""
    if name not in METHODS:
        import_modules()
    if name not in METHODS:
        raise ConfigError(
            f"--method {name}: unknown method; known are {', '.join(METHODS)}.{suggestion(name, METHODS)} One from "
            f"outside rilco is known once its module is imported: in Python, or by {MODULES}=MODULE in the environment."
        )
    return METHODS[name]


def register(name: str, method: Method) -> None:
    """Add a method from outside, or replace one. A process that meets its name must have done so: see `find`."""
    if name in _OWN:
        raise ConfigError(f"register: {name!r} is one of rilco's own methods. Choose another name.")
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]*", name):
        raise ConfigError(
            f"register: {name!r} would be part of folder names. Use lower-case letters, digits, dots and hyphens."
        )
    METHODS[name] = method


def ignored_options(name: str, policy_learner: str, given: Collection[str]) -> list[str]:
    """Those of the options that a method has no use for."""
    reads = set(find(name).reads) - {f"{other}." for other in POLICY_LEARNERS if other != policy_learner}
    return sorted(option for option in given if _group(option) in _SOME - reads)


def check_options(name: str, policy_learner: str, given: Collection[str]) -> None:
    """Refuses options that a method would ignore."""
    if ignored := ignored_options(name, policy_learner, given):
        raise ConfigError(
            f"--method {name} has no use for {', '.join(ignored)}: leave it out, or choose another method."
        )


def _group(option: str) -> str:
    """The name of an option in `Method.reads`."""
    return option if option in _SOME else f"{option.partition('.')[0]}."


def make_reward_learner(config: RunConfig, num_demonstrators: int = 1) -> RewardLearner | None:
    """The reward learner of a run, or None where it has none."""
    make = find(config.method).make_reward
    return None if make is None else make(config, num_demonstrators)


def make_policy_learner(config: RunConfig, actions: Actions) -> PolicyLearner:
    """The policy learner of a run with this kind of actions."""
    from rilco.policy.heads import make_head

    if config.policy_learner == "ppo":
        from rilco.policy.ppo import ppo

        return ppo(config.ppo, make_head(actions))
    from rilco.policy.acktr import acktr

    return acktr(config.acktr, make_head(actions))


def check_actions(name: str, actions: Actions) -> None:
    """Refuses actions that a method cannot learn."""
    if actions.choices and not find(name).learns_choices:
        raise ConfigError(
            f"--method {name}: models noise on quantities, which has no meaning where actions are choices. Take any "
            "other method, ril-co for example."
        )


# -- the reward learners, by the settings of a run -------------------------------------------------


def _ril_co(config: RunConfig, _: int, **changes: Any) -> RewardLearner:
    """The run's seed fixes the split into halves."""
    from rilco.rewards.ril import ril_co

    return ril_co(dataclasses.replace(config.classifier, **changes), split_seed=config.seed)


def _ril_p(config: RunConfig, _: int, **changes: Any) -> RewardLearner:
    from rilco.rewards.ril import ril_p

    return ril_p(dataclasses.replace(config.classifier, **changes))


def _gail(config: RunConfig, _: int, loss: str = "", **how: Any) -> RewardLearner:
    from rilco.rewards.gail import gail

    return gail(config.classifier, loss=loss or config.classifier.loss, **how)


def _fairl(config: RunConfig, _: int) -> RewardLearner:
    from rilco.rewards.gail import fairl

    return fairl(config.classifier)


def _vild(config: RunConfig, num_demonstrators: int) -> RewardLearner:
    from rilco.rewards.vild import vild

    return vild(config.classifier, config.vild, num_demonstrators=num_demonstrators)


# Colours are Okabe and Ito's, which colour-blind readers can tell apart.
METHODS: dict[str, Method] = {
    "ril-co": Method(
        "robust imitation by co-pseudo-labelling (the default)",
        reads=(*REWARD, *LOSS, *LABELS),
        make_reward=_ril_co,
        classifiers=2,
        look=Look("RIL-Co", "#D55E00", "o"),
    ),
    "ril-co-clean": Method(
        "an audit, by RIL-Co's classifiers where it is not sure, and clones of what was kept, which practise",
        reads=(*REWARD, *LOSS, *LABELS, "bc.", "clean."),
        classifiers=2,
        runner="several",
        like="ril-co",  # the minutes of cloning aside
    ),
    "ril-co-logistic": Method(
        "RIL-Co with the logistic loss, which is not symmetric",
        reads=(*REWARD, *LABELS),
        make_reward=functools.partial(_ril_co, loss="logistic"),
        classifiers=2,
        like="ril-co",
        look=Look("RIL-Co (logistic)", "#0072B2", "s"),
    ),
    "ril-p": Method(
        "one classifier that labels its own candidates",
        reads=(*REWARD, *LOSS, *LABELS, *AS_PUBLISHED),
        make_reward=_ril_p,
        look=Look("RIL-P", "#009E73", "^"),
    ),
    "ril-p-logistic": Method(
        "RIL-P with the logistic loss",
        reads=(*REWARD, *LABELS, *AS_PUBLISHED),
        make_reward=functools.partial(_ril_p, loss="logistic"),
        like="ril-p",
        look=Look("RIL-P (logistic)", "#CC79A7", "D"),
    ),
    "gail": Method(
        "one classifier that takes every demonstration for expert, with any loss",
        make_reward=_gail,
        like="gail-logistic",
    ),
    "gail-logistic": Method(
        "GAIL with the logistic loss, the original",
        reads=REWARD,
        make_reward=functools.partial(_gail, loss="logistic"),
        look=Look("GAIL (logistic)", "#0072B2", "s"),
    ),
    "gail-ap": Method(
        "GAIL with the AP loss",
        reads=REWARD,
        make_reward=functools.partial(_gail, loss="ap"),
        like="gail-logistic",
        look=Look("GAIL (AP)", "#009E73", "^"),
    ),
    "gail-unhinged": Method(
        "Wasserstein GAIL",
        reads=REWARD,
        make_reward=functools.partial(_gail, loss="unhinged", reward_of_score=lambda score: score),
        like="gail-logistic",
        look=Look("GAIL (unhinged)", "#56B4E9", "v"),
    ),
    "fairl": Method(
        "matches the forward divergence",
        reads=REWARD,
        make_reward=_fairl,
        like="gail-logistic",
        look=Look("FAIRL", "#CC79A7", "D"),
    ),
    "vild": Method(
        "models each demonstrator's noise; needs to know who made which pair",
        reads=(*REWARD, *DEMONSTRATORS),
        make_reward=_vild,
        look=Look("VILD", "#E69F00", "P"),
        learns_choices=False,
    ),
    "bc": Method(
        "behaviour cloning: supervised, without transitions; five gradient steps stand for an iteration",
        reads=(*DEMONSTRATIONS, "bc."),
        runner="cloning",
        look=Look("BC", "#404040", "X"),
    ),
    "acktr": Method("ACKTR on the environment's own reward", reads=ACTING, policy_learner="acktr"),
    "ppo": Method("PPO on the environment's own reward", reads=ACTING, policy_learner="ppo"),
}
_OWN = frozenset(METHODS)
