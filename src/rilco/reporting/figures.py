"""The figures of the report: which there are, and what stands in their panels."""

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
from rilco.reporting.aggregate import Expert, MethodScore
from rilco.reporting.cells import Cell
from rilco.reporting.drawing import Figure, Panel
from rilco.reporting.style import (
    EXPERT_LINE,
    PUBLISHED_LINE,
    in_order,
    method_style,
    millions,
    rate_label,
    task_label,
)

Cells = Mapping[CellKey, Cell]
DODGE, DODGES = 0.013, 0.078
"""How far methods stand apart on the noise axis, so that their error bars can be seen; and all of one rate together."""


def draw_finals(axes: Any, task: str, noise: str, methods: Sequence[str], cells: Cells) -> None:
    """Final return against the noise rate: ours with error bars, the published dashed with a band."""
    run = [one for one in methods if any(key[:2] == (task, noise) and key.method == one for key in cells)]
    dodge = min(DODGE, DODGES / max(1, len(run) - 1))
    for i, method in enumerate(methods):
        style = method_style(method, methods)
        keys = [CellKey(task, noise, rate, method) for rate in RATES]
        _published_finals(axes, keys, style.colour)
        found = sorted(
            (cell for key, cell in cells.items() if key[:2] == (task, noise) and key.method == method),
            key=lambda cell: cell.key.noise_rate or 0.0,
        )
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
        _published_here(axes, x, found, style)
    axes.set(xlabel="noise rate", ylabel="return", xticks=RATES, xlim=(-0.05, 0.45))
    _say_if_not_run(axes, bool(run))


def _equally_long(one: Cell, other: Cell) -> bool:
    """Whether a line between two cells would not join a short run with a long one."""
    lengths = sorted((float(np.mean(one.lengths)), float(np.mean(other.lengths))))
    return lengths[1] <= 1.25 * lengths[0]


def _say_if_not_run(axes: Any, was_run: bool) -> None:
    if not was_run:
        axes.set_title(
            "not run here", loc="right", fontsize=8.5, fontweight="normal", style="italic", color="#666666"
        )


def _published_finals(axes: Any, keys: Sequence[CellKey], colour: str) -> None:
    published = [(key.noise_rate, load_published()[key].final) for key in keys if key in load_published()]
    if not published:
        return
    x = np.array([rate for rate, _ in published], float)
    mean = np.array([final.mean for _, final in published])
    error = np.array([final.stderr or 0.0 for _, final in published])
    axes.plot(x, mean, color=colour, **PUBLISHED_LINE)
    axes.fill_between(x, mean - error, mean + error, color=colour, alpha=0.10, linewidth=0)


def _published_here(axes: Any, x: np.ndarray, found: Sequence[Cell], style: Any) -> None:
    """Hollow markers: the published curve after as many transitions as ours, where ours are fewer."""
    for place, cell in zip(x, found, strict=True):
        here = cell.published_here
        if here is not None and np.mean(cell.lengths) < 0.95 * STEPS:
            axes.plot(
                place,
                here.mean,
                marker=style.marker,
                markersize=5.5,
                markerfacecolor="white",
                color=style.colour,
                linestyle="",
                zorder=2,
            )


def draw_expert(axes: Any, value: float | None) -> None:
    """A thin line at the expert's return."""
    if value is not None:
        axes.axhline(value, color="#888888", zorder=1, **EXPERT_LINE)


def draw_curves(
    axes: Any, task: str, noise: str, rate: float | None, methods: Sequence[str], cells: Cells
) -> None:
    """Return against transitions, as far as ours go; where nothing was run, the published to their end."""
    found = {method: cells[key] for method in methods if (key := CellKey(task, noise, rate, method)) in cells}
    end = max((length for cell in found.values() for length in cell.lengths), default=STEPS)
    for i, method in enumerate(methods):
        style = method_style(method, methods)
        published = load_published().get(CellKey(task, noise, rate, method))
        if published is not None:
            x, (mean, error) = published.transitions / 1e6, published.curve.T
            seen = slice(
                int(np.searchsorted(x, end / 1e6)) + 2
            )  # one point beyond, for the line to reach the edge
            axes.plot(x[seen], mean[seen], color=style.colour, **PUBLISHED_LINE)
            axes.fill_between(
                x[seen],
                (mean - error)[seen],
                (mean + error)[seen],
                color=style.colour,
                alpha=0.10,
                linewidth=0,
            )
        if method not in found:
            continue
        x, mean, error = found[method].curve
        every = max(1, len(x) // 6)
        axes.plot(
            x / 1e6,
            mean,
            color=style.colour,
            marker=style.marker,
            markersize=4.5,
            markevery=(i % every, every),
            zorder=3 + len(methods) - i,
        )
        axes.fill_between(x / 1e6, mean - error, mean + error, color=style.colour, alpha=0.22, linewidth=0)
    axes.set(xlabel="transitions, millions", ylabel="return", xlim=(0, end * 1.02 / 1e6))
    _say_if_not_run(axes, bool(found))


def draw_scores(axes: Any, scores: Sequence[MethodScore]) -> None:
    """Interquartile means with their intervals, a line a method, the first on top."""
    for row, score in enumerate(scores):
        style = method_style(score.method, [s.method for s in scores])
        ends = score.interval or (score.iqm, score.iqm)
        bars = [[max(0.0, score.iqm - ends[0])], [max(0.0, ends[1] - score.iqm)]]
        look = {"color": style.colour, "marker": style.marker, "markersize": 6, "capsize": 4}
        axes.errorbar(
            score.iqm, row, xerr=bars if score.interval else None, linewidth=1.6, linestyle="", **look
        )
        if score.published_mean is not None:
            axes.plot(
                score.published_mean,
                row,
                marker="|",
                color="#222222",
                markersize=13,
                markeredgewidth=1.2,
                linestyle="",
            )
    axes.set_yticks(
        range(len(scores)), [method_style(s.method, [t.method for t in scores]).label for s in scores]
    )
    axes.set(ylim=(len(scores) - 0.5, -0.5), xlabel="share of the expert’s return")
    axes.grid(visible=False, axis="y")
    axes.axvline(1.0, color="#888888", **EXPERT_LINE)
    axes.axvline(0.0, color="#cccccc", linewidth=0.8)


def finals_in_words(task: str, noise: str, methods: Sequence[str], cells: Cells) -> str:
    """The same numbers for those who do not see the panel."""
    parts = []
    for method in methods:
        values = [
            f"{cell.final.mean:.0f} at rate {cell.key.noise_rate:g}"
            for cell in sorted(cells.values(), key=lambda cell: cell.key.noise_rate or 0.0)
            if cell.key[:2] == (task, noise) and cell.key.method == method
        ]
        if values:
            parts.append(f"{method_style(method).label} {', '.join(values)}")
    return "; ".join(parts) + "." if parts else "No run of ours; only the published values are drawn."


def curves_in_words(task: str, noise: str, rate: float | None, methods: Sequence[str], cells: Cells) -> str:
    parts = []
    for method in methods:
        cell = cells.get(CellKey(task, noise, rate, method))
        if cell is not None:
            here = cell.published_here
            beside = "" if here is None else f", published there {here.mean:.0f}"
            label = method_style(method).label
            parts.append(f"{label} ends at {cell.final.mean:.0f} after {millions(max(cell.lengths))}{beside}")
    return "; ".join(parts) + "." if parts else "No run of ours; only the published curves are drawn."


# -- which figures there are ----------------------------------------------------------------------


def final_figure(name: str, methods: Sequence[str], cells: Cells, experts: dict[str, Expert]) -> Figure:
    """Final return against noise rate, a panel a task."""

    def draw(task: str, axes: Any) -> None:
        draw_expert(axes, experts[task].value)
        draw_finals(axes, task, POLICY, methods, cells)

    panels = [
        Panel(
            task_label(task),
            f"{task_label(task)}, final return against noise rate. {finals_in_words(task, POLICY, methods, cells)}",
            functools.partial(draw, task),
        )
        for task in TASKS
    ]
    return Figure(name, panels, methods, hollow=True)


def curve_figure(
    name: str,
    rate: float | None,
    methods: Sequence[str],
    cells: Cells,
    experts: dict[str, Expert],
    *,
    tasks: Sequence[str] = TASKS,
    noise: str = POLICY,
    published: bool = True,
) -> Figure:
    """Learning curves at one noise rate, a panel a task."""

    def draw(task: str, axes: Any) -> None:
        draw_expert(axes, experts[task].value if task in experts else None)
        draw_curves(axes, task, noise, rate, methods, cells)

    panels = [
        Panel(
            task_label(task),
            f"{task_label(task)} at noise rate {rate_label(rate)}, return against transitions. "
            f"{curves_in_words(task, noise, rate, methods, cells)}",
            functools.partial(draw, task),
        )
        for task in tasks
    ]
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
    """The paper's methods, and those that we ran besides; the ablations have a figure of their own."""
    published = MAIN if noise == POLICY else PARTS["gaussian"][0]
    ours = {key.method for key in cells if key.noise == noise}
    return in_order({*published, *ours} - (set(ABLATION) - {REFERENCE}))


def report_figures(
    cells: Cells, experts: dict[str, Expert], scores: dict[float, list[MethodScore]]
) -> Iterator[Figure]:
    """The figures that the runs are enough for, in the order of the page."""
    yield final_figure("final", main_methods(cells), cells, experts)
    for rate in sorted({key.noise_rate for key in cells if key.noise == POLICY}, key=lambda r: r or 0.0):
        if any(key.noise_rate == rate and key.method in main_methods(cells) for key in cells):
            yield curve_figure(f"curves-{rate_label(rate)}", rate, main_methods(cells), cells, experts)
    yield final_figure("ablation", ABLATION, cells, experts)
    variants = {key.noise_rate for key in cells if key.noise == POLICY and key.method in ABLATION[1:]}
    for rate in sorted(variants, key=lambda r: r or 0.0):
        yield curve_figure(f"ablation-curves-{rate_label(rate)}", rate, ABLATION, cells, experts)
    yield curve_figure(
        "gaussian", RATES[-1], main_methods(cells, GAUSSIAN), cells, experts, tasks=["ant"], noise=GAUSSIAN
    )
    if scores:
        yield score_figure(scores)
