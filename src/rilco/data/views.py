"""Inspections as tables for a terminal and as a picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rilco.data.formats.files import atomic_write
from rilco.data.inspect import Dimensions, Inspection, shared_episodes, statistics
from rilco.errors import ConfigError, require

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table
    from rich.text import Text

PICTURES = (".png", ".pdf", ".svg")
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000")
"""Okabe and Ito's, which colour-blind readers can tell apart; line styles help where there are more files."""
STYLES = ("-", "--", ":")
LABEL_WIDTH, COLUMN_WIDTH = 28, 24  # of a table, in characters
MOST_DEMONSTRATORS = 30


def tables(inspections: Sequence[Inspection], width: int) -> Iterator[Table]:
    """An overview with the files side by side, as many as the width allows, then every dimension."""
    groups = list(_groups(inspections, (width - LABEL_WIDTH) // COLUMN_WIDTH))
    for group in groups:
        yield _overview(group)
    yield from (_demonstrators(one) for one in inspections if len(one.demonstrators) > 1)
    if len(inspections) == 1:
        yield _dimensions_of_one(inspections[0])
        return
    for group in groups:
        yield _dimensions(group)


def remarks(inspections: Sequence[Inspection]) -> list[str]:
    """Remarks on each file, and on the files together."""
    found = [f"{one.name}: {remark}" for one in inspections for remark in one.remarks()]
    for one, other, count in shared_episodes(inspections):
        noun = "episode is" if count == 1 else "episodes are"
        found.append(f"{one} and {other}: {count:,} {noun} in both, pair for pair.")
    shapes = {(len(one.obs.mean), len(one.action.mean)) for one in inspections}
    if len(shapes) > 1:
        found.append("The files differ in their dimensions: they come from different environments.")
    return found


def _groups(inspections: Sequence[Inspection], size: int) -> Iterator[Sequence[Inspection]]:
    size = max(1, size)
    for start in range(0, len(inspections), size):
        yield inspections[start : start + size]


def _overview(group: Sequence[Inspection]) -> Table:
    table = _table("", *(one.name for one in group))
    columns = [_facts(one) for one in group]
    for label in columns[0]:
        table.add_row(label, *(column[label] for column in columns))
    return table


def _facts(one: Inspection) -> dict[str, str]:
    expert = "unknown" if one.noise_fraction is None else f"{1 - one.noise_fraction:.1%}"
    rate = "" if one.noise_rate is None else f" (noise rate {one.noise_rate:g})"
    lengths = statistics(one.lengths)
    return {
        "pairs": f"{one.pairs:,}",
        "episodes": f"{one.episodes:,}",
        "length: min, median, max": " / ".join(number(lengths[name]) for name in ("min", "median", "max")),
        **_return_facts(one),
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


def _return_facts(one: Inspection) -> dict[str, str]:
    known = {} if one.returns is None else statistics(one.returns)
    if known.get("mean") is None:
        spread = mean = reward = "unknown"
    else:
        spread = " / ".join(number(known[name]) for name in ("min", "median", "max"))
        mean = f"{number(known['mean'])} ± {number(known['std'])}"
        reward = number(one.mean_reward)
    return {"return: min, median, max": spread, "return: mean ± spread": mean, "reward a pair": reward}


def _demonstrators(one: Inspection) -> Table:
    table = _table(f"{one.name} is by", "pairs", "episodes", "return", "reward a pair", "expert")
    for i, column in enumerate(table.columns):
        column.no_wrap, column.overflow = i > 0, "fold"
    for who in one.demonstrators[:MOST_DEMONSTRATORS]:
        table.add_row(
            _literal(who.name),
            f"{who.pairs:,}",
            f"{who.episodes:,}",
            "unknown" if who.mean_return is None else number(who.mean_return),
            "unknown" if who.mean_reward is None else number(who.mean_reward),
            "unknown" if who.expert_fraction is None else f"{who.expert_fraction:.0%}",
        )
    if len(one.demonstrators) > MOST_DEMONSTRATORS:
        table.caption = f"and {len(one.demonstrators) - MOST_DEMONSTRATORS} more"
    return table


def _dimensions_of_one(one: Inspection) -> Table:
    table = _table("", "mean ± spread", "range", "")
    for kind, part in (("obs", one.obs), ("action", one.action)):
        for k in range(len(part.mean)):
            table.add_row(f"{kind} {k}", *_cells(part, k))
        table.add_section()
    return table


def _dimensions(group: Sequence[Inspection]) -> Table:
    """A column a file, with what is known of a dimension below each other."""
    table = _table("mean ± spread, and range", *(one.name for one in group))
    for kind in ("obs", "action"):
        parts: list[Dimensions] = [getattr(one, kind) for one in group]
        for k in range(max(len(part.mean) for part in parts)):
            cells = (_cells(part, k) if k < len(part.mean) else () for part in parts)
            table.add_row(f"{kind} {k}", *("\n".join(filter(None, lines)) for lines in cells))
        table.add_section()
    return table


def _cells(part: Dimensions, k: int) -> tuple[str, str, str]:
    notes = [
        f"{getattr(part, what)[k]:,} {what}"
        for what in ("nan", "infinite", "outside")
        if getattr(part, what)[k]
    ]
    if part.constant[k]:
        notes.append("constant")
    note = ", ".join(notes).replace("nan", "NaN")
    if not part.finite[k]:
        return "", "", note
    spread = f"{number(part.mean[k])} ± {number(part.spread[k])}"
    return spread, f"{number(part.low[k])} to {number(part.high[k])}", note


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


def number(value: Any) -> str:
    """Three digits, without an exponent where there need not be one."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"


# -- the picture -----------------------------------------------------------------------------------


def check_picture(file: Path) -> None:
    """Refuses, before any work is done, a picture that cannot be drawn."""
    if file.suffix.lower() not in PICTURES:
        raise ConfigError(f"--plot {file}: expected a name that ends in {', '.join(PICTURES)}.")
    require("matplotlib", "Pictures", "plot")


def draw(inspections: Sequence[Inspection], file: Path) -> None:
    """Histograms of lengths and returns, and the range of every dimension, all files in each."""
    from matplotlib.figure import Figure

    marks = len(inspections) * max(len(one.obs.mean) for one in inspections)
    width = min(24.0, max(10.0, 0.09 * marks))
    figure = Figure(figsize=(width, 10), layout="constrained")
    layout: Any = [["lengths", "returns"], ["obs", "obs"], ["action", "action"]]
    axes: Any = figure.subplot_mosaic(layout, height_ratios=(1, 1.2, 1.2))
    outlines = _histograms(axes["lengths"], [one.lengths for one in inspections], "pairs in an episode")
    _histograms(axes["returns"], [one.returns for one in inspections], "return of an episode")
    _ranges(axes["obs"], [one.obs for one in inspections], "observation")
    _ranges(axes["action"], [one.action for one in inspections], "action")
    for bound in filter(math.isfinite, inspections[0].bounds):
        axes["action"].axhline(bound, color="grey", linewidth=1, linestyle="--")
    names = [one.name.replace("$", r"\$") for one in inspections]  # which would begin a formula
    columns = int(11 * width / (max(map(len, names)) + 8))  # about 11 characters an inch
    figure.legend(
        outlines, names, loc="outside upper center", ncols=min(max(1, columns), len(names)), frameon=False
    )
    save_figure(figure, file)


def save_figure(figure: Figure, file: Path) -> None:
    with atomic_write(file) as temporary:
        figure.savefig(temporary, format=file.suffix.lower().removeprefix("."), dpi=120)


def _histograms(axes: Any, data: Sequence[np.ndarray | None], label: str) -> list[Any]:
    """One outline a file, in bins that all share."""
    finite = [np.empty(0) if values is None else values[np.isfinite(values)] for values in data]
    everything = np.concatenate(finite)
    axes.set(xlabel=label, ylabel="share of the file's episodes")
    if not len(everything):
        axes.text(0.5, 0.5, "unknown", ha="center", va="center", transform=axes.transAxes)
        return []
    low, high = float(everything.min()), float(everything.max())
    margin = 0.5 if low == high else 0.0
    bins = np.linspace(low - margin, high + margin, 31)
    outlines = []
    for i, values in enumerate(finite):
        share = np.histogram(values, bins)[0] / max(1, len(values))
        colour, style = COLOURS[i % len(COLOURS)], STYLES[i // len(COLOURS) % len(STYLES)]
        axes.stairs(share, bins, fill=True, alpha=0.12, color=colour)
        outlines.append(axes.stairs(share, bins, linewidth=1.8, color=colour, linestyle=style))
    return outlines


def _ranges(axes: Any, parts: Sequence[Dimensions], label: str) -> None:
    """A thin line from the least to the largest value, a thick one of the spread around the mean, and the mean."""
    step = 0.8 / len(parts)
    for i, part in enumerate(parts):
        x = np.arange(len(part.mean)) + (i - (len(parts) - 1) / 2) * step
        colour = COLOURS[i % len(COLOURS)]
        axes.vlines(x, part.low, part.high, color=colour, linewidth=1)
        thick = min(6.0, 24.0 * step)
        axes.vlines(
            x, part.mean - part.spread, part.mean + part.spread, color=colour, linewidth=thick, alpha=0.5
        )
        axes.plot(x, part.mean, "_", color=colour, markersize=max(4.0, 12.0 * step), markeredgewidth=2)
    dimensions = max(len(part.mean) for part in parts)
    largest = max(float(np.nanmax(np.abs([part.low, part.high]), initial=0.0)) for part in parts)
    if largest > 100.0:
        axes.set_yscale("symlog", linthresh=1.0)
    axes.set_xticks(np.arange(0, dimensions, max(1, dimensions // 40)))
    axes.set_xlim(-0.6, dimensions - 0.4)
    axes.set(xlabel=f"{label} dimension", ylabel="range, mean ± spread")
    axes.grid(axis="y", alpha=0.3)
