"""Who made it? A demonstrator whose demonstrations are all odder than the others' is doubted as a whole.

A person's steady fault looks like a style: it is seldom odd beyond doubt in one demonstration. It shows in all of them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.verdict import Judgement, midranks


def doubt_by_company(judged: Sequence[Judgement], config: JudgingConfig) -> list[Judgement]:
    """With a doubt about what is kept of a demonstrator most of whose others are charged, or nearly all of whose rank below the
    rest. Half of all cannot be one bad demonstrator's. Nor is one that the user vouches for."""
    names, maker, size = np.unique(
        [one.demonstrator for one in judged], return_inverse=True, return_counts=True
    )
    charged = np.bincount(maker, [one.probability < 0.5 for one in judged])
    others = len(judged) - size
    above = np.bincount(maker, midranks(np.array([one.score for one in judged]))) - size * (size + 1) / 2.0
    outranked = above <= (1.0 - config.company_rank) * size * others
    vouched = np.bincount(maker, [one.judge == "you" and one.decision == "keep" for one in judged])
    open_to_doubt = (size >= config.company_least) & (size < others) & (vouched == 0)
    why = {
        k: f"Most others by {names[k]} are doubted."
        if charged[k] >= config.company * size[k]
        else f"Nearly all by {names[k]} are odder than the others: the same mistake, or a style of their own."
        for k in np.flatnonzero(open_to_doubt & ((charged >= config.company * size) | outranked)).tolist()
    }
    return [
        replace(
            one,
            decision="unsure",
            probability=config.alone,
            score=float(np.interp(one.score, (0.0, 1.0), (config.unsure_from, config.unsure_to))),
            judge="nobody",
            reason=why[k],
        )
        if k in why and one.decision == "keep"
        else one
        for one, k in zip(judged, maker.tolist(), strict=True)
    ]
