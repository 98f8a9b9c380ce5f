"""Runs sorted into cells (task, noise, method), so that only like is averaged with like."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rilco.config import VERSION, RunConfig
from rilco.experiment.published import (
    GAUSSIAN,
    POLICY,
    STRETCH,
    TASKS,
    CellKey,
    PublishedCell,
    load_published,
)
from rilco.experiment.statistics import WINDOW, Estimate, estimate, final_return, stretch_means
from rilco.methods import find, ignored_options
from rilco.runs.results import Results, RunRecord, Skipped

FORMER = "former start-up"


@dataclass(frozen=True, eq=False)
class Cell:
    """The runs of one task, noise rate and method."""

    key: CellKey
    runs: tuple[RunRecord, ...]

    @cached_property
    def finals(self) -> np.ndarray:
        """Each run's final return."""
        return np.array([final_return(run.transitions, run.returns) for run in self.runs])

    @cached_property
    def final(self) -> Estimate:
        return estimate(self.finals)

    @cached_property
    def lengths(self) -> list[int]:
        """Each run's transitions at its last evaluation."""
        return [int(run.transitions[-1]) for run in self.runs]

    @property
    def unfinished(self) -> int:
        return sum(not run.finished for run in self.runs)

    @property
    def published(self) -> PublishedCell | None:
        return load_published().get(self.key)

    @cached_property
    def published_here(self) -> Estimate | None:
        """The published curve over the same transitions as our final returns."""
        if self.published is None:
            return None
        windows = [self.published.over(length - WINDOW, length) for length in self.lengths]
        mean = float(np.mean([window.mean for window in windows]))
        stderr = float(np.mean([window.stderr for window in windows]))
        return Estimate(mean, stderr, self.published.final.runs)

    @cached_property
    def curve(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Transitions, mean and standard error (0 for one run) over stretches as long as the published."""
        runs = [stretch_means(run.transitions, run.returns, STRETCH) for run in self.runs]
        stretches = [[run[i] for run in runs if i in run] for i in sorted(set().union(*runs))]
        x = [np.mean([x for x, _ in points]) for points in stretches]
        means = [estimate([y for _, y in points]) for points in stretches]
        return np.array(x), np.array([m.mean for m in means]), np.array([m.stderr or 0.0 for m in means])


class Sorted(NamedTuple):
    """A results folder, ready for drawing."""

    cells: Mapping[CellKey, Cell]
    """In the paper's grid: one of its tasks, mixed by its noise protocol, with default settings."""
    others: Mapping[CellKey, Cell]
    """Other environments, demonstrations or versions of rilco, for which nothing is published."""
    aside: Sequence[tuple[RunRecord, str]]
    """Runs that are in neither, and why."""
    skipped: Sequence[Skipped]


def sort_results(results: Results) -> Sorted:
    reasons = [(run, _unusable(run)) for run in results.runs]
    aside = [(run, reason) for run, reason in reasons if reason]
    kept = [run for run, reason in reasons if not reason]
    kept = _usual(
        kept, lambda config: cell_key(config)._replace(method=""), data_label, "demonstrations", aside
    )
    kept = _usual(kept, cell_key, _settings_label, "settings", aside)
    groups = _grouped(kept, cell_key)
    cells = {key: Cell(key, tuple(_one_a_seed(runs, aside))) for key, runs in groups.items()}
    ours = {key: cell for key, cell in cells.items() if in_grid(key)}
    others = {key: cell for key, cell in cells.items() if not in_grid(key)}
    return Sorted(ours, others, sorted(aside, key=lambda pair: pair[0].path), results.skipped)


def cell_key(config: RunConfig) -> CellKey:
    # The configuration knows the noise of the standard dataset only; that of other files shows in their names.
    gaussian = config.demo_kind == "gaussian" or any("gaussian" in Path(f).name.lower() for f in config.demos)
    task = config.task.name
    if config.demo_kind == "matched":
        task += ", matched"  # other data than in the task's usual cells
    if config.version != VERSION:
        task += f", {FORMER}"  # like no published run: its first iteration learned from raw observations
    return CellKey(task, GAUSSIAN if gaussian else POLICY, config.noise_rate, config.method)


def in_grid(key: CellKey) -> bool:
    """Whether a cell is comparable with the paper's, whatever its method."""
    return key.task in TASKS and key.noise_rate is not None


def changed_settings(config: RunConfig) -> list[str]:
    """Settings other than the defaults, which are the paper's: `classifier.lam = 0.3`.

    Settings that the method does not use do not count: their defaults may have been others when the run was made.
    """
    changed = config.changed()
    ignored = ignored_options(config.method, config.policy_learner, changed)
    return [f"{name} = {value}" for name, value in changed.items() if name not in ignored]


def data_label(config: RunConfig) -> str:
    """The names of the demonstration files, without the folders of one machine."""
    return ", ".join(Path(name).name for name in config.demos) or "the shipped demonstrations"


def _settings_label(config: RunConfig) -> str:
    return ", ".join(changed_settings(config)) or "the default settings"


def _unusable(run: RunRecord) -> str:
    """Why a run cannot be compared; empty if it can."""
    if not len(run.returns):
        return "not evaluated yet"
    if not find(run.config.method).imitates:
        return "learns from the true reward"
    if in_grid(cell_key(run.config)) and changed_settings(run.config):
        return f"other settings than the paper's: {_settings_label(run.config)}"
    return ""


def _grouped(
    runs: Iterable[RunRecord], group: Callable[[RunConfig], CellKey]
) -> dict[CellKey, list[RunRecord]]:
    groups: dict[CellKey, list[RunRecord]] = defaultdict(list)
    for run in runs:
        groups[group(run.config)].append(run)
    return groups


def _usual(
    runs: Iterable[RunRecord],
    group: Callable[[RunConfig], CellKey],
    label: Callable[[RunConfig], str],
    what: str,
    aside: list[tuple[RunRecord, str]],
) -> list[RunRecord]:
    """The runs whose label is the most frequent one in their group; the others go aside."""
    kept = []
    for members in _grouped(runs, group).values():
        usual = Counter(label(run.config) for run in members).most_common(1)[0][0]
        for run in members:
            if label(run.config) == usual:
                kept.append(run)
            else:
                aside.append((run, f"other {what} than its neighbours: {label(run.config)}, not {usual}"))
    return kept


def _one_a_seed(runs: Iterable[RunRecord], aside: list[tuple[RunRecord, str]]) -> list[RunRecord]:
    """The run of each seed that came furthest."""
    best: dict[int, RunRecord] = {}
    for run in sorted(runs, key=lambda run: -run.done):
        seed = run.config.seed
        if best.setdefault(seed, run) is not run:
            aside.append((run, f"a second run of seed {seed}; the one that came further is used"))
    return [best[seed] for seed in sorted(best)]
