"""Who does what the others would do there?

Actions are predicted from observations, each demonstration without itself. Those that are predicted badly count less in the
next fit. What is left is cut at the widest gap above the core, where there is one.
"""

from __future__ import annotations

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.gaps import Cut, core, find_cut
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
) -> Opinion:
    """`good` and `bad` [D] are true where the user has vouched for or against a demonstration."""
    rows = material.sample(config.fit_pairs, config.sample_least, config.error_pairs)
    fit = crossfit(material, rows, config)
    error = demonstration_errors(fit, config, good, bad)
    centre, width = core(np.log(error if good is None or not good.any() else error[good]))
    margin = np.log(error) - centre
    cut = find_cut(margin, config)
    far = remoteness(fit, material, config)
    alone = (far > config.nobody_there) & (margin > cut.at) & (cut.proof[2] < config.beyond_doubt)
    standing = float(np.clip(2.0 * (1.0 - np.exp(centre)), 0.0, 1.0))
    why = (
        f"From what the others do in the same places, a typical action is foretold to within {np.exp(centre):.2f} of "
        "the actions' spread."
    )
    return Opinion(
        NAME,
        standing,
        why,
        score=-margin,
        good=np.where(alone, 0.5, 0.5 + standing * (cut.good - 0.5)),
        reasons=tuple(_reason(m, cut, material.count, lost) for m, lost in zip(margin, alone, strict=True)),
        evidence={"error": error, "margin": margin, "remoteness": far, "proof": np.tile(cut.proof, (len(margin), 1))},
    )


def remoteness(fit: Crossfit, material: Material, config: JudgingConfig) -> np.ndarray:
    """[D] how far a demonstration's states are from the others', in spreads above what is usual."""
    states = material.obs[fit.rows]
    nearest = nearest_of_others(states, fit.demo, config.state_neighbours)
    distance = np.sqrt(np.square(states[:, None] - states[nearest]).sum(2)).mean(1)
    typical = np.log(fit.of_demonstrations(distance) + 1e-6)
    centre, width = core(typical)
    return (typical - centre) / max(width, config.least_width)


def demonstration_errors(
    fit: Crossfit, config: JudgingConfig, good: np.ndarray | None = None, bad: np.ndarray | None = None
) -> np.ndarray:
    """[D] the typical distance of a demonstration's actions from what the trusted others would do there."""
    size = np.bincount(fit.demo)
    trust = np.ones(len(size)) if good is None or not good.any() else good.astype(np.float64)
    for _ in range(config.rounds):
        if bad is not None:
            trust = np.where(bad, 0.0, trust)
        predicted = fit.predict((trust / size)[fit.demo], config.ridge)
        error = fit.of_demonstrations(fit.errors(predicted)) + config.least_error
        # With vouchers, what is usual among the vouched for; else among all.
        usual = np.median(error[good] if good is not None and good.any() else error)
        trust = 1.0 / (1.0 + (error / usual) ** 4)
    return error


def _reason(margin: float, cut: Cut, count: int, alone: bool) -> str:
    if alone:
        return "Goes where nobody else goes, so that its actions cannot be compared."
    if margin > cut.at:
        return (
            f"Acts unlike the other {count - 1} in the same places: its actions are {np.exp(margin):.1f} times as far from "
            "theirs as is usual."
        )
    return "Acts like the others in the same places."
