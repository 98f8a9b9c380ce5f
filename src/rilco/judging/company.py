"""Who made it? A demonstrator whose demonstrations are all odder than the others' is doubted as a whole.

A person's steady fault looks like a style: it is seldom odd beyond doubt in one demonstration. It shows in all of them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtri

from rilco.judging.config import JudgingConfig
from rilco.judging.roster import Roster
from rilco.judging.verdict import Judgement, midranks


def doubt_by_company(judged: Sequence[Judgement], roster: Roster, config: JudgingConfig) -> list[Judgement]:
    """With a doubt about what is kept of a demonstrator most of whose others are charged, or nearly all of whose rank below the
    rest. Half of all cannot be one bad demonstrator's. Nor is one that the user vouches for.

    Witnesses are those that the judges judged: neither too short, nor copies, nor decided by the user.
    """
    names, maker = np.unique(roster.makers, return_inverse=True)
    witness = (roster.original == np.arange(len(judged))) & (roster.vouched == 0)
    witness &= np.array([one.family >= 0 for one in judged])
    seen = maker[witness]
    size = np.bincount(seen, minlength=len(names))
    others = int(witness.sum()) - size
    bad = np.array([one.probability < 0.5 for one in judged])
    charged = np.bincount(seen, bad[witness], len(names)) >= config.company * size
    outranked = _outranked(np.array([one.score for one in judged])[witness], seen, size, others, config)
    vouched = np.bincount(maker, roster.vouched > 0, len(names)) > 0
    doubted = (charged | outranked) & (size >= config.company_least) & (size < others) & ~vouched
    return [
        replace(
            one,
            decision="unsure",
            probability=config.alone,
            score=float(np.interp(one.score, (0.0, 1.0), (config.unsure_from, config.unsure_to))),
            judge="nobody",
            reason=f"Most others by {names[k]} are doubted."
            if charged[k]
            else f"Nearly all by {names[k]} are odder than the others: the same mistake, or a style of their own.",
        )
        if doubted[k] and one.decision == "keep"
        else one
        for one, k in zip(judged, maker.tolist(), strict=True)
    ]


def _outranked(
    score: np.ndarray, maker: np.ndarray, size: np.ndarray, others: np.ndarray, config: JudgingConfig
) -> np.ndarray:
    """[M] whose demonstrations score below the others' nearly always, and more often than chance makes it with so many
    demonstrators (the test of Mann and Whitney)."""
    above = np.bincount(maker, midranks(score), len(size)) - size * (size + 1) / 2.0
    couples = np.maximum(size * others, 1)
    spread = np.sqrt(couples * (size + others + 1) / 12.0)
    chance = ndtri(config.company_chance / np.maximum(np.count_nonzero(size), 1))
    seldom = (above - 0.5 * couples) / spread <= chance
    return np.asarray(seldom & (above <= (1.0 - config.company_rank) * couples))
