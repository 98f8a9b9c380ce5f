"""How alike attempts and demonstrations are: by how near their pairs lie to each other.

The demonstrations themselves set the measure. It needs no training, and the true reward plays no part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rilco.data.record import Demonstrations
from rilco.judging.neighbours import nearest_of_others
from rilco.tasks.actions import AS_THEY_ARE, Actions

MOST_PAIRS = 20_000
"""At most so many demonstrated pairs, evenly spread, are compared with."""
USUAL = 0.9
"""Share of the demonstrated pairs whose distance to other demonstrations is usual."""
LEAST = 0.05
"""Distances are not told apart below this, in standard deviations of each dimension."""
BLOCK = 4096
"""Pairs that are compared at once."""


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """The places of the demonstrated pairs."""

    actions: Actions
    centre: np.ndarray
    spread: np.ndarray
    points: np.ndarray
    """[M, obs_dim + action_dim] float32, in standard units."""
    usual: float
    """The largest usual distance to other demonstrations."""
    standard: float
    """The likeness to the other demonstrations where attempts are judged, in the mean."""

    def likeness(self, obs: np.ndarray, action: np.ndarray) -> np.ndarray:
        """[...] of pairs [..., dim]: 1 within the usual distance, and its inverse share beyond."""
        both = np.concatenate([obs, self.actions.encode(action)], axis=-1)
        points = ((both - self.centre) / self.spread).reshape(-1, both.shape[-1]).astype(np.float32)
        square = np.square(self.points).sum(1)
        nearest = np.empty(len(points), np.float32)
        for begin in range(0, len(points), BLOCK):
            some = points[begin : begin + BLOCK]
            nearest[begin : begin + BLOCK] = (square - 2.0 * some @ self.points.T).min(1)
            nearest[begin : begin + BLOCK] += np.square(some).sum(1)
        return _fade(np.sqrt(np.maximum(nearest, 0.0)), self.usual).reshape(both.shape[:-1])


def neighbourhood(kept: Demonstrations, steps: int, actions: Actions = AS_THEY_ARE) -> Neighbourhood:
    """Of at least two demonstrations, the standard for attempts of `steps` steps."""
    episodes = list(kept.episodes())
    both = np.concatenate([np.hstack([one.obs, actions.encode(one.action)]) for one in episodes])
    demo = np.repeat(np.arange(len(episodes)), [len(one) for one in episodes])
    judged = np.concatenate([last_third(np.arange(len(one)), min(len(one), steps)) for one in episodes])
    centre, spread = both.mean(0, np.float64), both.std(0, np.float64)
    spread = np.where(spread > 1e-5 * np.maximum(1.0, np.abs(centre)), spread, 1.0)
    some = slice(None, None, -(-len(both) // MOST_PAIRS))
    points, demo = ((both[some] - centre) / spread).astype(np.float32), demo[some]
    nearest = nearest_of_others(points, demo, 1)[:, 0]
    distance = np.sqrt(np.square(points - points[nearest]).sum(1))
    usual = max(float(np.quantile(distance, USUAL)), LEAST * np.sqrt(points.shape[1]))
    like, judged = _fade(distance, usual), judged[some]
    standard = float(like[judged].mean() if judged.any() else like.mean())
    return Neighbourhood(actions, centre, spread, points, usual, standard)


def last_third(step: np.ndarray, steps: int | np.ndarray) -> np.ndarray:
    """Which steps are in the last third of the first `steps`."""
    return (step < steps) & (3 * (step + 1) > 2 * steps)


def _fade(distance: np.ndarray, usual: float) -> np.ndarray:
    return usual / np.maximum(distance, usual)
