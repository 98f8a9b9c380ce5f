"""Which figures the report has, and which panels stand in them."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rilco.experiment.published import ABLATION, GAUSSIAN, MAIN, PARTS, POLICY, RATES, REFERENCE, TASKS
from rilco.report.drawing import Figure, Panel
from rilco.report.panels import (
    Cells,
    curves_in_words,
    draw_curves,
    draw_expert,
    draw_finals,
    draw_scores,
    finals_in_words,
)
from rilco.report.style import in_order, method_style, rate_label, task_label

if TYPE_CHECKING:
    from rilco.report.aggregate import Expert, MethodScore


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
