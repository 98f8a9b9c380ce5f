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
    found = _find(view, heard, config)
    alike = not good.any() and _agree(fit, found.odd, view.centre, config)
    standing = float(np.interp(np.exp(view.centre), *config.power))
    why = (
        f"From what the others do in the same places, a typical action is foretold to within {np.exp(view.centre):.0%} of "
        "the actions' spread."
    )
    # What the smooth regression shows of everybody: the judge of manner adds it up with other things.
    evidence = views[0].errors._asdict()
    if not good.any() and _minority_agrees(view.margin[heard], material.pairs[heard], config):
        why = "A minority agrees with each other much better than the majority does: who is right is open."
        standing, evidence = 0.0, {}
    return Opinion(
        NAME,
        standing,
        why,
        score=-view.margin,
        good=0.5 + standing * (_probability(view, found, alike, heard, config) - 0.5),
        reasons=_reasons(view, found, alike, int(heard.sum()) - 1),
        evidence={**evidence, "margin": view.margin, "proof": np.full(material.count, view.cut.proof)},
    )


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


class Found(NamedTuple):
    """What is said against each demonstration; all [D] bool."""

    odd: np.ndarray
    """It acts unlike the others."""
    alone: np.ndarray
    """It does, but few others were there: then all are foretold badly, and that much of an error is no fault."""
    scaled: np.ndarray
    """Its actions are a fraction, the opposite, or a multiple of theirs."""


def _find(view: View, heard: np.ndarray, config: JudgingConfig) -> Found:
    odd = heard & (view.margin > view.cut.at)
    scaled = np.zeros(len(heard), bool)
    scaled[heard] = view.scale.good < 0.5
    far = view.errors.far
    return Found(odd, odd & (view.margin - far <= view.cut.at), scaled & (far <= config.nobody_there))


def _probability(
    view: View, found: Found, alike: bool, heard: np.ndarray, config: JudgingConfig
) -> np.ndarray:
    """[D] of being good, for a judge of full standing. Where the odd ones act `alike`, they are only doubted."""
    probability = np.full(len(heard), 0.5)
    probability[heard] = view.cut.good
    # A scale of its own is a charge only where the actions are odd as well; else it is a doubt.
    charge = max(view.scale.good.min(), 0.5 - config.proven)
    charges = np.where(view.margin > config.slope_margin, charge, config.alone)
    probability = np.where(found.scaled, np.minimum(probability, charges), probability)
    if alike:
        probability[found.odd] = np.maximum(probability[found.odd], config.alone)
    return np.where(found.alone, config.alone, probability)


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


def _reasons(view: View, found: Found, alike: bool, others: int) -> tuple[str, ...]:
    also = f" But {found.odd.sum()} do so alike: another way, or the same mistake."
    reasons = []
    for i, slope in enumerate(view.errors.slope.tolist()):
        if found.scaled[i]:
            said = f"Its actions are {slope:.2g} times what the other {others} do in the same places."
        elif found.alone[i]:
            said = "Goes where nobody else goes, so that its actions cannot be compared."
        elif found.odd[i]:
            said = (
                f"Acts unlike the other {others} in the same places: its actions are {np.exp(view.margin[i]):.1f} times as far "
                "from theirs as is usual."
            )
        else:
            said = "Acts like the others in the same places."
        reasons.append(said + also if found.odd[i] and alike else said)
    return tuple(reasons)
