"""Trials: of several policies, the one that acts most like an expert, in the eyes of RIL-Co's classifiers.

Clones of the same demonstrations agree on them and differ beside them: from some start states one of them falls, from others
another. The simulator shows that, and the classifiers are the judges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rilco.cleaning.attempts import attempt, likeness
from rilco.interrupt import StopSignal
from rilco.learning import LearnerState
from rilco.policy.saved import Policy
from rilco.rollout.pool import RolloutPool


class Trials(NamedTuple):
    scores: list[list[float]]
    """Of every policy in its heats: how expert-like its pairs were, from 0 to 1."""
    best: int
    """The policy that was left."""


def count_heats(policies: int) -> int:
    """That `hold_trials` will need, for all policies together."""
    return sum(standing * heats for standing, heats in _rounds(policies))


def trial_transitions(policies: int, num_envs: int, steps: int) -> int:
    """That they will take."""
    return count_heats(policies) * num_envs * steps


def hold_trials(
    policies: Sequence[Policy],
    judges: LearnerState,
    pool: RolloutPool,
    *,
    say: Callable[[str], None],
    stop: StopSignal,
) -> Trials:
    """Let all policies act from the same start states, and the better half from more, until one is left.

    Every round has twice the heats of the one before (sequential halving), so that most are spent on telling the best
    apart. In a heat each environment of the pool begins an episode.
    """
    scores: list[list[float]] = [[] for _ in policies]
    ranking = list(range(len(policies)))
    for standing, heats in _rounds(len(policies)):
        ranking = ranking[:standing]
        say(f"Trying out {standing} policies, each from {heats * pool.sizes.num_envs} start states.")
        for i in ranking:
            for _ in range(heats):
                made = attempt(policies[i], len(scores[i]), pool)
                scores[i].append(float(likeness(judges, made).mean()))
                stop.raise_if_requested()
        ranking.sort(key=lambda i: -np.mean(scores[i]))
    return Trials(scores, ranking[0])


def _rounds(policies: int) -> Iterator[tuple[int, int]]:
    """How many policies still stand in each round, and how many heats each of them has there."""
    heats = 1
    while policies > 1:
        yield policies, heats
        policies, heats = -(-policies // 2), 2 * heats
