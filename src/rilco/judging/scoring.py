"""Scores of the demonstrations that a run learns from, steadied over a stretch of training.

Training goes on in memory; the run's folder is only read. So an audit can be made of any RIL-Co run, finished or not, and
interrupting one loses nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rilco.clean import config as cleaning
from rilco.config import RunConfig
from rilco.judging.checks import AuditError
from rilco.judging.scores import Average, CrossFitted
from rilco.methods import find
from rilco.rewards.ril import split
from rilco.runs.interrupt import StopSignal
from rilco.runs.paths import AUDIT, PHASES
from rilco.runs.progress import Progress, Silent
from rilco.training import Trainer

STRETCH_TRANSITIONS = 32_000
"""About so many transitions make a stretch."""
FORMING = 4
"""Training is taken no notice of for as long as so many stretches: until the learner has outgrown the worst
demonstrators, theirs may score above the expert's, and steadily."""
SCORINGS = 5
"""How often the demonstrations are scored in a stretch."""


class Scores(NamedTuple):
    """Cross-fitted scores of every pair, in stretches of training that follow one another."""

    stretches: np.ndarray  # [S, N] float32, means over a stretch; high is expert-like
    policy: np.ndarray  # [S] mean score of the learner's own pairs
    transitions: int
    """With which the classifiers were trained by the end of the last stretch."""

    @property
    def pairs(self) -> np.ndarray:
        """[N] over all stretches."""
        return self.stretches.mean(0)


def stretch_iterations(config: RunConfig) -> int:
    """Of one stretch: whole intervals between its scorings."""
    return SCORINGS * max(1, config.every(STRETCH_TRANSITIONS) // SCORINGS)


def check_auditable(config: RunConfig, path: Path) -> None:
    """Raises AuditError unless each pair of the run has a classifier that never took it for an expert's."""
    if config.method == cleaning.METHOD:
        raise AuditError(
            f"{path}: a run of {config.method} is audited as it goes: see {path / AUDIT}. To audit again, give its "
            f"first phase: {path / PHASES / cleaning.SEARCH}."
        )
    if find(config.method).classifiers != 2:
        raise AuditError(
            f"{path}: trained by {config.method}, which has no two classifiers on halves of the demonstrations, so no "
            "classifier could judge a pair that it did not learn from. Train with --method ril-co, or let the audit "
            "train: rilco audit --task ... --demos ..."
        )


def score(
    trainer: Trainer,
    enough: Callable[[Scores, int], bool],
    *,
    least: int,
    most: int,
    progress: Progress = Silent(),
    stop: StopSignal | None = None,
) -> Scores:
    """Go on training for at least `least` stretches, at most `most`, until the scores of the newest `least` are
    `enough`, of so many that there were; returns those."""
    config, demos = trainer.config, trainer.demos
    if demos is None:
        raise AuditError(f"{config.method} learns from no demonstrations.")
    go_on = functools.partial(_iterate, trainer, progress=progress, stop=stop)
    interval = stretch_iterations(config) // SCORINGS
    go_on(FORMING * stretch_iterations(config) - trainer.iteration)
    judge = CrossFitted(demos, split(len(demos.obs), find(config.method).classifiers, config.seed))
    stretches: list[np.ndarray] = []
    policy: list[float] = []
    while len(stretches) < most:
        scores = Average(len(demos.obs))
        policy_scores: list[float] = []
        for _ in range(SCORINGS):
            policy_scores += go_on(interval)
            scores.add(judge(trainer.state))
        stretches.append(scores.mean.astype(np.float32))
        policy.append(float(np.mean(policy_scores)))
        newest = Scores(np.array(stretches[-least:]), np.array(policy[-least:]), trainer.transitions)
        if len(stretches) >= least and enough(newest, len(stretches)):
            break
    return newest


def _iterate(trainer: Trainer, iterations: int, progress: Progress, stop: StopSignal | None) -> list[float]:
    """Train for so many iterations; the mean score of the learner's pairs in each."""
    levels = []
    for _ in range(iterations):
        trainer.advance()
        record = trainer.record()
        levels.append(record["policy_score"])
        progress.update({"transitions": trainer.transitions, **record})
        if stop is not None:
            stop.raise_if_requested()
    return levels
