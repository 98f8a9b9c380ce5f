"""From scores of pairs to scores of windows and demonstrations."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from rilco.data.record import Demonstrations
from rilco.judging.audit_config import AuditConfig


class Grouping(NamedTuple):
    """Which demonstration each pair belongs to, in the order of `Demonstrations.episodes`."""

    of_pair: np.ndarray  # [N] index of the demonstration
    pairs: np.ndarray  # [D]

    def rows(self) -> list[np.ndarray]:
        """The pairs of each demonstration, in order."""
        order = np.argsort(self.of_pair, kind="stable")
        return np.split(order, np.cumsum(self.pairs)[:-1])

    def windows(self, length: int) -> np.ndarray:
        """[N] a number for each window of `length` consecutive pairs of a demonstration, counted through all of them."""
        window = np.empty(len(self.of_pair), np.int64)
        window[np.argsort(self.of_pair, kind="stable")] = np.cumsum(places(self.pairs) % length == 0) - 1
        return window

    def steadied(self, scores: np.ndarray, around: int) -> np.ndarray:
        """[N] means over each pair and `around` neighbours on either side in the demonstration.

        At its ends it is mirrored, so that its own mean stays what it is.
        """
        order = np.argsort(self.of_pair, kind="stable")
        length = np.repeat(self.pairs, self.pairs)
        place, total = places(self.pairs), np.zeros(len(scores))
        begins = np.arange(len(scores)) - place
        for offset in range(-around, around + 1):
            there = (place + offset) % (2 * length)
            total += scores[order[begins + np.minimum(there, 2 * length - 1 - there)]]
        steadied = np.empty(len(scores))
        steadied[order] = total / (2 * around + 1)
        return steadied

    def means(self, scores: np.ndarray) -> np.ndarray:
        """[D] of scores [N]"""
        return np.bincount(self.of_pair, scores, len(self.pairs)) / self.pairs

    def scores(self, of_pairs: np.ndarray, config: AuditConfig) -> np.ndarray:
        """[D] of the demonstrations, by scores of pairs [N]: the mean over their windows.

        A window's score is that of its best pairs, but on the scale of all: what the best are above all in a typical window of
        that length is taken off.
        """
        windows, best = self.windows(config.window_pairs), config.telling_pairs
        lift = _usual_lift(of_pairs, windows, best)[np.bincount(windows)]
        return self.means((best_means(of_pairs, windows, best) - lift)[windows])


def group(demos: Demonstrations) -> Grouping:
    return Grouping(demos.index.place, demos.index.length[demos.index.by_appearance])


def in_pieces(demos: Demonstrations, length: int) -> Demonstrations:
    """The same pairs, each stretch of so many a demonstration of its own; 0 leaves them as they are."""
    return dataclasses.replace(demos, episode=group(demos).windows(length)) if length else demos


def places(sizes: np.ndarray) -> np.ndarray:
    """0, 1, ... up to the size of each group, one group after the other."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def best_means(scores: np.ndarray, windows: np.ndarray, count: int) -> np.ndarray:
    """[W] means over the `count` best pairs of each window; `windows` [N] has the window of each pair, counted from 0."""
    order = np.lexsort((-scores, windows))  # by window, and from its best pair on
    sizes = np.bincount(windows)
    best = order[places(sizes) < count]
    return np.bincount(windows[best], scores[best]) / np.minimum(sizes, count)


def _usual_lift(scores: np.ndarray, windows: np.ndarray, count: int) -> np.ndarray:
    """By length of a window, by how much its best pairs score above all of them: the median over all windows that are as
    long, or begin so. A short one has few pairs to choose from."""
    order, sizes = np.argsort(windows, kind="stable"), np.bincount(windows)
    place, window = places(sizes), windows[order]
    lift = np.zeros(sizes.max() + 1)
    for length in np.unique(sizes[sizes > count]):
        begin = order[(sizes[window] >= length) & (place < length)]
        some = scores[begin].reshape(-1, length)
        lift[length] = np.median(np.sort(some)[:, -count:].mean(1) - some.mean(1))
    return lift
