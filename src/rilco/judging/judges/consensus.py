"""Who does what the others would do there?

Actions are predicted from observations, each demonstration without itself. Those that are predicted badly count less in the
next fit. What is left is cut at the widest gap above the core, where there is one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.gaps import Gap, core, find_gap, gap_above
from rilco.judging.material import Material
from rilco.judging.opinion import Opinion
from rilco.judging.regression import Crossfit, crossfits

NAME = "consensus"


def judge_consensus(
    material: Material,
    config: JudgingConfig,
    *,
    good: np.ndarray | None = None,
    bad: np.ndarray | None = None,
    apart: np.ndarray | None = None,
) -> Opinion:
    """`good` and `bad` [D] are true where it is known that a demonstration is good or bad.

    Those `apart` [D] live elsewhere: nobody can say what the others would do there, and they take no part.
    """
    nobody = np.zeros(material.count, bool)
    good, bad, apart = (nobody if mask is None else mask for mask in (good, bad, apart))
    heard = ~apart
    if heard.sum() < config.min_demonstrations:
        return _silent(
            material.count, "Too few demonstrations share places for their actions to be compared."
        )
    rows = material.sample(config.fit_pairs, config.sample_least, config.error_pairs)
    fits = crossfits(material, rows, config)
    views = [_look(fit, config, good, bad | apart, heard) for fit in fits]
    view, fit = max(
        zip(views, fits, strict=True), key=lambda each: max(each[0].cut.proof, each[0].scale.proof)
    )
    slope, far = view.errors.slope, view.errors.far
    centre, margin, cut, scale = view.centre, view.margin, view.cut, view.scale
    probability = np.full(material.count, 0.5)
    probability[heard] = cut.good
    # Where few others were, all are foretold badly: that much of an error is no fault.
    alone = heard & (margin > cut.at) & (margin - far <= cut.at)
    small = np.zeros(material.count, bool)
    small[heard] = scale.good < 0.5
    small &= far <= config.nobody_there
    # A scale of its own is a charge only where the actions are odd as well; else it is a doubt.
    charge = np.where(margin > config.slope_margin, max(scale.good.min(), 0.5 - config.proven), config.alone)
    probability = np.where(small, np.minimum(probability, charge), probability)
    odd = heard & (margin > cut.at)
    alike = not good.any() and _agree(fit, odd, centre, config)
    if alike:
        probability[odd] = np.maximum(probability[odd], config.alone)
    standing = float(np.interp(np.exp(centre), *config.power))
    why = (
        f"From what the others do in the same places, a typical action is foretold to within {np.exp(centre):.0%} of "
        "the actions' spread."
    )
    is_open = not good.any() and _minority_agrees(margin[heard], material.pairs[heard], config)
    if is_open:
        why = "A minority agrees with each other much better than the majority does: who is right is open."
        standing = 0.0
    probability = 0.5 + standing * (np.where(alone, config.alone, probability) - 0.5)
    reasons = tuple(
        _reason(bool(o), float(m), bool(a), bool(s), float(k), int(heard.sum()) - 1)
        + (f" But {odd.sum()} do so alike: another way, or the same mistake." if o and alike else "")
        for o, m, a, s, k in zip(odd, margin, alone, small, slope, strict=True)
    )
    # What the smooth regression shows of everybody: the judge of manner adds it up with other things.
    evidence = {} if is_open else views[0].errors._asdict()
    evidence |= {"margin": margin, "proof": np.full(len(margin), cut.proof)}
    return Opinion(NAME, standing, why, -margin, probability, reasons, evidence)


class Errors(NamedTuple):
    """What one regression shows of each demonstration; all [D]."""

    error: np.ndarray
    """The typical distance of its actions from what the trusted others would do there."""
    slope: np.ndarray
    """The size of its actions as a multiple of what the others would do."""
    far: np.ndarray
    """By how much the logarithm of the distance is larger than usual because few others were there."""


class View(NamedTuple):
    """What one regression shows, and where it cuts."""

    errors: Errors
    centre: float
    margin: np.ndarray
    cut: Gap
    scale: Gap


def _look(
    fit: Crossfit,
    config: JudgingConfig,
    good: np.ndarray,
    bad: np.ndarray,
    heard: np.ndarray,
) -> View:
    errors = demonstration_errors(fit, config, good, bad)
    logs = np.log(errors.error)
    centre, spread = core(logs[good] if good.any() else logs[heard])
    margin = logs - centre
    cut = gap_above(margin[heard], spread, config) if good.any() else find_gap(margin[heard], config)
    return View(errors, centre, margin, cut, _scale_cut(errors.slope[heard], config))


def _agree(fit: Crossfit, odd: np.ndarray, centre: float, config: JudgingConfig) -> bool:
    """Whether the odd ones foretell each other nearly as well as the usual ones do: then nobody can say who is right."""
    if odd.sum() < config.min_demonstrations:
        return False
    size = np.bincount(fit.demo)
    predicted, _, _ = fit.predict((odd / size)[fit.demo])
    own = np.log(fit.of_demonstrations(fit.errors(predicted)) + config.least_error)[odd]
    return bool(np.median(own) - centre <= np.interp(odd.mean(), *config.alike))


def _silent(count: int, why: str) -> Opinion:
    return Opinion(NAME, 0.0, why, np.zeros(count), np.full(count, 0.5), ("Not heard.",) * count)


def _minority_agrees(margin: np.ndarray, pairs: np.ndarray, config: JudgingConfig) -> bool:
    """Whether a group far below the core is large enough to be the good ones, by demonstrations or by pairs."""
    low = find_gap(-margin, config)
    agree = -margin > low.at
    share = max(agree.mean(), pairs[agree].sum() / pairs.sum())
    return low.proof > 1.0 and bool(share >= config.agreeing_minority)


def _scale_cut(slope: np.ndarray, config: JudgingConfig) -> Gap:
    """Whose actions are a fraction, the opposite, or a multiple of what the others would do; the clearer of the two."""
    fraction = find_gap(-slope, config)
    multiple = find_gap(np.log(np.maximum(slope, 0.05)), config)
    return max(fraction, multiple, key=lambda cut: cut.proof)


def demonstration_errors(fit: Crossfit, config: JudgingConfig, good: np.ndarray, bad: np.ndarray) -> Errors:
    size = np.bincount(fit.demo)
    trust = good.astype(np.float64) if good.any() else np.where(bad, 0.0, 1.0)
    choice = None
    for left in reversed(range(config.rounds)):
        # The model is chosen at first, and once more when it is known whom to trust.
        choice = choice if left > 1 else None
        predicted, doubt, choice = fit.predict((trust / size)[fit.demo], doubt=not left, choice=choice)
        error = fit.of_demonstrations(fit.errors(predicted)) + config.least_error
        usual = np.median(error[good] if good.any() else error[~bad])
        trust = np.where(bad, 0.0, 1.0 / (1.0 + (error / usual) ** 4))
    together = np.bincount(fit.demo, (predicted * fit.action).sum(1))
    far = np.log(fit.of_demonstrations(doubt))
    return Errors(
        error=error,
        slope=together / (np.bincount(fit.demo, np.square(predicted).sum(1)) + 1e-9),
        far=far - np.median(far),
    )


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
