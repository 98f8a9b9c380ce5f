"""Inspections as tables for a terminal."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rilco.data.inspect import Dimensions, Inspection, statistics

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

LABEL_WIDTH, COLUMN_WIDTH = 28, 24  # of a table, in characters
MOST_DEMONSTRATORS = 30


def tables(inspections: Sequence[Inspection], width: int) -> Iterator[Table]:
    """An overview with the files side by side, as many as the width allows, then every dimension."""
    size = max(1, (width - LABEL_WIDTH) // COLUMN_WIDTH)
    groups = [inspections[start : start + size] for start in range(0, len(inspections), size)]
    yield from map(_overview, groups)
    yield from (_demonstrators(one) for one in inspections if len(one.demonstrators) > 1)
    yield from map(_dimensions, groups)


def remarks(inspections: Sequence[Inspection]) -> list[str]:
    """Remarks on each file, and on the files together."""
    found = [f"{one.name}: {remark}" for one in inspections for remark in one.remarks()]
    for one, other in itertools.combinations(inspections, 2):
        if count := len(set(one.digests) & set(other.digests)):
            noun = "episode is" if count == 1 else "episodes are"
            found.append(f"{one.name} and {other.name}: {count:,} {noun} in both, pair for pair.")
    shapes = {(len(one.obs.mean), len(one.action.mean)) for one in inspections}
    if len(shapes) > 1:
        found.append("The files differ in their dimensions: they come from different environments.")
    return found


def _overview(group: Sequence[Inspection]) -> Table:
    table = _table("", *(one.name for one in group))
    columns = [_facts(one) for one in group]
    for label in columns[0]:
        table.add_row(label, *(column[label] for column in columns))
    return table


def _facts(one: Inspection) -> dict[str, str]:
    expert = "unknown" if one.noise_fraction is None else f"{1 - one.noise_fraction:.1%}"
    rate = "" if one.noise_rate is None else f" (noise rate {one.noise_rate:g})"
    lengths, returns = (statistics(values) for values in (one.lengths, one.returns))
    known, mean = returns["mean"] is not None, f"{number(returns['mean'])} ± {number(returns['std'])}"
    return {
        "pairs": f"{one.pairs:,}",
        "episodes": f"{one.episodes:,}",
        "length: min, median, max": _extent(lengths),
        "return: min, median, max": _extent(returns) if known else "unknown",
        "return: mean ± spread": mean if known else "unknown",
        "reward a pair": number(one.mean_reward) if known else "unknown",
        "demonstrators": f"{len(one.demonstrators):,}",
        "expert pairs": f"{expert}{rate}",
        "NaN: obs, action": f"{one.obs.nan.sum():,} / {one.action.nan.sum():,}",
        "infinite: obs, action": f"{one.obs.infinite.sum():,} / {one.action.infinite.sum():,}",
        "constant: obs, action": (
            f"{one.obs.constant.sum()} of {len(one.obs.mean)} / "
            f"{one.action.constant.sum()} of {len(one.action.mean)}"
        ),
        "duplicated episodes": f"{one.duplicated_episodes:,}",
        f"outside {one.within}": (
            f"{one.action.rows_outside:,} pairs ({one.action.rows_outside / one.pairs:.1%})"
        ),
    }


def _demonstrators(one: Inspection) -> Table:
    table = _table(f"{one.name} is by", "pairs", "episodes", "return", "reward a pair", "expert")
    for i, column in enumerate(table.columns):
        column.no_wrap, column.overflow = i > 0, "fold"
    for who in one.demonstrators[:MOST_DEMONSTRATORS]:
        table.add_row(
            _literal(who.name),
            f"{who.pairs:,}",
            f"{who.episodes:,}",
            number(who.mean_return),
            number(who.mean_reward),
            "unknown" if who.expert_fraction is None else f"{who.expert_fraction:.0%}",
        )
    if len(one.demonstrators) > MOST_DEMONSTRATORS:
        table.caption = f"and {len(one.demonstrators) - MOST_DEMONSTRATORS} more"
    return table


def _dimensions(group: Sequence[Inspection]) -> Table:
    """A column a file. Where there are several, what is known of a dimension stands below each other."""
    table = _table("mean ± spread, and range", *(one.name for one in group))
    between = "\n" if len(group) > 1 else ", "
    for kind in ("obs", "action"):
        parts: list[Dimensions] = [getattr(one, kind) for one in group]
        for k in range(max(len(part.mean) for part in parts)):
            cells = (_cells(part, k) if k < len(part.mean) else [] for part in parts)
            table.add_row(f"{kind} {k}", *(between.join(lines) for lines in cells))
        table.add_section()
    return table


def _cells(part: Dimensions, k: int) -> list[str]:
    cells = []
    if part.finite[k]:
        cells.append(f"{number(part.mean[k])} ± {number(part.spread[k])}")
        cells.append(f"{number(part.low[k])} to {number(part.high[k])}")
    counts = {"NaN": part.nan[k], "infinite": part.infinite[k], "outside": part.outside[k]}
    notes = [f"{count:,} {what}" for what, count in counts.items() if count]
    if part.constant[k]:
        notes.append("constant")
    return [*cells, ", ".join(notes)] if notes else cells


def _table(*columns: str) -> Table:
    from rich import box
    from rich.table import Column, Table

    first, *others = columns
    headers = [
        Column(_literal(first), no_wrap=True),
        *(Column(_literal(name), justify="right", overflow="fold") for name in others),
    ]
    return Table(*headers, box=box.SIMPLE_HEAD, padding=(0, 1), highlight=False)


def _literal(text: str) -> Text:
    """Text that is never read as markup, whatever a file or a demonstrator is called."""
    from rich.text import Text

    return Text(text)


def _extent(known: Mapping[str, float | None]) -> str:
    return " / ".join(number(known[name]) for name in ("min", "median", "max"))


def number(value: Any) -> str:
    """Three digits, without an exponent where there need not be one."""
    if value is None:
        return "unknown"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"
