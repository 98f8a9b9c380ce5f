"""Scores of demonstrations by RIL-Co's classifiers, steadied over a stretch of training.

RIL-Co's two classifiers are trained on disjoint halves of the pairs, each taking its own half for expert. So each judges
the other's half. A classifier at one moment is a noisy judge, so scores are averages. Training goes on in memory:
a run's folder is only read, and interrupting an audit loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from rilco.clean import config as cleaning
from rilco.config import RunConfig
from rilco.errors import AuditError
from rilco.judging.audit_config import AuditConfig
from rilco.learning import LearnerState
from rilco.methods import find
from rilco.normalizer import Normalizer, normalize
from rilco.rewards.classifier import Params, score
from rilco.rewards.learner import DemoArrays
from rilco.rewards.ril import split
from rilco.runs.interrupt import StopSignal
from rilco.runs.paths import AUDIT, PHASES
from rilco.runs.progress import Progress
from rilco.training import Trainer

CHUNK = 65_536
"""Pairs that are scored at a time."""


class Scores(NamedTuple):
    """Cross-fitted scores of every pair, in stretches of training that follow one another."""

    stretches: np.ndarray  # [S, N] float32, means over a stretch; high is expert-like
    policy: np.ndarray  # [S] mean score of the learner's own pairs
    transitions: int
    """With which the classifiers were trained by the end of the last stretch."""
    spread: float | None = None
    """How many times as wide the learner's actions spread as the data's, in a typical dimension; None for choices."""
    learner_return: float | None = None
    """Mean return of the learner's last episodes, where some ended."""

    @property
    def pairs(self) -> np.ndarray:
        """[N] over all stretches."""
        return self.stretches.mean(0)


def stretch_iterations(run: RunConfig, config: AuditConfig) -> int:
    """Of one stretch: whole intervals between its scorings."""
    return config.scorings * max(1, run.every(config.stretch_transitions) // config.scorings)


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


def score_by(
    trainer: Trainer,
    config: AuditConfig,
    why_go_on: Callable[[Scores, int], str | None],
    *,
    progress: Progress,
    stop: StopSignal | None = None,
) -> Scores:
    """Go on training until nothing speaks for more; returns the newest stretches."""
    demos, stretch = trainer.demos, stretch_iterations(trainer.config, config)
    if demos is None:
        raise AuditError(f"{trainer.config.method} learns from no demonstrations.")
    _iterate(trainer, config.forming * stretch - trainer.iteration, progress, stop)
    parts = split(len(demos.obs), find(trainer.config.method).classifiers, trainer.config.seed)
    judge = CrossFitted(demos, parts)
    stretches: list[np.ndarray] = []
    policy: list[float] = []
    while True:
        total, level = np.zeros(len(demos.obs)), []
        for _ in range(config.scorings):
            level += _iterate(trainer, stretch // config.scorings, progress, stop)
            total += judge(trainer.state)
        stretches.append((total / config.scorings).astype(np.float32))
        policy.append(float(np.mean(level)))
        if len(stretches) < config.stretches:
            continue
        newest = Scores(
            np.array(stretches[-config.stretches :]),
            np.array(policy[-config.stretches :]),
            trainer.transitions,
            _spread(trainer.policy.log_std, demos.action),
            float(np.mean(trainer.recent)) if trainer.recent else None,
        )
        reason = why_go_on(newest, len(stretches))
        if reason is None or len(stretches) >= config.most_stretches:
            return newest
        progress.note(f"Training goes on for another stretch: {reason}.")


def _spread(log_std: np.ndarray, action: np.ndarray) -> float | None:
    """Of the learner's actions about their mean, in units of the data's spread; the median over dimensions.

    Actions that hardly vary are still done with some precision: a quarter of their size is granted. Choices
    have no spread.
    """
    if not len(log_std):
        return None
    values = action.astype(np.float64)
    usual = np.maximum(values.std(0), 0.25 * np.sqrt(np.square(values).mean(0)))
    return float(np.median(np.exp(np.asarray(log_std, np.float64)) / np.maximum(usual, 1e-6)))


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


class CrossFitted:
    """Scores every pair of some demonstrations with the classifier that did not train on it."""

    def __init__(self, demos: DemoArrays, halves: Sequence[np.ndarray]) -> None:
        self._demos = demos
        self._judge = np.empty(len(demos.obs), np.int8)  # [N] which classifier judges a pair
        for i, half in enumerate(halves):
            self._judge[half] = len(halves) - 1 - i

    def __call__(self, state: LearnerState) -> np.ndarray:
        """Scores [N] by the classifiers as they are now; high is expert-like."""
        scores = np.empty(len(self._judge), np.float32)
        for start in range(0, len(scores), CHUNK):
            rows = slice(start, start + CHUNK)
            obs, action, judge = (
                _padded(array[rows], CHUNK if len(scores) > CHUNK else len(scores))
                for array in (self._demos.obs, self._demos.action, self._judge)
            )
            chunk = _scores(state.reward.params, state.normalizer, obs, action, judge)
            scores[rows] = np.asarray(chunk)[: len(scores[rows])]
        return scores


@jax.jit
def _scores(
    params: Params, normalizer: Normalizer, obs: jax.Array, action: jax.Array, judge: jax.Array
) -> jax.Array:
    normalized = normalize(normalizer, obs)
    by_each = jax.vmap(lambda one: score(one, normalized, action))(params)  # [C, n]
    return jnp.take_along_axis(by_each, judge[None].astype(jnp.int32), axis=0)[0]


def _padded(array: np.ndarray, length: int) -> np.ndarray:
    """Every chunk has the same shape, so that scoring is compiled once."""
    missing = length - len(array)
    return array if not missing else np.concatenate([array, np.repeat(array[-1:], missing, axis=0)])
