"""What the others would do there: actions from observations, each demonstration predicted without itself.

Ridge regression on the observations, their products, and random Fourier features. It has a closed form, needs no training
loop, takes weights, and depends on no seed of the user's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.material import Material
from rilco.judging.neighbours import medians


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
    models: tuple[np.ndarray, ...]
    """The columns that each model uses: linear, quadratic, and Fourier."""
    fold: np.ndarray
    """[M] in which fold the pair's demonstration is."""

    def predict(self, weight: np.ndarray, ridges: Sequence[float]) -> np.ndarray:
        """[M, action_dim] actions as the other folds foretell them, pairs weighted by `weight` [M].

        Of all models and strengths of regularisation the one that foretells a typical demonstration best is taken.
        """
        folds = [self.fold == f for f in range(int(self.fold.max()) + 1)]
        moments = [self._moments(fold, weight) for fold in folds]
        gram, cross = (sum(moment[part] for moment in moments) for part in (0, 1))
        best, least = np.zeros(self.action.shape), np.inf
        for columns in self.models:
            for ridge in ridges:
                predicted = np.empty(self.action.shape)
                for fold, (own_gram, own_cross) in zip(folds, moments, strict=True):
                    others = (gram - own_gram)[np.ix_(columns, columns)]
                    others[np.diag_indices_from(others)] += ridge * np.trace(others) / len(others) + 1e-12
                    solved = np.linalg.solve(others, (cross - own_cross)[columns])
                    predicted[fold] = self.features[fold][:, columns] @ solved
                typical = float(np.median(self.of_demonstrations(self.errors(predicted))))
                if typical < least:
                    best, least = predicted, typical
        return best

    def errors(self, predicted: np.ndarray) -> np.ndarray:
        """[M] distance of each action from the predicted one, in standard deviations."""
        return np.sqrt(np.square(predicted - self.action).mean(1))

    def of_demonstrations(self, values: np.ndarray) -> np.ndarray:
        """[D] medians over the pairs of each demonstration."""
        return medians(values, self.demo, int(self.demo[-1]) + 1)

    def _moments(self, fold: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        features = self.features[fold]
        weighted = (features * weight[fold, None]).T
        return weighted @ features, weighted @ self.action[fold]


def crossfit(material: Material, rows: np.ndarray, config: JudgingConfig) -> Crossfit:
    """Of the pairs `rows`; demonstrations are dealt to folds in turn, and they are sorted by content."""
    demo = material.demo[rows]
    _, dense = np.unique(demo, return_inverse=True)
    features, models = make_features(material.obs[rows].astype(np.float64), config)
    fold = dense % min(config.folds, int(dense.max()) + 1)
    return Crossfit(rows, demo, features, material.action[rows].astype(np.float64), models, fold)


def make_features(obs: np.ndarray, config: JudgingConfig) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """[M, F]: a constant, the observations, their products, and cosines of random projections at several widths."""
    pairs, dimensions = obs.shape
    rng = np.random.default_rng(0)
    each = config.features // len(config.length_scales)
    frequency = np.concatenate(
        [rng.standard_normal((dimensions, each)) / scale for scale in config.length_scales], axis=1
    ) / np.sqrt(dimensions)
    phase = rng.uniform(0.0, 2.0 * np.pi, frequency.shape[1])
    one, other = np.triu_indices(dimensions if dimensions <= config.quadratic_up_to else 0)
    blocks = [
        np.hstack([np.ones((pairs, 1)), obs]),
        obs[:, one] * obs[:, other] / 3.0,
        np.cos(obs @ frequency + phase) * np.sqrt(2.0 / each),
    ]
    linear, quadratic, fourier = np.split(
        np.arange(sum(b.shape[1] for b in blocks)), np.cumsum([b.shape[1] for b in blocks])[:2]
    )
    models = [linear, np.concatenate([linear, quadratic]), np.concatenate([linear, fourier])]
    return np.hstack(blocks), tuple(models if len(quadratic) else models[::2])
