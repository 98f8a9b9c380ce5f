"""The tables of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rilco.experiment.published import GAUSSIAN, CellKey
from rilco.experiment.statistics import Estimate, Score, final_return
from rilco.reporting.aggregate import MethodScore
from rilco.reporting.cells import Cell, data_label
from rilco.reporting.html import Markup, element, joined
from rilco.reporting.seeds import SeedComparison
from rilco.reporting.style import (
    in_order,
    length_text,
    method_style,
    millions,
    minus,
    number,
    rate_label,
    task_label,
)
from rilco.runs.results import RunRecord, Skipped

NOTHING = "–"
NAME, PROSE, OURS = "name", "prose", "ours"
"""Kinds of columns: short words, sentences, and numbers that stand out. Others hold numbers."""


def table(caption: str, columns: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]) -> Markup:
    """A table in a box that scrolls by itself, so that the page never does. The box takes the keyboard's focus.

    A column is a title and a kind. The first cell names its row; a row of one cell is a title of those below.
    """
    head = [element("th", title, scope="col", class_=kind or False) for title, kind in columns]
    body = []
    for first, *rest in rows:
        if not rest:
            title = element("th", first, scope="rowgroup", colspan=str(len(columns)))
            body.append(element("tr", title, class_="group"))
            continue
        cells = [
            element("td", cell, class_=kind or False)
            for cell, (_, kind) in zip(rest, columns[1:], strict=True)
        ]
        body.append(element("tr", element("th", first, scope="row"), *cells))
    parts = (
        element("caption", caption),
        element("thead", element("tr", *head)),
        element("tbody", *body),
    )
    box = {"class_": "scroll wide", "tabindex": "0", "role": "region", "aria_label": caption}
    return element("div", element("table", *parts), **box)


def seeds_table(rows: Sequence[SeedComparison]) -> Markup:
    """A line a cell: both means, their difference with its interval, and the verdict."""
    columns = [("cell", NAME), ("million", NAME), ("ours", ""), ("published", ""), ("difference", "")]
    columns += [("95% interval", ""), ("p (Holm)", ""), ("verdict", NAME)]
    body = []
    for cell in rows:
        numbers = (NOTHING,) * 3
        if cell.difference is not None and cell.p_value is not None:
            low, high = cell.difference.interval
            numbers = (number(cell.gap), f"{number(low)} to {number(high)}", f"{cell.p_value:.2g}")
        means = (f"{number(group.mean())} ({len(group)})" for group in (cell.ours, cell.published))
        body.append((cell.label, cell.span, *means, *numbers, cell.verdict))
    return table("Ours and the published runs, with the number of runs in brackets", columns, body)


def final_tables(cells: Mapping[CellKey, Cell]) -> Markup:
    """A table a task, sorted by noise rate and method."""
    return joined(*(_final_table(task, cells) for task in in_order(key.task for key in cells)))


def _final_table(task: str, cells: Mapping[CellKey, Cell]) -> Markup:
    methods = in_order(key.method for key in cells)
    groups: dict[tuple[bool, float], list[Cell]] = {}
    for key, cell in cells.items():
        if key.task == task:
            groups.setdefault((key.noise == GAUSSIAN, key.noise_rate or 0.0), []).append(cell)
    columns = [("method", NAME), ("ours", OURS), ("published, after as many transitions", "")]
    columns += [("published, after 20 M", ""), ("transitions", ""), ("runs", "")]
    body: list[Sequence[str]] = []
    for (gaussian, rate), group in sorted(groups.items()):
        body.append([f"noise rate {rate:g}" + (", Gaussian" if gaussian else "")])
        body += [_final_row(cell) for cell in sorted(group, key=lambda cell: methods.index(cell.key.method))]
    return table(f"{task_label(task)}: final return", columns, body)


def _final_row(cell: Cell) -> Sequence[str]:
    published = cell.published
    return (
        method_style(cell.key.method).label,
        estimate_text(cell.final),
        estimate_text(cell.published_here),
        estimate_text(None if published is None else published.final),
        length_text(cell.lengths),
        f"{len(cell.runs)}" + (f" ({cell.unfinished} unfinished)" if cell.unfinished else ""),
    )


def estimate_text(value: Estimate | None) -> str:
    if value is None:
        return NOTHING
    return number(value.mean) + ("" if value.stderr is None else f" ± {number(value.stderr)}")


def score_table(rate: float, scores: Sequence[MethodScore]) -> Markup:
    columns = [("method", NAME), ("tasks", NAME), ("runs", ""), ("interquartile mean", OURS)]
    columns += [("95% interval", ""), ("mean", ""), ("published mean", "")]
    columns += [("RIL-Co better", ""), ("95% interval", "")]
    body = [
        (
            method_style(score.method).label,
            ", ".join(map(task_label, score.tasks)),
            str(score.runs),
            *score_texts(score.iqm, 3),
            decimals(score.mean, 3),
            decimals(score.published_mean, 3),
            *score_texts(score.improvement, 2),
        )
        for score in scores
    ]
    return table(f"Over the tasks, noise rate {rate:g}: returns as shares of the expert’s", columns, body)


def decimals(value: float | None, digits: int) -> str:
    return NOTHING if value is None else minus(f"{value:.{digits}f}")


def score_texts(score: Score | None, digits: int) -> tuple[str, str]:
    value, interval = score or (None, None)
    ends = " to ".join(decimals(end, digits) for end in interval or ())
    return decimals(value, digits), ends or NOTHING


def other_table(cells: Mapping[CellKey, Cell]) -> Markup:
    """Environments and demonstrations that the paper does not have."""
    columns = [("environment", NAME), ("noise", ""), ("method", NAME), ("demonstrations", NAME), ("runs", "")]
    columns += [("transitions", ""), ("final return", OURS)]
    body = [
        (
            key.task,
            rate_label(key.noise_rate),
            method_style(key.method).label,
            data_label(cell.runs[0].config),
            str(len(cell.runs)),
            length_text(cell.lengths),
            estimate_text(cell.final),
        )
        for key, cell in cells.items()
    ]
    return table("Final return in other environments", columns, body)


def aside_table(aside: Sequence[tuple[RunRecord, str]], root: Path) -> Markup:
    """Runs that the comparison leaves out."""
    body = [
        (
            shown_path(run.path, root),
            millions(run.done),
            number(final_return(run.transitions, run.returns)) if len(run.returns) else NOTHING,
            reason,
        )
        for run, reason in aside
    ]
    columns = [("folder", NAME), ("transitions", ""), ("final return", ""), ("reason", PROSE)]
    return table("Runs that are left out of the comparison", columns, body)


def skipped_table(skipped: Sequence[Skipped], root: Path) -> Markup:
    """Files and folders that were skipped."""
    body = []
    for path, reason in skipped:
        name = shown_path(path, root)
        shown = reason.replace(f"{root}/", "").removeprefix(f"{name}: ").removeprefix(f"{name}/")
        body.append((name, shown))
    return table("Files and folders that were skipped", [("name", NAME), ("reason", PROSE)], body)


def shown_path(path: Path, root: Path) -> str:
    """The path relative to the results, since the rest belongs to one machine."""
    return str(path.relative_to(root)) if path != root and path.is_relative_to(root) else path.name
