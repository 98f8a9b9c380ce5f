"""Expert probabilities of single pairs and windows, from those of whole demonstrations.

Nobody labels pairs, but a demonstration's probability says how many of its pairs are an expert's, on average. A rising
step function of the score that fits these as well as any (isotonic regression) is therefore calibrated where the
demonstrations' probabilities are: of the pairs with probability 0.8, eight in ten are an expert's.
"""

from __future__ import annotations

import numpy as np

BINS = 500
"""The scores are first put into at most so many bins of equal counts: exact enough, and fast for millions."""


class Calibration:
    """Maps a score to a probability; fitted on scores [n] and the probabilities [n] of what they are part of."""

    def __init__(self, scores: np.ndarray, probabilities: np.ndarray) -> None:
        order = np.argsort(scores, kind="stable")
        bins = np.array_split(order, min(BINS, len(order)))
        means = np.array([scores[rows].mean() for rows in bins], float)
        self._scores, place = np.unique(means, return_inverse=True)  # equal scores may fill several bins
        counts = np.bincount(place, [len(rows) for rows in bins])
        sums = np.bincount(place, [probabilities[rows].sum() for rows in bins])
        self._values = rising(sums / counts, counts)

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """[n]; between bins linear, beyond the ends level."""
        return np.interp(scores, self._scores, self._values)


def rising(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The non-decreasing sequence that is nearest to the values in weighted squares: pool adjacent violators."""
    means: list[float] = []
    masses: list[float] = []
    sizes: list[int] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        means.append(value)
        masses.append(weight)
        sizes.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            mass = masses[-2] + masses[-1]
            means[-2:] = [(means[-2] * masses[-2] + means[-1] * masses[-1]) / mass]
            masses[-2:] = [mass]
            sizes[-2:] = [sizes[-2] + sizes[-1]]
    return np.repeat(means, sizes)
