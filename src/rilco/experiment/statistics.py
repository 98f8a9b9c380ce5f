"""From evaluations to the numbers of the report. Nothing here knows where the evaluations come from.

The interquartile mean, its stratified bootstrap interval and the probability of improvement are those of Agarwal
et al., "Deep Reinforcement Learning at the Edge of the Statistical Precipice" (NeurIPS 2021).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

WINDOW = 640_000
"""Transitions at the end of a run that its final return is the mean of: 1000 iterations, as in the paper."""
RESAMPLES = 10_000
CONFIDENCE = 0.95


class Estimate(NamedTuple):
    """A mean over runs."""

    mean: float
    stderr: float | None
    """None for a single run, which has no spread of its own."""
    runs: int


class Interval(NamedTuple):
    low: float
    high: float


class Comparison(NamedTuple):
    """Ours against the published."""

    difference: float
    stderr: float
    """Of the difference."""
    borrowed: bool
    """Whether our part of `stderr` is the published spread of single runs, because ours is a single run."""

    @property
    def verdict(self) -> str:
        """`within` two standard errors, or `above` or `below` the published."""
        if abs(self.difference) <= 2.0 * self.stderr:
            return "within"
        return "above" if self.difference > 0 else "below"


def final_return(transitions: np.ndarray, returns: np.ndarray, window: int = WINDOW) -> float:
    """Mean of the evaluations within the last `window` transitions of what was run."""
    return float(returns[transitions > transitions[-1] - window].mean())


def estimate(values: Sequence[float] | np.ndarray) -> Estimate:
    """Mean and standard error (with n - 1) of one number a run."""
    values = np.asarray(values, np.float64)
    stderr = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else None
    return Estimate(float(values.mean()), stderr, len(values))


def compare(ours: Estimate, published: Estimate) -> Comparison:
    """The difference of two means, and its standard error.

    A single run of ours is taken to scatter as much as one of the published runs: their standard error times the
    root of their number.
    """
    theirs = published.stderr or 0.0
    borrowed = ours.stderr is None
    own = theirs * math.sqrt(published.runs / ours.runs) if ours.stderr is None else ours.stderr
    return Comparison(ours.mean - published.mean, math.hypot(own, theirs), borrowed)


class Difference(NamedTuple):
    """Of the means of two groups of runs, by Welch's test, which lets the groups scatter differently."""

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
    """Holm's correction: what each p-value is worth when it is one of several."""
    order = np.argsort(p_values, kind="stable")
    adjusted = np.maximum.accumulate(np.asarray(p_values)[order] * np.arange(len(order), 0, -1))
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(adjusted, 1.0)
    return corrected.tolist()


def stretch_means(
    transitions: np.ndarray, returns: np.ndarray, stretch: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Evaluations averaged over consecutive stretches: index of the stretch, mean transitions, mean return."""
    index = (transitions - 1) // stretch  # a stretch includes its last transition, as an iteration does
    found = np.unique(index)
    members = index == found[:, None]  # [stretches, evaluations]
    counts = members.sum(axis=1)
    return found, members @ transitions / counts, members @ returns / counts


# -- over several tasks ----------------------------------------------------------------------------


def interquartile_mean(scores: np.ndarray) -> np.ndarray:
    """Mean of the middle half along the last axis; a quarter, rounded down, is left out at either end."""
    count = scores.shape[-1]
    cut = count // 4
    return np.sort(scores, axis=-1)[..., cut : count - cut].mean(axis=-1)


def improvement(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How often a run of x beats one of y, ties counting half: the Mann-Whitney statistic over all pairs."""
    greater = (x[..., :, None] > y[..., None, :]) + 0.5 * (x[..., :, None] == y[..., None, :])
    return greater.mean(axis=(-2, -1))


def probability_of_improvement(xs: Sequence[np.ndarray], ys: Sequence[np.ndarray]) -> float:
    """Mean over the tasks of `improvement`; `xs` and `ys` hold the runs of each task, in the same order."""
    return float(np.mean([improvement(x, y) for x, y in zip(xs, ys, strict=True)]))


def iqm_interval(
    tasks: Sequence[np.ndarray], *, seed: int = 0, resamples: int = RESAMPLES
) -> Interval | None:
    """Bootstrap interval of the interquartile mean of all runs; runs are drawn again within their task."""
    if any(len(runs) < 2 for runs in tasks):
        return None  # a single run is always drawn as itself, and the interval would be too short
    rng = np.random.default_rng(seed)
    drawn = [_resampled(runs, resamples, rng) for runs in tasks]
    return _percentiles(interquartile_mean(np.concatenate(drawn, axis=-1)))


def improvement_interval(
    xs: Sequence[np.ndarray], ys: Sequence[np.ndarray], *, seed: int = 0, resamples: int = RESAMPLES
) -> Interval | None:
    """Bootstrap interval of the probability of improvement, stratified as `iqm_interval` is."""
    if any(len(runs) < 2 for runs in (*xs, *ys)):
        return None
    rng = np.random.default_rng(seed)
    probabilities = [
        improvement(_resampled(x, resamples, rng), _resampled(y, resamples, rng))
        for x, y in zip(xs, ys, strict=True)
    ]
    return _percentiles(np.mean(probabilities, axis=0))


def _resampled(runs: np.ndarray, resamples: int, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(runs)[rng.integers(len(runs), size=(resamples, len(runs)))]  # [resamples, runs]


def _percentiles(values: np.ndarray) -> Interval:
    tail = (1.0 - CONFIDENCE) / 2.0
    low, high = np.quantile(values, [tail, 1.0 - tail])
    return Interval(float(low), float(high))
