"""Who does what the others would do there?

Actions are predicted from observations, each demonstration without itself. Those that are predicted badly count less in the
next fit. What is left is cut at the widest gap above the core, where there is one.
"""

from __future__ import annotations

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.gaps import core, find_cut
from rilco.judging.material import Material
from rilco.judging.neighbours import nearest_of_others
from rilco.judging.opinion import Opinion
from rilco.judging.regression import Crossfit, crossfit

NAME = "consensus"


def judge_consensus(
    material: Material,
    config: JudgingConfig,
    *,
    good: np.ndarray | None = None,
    bad: np.ndarray | None = None,
    apart: np.ndarray | None = None,
) -> Opinion:
    """`good` and `bad` [D] are true where the user has vouched for or against a demonstration.

    Those `apart` [D] live elsewhere: nobody can say what the others would do there, and they take no part.
    """
    nobody = np.zeros(material.count, bool)
    good, bad, apart = (nobody if mask is None else mask for mask in (good, bad, apart))
    heard = ~apart
    if heard.sum() < config.min_demonstrations:
        return _silent(
            material.count, "Too few demonstrations share places for their actions to be compared."
        )
    fit = crossfit(
        material, material.sample(config.fit_pairs, config.sample_least, config.error_pairs), config
    )
    error, slope = demonstration_errors(fit, config, good, bad | apart)
    usual = error[good] if good.any() else error[heard]
    centre, _ = core(np.log(usual))
    margin = np.log(error) - centre
    cut = find_cut(margin[heard], config)
    probability = np.full(material.count, 0.5)
    probability[heard] = cut.good
    far = remoteness(fit, material, config)
    alone = heard & (margin > cut.at) & (far > config.nobody_there)
    small = heard & (far <= config.nobody_there) & _odd_slope(slope, heard, config)
    # A scale of its own is a charge only where the actions are odd as well; else it is a doubt.
    charge = np.where(margin > cut.at, 0.5 - config.proven, config.alone)
    probability = np.where(small, np.minimum(probability, charge), probability)
    standing = float(np.clip(2.0 * (1.0 - np.exp(centre)), 0.0, 1.0))
    why = (
        f"From what the others do in the same places, a typical action is foretold to within {np.exp(centre):.0%} of "
        "the actions' spread."
    )
    if not good.any() and _minority_agrees(margin[heard], config):
        why, standing = (
            "A minority agrees with each other much better than the majority does: who is right is open.",
            0.0,
        )
    probability = 0.5 + standing * (np.where(alone, config.alone, probability) - 0.5)
    reasons = tuple(
        _reason(m > cut.at, float(m), bool(a), bool(s), float(k), int(heard.sum()) - 1)
        for m, a, s, k in zip(margin, alone, small, slope, strict=True)
    )
    evidence = {
        "error": error,
        "margin": margin,
        "remoteness": far,
        "slope": slope,
        "proof": np.full(len(margin), cut.proof),
    }
    return Opinion(NAME, standing, why, -margin, probability, reasons, evidence)


def _silent(count: int, why: str) -> Opinion:
    return Opinion(NAME, 0.0, why, np.zeros(count), np.full(count, 0.5), ("Not heard.",) * count)


def _minority_agrees(margin: np.ndarray, config: JudgingConfig) -> bool:
    """Whether a group far below the core is large enough to be the good ones."""
    low = find_cut(-margin, config)
    return low.proof > 1.0 and float((-margin > low.at).mean()) >= config.agreeing_minority


def _odd_slope(slope: np.ndarray, heard: np.ndarray, config: JudgingConfig) -> np.ndarray:
    """[D] whether actions are a fraction or a multiple of what the others would do, where the others are near 1."""
    low, middle, high = np.quantile(slope[heard], [0.25, 0.5, 0.75])
    if (
        not 0.7 < middle < 1.4 or high - low > config.slope_spread
    ):  # they foretell each other too badly to speak of scale
        return np.zeros(len(slope), bool)
    return (slope < config.slope * middle) | (slope > middle / config.slope)


def remoteness(fit: Crossfit, material: Material, config: JudgingConfig) -> np.ndarray:
    """[D] how far a demonstration's states are from the others', in spreads above what is usual."""
    states = material.obs[fit.rows]
    nearest = nearest_of_others(states, fit.demo, config.state_neighbours)
    distance = np.sqrt(np.square(states[:, None] - states[nearest]).sum(2)).mean(1)
    typical = np.log(fit.of_demonstrations(distance) + 1e-6)
    centre, width = core(typical)
    return (typical - centre) / max(width, config.least_width)


def demonstration_errors(
    fit: Crossfit, config: JudgingConfig, good: np.ndarray, bad: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """[D] the typical distance of a demonstration's actions from what the trusted others would do there, and [D] their size
    as a multiple of it."""
    size = np.bincount(fit.demo)
    trust = good.astype(np.float64) if good.any() else np.where(bad, 0.0, 1.0)
    for _ in range(config.rounds):
        predicted = fit.predict((trust / size)[fit.demo], config.ridge)
        error = fit.of_demonstrations(fit.errors(predicted)) + config.least_error
        usual = np.median(error[good] if good.any() else error[~bad])
        trust = np.where(bad, 0.0, 1.0 / (1.0 + (error / usual) ** 4))
    together = np.bincount(fit.demo, (predicted * fit.action).sum(1))
    return error, together / (np.bincount(fit.demo, np.square(predicted).sum(1)) + 1e-9)


def _reason(odd: bool, margin: float, alone: bool, scaled: bool, slope: float, others: int) -> str:
    if scaled:
        return f"Its actions are {slope:.2g} times what the other {others} do in the same places."
    if alone:
        return "Goes where nobody else goes, so that its actions cannot be compared."
    if odd:
        return (
            f"Acts unlike the other {others} in the same places: its actions are {np.exp(margin):.1f} times as far from theirs "
            "as is usual."
        )
    return "Acts like the others in the same places."
