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
    points: np.ndarray, group: np.ndarray, count: int, progress: Callable[[float], None] = lambda share: None
) -> np.ndarray:
    """[M, k] rows of the nearest points of other groups; k is `count`, or fewer where there are fewer.

    `group` [M] must be sorted. Distances are Euclidean.
    """
    total = len(points)
    first = np.searchsorted(group, np.arange(group[-1] + 2))
    count = min(count, total - int(np.diff(first).max()))
    if count < 1:
        return np.empty((total, 0), np.int64)
    points = np.ascontiguousarray(points, np.float32)
    half_square = 0.5 * np.square(points).sum(1)
    found = np.empty((total, count), np.int64)
    block = max(1, min(512, BLOCK_ELEMENTS // total))
    begins = range(0, total, block)

    def search(begin: int) -> None:
        end = min(begin + block, total)
        distance = half_square - points[begin:end] @ points.T  # half the square, but for the query's own half
        for own in range(group[begin], group[end - 1] + 1):
            rows = slice(max(first[own], begin) - begin, min(first[own + 1], end) - begin)
            distance[rows, first[own] : first[own + 1]] = np.inf
        found[begin:end] = np.argpartition(distance, count - 1, axis=1)[:, :count]

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
