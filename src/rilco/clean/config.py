"""`ril-co-clean`: audit the demonstrations, with RIL-Co where that is needed, and clone what was kept, several times. The
clones practise, and are made anew from what went well, too. Their mean is the policy.

Here are its names and settings, which all of rilco knows; `phases.py` is the run.
"""

from __future__ import annotations

from dataclasses import dataclass

from rilco.errors import check_choice, check_fields

METHOD = "ril-co-clean"
SEARCH = "1-ril-co"  # RIL-Co's folder, where it was asked
FINISHES = ("none", "ril-co", "gail-ap", "gail-logistic")


@dataclass(frozen=True)
class CleanConfig:
    """What `ril-co-clean` has besides RIL-Co's and behaviour cloning's settings."""

    gradient_steps: int = 50_000
    """Of each behaviour cloning on the demonstrations that were kept."""
    learning_rate: float = 3e-3
    """Of each clone, in the place of `bc.learning_rate`; it falls to zero (`bc.decay_steps`)."""
    farthest: float = 5.0
    """`bc.farthest` of each clone."""
    start_weight: float = 1.0
    """`bc.start_weight` of the first clones, where the audit dropped something. Where it did not, demonstrations may be pieces
    that all begin somewhere, and the bad ones would weigh more."""
    clones: int = 4
    """How many there are. They practise together, and the policy is their mean; 1 is the policy, without practice."""
    practice_rounds: int = 2
    """How often they practise. After each round clones are made anew, from what went well in it, too."""
    practice_starts: int = 192
    """From how many start states their mean acts in a round, at least."""
    practice_steps: int = 300
    """How long an attempt is. Of a good one the first two thirds are imitated."""
    finish: str = "none"
    """What goes on from the clone: nothing, or `ril-co`, `gail-ap` or `gail-logistic` on the kept demonstrations.
    RIL-Co takes the dropped ones as known non-expert data."""
    finish_std: float = 0.1
    """Spread of the actions that the finish begins with, at least: a clone's own is that of its errors, far too small to
    learn from what lies beside the demonstrations."""
    search_steps: int = 300_000
    """Transitions of RIL-Co, where it is asked and there is a finish. Without a finish it gets what practice leaves."""

    def __post_init__(self) -> None:
        counts = ("gradient_steps", "clones", "practice_starts", "practice_steps", "search_steps")
        check_fields(self, "at least 1", lambda value: value >= 1, *counts)
        check_fields(self, "0 or more", lambda value: value >= 0, "practice_rounds", "farthest")
        positive = ("learning_rate", "start_weight", "finish_std")
        check_fields(self, "a positive number", lambda value: value > 0, *positive)
        check_choice("clean.finish", self.finish, FINISHES)

    @property
    def rounds(self) -> int:
        """Of practice: a single clone has nobody to learn from."""
        return self.practice_rounds if self.clones > 1 else 0


def usual_steps(clean: CleanConfig, num_envs: int) -> int:
    """Of a run without a finish: more would not make the audit better."""
    return clean.search_steps + practised_steps(clean, num_envs)


def practised_steps(clean: CleanConfig, num_envs: int) -> int:
    """Transitions that practice takes, in all rounds, at most."""
    heats = -(-clean.practice_starts // num_envs)
    return clean.rounds * (heats + clean.clones * again(heats)) * num_envs * clean.practice_steps


def again(heats: int) -> int:
    """After so many heats of the clones' mean, each clone has at most this many for the starts where it failed."""
    return -(-heats // 3)
