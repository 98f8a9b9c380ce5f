"""The search finds what a search by hand finds."""

from __future__ import annotations

import numpy as np

from rilco.judging.neighbours import medians, mutual, nearest_of_others


def test_nearest_points_are_those_of_other_groups() -> None:
    rng = np.random.default_rng(0)
    points, group = rng.standard_normal((60, 3)), np.repeat(np.arange(6), 10)
    found = nearest_of_others(points, group, 5)
    distance = np.sqrt(np.square(points[:, None] - points).sum(2))
    distance[group[:, None] == group] = np.inf
    expected = np.sort(np.argsort(distance, axis=1)[:, :5])
    np.testing.assert_array_equal(np.sort(found), expected)


def test_only_the_points_asked_for_are_found() -> None:
    points, group = np.arange(12.0)[:, None], np.repeat(np.arange(4), 3)
    among = group == 3
    assert set(nearest_of_others(points, group, 2, among=among)[:9].ravel()) <= set(np.flatnonzero(among))


def test_a_lone_point_has_no_mutual_neighbours() -> None:
    points = np.array([[0.0], [0.1], [0.2], [9.0]])
    start, end = mutual(nearest_of_others(points, np.arange(4), 1))
    assert 3 not in start
    assert {(0, 1), (1, 0)} <= set(zip(start.tolist(), end.tolist(), strict=True))


def test_medians_of_groups() -> None:
    np.testing.assert_allclose(
        medians(np.array([3.0, 1.0, 2.0, 5.0, 7.0]), np.array([0, 0, 0, 1, 1]), 2), [2.0, 6.0]
    )
