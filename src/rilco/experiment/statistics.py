"""Statistics of the report.

The interquartile mean, its stratified bootstrap interval and the probability of improvement are those of Agarwal
et al., "Deep Reinforcement Learning at the Edge of the Statistical Precipice" (NeurIPS 2021).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

WINDOW = 640_000
"""Transitions at the end of a run over which its final return is averaged: 1000 iterations, as in the paper."""
RESAMPLES = 10_000
CONFIDENCE = 0.95
SIGNIFICANT = 0.05


class Estimate(NamedTuple):
    """A mean over runs."""

    mean: float
    stderr: float | None
    """None for a single run."""
    runs: int


class Interval(NamedTuple):
    low: float
    high: float


def final_return(transitions: np.ndarray, returns: np.ndarray) -> float:
    """Mean of the evaluations within the last `WINDOW` transitions."""
    return float(returns[transitions > transitions[-1] - WINDOW].mean())


def estimate(values: Sequence[float] | np.ndarray) -> Estimate:
    """Mean and standard error (with n - 1) over runs."""
    values = np.asarray(values, np.float64)
    stderr = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else None
    return Estimate(float(values.mean()), stderr, len(values))


class Difference(NamedTuple):
    """Difference of the means of two groups, by Welch's test, which lets the groups scatter differently."""

    mean: float
    interval: Interval
    p_value: float


def welch(ours: Sequence[float] | np.ndarray, theirs: Sequence[float] | np.ndarray) -> Difference | None:
    """Ours minus theirs; None where one of the groups is a single run."""
    from scipy import stats

    if min(len(ours), len(theirs)) < 2:
        return None
    test = stats.ttest_ind(ours, theirs, equal_var=False)
    interval = test.confidence_interval(CONFIDENCE)
    difference = float(np.mean(ours) - np.mean(theirs))
    return Difference(difference, Interval(float(interval.low), float(interval.high)), float(test.pvalue))


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values with Holm's correction for several tests."""
    order = np.argsort(p_values, kind="stable")
    adjusted = np.maximum.accumulate(np.asarray(p_values)[order] * np.arange(len(order), 0, -1))
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(adjusted, 1.0)
    return corrected.tolist()


def stretch_means(
    transitions: np.ndarray, returns: np.ndarray, stretch: int
) -> dict[int, tuple[float, float]]:
    """Mean transitions and mean return of the evaluations in each stretch, by its index."""
    index = (transitions - 1) // stretch  # a stretch includes its last transition, as an iteration does
    members = {int(i): index == i for i in np.unique(index)}
    return {i: (float(transitions[m].mean()), float(returns[m].mean())) for i, m in members.items()}


# -- over several tasks ----------------------------------------------------------------------------


class Score(NamedTuple):
    """A number over tasks."""

    value: float
    interval: Interval | None
    """By the bootstrap; None where a task has a single run."""


def interquartile_mean(scores: np.ndarray) -> np.ndarray:
    """Mean of the middle half along the last axis, without a quarter, rounded down, at either end."""
    from scipy import stats

    return stats.trim_mean(scores, 0.25, axis=-1)


def improvement(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Share of pairs in which x beats y, ties counting half: the Mann-Whitney statistic."""
    greater = (x[..., :, None] > y[..., None, :]) + 0.5 * (x[..., :, None] == y[..., None, :])
    return greater.mean(axis=(-2, -1))


def iqm(tasks: Sequence[np.ndarray]) -> Score:
    """The interquartile mean of all runs."""
    return _score(tasks, lambda drawn: interquartile_mean(np.concatenate(drawn, axis=-1)))


def probability_of_improvement(xs: Sequence[np.ndarray], ys: Sequence[np.ndarray]) -> Score:
    """Mean of `improvement` over the tasks; `xs` and `ys` hold the runs of each task."""

    def probability(drawn: Sequence[np.ndarray]) -> np.ndarray:
        pairs = zip(drawn[: len(xs)], drawn[len(xs) :], strict=True)
        return np.mean([improvement(x, y) for x, y in pairs], axis=0)

    return _score([*xs, *ys], probability)


def _score(groups: Sequence[np.ndarray], statistic: Callable[[Sequence[np.ndarray]], np.ndarray]) -> Score:
    """With a stratified interval: runs are drawn again within their group. A single run could only be drawn as itself."""
    value = float(statistic(groups))
    if any(len(runs) < 2 for runs in groups):
        return Score(value, None)
    rng = np.random.default_rng(0)
    drawn = [np.asarray(runs)[rng.integers(len(runs), size=(RESAMPLES, len(runs)))] for runs in groups]
    low, high = np.quantile(statistic(drawn), [(1.0 - CONFIDENCE) / 2.0, (1.0 + CONFIDENCE) / 2.0])
    return Score(value, Interval(float(low), float(high)))
