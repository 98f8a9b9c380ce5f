"""What the others would do there: actions from observations, each demonstration predicted without itself.

Ridge regression on the observations, their products, and random Fourier features; and once more on kernels about some of the
states. It has a closed form, needs no training loop, takes weights, and depends on no seed of the user's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.material import Material
from rilco.judging.neighbours import medians

Features = tuple[np.ndarray, tuple[np.ndarray, ...]]
"""[M, F] features, and the columns that each model uses."""

Choice = tuple[np.ndarray, float]
"""The columns of a model, and the strength of regularisation."""

Moments = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Of a fold: features by features, features by actions, and its rows."""


@dataclass(frozen=True, eq=False)
class Crossfit:
    """Features of a sample of pairs, ready to be fitted again and again with other weights."""

    rows: np.ndarray
    """[M] the pairs, sorted."""
    demo: np.ndarray
    """[M] whose they are."""
    features: np.ndarray
    """[M, F] float64."""
    models: tuple[np.ndarray, ...]
    """The columns that each model uses."""
    ridges: tuple[float, ...]
    """Strengths of regularisation to choose from."""
    action: np.ndarray
    """[M, action_dim] float64, in standard units."""
    fold: np.ndarray
    """[M] in which fold the pair's demonstration is."""

    def predict(
        self, weight: np.ndarray, *, doubt: bool = False, choice: Choice | None = None
    ) -> tuple[np.ndarray, np.ndarray, Choice]:
        """[M, action_dim] actions as the other folds foretell them, pairs weighted by `weight` [M]; [M] how doubtful each is; and
        the model that was used.

        Without a `choice`, the model and the strength of regularisation that foretell a typical demonstration best are taken.
        The doubt is the factor by which an error is larger than where demonstrations abound; it takes time, and is 1 if nobody
        asks.
        """
        moments = self._moments(weight)

        def typical(choice: Choice) -> float:
            errors = self.of_demonstrations(self.errors(self._solve(moments, *choice)[0]))
            return float(np.nanmedian(errors))

        best = choice or min(((model, ridge) for model in self.models for ridge in self.ridges), key=typical)
        predicted, variance = self._solve(moments, *best, doubt=doubt)
        return predicted, np.sqrt(1.0 + np.maximum(variance, 0.0)), best

    def _solve(
        self, moments: list[Moments], columns: np.ndarray, ridge: float, doubt: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        gram, cross = (sum(moment[part] for moment in moments) for part in (0, 1))
        predicted, variance = np.empty(self.action.shape), np.zeros(len(self.action))
        for own_gram, own_cross, fold in moments:
            others = (gram - own_gram)[np.ix_(columns, columns)]
            others[np.diag_indices_from(others)] += ridge * np.trace(others) / len(others) + 1e-12
            features = self.features[np.ix_(fold, columns)]
            predicted[fold] = features @ np.linalg.solve(others, (cross - own_cross)[columns])
            if doubt:
                variance[fold] = (features * np.linalg.solve(others, features.T).T).sum(1)
        return predicted, variance

    def errors(self, predicted: np.ndarray) -> np.ndarray:
        """[M] distance of each action from the predicted one, in standard deviations."""
        return np.sqrt(np.square(predicted - self.action).mean(1))

    def of_demonstrations(self, values: np.ndarray) -> np.ndarray:
        """[D] medians over the pairs of each demonstration."""
        return medians(values, self.demo, int(self.demo[-1]) + 1)

    def _moments(self, weight: np.ndarray) -> list[Moments]:
        found = []
        for fold in (np.flatnonzero(self.fold == f) for f in range(int(self.fold.max()) + 1)):
            features = self.features[fold]
            weighted = (features * weight[fold, None]).T
            found.append((weighted @ features, weighted @ self.action[fold], fold))
        return found


def crossfits(material: Material, rows: np.ndarray, config: JudgingConfig) -> tuple[Crossfit, Crossfit]:
    """Of the pairs `rows`, a smooth one and a local one.

    The smooth one cannot learn a small group that acts otherwise; the local one can follow a controller with corners.
    """
    obs = material.obs[rows].astype(np.float64)
    smooth = crossfit(material, rows, smooth_features(obs, config), config.ridge, config)
    return smooth, crossfit(material, rows, local_features(obs, config), config.local_ridge, config)


def crossfit(
    material: Material, rows: np.ndarray, features: Features, ridges: tuple[float, ...], config: JudgingConfig
) -> Crossfit:
    """Demonstrations are dealt to folds in turn, and they are sorted by content."""
    demo = material.demo[rows]
    _, dense = np.unique(demo, return_inverse=True)
    fold = dense % min(config.folds, int(dense.max()) + 1)
    return Crossfit(rows, demo, *features, ridges, material.action[rows].astype(np.float64), fold)


def local_features(obs: np.ndarray, config: JudgingConfig) -> Features:
    """[M, F]: a constant, the observations, and a Matern kernel against some of them at several widths (Nystrom's method)."""
    rng = np.random.default_rng(0)
    some = obs[np.sort(rng.choice(len(obs), min(config.places, len(obs)), replace=False))]
    squares = _squared_distances(obs, some)
    between = _squared_distances(some, some)
    usual = np.median(between[np.triu_indices(len(some), 1)]) + 1e-12
    linear = np.hstack([np.ones((len(obs), 1)), obs])
    blocks, models, begin = [linear], [], linear.shape[1]
    for scale in config.local_scales:
        value, vector = np.linalg.eigh(_matern(between / (usual * scale**2)))
        kept = value > 1e-7 * value[-1]
        blocks.append(_matern(squares / (usual * scale**2)) @ (vector[:, kept] / np.sqrt(value[kept])))
        end = begin + int(kept.sum())
        models.append(np.r_[0 : linear.shape[1], begin:end])
        begin = end
    return np.hstack(blocks), tuple(models)


def _squared_distances(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    squares = np.square(one).sum(1)[:, None] + np.square(other).sum(1) - 2.0 * one @ other.T
    return np.maximum(squares, 0.0)


def _matern(squares: np.ndarray) -> np.ndarray:
    root = np.sqrt(3.0 * squares)
    return (1.0 + root) * np.exp(-root)


def smooth_features(obs: np.ndarray, config: JudgingConfig) -> Features:
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
