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
    method_style,
    millions,
    number,
    rate_label,
    task_label,
    tasks_in_order,
)
from rilco.runs.results import RunRecord, Skipped

VERDICTS = {"within": "within", "above": "▲ above", "below": "▼ below"}
NOTHING = "–"


def table(caption: str, head: Sequence[Markup], body: Iterable[Markup], kind: str = "") -> Markup:
    """A table in a box that scrolls by itself, so that the page never does; the box takes the keyboard's focus."""
    whole = element(
        "table",
        element("caption", caption),
        element("thead", *head),
        element("tbody", *body),
        class_=kind or False,
    )
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


# -- what was run ----------------------------------------------------------------------------------


def coverage_table(cells: Mapping[CellKey, Cell]) -> Markup:
    """Seeds in every cell of the paper's grid, and in those that we have besides."""
    places = [(task, POLICY, rate) for task in TASKS for rate in RATES]
    extra = {(key.task, key.noise, key.noise_rate) for key in cells} - set(places) - {("ant", GAUSSIAN, 0.4)}
    more = sorted(extra, key=lambda place: (str(place[0]), place[2] or 0.0))
    columns = [*places, ("ant", GAUSSIAN, 0.4), *more]
    groups = [element("th", task_label(task), scope="colgroup", colspan=str(len(RATES))) for task in TASKS]
    groups.append(element("th", "Ant, Gaussian", scope="colgroup"))
    groups += [element("th", f"{task_label(task)}, {noise}", scope="colgroup") for task, noise, _ in more]
    starts = [i == 0 or columns[i][:2] != columns[i - 1][:2] for i in range(len(columns))]
    names = [
        element("th", rate_label(columns[i][2]), scope="col", class_=starts[i] and "start")
        for i in range(len(columns))
    ]
    head = [
        element("tr", element("th", "noise rate", scope="col", rowspan="2"), *groups),
        element("tr", *names),
    ]
    methods = in_order({*MAIN, *ABLATION, *(key.method for key in cells)})
    body = []
    for method in methods:
        seeds = [_seeds(CellKey(*columns[i], method), cells, starts[i]) for i in range(len(columns))]
        body.append(row(method_style(method, methods).label, *seeds))
    return table("Number of runs (seeds) in each cell", head, body, "coverage")


def _seeds(key: CellKey, cells: Mapping[CellKey, Cell], start: bool) -> Markup:
    """How many runs of a cell; `start` draws a line to the left of a task's first column."""
    edge = " start" if start else ""
    if key in cells:
        return element("td", str(len(cells[key].runs)), class_=f"run{edge}")
    if key in load_published():
        return element("td", "·", class_=f"missing{edge}", aria_label="not run")
    return element("td", "", class_=f"outside{edge}")


# -- seeds against seeds ---------------------------------------------------------------------------


def seeds_table(rows: Sequence[SeedComparison]) -> Markup:
    """A line a cell: both means, their difference with its interval, and what that says."""
    words = ("cell", "million", "verdict")
    head = [
        head_row(
            "cell",
            "million",
            "ours",
            "published",
            "difference",
            "95% interval",
            "p (Holm)",
            "verdict",
            left=words,
        )
    ]
    body = []
    for row_ in rows:
        difference = row_.difference
        numbers = (NOTHING,) * 3
        if difference is not None and row_.p_value is not None:
            low, high = difference.interval
            numbers = (number(difference.mean), f"{number(low)} to {number(high)}", f"{row_.p_value:.2g}")
        means = (f"{number(group.mean())} ({len(group)})" for group in (row_.ours, row_.published))
        body.append(row(row_.label, row_.span, *means, *numbers, row_.verdict))
    return table("Ours and the published runs; in brackets how many", head, body)


# -- final returns -------------------------------------------------------------------------------


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
        element("td", estimate_text(cell.final), class_="ours"),
        *_comparison_cells(cell.published_here, cell.against_curve()),
        *_comparison_cells(published.final if published else None, cell.against_final()),
        length_text(cell.lengths),
        f"{len(cell.runs)}" + (f" ({cell.unfinished} unfinished)" if cell.unfinished else ""),
    )


def _comparison_cells(published: Estimate | None, comparison: Comparison | None) -> tuple[str, str, Markup]:
    if published is None or comparison is None:
        return NOTHING, NOTHING, element("td", NOTHING)
    mark = "†" if comparison.borrowed else ""
    verdict = element("td", f"{VERDICTS[comparison.verdict]}{mark}", class_=f"verdict {comparison.verdict}")
    return estimate_text(published), signed(comparison.difference), verdict


def estimate_text(value: Estimate) -> str:
    return number(value.mean) + ("" if value.stderr is None else f" ± {number(value.stderr)}")


def signed(value: float) -> str:
    text = number(value)
    return f"+{text}" if value > 0 and text != "0" else text


def length_text(lengths: Sequence[int]) -> str:
    low, high = millions(min(lengths)), millions(max(lengths))
    return high if low == high else f"{low} to {high}"


# -- over the tasks ------------------------------------------------------------------------------


def score_table(rate: float, scores: Sequence[MethodScore]) -> Markup:
    head = [
        head_row(
            "method",
            "tasks",
            "runs",
            "interquartile mean",
            "95% interval",
            "mean",
            "published mean",
            "RIL-Co better",
            "95% interval",
            left=("tasks",),
        )
    ]
    body = [
        row(
            method_style(score.method).label,
            element("td", ", ".join(map(task_label, score.tasks)), class_="name"),
            str(score.runs),
            element("td", f"{score.iqm:.3f}".replace("-", "−"), class_="ours"),
            interval_text(score.interval, 3),
            f"{score.mean:.3f}".replace("-", "−"),
            NOTHING if score.published_mean is None else f"{score.published_mean:.3f}".replace("-", "−"),
            NOTHING if score.improvement is None else f"{score.improvement:.2f}",
            interval_text(score.improvement_interval, 2),
        )
        for score in scores
    ]
    return table(
        f"Over the tasks, noise rate {rate:g}: returns as shares of the expert’s", head, body, "even"
    )


def interval_text(interval: Interval | None, digits: int) -> str:
    if interval is None:
        return NOTHING
    return f"{interval.low:.{digits}f} to {interval.high:.{digits}f}".replace("-", "−")


# -- the rest ------------------------------------------------------------------------------------


def other_table(cells: Mapping[CellKey, Cell]) -> Markup:
    """Environments and demonstrations that the paper does not have."""
    body = [
        row(
            key.task,
            rate_label(key.noise_rate),
            element("td", method_style(key.method).label, class_="name"),
            element("td", data_label(cell.runs[0].config), class_="name"),
            str(len(cell.runs)),
            length_text(cell.lengths),
            element("td", estimate_text(cell.final), class_="ours"),
        )
        for key, cell in cells.items()
    ]
    names = ("environment", "noise", "method", "demonstrations", "runs", "transitions", "final return")
    left = ("method", "demonstrations")
    return table("Final return in other environments", [head_row(*names, left=left)], body)


def aside_table(aside: Sequence[tuple[RunRecord, str]], root: Path) -> Markup:
    """Runs that the comparison leaves out."""
    body = []
    for run, reason in aside:
        config = run.config
        evaluated = len(run.returns) > 0
        body.append(
            row(
                shown_path(run.path, root),
                element("td", config.method, class_="name"),
                element("td", config.task.name, class_="name"),
                rate_label(config.noise_rate),
                str(config.seed),
                millions(run.done),
                number(final_return(run.transitions, run.returns)) if evaluated else NOTHING,
                element("td", reason, class_="prose"),
            )
        )
    names = ("folder", "method", "task", "noise", "seed", "transitions", "final return", "why it is left out")
    left = ("method", "task", "why it is left out")
    return table("Runs that are left out of the comparison", [head_row(*names, left=left)], body)


def skipped_table(skipped: Sequence[Skipped], root: Path) -> Markup:
    """What was passed over, by reason: a folder may hold many files that are no runs."""
    groups: dict[str, list[str]] = {}
    for path, reason in skipped:
        name = shown_path(path, root)
        shown = reason.replace(f"{root}/", "").removeprefix(f"{name}: ").removeprefix(f"{name}/")
        groups.setdefault(shown, []).append(name)
    body = [
        element("tr", element("td", ", ".join(names), class_="prose"), element("td", reason, class_="prose"))
        for reason, names in groups.items()
    ]
    head = head_row("what", "why", left=("what", "why"))
    return table("Files and folders that were skipped", [head], body, "even")


def shown_path(path: Path, root: Path) -> str:
    """Relative to the results, since the rest of the path is of one machine."""
    try:
        return str(path.relative_to(root)) if path != root else path.name
    except ValueError:
        return path.name
