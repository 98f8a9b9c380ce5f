"""How good a judge is: AUROC, what it keeps, and the return of a clone of what it keeps."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from benchmarks.judges.peers import HINDSIGHT, Scores
from benchmarks.judges.sets import LabelledSet
from scipy.stats import rankdata

START_STATES = 100
GRADIENT_STEPS = 30_000


def auroc(score: np.ndarray, good: np.ndarray) -> float | None:
    """How likely a good demonstration is above a bad one, ties counted half; None where all are of one kind."""
    count = int(good.sum())
    if count in (0, len(good)):
        return None
    return float((rankdata(score)[good].sum() - count * (count + 1) / 2) / (count * (len(good) - count)))


def best_share(score: np.ndarray, pairs: np.ndarray, wanted: int) -> np.ndarray:
    """[D] bool: the best-scored demonstrations that hold about `wanted` pairs; chance decides ties."""
    chance = np.random.default_rng(0).permutation(len(score))
    order = np.lexsort((chance, -score))
    before = np.cumsum(pairs[order]) - pairs[order]
    keep = np.zeros(len(score), bool)
    keep[order[before + pairs[order] / 2 < wanted]] = True
    return keep


def measure(judge: str, said: Scores, data: LabelledSet) -> tuple[dict[str, Any], np.ndarray]:
    """The judge's numbers on a set, and the mask [D] of what is kept by it."""
    area, score = auroc(said.score, data.good), said.score
    if judge in HINDSIGHT and area is not None and area < 0.5:
        area, score = 1.0 - area, -score
    wanted = int(data.pairs[data.good].sum())
    keep = best_share(score, data.pairs, wanted) if said.keep is None else said.keep
    good_kept, bad_kept = (
        float(keep[kind].mean()) if kind.any() else None for kind in (data.good, ~data.good)
    )
    right = (good_kept is None or good_kept >= 0.95) and (bad_kept is None or bad_kept <= 0.1)
    numbers = {"auroc": area, "good_kept": good_kept, "bad_kept": bad_kept, "right": right}
    return {name: round(x, 4) if isinstance(x, float) else x for name, x in numbers.items()}, keep


def clone_return(data: LabelledSet, keep: np.ndarray, seed: int) -> float:
    """Mean return of a clone of the kept demonstrations; everybody's clones start from the same states."""
    return _clone_return(data, keep.tobytes(), seed)


@functools.cache
def _clone_return(data: LabelledSet, keep: bytes, seed: int) -> float:
    """By the mask's bytes, so that judges that keep the same share their clones."""
    from rilco.bc.training import clone
    from rilco.evaluation import evaluate
    from rilco.tasks.table import Task

    kept = data.demos.select(np.frombuffer(keep, bool)[data.demos.episode])
    policy = clone(kept, gradient_steps=GRADIENT_STEPS, seed=seed)
    played = evaluate(policy, episodes=START_STATES, seed=0, task=Task(task=data.task), workers=1)
    return round(float(np.mean(played.returns)), 1)
