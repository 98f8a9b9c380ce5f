"""The paper's grid and its published results, quoted from Tangkaratt et al. (AISTATS 2021)."""

from __future__ import annotations

import csv
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import NamedTuple

import numpy as np

from rilco.ladder import PUBLISHED_RETURNS
from rilco.report.statistics import Estimate

SOURCE = (
    "V. Tangkaratt, N. Charoenphakdee and M. Sugiyama, “Robust Imitation Learning from Noisy Demonstrations”, "
    "AISTATS 2021"
)
SOURCE_URL = "https://arxiv.org/abs/2010.10181"
TASKS = tuple(PUBLISHED_RETURNS)
RATES = (0.0, 0.1, 0.2, 0.3, 0.4)
MAIN = ("ril-co", "gail-logistic", "gail-ap", "gail-unhinged", "fairl", "vild", "bc")
ABLATION = ("ril-co", "ril-co-logistic", "ril-p", "ril-p-logistic")
POLICY, GAUSSIAN = "policy", "gaussian"
"""Kinds of noise: pairs of worse policies, or the expert's actions with Gaussian noise."""
STEPS = 20_000_000
RUNS = 5
STRETCH = 400_000
"""Transitions that a point of a published curve is the average of."""


class CellKey(NamedTuple):
    """What the runs of a cell have in common; they differ in their seed."""

    task: str
    noise: str
    noise_rate: float | None
    """None where the demonstrations were taken as they are."""
    method: str


@dataclass(frozen=True, eq=False)
class PublishedCell:
    """One cell's published results."""

    final: Estimate
    curve: np.ndarray  # [50, 2] mean and standard error over each stretch

    @functools.cached_property
    def transitions(self) -> np.ndarray:
        """The middle of each stretch."""
        return (np.arange(len(self.curve)) + 0.5) * STRETCH

    def over(self, start: float, end: float) -> Estimate:
        """The curve's average from `start` to `end` transitions, each stretch weighing as much as it overlaps.

        Its standard error is averaged alike: the runs that are good in one stretch are good in the next, so the
        errors of neighbours do not cancel.
        """
        end = min(end, len(self.curve) * STRETCH)
        start = min(start, end - 1.0)
        edges = np.arange(len(self.curve) + 1) * float(STRETCH)
        overlap = np.clip(np.minimum(edges[1:], end) - np.maximum(edges[:-1], start), 0.0, None)
        mean, stderr = overlap @ self.curve / overlap.sum()
        return Estimate(float(mean), float(stderr), self.final.runs)


@functools.cache
def load_published() -> Mapping[CellKey, PublishedCell]:
    """Every published cell."""
    text = (resources.files("rilco.report") / "published.csv").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    cells = {}
    for row in csv.DictReader(lines):
        key = CellKey(row["task"], row["noise"], float(row["noise_rate"]), row["method"])
        final = Estimate(float(row["final_mean"]), float(row["final_stderr"]), int(row["runs"]))
        columns = [np.array(row[name].split(), float) for name in ("curve_mean", "curve_stderr")]
        cells[key] = PublishedCell(final, np.stack(columns, axis=1))
    return cells
