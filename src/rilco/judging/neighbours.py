"""Nearest pairs of other demonstrations: exact search by matrix products, in blocks.

Observations and actions have tens of dimensions, where trees are slower than matrix products. The libraries' searches cannot
leave a pair's own demonstration out, and its own next steps would be all that they find. So the search is spelled out.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

BLOCK_ELEMENTS = 4_000_000
"""Distances that a thread holds at once."""


def nearest_of_others(
    points: np.ndarray,
    group: np.ndarray,
    count: int,
    progress: Callable[[float], None] = lambda share: None,
    *,
    among: np.ndarray | None = None,
) -> np.ndarray:
    """[M, k] rows of the nearest points of other groups; k is `count`, or fewer where there are fewer.

    `group` [M] must be sorted. Distances are Euclidean. `among` [M] is true for the points that may be found.
    """
    total = len(points)
    rows = np.arange(total) if among is None else np.flatnonzero(among)
    first = np.searchsorted(group[rows], np.arange(group[-1] + 2))
    count = min(count, len(rows) - int(np.diff(first).max()))
    if count < 1:
        return np.empty((total, 0), np.int64)
    points = np.ascontiguousarray(points, np.float32)
    searched = points[rows]
    half_square = 0.5 * np.square(searched).sum(1)
    found = np.empty((total, count), np.int64)
    block = max(1, min(512, BLOCK_ELEMENTS // len(rows)))
    begins = range(0, total, block)

    def search(begin: int) -> None:
        end = min(begin + block, total)
        distance = (
            half_square - points[begin:end] @ searched.T
        )  # half the square, but for the query's own half
        for own in range(group[begin], group[end - 1] + 1):
            mine = slice(*np.searchsorted(group[begin:end], [own, own + 1]))
            distance[mine, first[own] : first[own + 1]] = np.inf
        found[begin:end] = rows[np.argpartition(distance, count - 1, axis=1)[:, :count]]

    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        for done, _ in enumerate(pool.map(search, begins), 1):
            progress(done / len(begins))
    return found


def mutual(nearest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays [L] of rows: those links of `nearest` [M, k] that go both ways, each in both directions.

    A lone point has nearest ones too, but they have nearer ones.
    """
    total, count = nearest.shape
    start, end = np.repeat(np.arange(total), count), nearest.ravel()
    both = np.isin(end * total + start, start * total + end, assume_unique=True)
    return start[both], end[both]


def medians(values: np.ndarray, group: np.ndarray, count: int, empty: float = np.nan) -> np.ndarray:
    """[count] of the values [M] of each group; `empty` of a group that has none."""
    ordered = values[np.lexsort((values, group))]
    size = np.bincount(group, minlength=count)
    some = size > 0
    place = 0.5 * (size - 1)[some]
    first = (np.cumsum(size) - size)[some]
    low, high = (ordered[first + side(place).astype(np.int64)] for side in (np.floor, np.ceil))
    found = np.full(count, empty)
    found[some] = 0.5 * (low + high)
    return found
