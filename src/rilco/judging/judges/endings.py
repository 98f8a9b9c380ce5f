"""Who stops where the others stop?

Where demonstrations end near each other, the task has an end. One that stops elsewhere was aborted, or did something else. The
end may be a relation between dimensions, "the hand is at the goal", so distances go by the covariance of the ends.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.gaps import Gap, core, find_gap
from rilco.judging.material import Material
from rilco.judging.neighbours import nearest_of_others
from rilco.judging.opinion import Opinion

NAME = "endings"


def judge_endings(
    material: Material, config: JudgingConfig, *, apart: np.ndarray, alibi: bool = True
) -> Opinion:
    """A doubt about those that end elsewhere. It never praises: who ends well may have acted badly on the way.

    Those `apart` [D] live elsewhere, and take no part, but for those that reach a sharp end that most reach: the evidence `home`
    [D] is 1 for these. Without an `alibi` it is 1 for those that end as the others do, and changes nothing here.
    """
    count = material.count
    good, odd = np.full(count, 0.5), np.zeros(count, bool)
    whitening = Whitening(material)
    ends = [whitening(states) for states in _ends(material, config)]
    home, width, _, _ = _look(ends, np.arange(count), config)
    home = (home <= config.at_home) & (width <= config.sharp_end) & alibi
    heard = np.flatnonzero(~apart | home)
    evidence = {"home": home.astype(np.float64)}
    if len(heard) < config.end_demonstrations:
        why = "Too few demonstrations share places for their ends to be compared."
        return Opinion(NAME, 0.0, why, np.zeros(count), good, ("Not heard.",) * count, evidence)
    margin, width, cut, enough = _look(ends, heard, config)
    if not alibi:
        evidence = {"home": (margin <= config.at_home).astype(np.float64)}
    odd[heard] = (margin[heard] > cut.at) & ~home[heard]
    few = not enough and odd[heard].mean() > config.large_group
    if cut.proof >= (config.end_few if few else config.end_proof):
        odd[heard] &= ~goes_on(material, heard, config)
        good[odd] = 0.5 - config.end_doubt * (0.5 - cut.good.min())
    else:
        odd[:] = False
    return Opinion(
        NAME,
        config.end_doubt,
        why=f"Demonstrations end {width:.2g} times as far from each other as their states are on the way.",
        score=-margin,
        good=good,
        reasons=tuple(
            f"Stops where the others do not: {far:.1f} times as far from their ends as is usual."
            if elsewhere
            else "Stops where others stop."
            for far, elsewhere in zip(np.exp(np.minimum(margin, 9.0)).tolist(), odd.tolist(), strict=True)
        ),
        evidence={**evidence, "margin": margin, "proof": np.full(count, cut.proof)},
    )


def _look(
    ends: Sequence[np.ndarray], heard: np.ndarray, config: JudgingConfig
) -> tuple[np.ndarray, float, Gap, bool]:
    """[D] how far each one's end is from the usual ends of those `heard`, on a logarithmic scale; the width of these ends; the
    cut among them; and whether they are enough for the dimensions."""
    views = [_distances(each, heard, config) for each in ends]
    # Odd is what is far both in its very last state and in the mean of its last part.
    margin = np.min([distance for distance, _ in views], axis=0)
    margin = margin - core(margin[heard])[0]
    enough = len(heard) >= 3 * ends[0].shape[1]
    return margin, float(np.mean([width for _, width in views])), find_gap(margin[heard], config), enough


def _ends(material: Material, config: JudgingConfig) -> tuple[np.ndarray, np.ndarray]:
    """[D, obs_dim] the last state of each one, and the mean of a few states of its last part."""
    back = np.linspace(0.0, config.end_part, 8) * (material.pairs[:, None] - 1)
    states = material.obs[material.first[1:, None] - 1 - np.floor(back).astype(np.int64)]
    return np.asarray(states[:, 0]), np.asarray(states.mean(1))


class Whitening:
    """Puts states into units in which all states of the demonstrations have unit variance in every direction."""

    def __init__(self, material: Material) -> None:
        some = material.obs[:: max(1, len(material.obs) // 5_000)].astype(np.float64)
        self.centre = some.mean(0)
        _, spread, directions = np.linalg.svd((some - self.centre) / np.sqrt(len(some)), full_matrices=False)
        kept = spread > 1e-2 * spread[0]
        self.turn = directions[kept].T / spread[kept]

    def __call__(self, states: np.ndarray) -> np.ndarray:
        return np.asarray((states - self.centre) @ self.turn)


def _distances(ends: np.ndarray, heard: np.ndarray, config: JudgingConfig) -> tuple[np.ndarray, float]:
    """[D] logarithms of distances from the middle of the usual ends, by their covariance; and the width of these ends.

    With few demonstrations for the dimensions, directions look narrow by chance: the covariance is drawn towards that of all
    states.
    """
    among, dims = ends[heard], ends.shape[1]
    share = float(np.clip((dims / len(heard)) ** 2, config.end_least, 1.0))
    weight = np.ones(len(heard))
    for _ in range(config.end_rounds):
        centre = weight @ among / weight.sum()
        covariance = (weight[:, None] * (among - centre)).T @ (among - centre) / weight.sum()
        covariance = (1.0 - share) * covariance + share * np.eye(dims)
        inverse = np.linalg.inv(covariance)
        square = np.einsum("di,ij,dj->d", ends - centre, inverse, ends - centre) / dims
        usual = np.median(square[heard])
        weight = 1.0 / (1.0 + np.square(square[heard] / max(usual, 1e-12)))
    spread, turn = np.linalg.eigh(covariance)
    if (narrow := spread < config.narrow_end).any():  # where ends may vary, they say nothing
        square = (np.square((ends - centre) @ turn[:, narrow]) / spread[narrow]).mean(1)
    distance = 0.5 * np.log(square + config.end_floor)
    width = float(np.exp(np.log(spread).mean()))
    return distance - core(distance[heard])[0], width


def goes_on(material: Material, which: np.ndarray, config: JudgingConfig) -> np.ndarray:
    """[H] whether another demonstration begins where this one stops: then it was cut in two, not aborted."""
    last = material.first[which + 1] - 1
    step = np.sqrt(np.square(material.obs[last] - material.obs[last - 1]).sum(1))
    starts = material.obs[material.first[:-1]]
    points, group = np.concatenate([starts, material.obs[last]]), np.arange(len(starts) + len(last))
    nearest = nearest_of_others(points, group, 1, among=group < len(starts))[len(starts) :, 0]
    gap = np.abs(material.obs[last] - starts[nearest])
    change = np.abs(np.diff(material.obs, axis=0))[np.diff(material.demo) == 0]
    own = np.maximum(np.abs(material.obs[last] - material.obs[last - 1]), np.median(change, axis=0))
    whole, each = config.goes_on
    near = np.sqrt(np.square(gap).sum(1)) <= whole * step + 1e-6
    return np.asarray(near & (gap <= each * own + 1e-6).all(1))
