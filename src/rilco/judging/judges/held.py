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
    """A charge against those that hold an action much longer than the others. It never praises.

    Who holds one action up to the end may have finished: that is only a doubt.
    """
    share, on_the_way = held_shares(material, config)
    usual = float(np.median(share))
    standing = 1.0 if usual <= config.held_usual else 0.0

    def odd(part: np.ndarray) -> np.ndarray:
        return (part >= config.held[0]) & (part * material.pairs >= config.held_least)

    charge = np.interp(on_the_way, config.held, (0.5 - config.alone, config.proven))
    charge = np.where(odd(on_the_way), charge, np.where(odd(share), 0.5 - config.alone, 0.0))
    return Opinion(
        NAME,
        standing,
        why=f"A typical demonstration repeats an action in {usual:.0%} of its steps.",
        score=-share,
        good=0.5 - standing * charge,
        reasons=tuple(
            _reason(bool(way), bool(any_), part)
            for way, any_, part in zip(odd(on_the_way), odd(share), share.tolist(), strict=True)
        ),
        evidence={"held": share},
    )


def held_shares(material: Material, config: JudgingConfig) -> tuple[np.ndarray, np.ndarray]:
    """[D] the share of steps whose action is that of the step before, and the same without those that go on to the end.

    The largest and the least action may well last: they do not count.
    """
    action, demo, begin = material.action, material.demo, material.first[:-1]
    low, high = action.min(0), action.max(0)
    margin = 0.01 * (high - low)
    largest = ((action <= low + margin) | (action >= high - margin)).all(1)
    held = np.zeros(len(action), bool)
    held[1:] = (np.abs(np.diff(action, axis=0)) <= config.held_alike).all(1)
    held[begin] = False
    rows = np.arange(len(action))
    last_act = np.maximum.reduceat(np.where(held, -1, rows), begin)
    held &= ~largest
    share, on_the_way = (
        np.bincount(demo, counted) / material.pairs for counted in (held, held & (rows < last_act[demo]))
    )
    return share, on_the_way


def _reason(on_the_way: bool, at_all: bool, share: float) -> str:
    if on_the_way:
        return f"Does not act for {share:.0%} of its time: it repeats the same action."
    if at_all:
        return (
            f"Repeats the same action for {share:.0%} of its time, to its end: it is done, or has given up."
        )
    return "Acts all the time."
