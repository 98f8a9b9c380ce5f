"""Our runs against the published ones, seed by seed, in the same million of transitions."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rilco.experiment.published import CellKey
from rilco.experiment.statistics import SIGNIFICANT, Difference, holm, welch
from rilco.reporting.cells import Cell
from rilco.reporting.drawing import Figure, Panel
from rilco.reporting.style import in_order, method_style, number, place_label, rate_label, task_label

MILLION = 1_000_000
EARLY = 2
"""The million in which all cells are compared, however long their runs are."""
VERDICTS = ("reproduced", "above", "below", "undecided")
PRECISE = 0.25
"""Largest half-width of the difference's interval, as a share of the published mean, that shows agreement."""


@dataclass(frozen=True, eq=False)
class SeedComparison:
    """One cell: every run's mean over one million of transitions."""

    key: CellKey
    million: int
    """1 for the first."""
    ours: np.ndarray  # [seeds]
    published: np.ndarray  # [5]
    difference: Difference | None
    """None for a single run."""
    p_value: float | None
    """Corrected for the number of cells."""

    @property
    def label(self) -> str:
        place = place_label(self.key.task, self.key.noise, self.key.noise_rate)
        return f"{place}, {method_style(self.key.method).label}"

    @property
    def span(self) -> str:
        return f"{self.million - 1} to {self.million} M"

    @property
    def gap(self) -> float:
        """Our mean minus the published."""
        return float(self.ours.mean() - self.published.mean())

    @property
    def verdict(self) -> str:
        """`above` or `below` if the difference is significant, `reproduced` if it is precisely none, or `undecided`."""
        if self.difference is None or self.p_value is None:
            return "undecided"
        if self.p_value < SIGNIFICANT:
            return "above" if self.difference.mean > 0 else "below"
        low, high = self.difference.interval
        precise = (high - low) / 2 <= PRECISE * abs(float(self.published.mean()))
        return "reproduced" if precise and low <= 0.0 <= high else "undecided"


def compare_seeds(cells: Mapping[CellKey, Cell]) -> list[SeedComparison]:
    """All cells with published runs and at least a million transitions, by task, noise rate and method.

    Long runs are compared twice: early, and at their end.
    """
    names = in_order(name for key in cells for name in (key.task, key.method))

    def place(key: CellKey) -> tuple[Any, ...]:
        return names.index(key.task), key.noise, key.noise_rate or 0.0, names.index(key.method)

    found = []
    for key in sorted(cells, key=place):
        published = cells[key].published
        if published is None:
            continue
        for million in compared_millions(cells[key]):
            ours = means_of_million(cells[key], million)
            theirs = published.seeds[:, million - 1]
            found.append((key, million, ours, theirs, welch(ours, theirs)))
    corrected = iter(holm([difference.p_value for *_, difference in found if difference is not None]))
    return [SeedComparison(*cell, None if cell[-1] is None else next(corrected)) for cell in found]


def compared_millions(cell: Cell) -> list[int]:
    """The early million, or the last before it, and the last whole million that at least two runs have."""
    # An evaluation may lie an iteration before the end of its million.
    millions = sorted(min(20, (length + 1000) // MILLION) for length in cell.lengths)
    last = millions[-2:][0]
    return sorted({million for million in (min(EARLY, last), last) if million})


def means_of_million(cell: Cell, million: int) -> np.ndarray:
    """The mean over the evaluations of one million of transitions, of each run that has it."""
    long = [run for run in cell.runs if run.transitions[-1] + 1000 >= million * MILLION]
    inside = [np.abs(run.transitions / MILLION - million + 0.5) <= 0.5 for run in long]
    return np.array([run.returns[rows].mean() for run, rows in zip(long, inside, strict=True)])


def seeds_figures(rows: Sequence[SeedComparison]) -> Iterator[Figure]:
    """Every run as a point, published beside ours, a panel a task and noise rate."""
    if not rows:
        return
    panels = []
    for place in dict.fromkeys(row.key[:3] for row in rows):
        here = [row for row in rows if row.key[:3] == place]
        title = f"{task_label(place[0])}, noise rate {rate_label(place[2])}"
        means = [f"ours {number(row.ours.mean())}, published {number(row.published.mean())}" for row in here]
        alt = " ".join(f"{row.label}: {pair}, {row.verdict}." for row, pair in zip(here, means, strict=True))
        panels.append(Panel(title, alt, functools.partial(_draw, rows=here)))
    yield Figure("seeds", panels)


def _draw(axes: Any, rows: Sequence[SeedComparison]) -> None:
    for place, row in enumerate(rows):
        style = method_style(row.key.method, [other.key.method for other in rows])
        for shift, values, face in ((-0.17, row.published, "white"), (0.17, row.ours, style.colour)):
            spread = np.linspace(-0.07, 0.07, len(values)) if len(values) > 1 else np.zeros(1)
            marks = {"marker": style.marker, "markersize": 4.5, "markerfacecolor": face, "linestyle": ""}
            axes.plot(place + shift + spread, values, color=style.colour, **marks)
            ends = (place + shift - 0.12, place + shift + 0.12)
            axes.hlines(values.mean(), *ends, color=style.colour, linewidth=1.4)
    names = [method_style(row.key.method).label.replace(" (", "\n(") for row in rows]
    labels = [f"{name}\n{row.span}" for name, row in zip(names, rows, strict=True)]
    axes.set(ylabel="return", xticks=range(len(rows)), xlim=(-0.6, len(rows) - 0.4))
    axes.set_xticklabels(labels, fontsize=7.5)
