"""Counts, lists and durations as people read them, the same in every message, table and page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def plural(count: int, noun: str) -> str:
    """`1 run`, `1,200 runs`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def capitalised(sentence: str) -> str:
    """Capitalise the first letter, and leave the rest."""
    return sentence[:1].upper() + sentence[1:]


def listed(items: Iterable[str], most: int | None = None) -> str:
    """`a, b and c`; of more than `most` the first few: `a, b and 4 more`."""
    names = list(items)
    if most is not None and len(names) > most:
        names = [*names[:most], f"{len(names) - most} more"]
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def listing(names: Sequence[str], most: int = 8) -> str:
    """List names for an error message: `a, b, c`, `a, b and 4 more`, or `nothing`."""
    return listed(names, most) if len(names) > most else ", ".join(names) or "nothing"


def duration(seconds: float) -> str:
    """`3 h 05 min`, `12 min` or `40 s`."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60:,} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
