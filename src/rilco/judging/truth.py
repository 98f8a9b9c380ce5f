"""How good an audit is, where labels are known: for measuring the method, never part of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rilco.data.record import Demonstrations
from rilco.judging.judging import PairJudgements


class Truth(NamedTuple):
    """An audit against the labels. None where one class is missing."""

    pair_auroc: float | None
    window_auroc: float | None
    demonstration_auroc: float | None
    expert_kept: float | None
    """Share of the expert's pairs that the cut keeps."""
    other_kept: float | None
    """Share of the other pairs that it keeps."""
    brier: float
    """Mean squared error of the pairs' probabilities."""


def compare(judged: PairJudgements, demos: Demonstrations) -> Truth | None:
    """None where no labels are known."""
    expert = demos.expert
    if expert is None:
        return None
    grouping, scores = judged.grouping, judged.score.astype(np.float64)
    error = judged.expert_probability.astype(float) - expert
    return Truth(
        auroc(scores, expert),
        auroc(grouping.window_scores(scores), _mostly(expert, grouping.windows())),
        auroc(grouping.scores(scores), _mostly(expert, judged.demonstration)),
        float(judged.keep[expert].mean()) if expert.any() else None,
        float(judged.keep[~expert].mean()) if not expert.all() else None,
        float(np.mean(np.square(error))),
    )


def auroc(scores: np.ndarray, positive: np.ndarray) -> float | None:
    """The chance that a positive scores above a negative, ties counting half; None where one kind is missing."""
    ups, downs = int(positive.sum()), int((~positive).sum())
    if not ups or not downs:
        return None
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2.0)[place]
    return float((ranks[positive].sum() - ups * (ups + 1) / 2.0) / (ups * downs))


def _mostly(expert: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Whether most pairs of each group are the expert's."""
    return np.bincount(ids, expert) > 0.5 * np.bincount(ids)
