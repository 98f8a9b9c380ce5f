"""Who stops where the others stop?

Where demonstrations end near each other, the task has an end: one that stops elsewhere was aborted, or did something else.
"""

from __future__ import annotations

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.gaps import core, find_cut
from rilco.judging.material import Material
from rilco.judging.neighbours import nearest_of_others
from rilco.judging.opinion import Opinion

NAME = "endings"
GOLDEN = 0.6180339887498949


def judge_endings(material: Material, config: JudgingConfig, *, apart: np.ndarray) -> Opinion:
    """A doubt about those that end elsewhere. It never praises: who ends well may have acted badly on the way.

    Those `apart` [D] live elsewhere, and end there: they take no part.
    """
    count, heard = material.count, np.flatnonzero(~apart)
    good, margin, odd, times = np.full(count, 0.5), np.zeros(count), np.zeros(count, bool), np.ones(count)
    if len(heard) < config.end_demonstrations:
        why = "Too few demonstrations share places for their ends to be compared."
        return Opinion(NAME, 0.0, why, margin, good, ("Not heard.",) * count)
    ends = _company(_ends(material, config)[heard], config)
    # A state of each demonstration, somewhere on its way, for comparison.
    somewhere = np.floor(np.arange(len(heard)) * GOLDEN % 1.0 * material.pairs[heard]).astype(np.int64)
    usual = float(np.median(_company(material.obs[material.first[heard] + somewhere], config))) + 1e-6
    ratio = float(np.median(ends)) / usual
    distance = np.log(ends / usual + config.end_floor)
    margin[heard] = distance - core(distance)[0]
    cut = find_cut(margin[heard], config)
    odd[heard] = (margin[heard] > cut.at) & ~_goes_on(material, heard)
    good[heard] = np.where(odd[heard], 0.5 + config.end_doubt * (cut.good - 0.5), 0.5)
    times[heard] = ends / max(float(np.median(ends)), config.end_floor * usual)
    return Opinion(
        NAME,
        config.end_doubt,
        why=f"Demonstrations end {ratio:.2g} times as far from each other as their states are on the way.",
        score=-margin,
        good=good,
        reasons=tuple(
            f"Stops where the others do not: {far:.1f} times as far from their ends as is usual."
            if elsewhere
            else "Stops where others stop."
            for far, elsewhere in zip(times.tolist(), odd.tolist(), strict=True)
        ),
        evidence={"margin": margin, "proof": np.full(count, cut.proof), "ratio": np.full(count, ratio)},
    )


def _ends(material: Material, config: JudgingConfig) -> np.ndarray:
    """[D, obs_dim] the mean of a few states of each one's last part."""
    back = np.linspace(0.0, config.end_part, 8) * (material.pairs[:, None] - 1)
    return np.asarray(material.obs[material.first[1:, None] - 1 - np.floor(back).astype(np.int64)].mean(1))


def _goes_on(material: Material, which: np.ndarray) -> np.ndarray:
    """[H] whether another demonstration begins where this one stops: then it was cut in two, not aborted."""
    last = material.first[which + 1] - 1
    step = np.sqrt(np.square(material.obs[last] - material.obs[last - 1]).sum(1))
    starts = material.obs[material.first[:-1]]
    points, group = np.concatenate([starts, material.obs[last]]), np.arange(len(starts) + len(last))
    nearest = nearest_of_others(points, group, 1, among=group < len(starts))[len(starts) :, 0]
    gap = np.sqrt(np.square(material.obs[last] - starts[nearest]).sum(1))
    return np.asarray(gap <= 1.5 * step + 1e-6)


def _company(states: np.ndarray, config: JudgingConfig) -> np.ndarray:
    """[D] the mean distance of each state to its nearest ones."""
    count = min(config.end_neighbours, max(1, len(states) // 4))
    nearest = nearest_of_others(states, np.arange(len(states)), count)
    return np.sqrt(np.square(states[:, None] - states[nearest]).sum(2)).mean(1)
