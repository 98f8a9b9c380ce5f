"""Who stops acting on the way?

An idle operator, a stuck controller or a frozen recording repeats an action step by step. Where most demonstrations hardly ever
do, those that do it for a good part of their time are odd, wherever they are.
"""

from __future__ import annotations

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.material import Material
from rilco.judging.opinion import Opinion

NAME = "held"


def judge_held(material: Material, config: JudgingConfig) -> Opinion:
    """A charge against those that hold an action much longer than the others. It never praises."""
    share = held_share(material, config)
    usual = float(np.median(share))
    standing = 1.0 if usual <= config.held_usual else 0.0
    charge = np.interp(share, config.held, (0.5 - config.alone, config.proven))
    odd = (share >= config.held[0]) & (share * material.pairs >= config.held_least)
    return Opinion(
        NAME,
        standing,
        why=f"A typical demonstration repeats an action in {usual:.0%} of its steps.",
        score=-share,
        good=np.where(odd, 0.5 - standing * charge, 0.5),
        reasons=tuple(
            f"Does not act for {part:.0%} of its time: it repeats the same action."
            if is_odd
            else "Acts all the time."
            for part, is_odd in zip(share.tolist(), odd.tolist(), strict=True)
        ),
        evidence={"held": share},
    )


def held_share(material: Material, config: JudgingConfig) -> np.ndarray:
    """[D] the share of steps whose action is that of the step before. The largest and the least action may well last."""
    action = material.action
    low, high = action.min(0), action.max(0)
    margin = 0.01 * (high - low)
    largest = ((action <= low + margin) | (action >= high - margin)).all(1)
    held = np.zeros(len(action), bool)
    held[1:] = (np.abs(np.diff(action, axis=0)) <= config.held_alike).all(1)
    held[material.first[:-1]] = False
    return np.asarray(np.bincount(material.demo, held & ~largest) / material.pairs)
