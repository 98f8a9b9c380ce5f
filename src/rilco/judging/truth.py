"""How good a verdict is, where labels are known: for measuring the method, never part of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rilco.data.record import Demonstrations
from rilco.judging.verdict import Verdict


class Truth(NamedTuple):
    """A verdict against the labels. None where one class is missing."""

    auroc: float | None
    """The chance that a good demonstration scores above a bad one."""
    good_kept: float | None
    """Share of the good pairs that are kept."""
    bad_kept: float | None
    """Share of the bad pairs that are kept."""
    good_dropped: float | None
    """Share of the good pairs that are dropped."""
    bad_dropped: float | None
    """Share of the bad pairs that are dropped."""


def compare(verdict: Verdict, demos: Demonstrations) -> Truth | None:
    """None where no labels are known."""
    good = demos.expert
    if good is None:
        return None
    share = np.bincount(verdict.of_pair, good) / np.bincount(verdict.of_pair)
    decision = np.array([one.decision for one in verdict.demonstrations])[verdict.of_pair]
    kept, dropped = decision == "keep", decision == "drop"
    return Truth(
        auroc(np.array([one.score for one in verdict.demonstrations]), share > 0.5),
        *(
            float(chosen[which].mean()) if which.any() else None
            for chosen in (kept, dropped)
            for which in (good, ~good)
        ),
    )


def auroc(scores: np.ndarray, positive: np.ndarray) -> float | None:
    """The chance that a positive scores above a negative, ties counting half; None where one kind is missing."""
    ups, downs = int(positive.sum()), int((~positive).sum())
    if not ups or not downs:
        return None
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[place]
    return float((ranks[positive].sum() - ups * (ups + 1) / 2.0) / (ups * downs))
