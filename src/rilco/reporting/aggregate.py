"""Methods over all tasks: scores as shares of the expert's return."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from rilco.experiment.published import POLICY, PUBLISHED_RETURNS, REFERENCE, TASKS, CellKey
from rilco.experiment.statistics import Score, iqm, probability_of_improvement
from rilco.policy.saved import shipped_rung
from rilco.reporting.cells import Cell
from rilco.reporting.style import in_order


class MethodScore(NamedTuple):
    """One method at one noise rate."""

    method: str
    tasks: tuple[str, ...]
    runs: int
    iqm: Score
    mean: float
    published_mean: float | None
    """Mean of the published curves at the same transitions, as shares of the paper's experts' returns."""
    improvement: Score | None
    """Probability that a run of RIL-Co is better, over the tasks that both have; None for RIL-Co itself."""


def experts() -> dict[str, float]:
    """Returns of the shipped experts, by task."""
    return {task: float(shipped_rung(task, 1)[1]["mean_return"]) for task in TASKS}


def scores_at(rate: float, cells: Mapping[CellKey, Cell], expert: Mapping[str, float]) -> list[MethodScore]:
    """Every method that was run at a noise rate, in the usual order."""
    methods: dict[str, dict[str, Cell]] = {}
    for key, cell in cells.items():
        if key.noise == POLICY and key.noise_rate == rate:
            methods.setdefault(key.method, {})[key.task] = cell
    reference = methods.get(REFERENCE, {})
    return [_score(method, methods[method], reference, expert) for method in in_order(methods)]


def _score(
    method: str, cells: Mapping[str, Cell], reference: Mapping[str, Cell], expert: Mapping[str, float]
) -> MethodScore:
    tasks = tuple(task for task in TASKS if task in cells)
    scores = [cells[task].finals / expert[task] for task in tasks]
    shared = [task for task in tasks if task in reference] if method != REFERENCE else []
    theirs, ours = [reference[task].finals for task in shared], [cells[task].finals for task in shared]
    shares = [
        here.mean / PUBLISHED_RETURNS[task][0] for task in tasks if (here := cells[task].published_here)
    ]
    return MethodScore(
        method=method,
        tasks=tasks,
        runs=sum(map(len, scores)),
        iqm=iqm(scores),
        mean=float(np.mean([score.mean() for score in scores])),
        published_mean=float(np.mean(shares)) if len(shares) == len(tasks) else None,
        improvement=probability_of_improvement(theirs, ours) if shared else None,
    )
