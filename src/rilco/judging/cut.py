"""The decision rule: from the scores of demonstrations to a cut, or to the statement that there is none to make.

It rests on one assumption, that more than half of the pairs are an expert's, and on a simple picture: an expert's
demonstrations are much alike and score high; the others are of all kinds and score lower. So scores are fitted by a
narrow component that holds the majority and a broad one below it, and the fit is weighed against one component alone.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rilco.judging.audit_config import AuditConfig


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

    probability: float
    """That there are two kinds at all."""
    certain: bool
    """Whether the evidence and the separation are enough."""
    floor: float
    """Scores from here up to the cut are near the good ones and far from the rest; the cut itself where there are none."""


def find_cut(scores: np.ndarray, pairs: np.ndarray, policy: float, config: AuditConfig) -> Cut | None:
    """The cut below the majority, for demonstrations with scores [D] and lengths [D]; None for fewer than two.

    `policy` is the learner's mean score: the way from it to the majority is the unit of a separation.
    """
    if len(scores) < 2:
        return None
    weight = pairs / pairs.sum()
    effective = 1.0 / np.sum(np.square(weight))  # demonstrations, if all were of one length
    median = weighted_quantile(scores, weight, 0.5)
    top = scores >= median
    unit = max(float(np.average(scores[top], weights=pairs[top])) - policy, config.least_unit)
    least = config.least_spread * unit
    one = _fitted(scores, weight, least)
    expert, other = _fit_two(scores, weight, top, least, config.rounds)
    gain = _likelihood(scores, weight, (expert, other)) - _likelihood(scores, weight, (one,))
    evidence = 2.0 * effective * gain - 3.0 * math.log(effective)
    posterior = _posterior(scores, expert, other)
    doubtful = (posterior > config.unsure) & (posterior < 1.0 - config.unsure)
    separation = (expert.mean - other.mean) / unit
    apart = separation >= config.least_separation
    cut = _widest_gap(scores, expert, other, config.doubt)
    return Cut(
        expert,
        other,
        cut,
        evidence,
        separation,
        float(weight[doubtful].sum()),
        one.std / unit,
        expert.std / unit,
        probability=1.0 / (1.0 + math.exp(-min(50.0, max(-50.0, evidence / 2.0)))) if apart else 0.0,
        certain=apart and evidence >= config.least_evidence,
        floor=_floor(scores, cut, config.most_wider_gap),
    )


def _floor(scores: np.ndarray, cut: float, most_wider: float) -> float:
    """The middle of the widest gap below the cut if that is much wider than the gap at the cut, else the cut.

    Two clusters of good demonstrations, from easy and from hard starts for instance, lie near each other and far above
    the bad ones. A cut between the two would throw away good ones.
    """
    below, above = np.sort(scores[scores < cut]), scores[scores >= cut]
    if len(below) < 2 or not len(above):
        return cut
    gaps = np.diff(below)
    widest = int(np.argmax(gaps))
    if gaps[widest] <= most_wider * float(above.min() - below[-1]):
        return cut
    return 0.5 * float(below[widest] + below[widest + 1])


def _widest_gap(scores: np.ndarray, expert: Component, other: Component, doubt: float) -> float:
    """The middle of the widest gap between scores in the zone where neither component is certain of them.

    The expert's demonstrations are no bell curve: one may lie apart from the rest and far above the others, or the
    best of the others close below. Gaps count as far as they lie in the zone.
    """
    grid = np.linspace(other.mean, expert.mean, 4001)
    posterior = _posterior(grid, expert, other)
    low = float(np.max(grid[posterior <= doubt], initial=other.mean))
    high = float(np.min(grid[posterior >= 1.0 - doubt], initial=expert.mean))
    inside = scores[(scores > low) & (scores < high)]
    edges = np.sort(np.concatenate([[low, high], inside]))
    widest = int(np.argmax(np.diff(edges)))
    return 0.5 * float(edges[widest] + edges[widest + 1])


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
    scores: np.ndarray, weight: np.ndarray, top: np.ndarray, least: float, rounds: int
) -> tuple[Component, Component]:
    """The likelier of two fits that begin with the upper half as the expert's: the rest is all that is clearly below
    it, or only the lowest quarter, where others who are much alike leave a wide gap to an uneven expert."""
    expert = _fitted(scores[top], weight[top], least)._replace(share=0.5)
    below = scores < expert.mean - 4.0 * expert.std
    if not below.any():
        below = ~top if not top.all() else scores == scores.min()
    lowest = scores <= -weighted_quantile(-scores, weight, 0.25)
    fits = [_maximise(scores, weight, expert, rest, least, rounds) for rest in (below, lowest)]
    return max(fits, key=lambda fit: _likelihood(scores, weight, fit))


def _maximise(
    scores: np.ndarray, weight: np.ndarray, expert: Component, rest: np.ndarray, least: float, rounds: int
) -> tuple[Component, Component]:
    """Expectation-maximisation, as long as the majority stays the majority."""
    other = _fitted(scores[rest], weight[rest], least)._replace(share=0.5)
    for _ in range(rounds):
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
