"""Is there a gap? One number for each demonstration, low for most: where the odd ones begin, and how clear that is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rilco.judging.config import JudgingConfig


class Gap(NamedTuple):
    """Where a list of numbers falls into usual and odd ones."""

    at: float
    """Above it they are odd; infinite where nothing is."""
    proof: float
    """How clear that is: up to 0.5 there is no cut, from 1 on there is one, and from 2 on it is beyond doubt."""
    good: np.ndarray
    """[D] probability of being usual."""


def core(values: np.ndarray, weight: np.ndarray | None = None) -> tuple[float, float]:
    """Centre and spread of the densest half by `weight`: what the others are like, whatever the rest is."""
    order = np.argsort(values, kind="stable")
    ordered, weight = values[order], np.ones(len(values)) if weight is None else weight[order]
    until = np.cumsum(weight) / weight.sum()
    last = np.searchsorted(until, np.concatenate([[0.0], until[:-1]]) + 0.5 + 1e-9)
    first = np.flatnonzero(last < len(ordered))
    begin = int(first[np.argmin(ordered[last[first]] - ordered[first])])
    half = slice(begin, last[begin] + 1)
    width = float(ordered[last[begin]] - ordered[begin])
    return float(np.average(ordered[half], weights=weight[half])), width / (2.0 * 0.6745)


def find_gap(margin: np.ndarray, config: JudgingConfig) -> Gap:
    """The best split into a usual group of at least half and an odd one above it, and how much better than none it is.

    Each group is taken to be normal. The gain is that of the likelihood over one group for all, each paying for its parameters.
    """
    ordered = np.sort(margin)
    count = len(ordered)
    low = np.arange(max(2, count // 2), count)  # sizes of the usual group
    sums, squares = np.cumsum(ordered), np.cumsum(np.square(ordered))
    high = count - low
    low_mean, high_mean = sums[low - 1] / low, (sums[-1] - sums[low - 1]) / high
    floor = config.least_width**2
    low_var = np.maximum(squares[low - 1] / low - low_mean**2, floor)
    high_var = np.maximum((squares[-1] - squares[low - 1]) / high - high_mean**2, floor)
    all_var = max(float(ordered.var()), floor)
    gain = 0.5 * (count * np.log(all_var) - low * np.log(low_var) - high * np.log(high_var))
    gain += low * np.log(low / count) + high * np.log(high / count)
    # The odd ones must also be far from the usual ones as a whole, each of them from all, and with nobody in between.
    distance = (high_mean - low_mean) / np.sqrt(0.5 * (low_var + high_var))
    reach = (ordered[low] - low_mean) / np.sqrt(low_var)
    gap = ordered[low] - ordered[low - 1]
    proofs = np.min(
        [
            gain / config.proof_gain,
            distance / config.proof_distance,
            reach / config.proof_reach,
            gap / config.proof_gap,
        ],
        axis=0,
    )
    best = int(np.argmax(proofs))
    if proofs[best] >= 1.0:  # what lies between two clear gaps is odd, too
        best = int(np.argmax(proofs >= max(1.0, config.lower_gap * float(proofs[best]))))
    proof, below, above = float(proofs[best]), ordered[low[best] - 1], ordered[low[best]]
    if proof <= 0.5:
        return Gap(np.inf, proof, np.full(count, 0.5 + config.nothing_seen))
    at = 0.5 * (below + above)
    # A large group may be another good style: never beyond doubt.
    most = config.proven if high[best] > config.large_group * count else config.beyond_doubt
    steps = (0.0, config.just_clear, most)
    strength = float(np.interp(proof, (0.5, 1.0, 2.0), steps))
    praise = np.interp(
        np.sqrt(low_var[best]),
        config.core_width,
        (max(min(strength, config.proven), config.nothing_seen), config.nothing_seen),
    )
    good = np.where(margin > at, 0.5 - strength, 0.5 + praise)
    return Gap(float(at), proof, good)


def gap_above(margin: np.ndarray, width: float, config: JudgingConfig) -> Gap:
    """The cut where it is known who is usual, and that their spread is `width`: the others may be the majority.

    A few say little about a spread: up to twice the distance there is only a doubt.
    """
    at = max(config.proof_gap, config.proof_distance * max(width, config.least_width))
    odd = np.where(margin > 2.0 * at, 0.5 - config.proven, config.alone)
    return Gap(at, 1.0, np.where(margin > at, odd, 0.5 + config.nothing_seen))
