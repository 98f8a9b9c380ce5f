"""The paper's runs and its published results (Tangkaratt et al., AISTATS 2021)."""

from __future__ import annotations

import csv
import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import NamedTuple

import numpy as np

from rilco.config import RunConfig
from rilco.errors import check_choice
from rilco.experiment.statistics import Estimate
from rilco.options import make_config

PUBLISHED_RETURNS = {
    "halfcheetah": (2500, 1300, 1000, 700, -1100, -1000),
    "hopper": (2300, 1100, 1000, 900, 600, 0),
    "walker2d": (2700, 800, 600, 700, 100, 0),
    "ant": (3500, 1400, 1000, 700, 400, 0),
}
"""Returns of the six demonstrators of a task (Table 2), the expert first. The shipped policies are of these qualities, as
fractions of the expert's; `benchmarks/ladder.py` picked them among the snapshots of experts' runs."""
TASKS = tuple(PUBLISHED_RETURNS)
RATES = (0.0, 0.1, 0.2, 0.3, 0.4)
REFERENCE = "ril-co"
"""The method that the paper is about."""
MAIN = (REFERENCE, "gail-logistic", "gail-ap", "gail-unhinged", "fairl", "vild", "bc")
ABLATION = (REFERENCE, "ril-co-logistic", "ril-p", "ril-p-logistic")
POLICY, GAUSSIAN = "policy", "gaussian"
"""Kinds of noise: pairs of worse policies, or the expert's actions with Gaussian noise."""
STEPS = 20_000_000
SEEDS = (1, 2, 3, 4, 5)
RUNS = len(SEEDS)
STRETCH = 400_000
"""Transitions over which a point of a published curve is averaged."""
NOISY = tuple(method for method in MAIN if method != "bc")
"""The methods of section 4.3, on Gaussian noise."""
PARTS = {
    "main": (TASKS, (POLICY,), RATES, MAIN),  # figure 2, and the learning curves of the appendix
    "ablation": (TASKS, (POLICY,), RATES, ABLATION),  # figure 5
    "gaussian": (("ant",), (GAUSSIAN,), (0.4,), NOISY),  # figure 6
    "headline": (TASKS, (POLICY,), (0.4,), MAIN),  # figure 3: the part of `main` at the highest noise rate
}
"""Part -> tasks, kinds of noise, noise rates and methods, in all combinations."""


class CellKey(NamedTuple):
    """What the runs of a cell have in common. They differ in their seed."""

    task: str
    noise: str
    noise_rate: float | None
    """None where the demonstrations were used as they are."""
    method: str


@dataclass(frozen=True, eq=False)
class PublishedCell:
    """One cell's published results."""

    final: Estimate
    curve: np.ndarray  # [50, 2] mean and standard error over each stretch
    seeds: np.ndarray  # [5, 20] each run by itself, mean over each million transitions

    @functools.cached_property
    def transitions(self) -> np.ndarray:
        """The middle of each stretch."""
        return (np.arange(len(self.curve)) + 0.5) * STRETCH

    def over(self, start: float, end: float) -> Estimate:
        """The curve's average from `start` to `end` transitions, with stretches weighted by their overlap.

        Standard errors are averaged, too: runs that are good in one stretch are good in the next, so the errors of
        neighbours do not cancel.
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
    seeds: dict[CellKey, list[np.ndarray]] = {}
    for row in _rows("published_seeds.csv"):
        seeds.setdefault(_key(row), []).append(np.array(row["by_million"].split(), float))
    cells = {}
    for row in _rows("published.csv"):
        final = Estimate(float(row["final_mean"]), float(row["final_stderr"]), int(row["runs"]))
        columns = [np.array(row[name].split(), float) for name in ("curve_mean", "curve_stderr")]
        cells[_key(row)] = PublishedCell(final, np.stack(columns, axis=1), np.stack(seeds[_key(row)]))
    return cells


def _rows(name: str) -> Iterator[dict[str, str]]:
    text = (resources.files("rilco.experiment") / name).read_text()
    yield from csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))


def _key(row: Mapping[str, str]) -> CellKey:
    return CellKey(row["task"], row["noise"], float(row["noise_rate"]), row["method"])


def paper(
    parts: Sequence[str] = ("main", "ablation", "gaussian"), *, seeds: Sequence[int] = SEEDS
) -> Iterator[RunConfig]:
    """Every run of the paper, once, on the standard datasets.

    They come seed by seed, so that an unfinished sweep has something of everything.
    """
    for part in parts:
        check_choice("--part", part, PARTS)
    # An ordered set: `ril-co` is in two parts.
    cells = dict.fromkeys(cell for part in parts for cell in itertools.product(*PARTS[part]))
    for seed, (task, kind, rate, method) in itertools.product(seeds, cells):
        where = {"task": task, "demo_kind": kind, "noise_rate": rate, "method": method}
        yield make_config({**where, "seed": seed, "steps": STEPS})
