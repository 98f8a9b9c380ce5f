"""The decision rule: from the scores of demonstrations to a cut, or to the statement that there is none to make.

It rests on one assumption, that more than half of the pairs are an expert's, and on a simple picture: an expert's
demonstrations are much alike and score high; the others are of all kinds and score lower. So scores are fitted by a
narrow component that holds the majority and a broad one below it, and the fit is weighed against one component alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

LEAST_SEPARATION = 0.03
"""Scores that lie closer than this share of the way from the majority down to the learner are not told apart."""
LEAST_SPREAD = 0.012
"""In the same unit: an expert's demonstrations differ by so much, however alike the ones at hand are."""
LEAST_EVIDENCE = 10.0
"""Two components must explain the scores better than one by so much of the Bayesian information criterion."""
LEAST_UNIT = 1.0
"""That way is taken to be no shorter than this, where the learner has caught up: a classifier's slope is about 1."""
UNSURE = 0.1
"""Demonstrations that have at least this probability of either component are called neither good nor bad."""
DOUBT = 0.01
"""The cut is looked for where either component has at least this probability."""
ROUNDS = 200  # of expectation-maximisation, at most


class Component(NamedTuple):
    share: float
    mean: float
    std: float


class Cut(NamedTuple):
    """Two kinds of demonstrations in the scores, and how well that explains them."""

    expert: Component
    other: Component
    cut: float
    """Demonstrations with a lower score are not the expert's."""
    evidence: float
    """How much better two components are than one, as a difference of the Bayesian information criterion."""
    separation: float
    """Between the means of the two, as a share of the way from the learner's score up to the expert's."""
    doubtful: float
    """Share of the pairs in demonstrations that may well be of either."""
    spread: float
    """Standard deviation of all scores, in the unit of the separation."""
    unevenness: float
    """Standard deviation of the expert's component, in that unit."""

    @property
    def certain(self) -> bool:
        return self.evidence >= LEAST_EVIDENCE and self.separation >= LEAST_SEPARATION

    @property
    def probability(self) -> float:
        """That there are two kinds at all."""
        if self.separation < LEAST_SEPARATION:
            return 0.0
        return 1.0 / (1.0 + math.exp(-min(50.0, max(-50.0, self.evidence / 2.0))))


def find_cut(scores: np.ndarray, pairs: np.ndarray, policy: float) -> Cut | None:
    """The cut below the majority, for demonstrations with scores [D] and lengths [D]; None for fewer than two.

    `policy` is the learner's mean score: the way from it to the majority is the unit of a separation.
    """
    if len(scores) < 2:
        return None
    weight = pairs / pairs.sum()
    effective = 1.0 / np.sum(np.square(weight))  # demonstrations, if all were of one length
    median = weighted_quantile(scores, weight, 0.5)
    top = scores >= median
    unit = max(float(np.average(scores[top], weights=pairs[top])) - policy, LEAST_UNIT)
    least = LEAST_SPREAD * unit
    one = _fitted(scores, weight, least)
    expert, other = _fit_two(scores, weight, top, least)
    gain = _likelihood(scores, weight, (expert, other)) - _likelihood(scores, weight, (one,))
    evidence = 2.0 * effective * gain - 3.0 * math.log(effective)
    doubtful = _is_doubtful(_posterior(scores, expert, other), UNSURE)
    return Cut(
        expert,
        other,
        _widest_gap(scores, expert, other),
        evidence,
        (expert.mean - other.mean) / unit,
        float(weight[doubtful].sum()),
        one.std / unit,
        expert.std / unit,
    )


def _widest_gap(scores: np.ndarray, expert: Component, other: Component) -> float:
    """The middle of the widest gap between scores in the zone where neither component is certain of them.

    The expert's demonstrations are no bell curve: one may lie apart from the rest and far above the others, or the
    best of the others close below. Gaps count as far as they lie in the zone.
    """
    grid = np.linspace(other.mean, expert.mean, 4001)
    posterior = _posterior(grid, expert, other)
    low = float(np.max(grid[posterior <= DOUBT], initial=other.mean))
    high = float(np.min(grid[posterior >= 1.0 - DOUBT], initial=expert.mean))
    inside = scores[(scores > low) & (scores < high)]
    edges = np.sort(np.concatenate([[low, high], inside]))
    widest = int(np.argmax(np.diff(edges)))
    return 0.5 * float(edges[widest] + edges[widest + 1])


def _is_doubtful(posterior: np.ndarray, least: float) -> np.ndarray:
    """Whether either component has at least this probability."""
    return (posterior > least) & (posterior < 1.0 - least)


def expert_probability(scores: np.ndarray, cut: Cut | None) -> np.ndarray:
    """[D] that demonstrations with these scores are the expert's; rises with the score."""
    if cut is None:
        return np.ones(len(scores))
    return 1.0 - cut.probability * (1.0 - _posterior(scores, cut.expert, cut.other))


def weighted_quantile(values: np.ndarray, weight: np.ndarray, share: float) -> float:
    """The largest value that at least `share` of the weight is not below."""
    order = np.argsort(-values, kind="stable")
    reached = np.cumsum(weight[order]) >= share * weight.sum() - 1e-12
    return float(values[order][np.argmax(reached)])


def _fit_two(
    scores: np.ndarray, weight: np.ndarray, top: np.ndarray, least: float
) -> tuple[Component, Component]:
    """The likelier of two fits that begin with the upper half as the expert's: the rest is all that is clearly below
    it, or only the lowest quarter, where others who are much alike leave a wide gap to an uneven expert."""
    expert = _fitted(scores[top], weight[top], least)._replace(share=0.5)
    below = scores < expert.mean - 4.0 * expert.std
    if not below.any():
        below = ~top if not top.all() else scores == scores.min()
    lowest = scores <= -weighted_quantile(-scores, weight, 0.25)
    fits = [_maximise(scores, weight, expert, rest, least) for rest in (below, lowest)]
    return max(fits, key=lambda fit: _likelihood(scores, weight, fit))


def _maximise(
    scores: np.ndarray, weight: np.ndarray, expert: Component, rest: np.ndarray, least: float
) -> tuple[Component, Component]:
    """Expectation-maximisation, as long as the majority stays the majority."""
    other = _fitted(scores[rest], weight[rest], least)._replace(share=0.5)
    for _ in range(ROUNDS):
        posterior = _posterior(scores, expert, other)
        share = float(np.sum(weight * posterior))
        if not 0.5 <= share < 1.0 - 1e-9:
            break
        before = expert
        expert = _fitted(scores, weight * posterior, least)._replace(share=share)
        other = _fitted(scores, weight * (1.0 - posterior), least)._replace(share=1.0 - share)
        if abs(expert.share - before.share) + abs(expert.mean - before.mean) < 1e-9:
            break
    return expert, other


def _fitted(scores: np.ndarray, weight: np.ndarray, least: float) -> Component:
    mean = float(np.average(scores, weights=weight))
    var = float(np.average(np.square(scores - mean), weights=weight))
    return Component(1.0, mean, max(math.sqrt(var), least))


def _posterior(scores: np.ndarray, expert: Component, other: Component) -> np.ndarray:
    """That a score is of the expert's component; above its mean as at it, since better than good is not bad."""
    inner = np.minimum(scores, expert.mean)
    broader = (expert.std / other.std) ** 2 - 1.0
    if broader > 1e-9:  # then its density would win again far below the others; worse than bad is not good
        inner = np.maximum(inner, other.mean - (expert.mean - other.mean) / broader)
    log_odds = _log_density(inner, other) - _log_density(inner, expert)
    return 1.0 / (1.0 + np.exp(np.clip(log_odds, -700.0, 700.0)))


def _log_density(scores: np.ndarray, component: Component) -> np.ndarray:
    z = (scores - component.mean) / component.std
    return np.log(max(component.share, 1e-12) / component.std) - 0.5 * np.square(z)


def _likelihood(scores: np.ndarray, weight: np.ndarray, components: tuple[Component, ...]) -> float:
    """Mean log-likelihood of a demonstration, by weight."""
    density = np.logaddexp.reduce([_log_density(scores, component) for component in components], axis=0)
    return float(np.sum(weight * density))
