"""Scores of demonstrations, by classifiers that never took them for an expert's.

RIL-Co's two classifiers are trained on disjoint halves of the pairs, each taking its own half for expert. So each
judges the other's half; and since a classifier at one moment is a noisy judge, scores are averages over a stretch of
training.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from rilco.learning import LearnerState
from rilco.normalizer import Normalizer, normalize
from rilco.rewards.classifier import Params, score
from rilco.rewards.learner import DemoArrays

CHUNK = 65_536  # pairs that are scored at a time


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


class Average:
    """The mean of scores that come one after the other."""

    def __init__(self, pairs: int) -> None:
        self._sum, self._count = np.zeros(pairs, np.float64), 0

    def add(self, scores: np.ndarray) -> None:
        self._sum += scores
        self._count += 1

    @property
    def mean(self) -> np.ndarray:
        return self._sum / max(1, self._count)
