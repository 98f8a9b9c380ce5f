"""The demonstrations by name, and what the user says of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rilco.data.inspect import digests
from rilco.data.record import Demonstrations
from rilco.errors import ConfigError, suggestion


@dataclass(frozen=True, eq=False)
class Roster:
    """The demonstrations by name, in the order of `Demonstrations.episodes`."""

    of_pair: np.ndarray
    """[N] the demonstration of each pair."""
    pairs: np.ndarray
    """[D] of each demonstration."""
    names: list[str]
    makers: list[str]
    """Who made each."""
    vouched: np.ndarray
    """[D] 1 for what the user calls good, -1 for bad, 0 for the rest."""
    original: np.ndarray
    """[D] the first demonstration that is equal pair for pair: copies are no further witnesses, and are judged once."""


def read_roster(
    demos: Demonstrations, good: Sequence[str | int] = (), bad: Sequence[str | int] = ()
) -> Roster:
    """`good` and `bad` name demonstrators or demonstrations that the user vouches for or against, by name or by index."""
    index = demos.index
    makers = [demos.demonstrator_names[k] for k in index.demonstrator[index.by_appearance].tolist()]
    counts: dict[str, int] = {}
    names = []
    for maker in makers:
        # From 0, as episodes are numbered in files of robomimic and LeRobot.
        names.append(f"{maker} #{counts.setdefault(maker, 0)}")
        counts[maker] += 1
    contents, first = list(digests(demos)), dict[bytes, int]()
    original = np.array(
        [first.setdefault(contents[k], i) for i, k in enumerate(index.by_appearance.tolist())]
    )
    vouched = vouchers(names, makers, good, bad)
    for sign in (-1, 1):
        vouched[np.isin(original, original[vouched == sign])] = sign
    return Roster(index.place, index.length[index.by_appearance], names, makers, vouched, original)


def vouchers(
    names: Sequence[str], makers: Sequence[str], good: Sequence[str | int], bad: Sequence[str | int]
) -> np.ndarray:
    """[D] 1 for what the user calls good, -1 for bad, 0 for the rest."""
    vouched = np.zeros(len(names), np.int64)
    known: dict[str, list[int]] = {}
    for i, (name, maker) in enumerate(zip(names, makers, strict=True)):
        known.setdefault(name, []).append(i)
        known.setdefault(maker, []).append(i)
    for given, sign in ((good, 1), (bad, -1)):
        for one in [given] if isinstance(given, str) else given:
            rows = known.get(
                str(one), [int(one)] if str(one).isdigit() else []
            )  # a name first, then a number
            if not rows or not 0 <= rows[0] < len(names):
                raise ConfigError(
                    f"{one!r} is neither a demonstrator nor a demonstration; demonstrations are numbered from 0 to "
                    f"{len(names) - 1}.{suggestion(one, known)}"
                )
            if (vouched[rows] == -sign).any():
                raise ConfigError(f"{one!r} is called good and bad at once. Name each demonstration once.")
            vouched[rows] = sign
    return vouched
