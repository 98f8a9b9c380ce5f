"""The numbers as Markdown. The best judge of each column is bold, controls aside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from benchmarks.judges.measuring import GRADIENT_STEPS, START_STATES
from benchmarks.judges.peers import CONTROLS, HINDSIGHT

EXPERT, EVERYTHING = "the expert alone", "everything"
"""What clones are also made of: the most and the least that a judge can do for them."""
ASIDE = (*CONTROLS, EXPERT, EVERYTHING)

Group = dict[str, Any]
"""The numbers of each set, by its name."""
Columns = dict[str, dict[str, Any]]
"""Heading, then judge, then a number or several."""


def page(groups: dict[str, Group]) -> str:
    """All tables, the windows first."""
    lines: list[str] = []
    for name, group in sorted(groups.items(), key=lambda item: item[0] != "windows"):
        lines += [*(_windows(group) if name == "windows" else _zoo(name, group)), ""]
    return "\n".join(lines)


def _windows(group: Group) -> Iterator[str]:
    yield "### Equal windows of 50 pairs, the paper's mixtures at noise rate 0.4: AUROC\n"
    yield from _table(_columns(group, "auroc"), "{:.3f}")
    returns = _columns(group, "returns")
    if returns:
        yield f"\n### Return of clones of what is kept: {GRADIENT_STEPS:,} gradient steps, {START_STATES} shared start states\n"
        yield "The mean, and each clone in brackets. Judges that only rank are told the true share of good pairs;"
        yield "`rilco audit` is not: its clones have what its verdict keeps.\n"
        yield from _table(returns, "{:,.0f}")


def _zoo(name: str, group: Group) -> Iterator[str]:
    areas, right = _columns(group, "auroc"), _columns(group, "right")
    judges = {judge for column in areas.values() for judge in column}
    whole = [n for n, column in areas.items() if set(column) == judges]
    yield f"### The zoo, {name}: {len(group)} mixtures with bad ones\n"
    yield f"Over the {len(whole)} of them that every judge was measured on. The last four columns count mixtures. Best: no other judge"
    yield "has a higher AUROC; best alone: none has as high a one. Controls are aside there. Right: at least 95% of the good"
    yield "demonstrations kept and at most 10% of the bad ones. Judges that only rank are told the true share of good pairs;"
    yield "`rilco audit` is not.\n"
    summary: Columns = {}
    for judge in judges if whole else ():
        mine = np.array([areas[n][judge] for n in whole])
        other = np.array(
            [max(areas[n][one] for one in judges if one not in (judge, *CONTROLS)) for n in whole]
        )
        numbers = {
            "mean AUROC": float(mine.mean()),
            "worst AUROC": float(mine.min()),
            "AUROC 0.95 or more": int((mine >= 0.95).sum()),
            "best": int((mine >= other).sum()),
            "best alone": int((mine > other).sum()),
            "right": sum(right[n][judge] for n in whole),
        }
        for heading, value in numbers.items():
            summary.setdefault(heading, {})[judge] = value
    yield from _table(summary, "{:.2f}")
    for heading, visible in (("can tell", True), ("cannot tell", False)):
        yield f"\n#### Those that the data alone {heading}: AUROC\n"
        those = {n: column for n, column in areas.items() if group[n]["visible"] == visible}
        yield from _table(those, "{:.2f}", turned=True)


def _columns(group: Group, key: str) -> Columns:
    """One for each set that has such a number of any judge."""
    found = {
        name: {
            judge: numbers[key] for judge, numbers in data["judges"].items() if numbers.get(key) is not None
        }
        for name, data in group.items()
    }
    return {name: column for name, column in found.items() if column}


def _table(columns: Columns, form: str, *, turned: bool = False) -> Iterator[str]:
    """Judges down, ours first and controls last; or turned, where there are more columns than judges."""
    judges = sorted(
        {judge for column in columns.values() for judge in column},
        key=lambda judge: (
            judge in (EXPERT, EVERYTHING),
            judge in CONTROLS,
            not judge.startswith("rilco"),
            judge,
        ),
    )
    grid = [["judge", *columns]]
    grid += [
        [_label(judge), *(_cell(column, judge, form) for column in columns.values())] for judge in judges
    ]
    if turned:
        grid = [list(row) for row in zip(*grid, strict=True)]
        grid[0][0] = "mixture"
    yield "| " + " | ".join(grid[0]) + " |"
    yield "|---" * len(grid[0]) + "|"
    yield from ("| " + " | ".join(row) + " |" for row in grid[1:])


def _cell(column: dict[str, Any], judge: str, form: str) -> str:
    if judge not in column:
        return "-"
    form = "{:.0f}" if isinstance(column[judge], int) else form  # a count
    text = form.format(np.mean(column[judge]))
    best = form.format(
        max((np.mean(value) for name, value in column.items() if name not in ASIDE), default=np.nan)
    )
    shown = f"**{text}**" if judge not in ASIDE and text == best else text
    if isinstance(column[judge], list):
        shown += " (" + ", ".join(form.format(one) for one in column[judge]) + ")"
    return shown


def _label(judge: str) -> str:
    hint = (
        " (control; sign by hindsight)" if judge in HINDSIGHT else " (control)" if judge in CONTROLS else ""
    )
    return f"*{judge}*" if judge in (EXPERT, EVERYTHING) else judge + hint
