"""A few signals of every demonstration, small enough for a page of ten thousand: the ones that tell most."""

from __future__ import annotations

import base64
from typing import Any, NamedTuple

import numpy as np

from rilco.data.record import Demonstrations
from rilco.judging.verdict import Verdict

OBSERVATIONS, ACTIONS = 3, 2
"""So many of each are shown."""
MOST_BYTES = 3_000_000
"""Of all signals of a page together, a byte a point."""
FEWEST_POINTS, MOST_POINTS = 24, 160
SAMPLE = 200_000
"""Pairs that the range of a signal is read from."""


class Signals(NamedTuple):
    names: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    values: np.ndarray
    """[D, S, points] uint8: from `low` at 0 to `high` at 255, evenly over the demonstration's own time."""

    def to_json(self) -> dict[str, Any]:
        return {
            "names": self.names,
            "low": self.low,
            "high": self.high,
            "points": self.values.shape[2],
            "data": base64.b64encode(self.values.tobytes()).decode(),
        }


def choose_signals(
    demos: Demonstrations, verdict: Verdict, extra: tuple[str, np.ndarray] | None = None
) -> Signals:
    """Those dimensions in which what is kept and what is not differ most; `extra` [N] comes last, with its name."""
    of_pair, count = verdict.of_pair, len(verdict.demonstrations)
    kinds = _kinds(verdict)
    columns: list[tuple[str, np.ndarray]] = []
    for word, block, most in (
        ("observation", demos.obs, OBSERVATIONS),
        ("action", demos.action, ACTIONS),
    ):
        telling = [_difference(block[:, i], of_pair, kinds) for i in range(block.shape[1])]
        best = sorted(range(len(telling)), key=lambda i: (-telling[i], i))[:most]
        columns += [(f"{word} {i}", block[:, i]) for i in best]
    if extra is not None:
        columns.append(extra)
    points = int(np.clip(MOST_BYTES // (count * len(columns)), FEWEST_POINTS, MOST_POINTS))
    before, after, between = _places(of_pair, points)
    values = np.empty((count, len(columns), points), np.uint8)
    low, high = [], []
    for i, (_, column) in enumerate(columns):
        ends = np.quantile(column[:: max(1, len(column) // SAMPLE)].astype(np.float64), [0.002, 0.998])
        room = 0.05 * (ends[1] - ends[0]) or 0.5
        low.append(float(ends[0] - room))
        high.append(float(ends[1] + room))
        value = column[before] * (1.0 - between) + column[after] * between
        unit = (value - low[-1]) / (high[-1] - low[-1])
        values[:, i] = np.clip(np.round(255.0 * unit), 0, 255).astype(np.uint8)
    return Signals(tuple(name for name, _ in columns), tuple(low), tuple(high), values)


def _kinds(verdict: Verdict) -> np.ndarray:
    """[D] what to tell apart: the kept from the others, or families where all got the same decision."""
    kept = np.array([one.decision == "keep" for one in verdict.demonstrations])
    if kept.any() and not kept.all():
        return kept.astype(np.int64)
    return np.array([one.family for one in verdict.demonstrations]) + 1


def _difference(column: np.ndarray, of_pair: np.ndarray, kinds: np.ndarray) -> float:
    """How much of what demonstrations differ by, in level and in spread, is a difference between the kinds."""
    size = np.bincount(of_pair)
    centred = column.astype(np.float64) - float(column.mean(dtype=np.float64))
    mean = np.bincount(of_pair, centred) / size
    spread = np.sqrt(np.maximum(np.bincount(of_pair, np.square(centred)) / size - np.square(mean), 0.0))
    shares = []
    for feature in (mean, spread):
        total = float(np.var(feature))
        of_kind = np.bincount(kinds, feature) / np.maximum(np.bincount(kinds), 1)
        shares.append(float(np.var(of_kind[kinds])) / total if total > 1e-12 else 0.0)
    return max(shares) + 1e-3 * min(shares)


def _places(of_pair: np.ndarray, points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[D, points] the pairs before and after each point, evenly from the first to the last, and the way between them."""
    order, size = np.argsort(of_pair, kind="stable"), np.bincount(of_pair)
    place = np.linspace(0.0, 1.0, points) * (size - 1)[:, None]
    before = np.floor(place).astype(np.int64)
    first = (np.cumsum(size) - size)[:, None]
    after = np.minimum(before + 1, (size - 1)[:, None])
    return order[first + before], order[first + after], place - before
