"""The figures of the report, and what is in their panels."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rilco.experiment.published import (
    ABLATION,
    GAUSSIAN,
    MAIN,
    NOISY,
    POLICY,
    RATES,
    STEPS,
    CellKey,
    load_published,
)
from rilco.reporting.aggregate import MethodScore
from rilco.reporting.cells import Cell
from rilco.reporting.drawing import Figure, Panel
from rilco.reporting.style import (
    EXPERT_INK,
    EXPERT_LINE,
    HOLLOW,
    PUBLISHED_LINE,
    in_order,
    method_style,
    rate_label,
    task_label,
)

Cells = Mapping[CellKey, Cell]
Place = tuple[str, float | None]
"""Kind and rate of noise."""
VARIANTS = ABLATION[1:]
"""Those of RIL-Co, which have figures of their own."""
DODGE, DODGES = 0.013, 0.078
"""Shift between neighbouring methods on the noise axis, and its largest sum over the methods of a rate."""


def _band(axes: Any, x: Any, mean: Any, error: Any, colour: str, alpha: float) -> None:
    axes.fill_between(x, mean - error, mean + error, color=colour, alpha=alpha, linewidth=0)


def draw_finals(axes: Any, task: str, methods: Sequence[str], cells: Cells) -> None:
    """Final return against the noise rate: ours with error bars, the published dashed with a band."""
    found: dict[str, list[Cell]] = {}
    for key in sorted(cells, key=lambda key: key.noise_rate or 0.0):
        if (key.task, key.noise) == (task, POLICY):
            found.setdefault(key.method, []).append(cells[key])
    run = [method for method in methods if method in found]
    dodge = min(DODGE, DODGES / max(1, len(run) - 1))
    for i, method in enumerate(methods):
        style = method_style(method, methods)
        _published_finals(axes, [CellKey(task, POLICY, rate, method) for rate in RATES], style.colour)
        if method not in found:
            continue
        x = np.array([cell.key.noise_rate or 0.0 for cell in found[method]])
        x += (run.index(method) - (len(run) - 1) / 2) * dodge
        y = [cell.final.mean for cell in found[method]]
        bars = [cell.final.stderr or 0.0 for cell in found[method]]
        look = {"color": style.colour, "marker": style.marker, "markersize": 5.5}
        on_top = 3 + len(methods) - i  # RIL-Co, the first
        axes.errorbar(x, y, yerr=bars, capsize=2, linestyle="", zorder=on_top, **look)
        for place, cell in zip(x, found[method], strict=True):
            here = cell.published_here
            if here is not None and np.mean(cell.lengths) < 0.95 * STEPS:  # the published, as long as ours
                axes.plot(place, here.mean, zorder=2, **look, **HOLLOW)
    axes.set(xlabel="noise rate", ylabel="return", xticks=RATES, xlim=(-0.05, 0.45))


def _published_finals(axes: Any, keys: Sequence[CellKey], colour: str) -> None:
    published = [(key.noise_rate, load_published()[key].final) for key in keys if key in load_published()]
    if not published:
        return
    x = np.array([rate for rate, _ in published], float)
    mean = np.array([final.mean for _, final in published])
    error = np.array([final.stderr or 0.0 for _, final in published])
    axes.plot(x, mean, color=colour, **PUBLISHED_LINE)
    _band(axes, x, mean, error, colour, 0.10)


def draw_curves(axes: Any, task: str, place: Place, methods: Sequence[str], cells: Cells) -> None:
    """Return against transitions, as far as ours go."""
    found = {method: cells[key] for method in methods if (key := CellKey(task, *place, method)) in cells}
    end = max(length for cell in found.values() for length in cell.lengths)
    for i, method in enumerate(methods):
        style = method_style(method, methods)
        published = load_published().get(CellKey(task, *place, method))
        if published is not None:
            # One point beyond the end, for the line to reach the edge.
            points = int(np.searchsorted(published.transitions, end)) + 2
            x, (mean, error) = published.transitions[:points] / 1e6, published.curve[:points].T
            axes.plot(x, mean, color=style.colour, **PUBLISHED_LINE)
            _band(axes, x, mean, error, style.colour, 0.10)
        if method not in found:
            continue
        x, mean, error = found[method].curve
        every = max(1, len(x) // 6)
        marks = {"marker": style.marker, "markersize": 4.5, "markevery": (i % every, every)}
        axes.plot(x / 1e6, mean, color=style.colour, zorder=3 + len(methods) - i, **marks)
        _band(axes, x / 1e6, mean, error, style.colour, 0.22)
    axes.set(xlabel="transitions, millions", ylabel="return", xlim=(0, end * 1.02 / 1e6))


def draw_scores(axes: Any, scores: Sequence[MethodScore]) -> None:
    """Interquartile means with their intervals, a line a method, the first on top."""
    styles = [method_style(score.method, [other.method for other in scores]) for score in scores]
    for row, (score, style) in enumerate(zip(scores, styles, strict=True)):
        value, (low, high) = score.iqm.value, score.iqm.interval or (score.iqm.value, score.iqm.value)
        bars = [[max(0.0, value - low)], [max(0.0, high - value)]] if score.iqm.interval else None
        look = {"color": style.colour, "marker": style.marker, "markersize": 6, "capsize": 4}
        axes.errorbar(value, row, xerr=bars, linewidth=1.6, linestyle="", **look)
        if score.published_mean is not None:
            tick = {"marker": "|", "markersize": 13, "markeredgewidth": 1.2, "linestyle": ""}
            axes.plot(score.published_mean, row, color="#222222", **tick)
    axes.set_yticks(range(len(scores)), [style.label for style in styles])
    axes.set(ylim=(len(scores) - 0.5, -0.5), xlabel="share of the expert’s return")
    axes.grid(visible=False, axis="y")
    axes.axvline(1.0, color=EXPERT_INK, **EXPERT_LINE)
    axes.axvline(0.0, color="#cccccc", linewidth=0.8)


# -- which figures there are ----------------------------------------------------------------------


def final_figure(
    name: str, keys: Iterable[CellKey], methods: Sequence[str], cells: Cells, experts: Mapping[str, float]
) -> Figure:
    """Final return against noise rate, a panel for each task of the keys."""

    def draw(task: str, axes: Any) -> None:
        axes.axhline(experts[task], color=EXPERT_INK, zorder=1, **EXPERT_LINE)
        draw_finals(axes, task, methods, cells)

    panels = []
    for task in in_order(key.task for key in keys):
        alt = f"{task_label(task)}, final return against noise rate. The tables of final returns have the numbers."
        panels.append(Panel(task_label(task), alt, functools.partial(draw, task)))
    return Figure(name, panels, methods, hollow=True)


def curve_figure(
    name: str,
    place: Place,
    keys: Iterable[CellKey],
    methods: Sequence[str],
    cells: Cells,
    experts: Mapping[str, float],
) -> Figure:
    """Learning curves at one kind and rate of noise, a panel for each task of the keys; without experts, ours alone."""

    def draw(task: str, axes: Any) -> None:
        if task in experts:
            axes.axhline(experts[task], color=EXPERT_INK, zorder=1, **EXPERT_LINE)
        draw_curves(axes, task, place, methods, cells)

    panels = []
    for task in in_order(key.task for key in keys if key[1:3] == place):
        found = [cell for key, cell in cells.items() if key[:3] == (task, *place)]
        ends = [f"{method_style(cell.key.method).label} ends at {cell.final.mean:.0f}" for cell in found]
        where = f"{task_label(task)} at noise rate {rate_label(place[1])}"
        alt = f"{where}, return against transitions: {', '.join(ends)}."
        panels.append(Panel(task_label(task), alt, functools.partial(draw, task)))
    return Figure(name, panels, methods, published=bool(experts))


def score_figure(scores: dict[float, list[MethodScore]]) -> Figure:
    """Interquartile means over the tasks, a panel a noise rate."""
    panels = []
    for rate, rows in scores.items():
        words = "; ".join(f"{method_style(row.method).label} {row.iqm.value:.2f}" for row in rows)
        alt = f"Interquartile mean over the tasks at noise rate {rate:g}. {words}."
        panels.append(Panel(f"Noise rate {rate:g}", alt, functools.partial(draw_scores, scores=rows)))
    return Figure("over-tasks", panels)


def main_methods(cells: Cells, noise: str = POLICY) -> list[str]:
    """The paper's methods, and others that were run here. The ablations have a figure of their own."""
    published = MAIN if noise == POLICY else NOISY
    ours = {key.method for key in cells if key.noise == noise}
    return in_order({*published, *ours} - set(VARIANTS))


def report_figures(
    cells: Cells, experts: Mapping[str, float], scores: dict[float, list[MethodScore]]
) -> Iterator[Figure]:
    """The figures beside the published results, of what was run."""
    main = main_methods(cells)
    for prefix, methods, own in (("", main, main), ("ablation-", ABLATION, VARIANTS)):
        run = [key for key in cells if key.noise == POLICY and key.method in own]
        if run:
            yield final_figure(f"{prefix}final", run, methods, cells, experts)
        for rate in sorted({key.noise_rate or 0.0 for key in run}):
            yield curve_figure(f"{prefix}curves-{rate:g}", (POLICY, rate), run, methods, cells, experts)
    for rate in sorted({key.noise_rate or 0.0 for key in cells if key.noise == GAUSSIAN}):
        methods = main_methods(cells, GAUSSIAN)
        yield curve_figure(f"gaussian-{rate:g}", (GAUSSIAN, rate), cells, methods, cells, experts)
    if scores:
        yield score_figure(scores)


def other_figures(cells: Cells) -> Iterator[Figure]:
    """Learning curves of cells that the paper does not have."""
    places = sorted({key[1:3] for key in cells}, key=lambda place: (place[0], place[1] or 0.0))
    for number, place in enumerate(places, start=1):
        methods = in_order(key.method for key in cells if key[1:3] == place)
        yield curve_figure(f"other-{number}", place, cells, methods, cells, {})
