"""Observations that a format stores in several parts, each under a name: which of them to use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rilco.errors import DemonstrationError, suggestion
from rilco.words import listing


class NoNamedPartsError(DemonstrationError):
    """Keys were asked for, and observations are one array."""

    def __init__(self, path: Path, wanted: Sequence[str]) -> None:
        super().__init__(
            f"{path}: the observations are one array without named parts, and the observation keys "
            f"{', '.join(wanted)} were asked for. Leave the keys out."
        )


def choose(path: Path, available: Mapping[str, int], wanted: Sequence[str]) -> list[str]:
    """The wanted parts, in the wanted order; without a wish the only one there is.

    `available` holds the number of columns of each. There is no rule for which of several make up what a
    policy sees, so nothing is guessed.
    """
    parts = [f"{name} ({columns})" for name, columns in available.items()]
    for name in wanted:
        if name not in available:
            hint = suggestion(name, available)
            raise DemonstrationError(
                f"{path}: there is no low-dimensional observation {name!r}.{hint} With their numbers of columns "
                f"there are {listing(parts, most=30)}."
            )
    if not wanted and len(available) != 1:
        raise DemonstrationError(
            f"{path}: the observations are stored in {len(parts)} low-dimensional parts; with their numbers of "
            f"columns: {listing(parts, most=30)}. Expected one part, or to be told which ones to put side by "
            "side: name them as observation keys (obs_keys), in order."
        )
    return list(wanted) or list(available)
