"""Is there a gap? One number for each demonstration, low for most: where the odd ones begin, and how clear that is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rilco.judging.config import JudgingConfig


class Cut(NamedTuple):
    """Where a list of numbers falls into usual and odd ones."""

    at: float
    """Above it they are odd; infinite where nothing is."""
    gap: float
    """Between the highest usual and the lowest odd one."""
    clarity: float
    """From 0, no cut at all, to 1."""
    good: np.ndarray
    """[D] probability of being usual, 0.5 where that is open."""


def core(values: np.ndarray) -> tuple[float, float]:
    """Centre and spread of the densest half: what the others are like, whatever the rest is."""
    ordered = np.sort(values)
    half = len(ordered) // 2 + 1
    widths = ordered[half - 1 :] - ordered[: len(ordered) - half + 1]
    begin = int(np.argmin(widths))
    return float(ordered[begin : begin + half].mean()), float(widths[begin]) / (2.0 * 0.6745)


def find_cut(margin: np.ndarray, width: float, config: JudgingConfig) -> Cut:
    """The widest gap that leaves at least half below and lies above the core."""
    ordered = np.sort(margin)
    scale = max(width, config.least_width)
    half = len(ordered) // 2
    gaps = np.diff(ordered)[half:]
    lower = ordered[half:-1]
    strength = np.where(lower + gaps > config.odd_from * scale, gaps, 0.0)
    if len(strength) == 0 or strength.max() <= 0.0:
        return Cut(np.inf, 0.0, 0.0, np.full(len(margin), 0.9))
    best = int(np.argmax(strength))
    gap, at = float(gaps[best]), float(lower[best] + 0.5 * gaps[best])
    clarity = float(np.clip(min(gap / config.wide_gap, gap / scale / config.clear_gap), 0.0, 1.0))
    odd = margin > at
    good = np.where(odd, 0.5 - 0.45 * clarity, 0.5 + 0.45 * np.maximum(clarity, 0.6))
    return Cut(at, gap, clarity, good)
