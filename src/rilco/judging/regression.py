"""What the others would do there: actions from observations, each demonstration predicted without itself.

Ridge regression on random Fourier features. It has a closed form, needs no training loop, takes weights, and is the same on
every machine: a network of the same accuracy took longer to compile than this takes to fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.material import Material


@dataclass(frozen=True, eq=False)
class Crossfit:
    """Features of a sample of pairs, ready to be fitted again and again with other weights."""

    rows: np.ndarray
    """[M] the pairs, sorted."""
    demo: np.ndarray
    """[M] whose they are."""
    features: np.ndarray
    """[M, F] float64."""
    action: np.ndarray
    """[M, action_dim] float64, in standard units."""
    fold: np.ndarray
    """[M] in which fold the pair's demonstration is."""

    def predict(self, weight: np.ndarray, ridge: float) -> np.ndarray:
        """[M, action_dim] actions as the other folds foretell them, pairs weighted by `weight` [M]."""
        folds = [self.fold == f for f in range(int(self.fold.max()) + 1)]
        moments = [self._moments(fold, weight) for fold in folds]
        gram, cross = (sum(moment[part] for moment in moments) for part in (0, 1))
        predicted = np.empty(self.action.shape)
        for fold, (own_gram, own_cross) in zip(folds, moments, strict=True):
            others = gram - own_gram
            others[np.diag_indices_from(others)] += ridge * np.trace(others) / len(others) + 1e-9
            predicted[fold] = self.features[fold] @ np.linalg.solve(others, cross - own_cross)
        return predicted

    def typical_errors(self, weight: np.ndarray, strengths: Sequence[float]) -> np.ndarray:
        """[D] by the regularisation that predicts a typical demonstration best."""
        tried = [self.of_demonstrations(self.errors(self.predict(weight, s))) for s in strengths]
        return tried[int(np.argmin([np.median(error) for error in tried]))]

    def errors(self, predicted: np.ndarray) -> np.ndarray:
        """[M] distance of each action from the predicted one, in standard deviations."""
        return np.sqrt(np.square(predicted - self.action).mean(1))

    def of_demonstrations(self, values: np.ndarray) -> np.ndarray:
        """[D] medians over the pairs of each demonstration."""
        order = np.lexsort((values, self.demo))
        size = np.bincount(self.demo)
        first = np.cumsum(size) - size
        ordered = values[order]
        return 0.5 * (ordered[first + (size - 1) // 2] + ordered[first + size // 2])

    def _moments(self, fold: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        features = self.features[fold]
        weighted = (features * weight[fold, None]).T
        return weighted @ features, weighted @ self.action[fold]


def crossfit(material: Material, rows: np.ndarray, config: JudgingConfig) -> Crossfit:
    """Of the pairs `rows`; demonstrations are dealt to folds in turn, and they are sorted by content."""
    demo = material.demo[rows]
    _, dense = np.unique(demo, return_inverse=True)
    return Crossfit(
        rows,
        demo,
        fourier_features(material.obs[rows], config),
        material.action[rows].astype(np.float64),
        dense % min(config.folds, int(dense.max()) + 1),
    )


def fourier_features(obs: np.ndarray, config: JudgingConfig) -> np.ndarray:
    """[M, F]: a constant, the observations, and cosines of random projections at several widths."""
    dimensions, rng = obs.shape[1], np.random.default_rng(0)
    each = config.features // len(config.length_scales)
    frequency = [rng.standard_normal((dimensions, each)) / scale for scale in config.length_scales]
    frequencies = np.concatenate(frequency, axis=1) / np.sqrt(dimensions)
    phase = rng.uniform(0.0, 2.0 * np.pi, frequencies.shape[1])
    cosines = np.cos(obs @ frequencies + phase) * np.sqrt(2.0 / each)
    return np.hstack([np.ones((len(obs), 1)), obs, cosines])
