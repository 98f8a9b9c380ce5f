"""The tables of the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from rilco.experiment.published import ABLATION, GAUSSIAN, MAIN, POLICY, RATES, TASKS, CellKey, load_published
from rilco.experiment.statistics import Comparison, Estimate, Interval, final_return
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
    signed,
    task_label,
    tasks_in_order,
)
from rilco.runs.results import RunRecord, Skipped

VERDICTS = {"within": "within", "above": "▲ above", "below": "▼ below"}
NOTHING = "–"


def table(caption: str, head: Sequence[Markup], body: Iterable[Markup], kind: str = "") -> Markup:
    """A table in a box that scrolls by itself, so that the page never does. The box takes the keyboard's focus."""
    parts = element("caption", caption), element("thead", *head), element("tbody", *body)
    whole = element("table", *parts, class_=kind or False)
    return element("div", whole, class_="scroll wide", tabindex="0", role="region", aria_label=caption)


def head_row(*names: str, left: Sequence[str] = ()) -> Markup:
    """Names of columns; those in `left` hold words, the others numbers."""
    return element(
        "tr", *(element("th", name, scope="col", class_=name in left and "name") for name in names)
    )


def row(first: str, *cells: str) -> Markup:
    """A line whose first cell names it."""
    rest = [cell if isinstance(cell, Markup) else element("td", cell) for cell in cells]
    return element("tr", element("th", first, scope="row"), *rest)


def td(text: str, kind: str) -> Markup:
    return element("td", text, class_=kind)


# -- what was run ----------------------------------------------------------------------------------


def coverage_table(cells: Mapping[CellKey, Cell]) -> Markup:
    """The number of seeds in every cell of the paper's grid, and in others that were run."""
    paper = [*((task, POLICY, rate) for task in TASKS for rate in RATES), ("ant", GAUSSIAN, 0.4)]
    extra = {(key.task, key.noise, key.noise_rate) for key in cells} - set(paper)
    more = sorted(extra, key=lambda place: (place[0], place[2] or 0.0))
    columns = [*paper, *more]
    groups = [element("th", task_label(task), scope="colgroup", colspan=str(len(RATES))) for task in TASKS]
    groups.append(element("th", "Ant, Gaussian", scope="colgroup"))
    groups += [element("th", f"{task_label(task)}, {noise}", scope="colgroup") for task, noise, _ in more]
    starts = [i == 0 or columns[i][:2] != columns[i - 1][:2] for i in range(len(columns))]
    names = [
        element("th", rate_label(rate), scope="col", class_=start and "start")
        for (_, _, rate), start in zip(columns, starts, strict=True)
    ]
    first = element("th", "noise rate", scope="col", rowspan="2")
    head = [element("tr", first, *groups), element("tr", *names)]
    methods = in_order({*MAIN, *ABLATION, *(key.method for key in cells)})
    body = []
    for method in methods:
        keys = [CellKey(*place, method) for place in columns]
        seeds = [_seeds(key, cells, start) for key, start in zip(keys, starts, strict=True)]
        body.append(row(method_style(method, methods).label, *seeds))
    return table("Number of runs (seeds) in each cell", head, body, "coverage")


def _seeds(key: CellKey, cells: Mapping[CellKey, Cell], start: bool) -> Markup:
    """The number of runs of a cell; `start` draws a line to the left of a task's first column."""
    edge = " start" if start else ""
    if key in cells:
        return element("td", str(len(cells[key].runs)), class_=f"run{edge}")
    if key in load_published():
        return element("td", "·", class_=f"missing{edge}", aria_label="not run")
    return element("td", "", class_=f"outside{edge}")


# -- returns ---------------------------------------------------------------------------------------


def seeds_table(rows: Sequence[SeedComparison]) -> Markup:
    """A line a cell: both means, their difference with its interval, and the verdict."""
    names = ("cell", "million", "ours", "published", "difference", "95% interval", "p (Holm)", "verdict")
    head = head_row(*names, left=("cell", "million", "verdict"))
    body = []
    for cell in rows:
        difference = cell.difference
        numbers = (NOTHING,) * 3
        if difference is not None and cell.p_value is not None:
            low, high = difference.interval
            numbers = (number(difference.mean), f"{number(low)} to {number(high)}", f"{cell.p_value:.2g}")
        means = (f"{number(group.mean())} ({len(group)})" for group in (cell.ours, cell.published))
        body.append(row(cell.label, cell.span, *means, *numbers, cell.verdict))
    return table("Ours and the published runs, with the number of runs in brackets", [head], body)


def final_tables(cells: Mapping[CellKey, Cell]) -> Markup:
    """A table a task, sorted by noise rate and method."""
    return joined(*(_final_table(task, cells) for task in tasks_in_order(key.task for key in cells)))


def _final_table(task: str, cells: Mapping[CellKey, Cell]) -> Markup:
    methods = in_order(key.method for key in cells)
    groups: dict[tuple[bool, float], list[Cell]] = {}
    for key, cell in cells.items():
        if key.task == task:
            groups.setdefault((key.noise == GAUSSIAN, key.noise_rate or 0.0), []).append(cell)
    head = [
        element(
            "tr",
            *(element("th", name, scope="col", rowspan="2") for name in ("method", "ours")),
            element("th", "published, after as many transitions", scope="colgroup", colspan="3"),
            element("th", "published, after 20 M", scope="colgroup", colspan="3"),
            *(element("th", name, scope="col", rowspan="2") for name in ("transitions", "runs")),
        ),
        head_row(*("return", "ours minus it", "two standard errors") * 2, left=("two standard errors",)),
    ]
    body = []
    for (gaussian, rate), group in sorted(groups.items()):
        title = f"noise rate {rate:g}" + (", Gaussian" if gaussian else "")
        body.append(element("tr", element("th", title, scope="rowgroup", colspan="10"), class_="group"))
        body += [_final_row(cell) for cell in sorted(group, key=lambda cell: methods.index(cell.key.method))]
    return table(f"{task_label(task)}: final return", head, body, "even finals")


def _final_row(cell: Cell) -> Markup:
    published = cell.published
    return row(
        method_style(cell.key.method).label,
        td(estimate_text(cell.final), "ours"),
        *_comparison_cells(cell.published_here, cell.against_curve()),
        *_comparison_cells(published.final if published else None, cell.against_final()),
        length_text(cell.lengths),
        f"{len(cell.runs)}" + (f" ({cell.unfinished} unfinished)" if cell.unfinished else ""),
    )


def _comparison_cells(published: Estimate | None, comparison: Comparison | None) -> tuple[str, str, str]:
    if published is None or comparison is None:
        return NOTHING, NOTHING, NOTHING
    mark = "†" if comparison.borrowed else ""
    verdict = element("td", f"{VERDICTS[comparison.verdict]}{mark}", class_=f"verdict {comparison.verdict}")
    return estimate_text(published), signed(comparison.difference), verdict


def estimate_text(value: Estimate) -> str:
    return number(value.mean) + ("" if value.stderr is None else f" ± {number(value.stderr)}")


def score_table(rate: float, scores: Sequence[MethodScore]) -> Markup:
    names = ("method", "tasks", "runs", "interquartile mean", "95% interval", "mean", "published mean")
    head = head_row(*names, "RIL-Co better", "95% interval", left=("tasks",))
    body = [
        row(
            method_style(score.method).label,
            td(", ".join(map(task_label, score.tasks)), "name"),
            str(score.runs),
            td(decimals(score.iqm, 3), "ours"),
            interval_text(score.interval, 3),
            decimals(score.mean, 3),
            decimals(score.published_mean, 3),
            decimals(score.improvement, 2),
            interval_text(score.improvement_interval, 2),
        )
        for score in scores
    ]
    title = f"Over the tasks, noise rate {rate:g}: returns as shares of the expert’s"
    return table(title, [head], body, "even")


def decimals(value: float | None, digits: int) -> str:
    return NOTHING if value is None else minus(f"{value:.{digits}f}")


def interval_text(interval: Interval | None, digits: int) -> str:
    return NOTHING if interval is None else " to ".join(decimals(end, digits) for end in interval)


# -- the rest ------------------------------------------------------------------------------------


def other_table(cells: Mapping[CellKey, Cell]) -> Markup:
    """Environments and demonstrations that the paper does not have."""
    body = [
        row(
            key.task,
            rate_label(key.noise_rate),
            td(method_style(key.method).label, "name"),
            td(data_label(cell.runs[0].config), "name"),
            str(len(cell.runs)),
            length_text(cell.lengths),
            td(estimate_text(cell.final), "ours"),
        )
        for key, cell in cells.items()
    ]
    names = ("environment", "noise", "method", "demonstrations", "runs", "transitions", "final return")
    left = ("method", "demonstrations")
    return table("Final return in other environments", [head_row(*names, left=left)], body)


def aside_table(aside: Sequence[tuple[RunRecord, str]], root: Path) -> Markup:
    """Runs that the comparison leaves out."""
    body = [
        row(
            shown_path(run.path, root),
            td(run.config.method, "name"),
            td(run.config.task.name, "name"),
            rate_label(run.config.noise_rate),
            str(run.config.seed),
            millions(run.done),
            number(final_return(run.transitions, run.returns)) if len(run.returns) else NOTHING,
            td(reason, "prose"),
        )
        for run, reason in aside
    ]
    names = ("folder", "method", "task", "noise", "seed", "transitions", "final return", "reason")
    left = ("method", "task", "reason")
    return table("Runs that are left out of the comparison", [head_row(*names, left=left)], body)


def skipped_table(skipped: Sequence[Skipped], root: Path) -> Markup:
    """Files and folders that were skipped, by reason."""
    groups: dict[str, list[str]] = {}
    for path, reason in skipped:
        name = shown_path(path, root)
        shown = reason.replace(f"{root}/", "").removeprefix(f"{name}: ").removeprefix(f"{name}/")
        groups.setdefault(shown, []).append(name)
    body = [
        element("tr", td(", ".join(names), "prose"), td(reason, "prose")) for reason, names in groups.items()
    ]
    head = head_row("name", "reason", left=("name", "reason"))
    return table("Files and folders that were skipped", [head], body, "even")


def shown_path(path: Path, root: Path) -> str:
    """The path relative to the results, since the rest belongs to one machine."""
    return str(path.relative_to(root)) if path != root and path.is_relative_to(root) else path.name
