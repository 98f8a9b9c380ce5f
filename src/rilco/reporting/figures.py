"""The figures of the report, and what is in their panels."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from rilco.experiment.published import (
    ABLATION,
    GAUSSIAN,
    MAIN,
    PARTS,
    POLICY,
    RATES,
    REFERENCE,
    STEPS,
    TASKS,
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
    tasks_in_order,
)

Cells = Mapping[CellKey, Cell]
DODGE, DODGES = 0.013, 0.078
"""Shift between neighbouring methods on the noise axis, and its largest sum over the methods of a rate."""


def by_rate(cells: Cells, task: str, noise: str, method: str) -> list[Cell]:
    """The cells of a method on a task, by noise rate."""
    found = [
        cell for key, cell in cells.items() if (key.task, key.noise, key.method) == (task, noise, method)
    ]
    return sorted(found, key=lambda cell: cell.key.noise_rate or 0.0)


def _band(axes: Any, x: Any, mean: Any, error: Any, colour: str, alpha: float) -> None:
    axes.fill_between(x, mean - error, mean + error, color=colour, alpha=alpha, linewidth=0)


def draw_finals(axes: Any, task: str, noise: str, methods: Sequence[str], cells: Cells) -> None:
    """Final return against the noise rate: ours with error bars, the published dashed with a band."""
    run = [method for method in methods if by_rate(cells, task, noise, method)]
    dodge = min(DODGE, DODGES / max(1, len(run) - 1))
    for i, method in enumerate(methods):
        style = method_style(method, methods)
        keys = [CellKey(task, noise, rate, method) for rate in RATES]
        _published_finals(axes, keys, style.colour)
        found = by_rate(cells, task, noise, method)
        if not found:
            continue
        shift = (run.index(method) - (len(run) - 1) / 2) * dodge
        x = np.array([cell.key.noise_rate or 0.0 for cell in found]) + shift
        y = [cell.final.mean for cell in found]
        bars = [cell.final.stderr or 0.0 for cell in found]
        look = {"color": style.colour, "zorder": 3 + len(methods) - i}  # RIL-Co, the first, on top
        axes.errorbar(x, y, yerr=bars, marker=style.marker, markersize=5.5, capsize=2, linestyle="", **look)
        for j in range(len(found) - 1):
            if _equally_long(found[j], found[j + 1]):
                axes.plot(x[j : j + 2], y[j : j + 2], **look)
        for place, cell in zip(x, found, strict=True):
            here = cell.published_here
            if here is not None and np.mean(cell.lengths) < 0.95 * STEPS:  # the published, as long as ours
                look = {"color": style.colour, "marker": style.marker, "markersize": 5.5, "zorder": 2}
                axes.plot(place, here.mean, **look, **HOLLOW)
    axes.set(xlabel="noise rate", ylabel="return", xticks=RATES, xlim=(-0.05, 0.45))
    _say_if_not_run(axes, bool(run))


def _equally_long(one: Cell, other: Cell) -> bool:
    """Whether a line may join two cells: not a short run with a long one."""
    lengths = sorted((float(np.mean(one.lengths)), float(np.mean(other.lengths))))
    return lengths[1] <= 1.25 * lengths[0]


def _say_if_not_run(axes: Any, was_run: bool) -> None:
    if not was_run:
        look = {"fontsize": 8.5, "fontweight": "normal", "style": "italic", "color": "#666666"}
        axes.set_title("not run here", loc="right", **look)


def _published_finals(axes: Any, keys: Sequence[CellKey], colour: str) -> None:
    published = [(key.noise_rate, load_published()[key].final) for key in keys if key in load_published()]
    if not published:
        return
    x = np.array([rate for rate, _ in published], float)
    mean = np.array([final.mean for _, final in published])
    error = np.array([final.stderr or 0.0 for _, final in published])
    axes.plot(x, mean, color=colour, **PUBLISHED_LINE)
    _band(axes, x, mean, error, colour, 0.10)


def draw_curves(
    axes: Any, task: str, noise: str, rate: float | None, methods: Sequence[str], cells: Cells
) -> None:
    """Return against transitions, as far as ours go. Where nothing was run, the published go to their end."""
    found = {method: cells[key] for method in methods if (key := CellKey(task, noise, rate, method)) in cells}
    end = max((length for cell in found.values() for length in cell.lengths), default=STEPS)
    for i, method in enumerate(methods):
        style = method_style(method, methods)
        published = load_published().get(CellKey(task, noise, rate, method))
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
    _say_if_not_run(axes, bool(found))


def draw_scores(axes: Any, scores: Sequence[MethodScore]) -> None:
    """Interquartile means with their intervals, a line a method, the first on top."""
    styles = [method_style(score.method, [other.method for other in scores]) for score in scores]
    for row, (score, style) in enumerate(zip(scores, styles, strict=True)):
        bars = None
        if score.interval is not None:
            low, high = score.interval
            bars = [[max(0.0, score.iqm - low)], [max(0.0, high - score.iqm)]]
        look = {"color": style.colour, "marker": style.marker, "markersize": 6, "capsize": 4}
        axes.errorbar(score.iqm, row, xerr=bars, linewidth=1.6, linestyle="", **look)
        if score.published_mean is not None:
            tick = {"marker": "|", "markersize": 13, "markeredgewidth": 1.2, "linestyle": ""}
            axes.plot(score.published_mean, row, color="#222222", **tick)
    axes.set_yticks(range(len(scores)), [style.label for style in styles])
    axes.set(ylim=(len(scores) - 0.5, -0.5), xlabel="share of the expert’s return")
    axes.grid(visible=False, axis="y")
    axes.axvline(1.0, color=EXPERT_INK, **EXPERT_LINE)
    axes.axvline(0.0, color="#cccccc", linewidth=0.8)


# -- which figures there are ----------------------------------------------------------------------


def final_figure(name: str, methods: Sequence[str], cells: Cells, experts: dict[str, float]) -> Figure:
    """Final return against noise rate, a panel a task."""

    def draw(task: str, axes: Any) -> None:
        axes.axhline(experts[task], color=EXPERT_INK, zorder=1, **EXPERT_LINE)
        draw_finals(axes, task, POLICY, methods, cells)

    panels = []
    for task in TASKS:
        alt = f"{task_label(task)}, final return against noise rate. The tables of final returns have the numbers."
        panels.append(Panel(task_label(task), alt, functools.partial(draw, task)))
    return Figure(name, panels, methods, hollow=True)


def curve_figure(
    name: str,
    rate: float | None,
    methods: Sequence[str],
    cells: Cells,
    experts: dict[str, float],
    *,
    tasks: Sequence[str] = TASKS,
    noise: str = POLICY,
    published: bool = True,
) -> Figure:
    """Learning curves at one noise rate, a panel a task."""

    def draw(task: str, axes: Any) -> None:
        if task in experts:
            axes.axhline(experts[task], color=EXPERT_INK, zorder=1, **EXPERT_LINE)
        draw_curves(axes, task, noise, rate, methods, cells)

    panels = []
    for task in tasks:
        found = [cell for key, cell in cells.items() if key[:3] == (task, noise, rate)]
        ends = [f"{method_style(cell.key.method).label} ends at {cell.final.mean:.0f}" for cell in found]
        words = ", ".join(ends) or "not run here"
        alt = f"{task_label(task)} at noise rate {rate_label(rate)}, return against transitions: {words}."
        panels.append(Panel(task_label(task), alt, functools.partial(draw, task)))
    return Figure(name, panels, methods, published=published)


def score_figure(scores: dict[float, list[MethodScore]]) -> Figure:
    """Interquartile means over the tasks, a panel a noise rate."""
    panels = []
    for rate, rows in scores.items():
        words = "; ".join(f"{method_style(row.method).label} {row.iqm:.2f}" for row in rows)
        alt = f"Interquartile mean over the tasks at noise rate {rate:g}. {words}."
        panels.append(Panel(f"Noise rate {rate:g}", alt, functools.partial(draw_scores, scores=rows)))
    return Figure("over-tasks", panels, left=1.32)


def main_methods(cells: Cells, noise: str = POLICY) -> list[str]:
    """The paper's methods, and others that were run here. The ablations have a figure of their own."""
    published = MAIN if noise == POLICY else PARTS["gaussian"][0]
    ours = {key.method for key in cells if key.noise == noise}
    return in_order({*published, *ours} - (set(ABLATION) - {REFERENCE}))


def report_figures(
    cells: Cells, experts: dict[str, float], scores: dict[float, list[MethodScore]]
) -> Iterator[Figure]:
    """The figures beside the published results, in the order of the page."""
    main, gaussian = main_methods(cells), main_methods(cells, GAUSSIAN)
    yield final_figure("final", main, cells, experts)
    for rate in _rates(cells, main):
        yield curve_figure(f"curves-{rate_label(rate)}", rate, main, cells, experts)
    yield final_figure("ablation", ABLATION, cells, experts)
    for rate in _rates(cells, ABLATION[1:]):
        yield curve_figure(f"ablation-curves-{rate_label(rate)}", rate, ABLATION, cells, experts)
    yield curve_figure("gaussian", RATES[-1], gaussian, cells, experts, tasks=["ant"], noise=GAUSSIAN)
    if scores:
        yield score_figure(scores)


def _rates(cells: Cells, methods: Sequence[str]) -> list[float | None]:
    """Noise rates at which some of the methods were run."""
    found = {key.noise_rate for key in cells if key.noise == POLICY and key.method in methods}
    return sorted(found, key=lambda rate: rate or 0.0)


def other_figures(cells: Cells) -> Iterator[Figure]:
    """Learning curves of cells that the paper does not have."""
    places = {(key.noise, key.noise_rate) for key in cells}
    order = sorted(places, key=lambda place: (place[0], place[1] or 0.0))
    for number, (noise, rate) in enumerate(order, start=1):
        keys = [key for key in cells if (key.noise, key.noise_rate) == (noise, rate)]
        tasks, methods = tasks_in_order(key.task for key in keys), in_order(key.method for key in keys)
        how: dict[str, Any] = {"tasks": tasks, "noise": noise, "published": False}
        yield curve_figure(f"other-{number}", rate, methods, cells, {}, **how)
