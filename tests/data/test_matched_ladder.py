"""Matched ladders: how demonstrators are compared, and which snapshots are picked."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.matched_ladder import Behaviour, behaviour, distance, pick

from rilco.data.record import Demonstrations

AUTHORS = [Behaviour(1000, 0.0, 2.0, 1000), Behaviour(500, 0.8, 1.0, 600), Behaviour(0, 0.4, 0.0, 20)]
FRACTIONS = (1.0, 0.5, 0.0)


def test_distance_has_no_units_and_is_a_mean_over_dimensions() -> None:
    expert = np.random.default_rng(0).normal(size=(500, 3)).astype(np.float32)
    other = expert + np.float32(4.0)
    assert distance(expert, expert) == 0.0
    apart = distance(other, expert)
    assert apart > 0.3
    assert distance(other * [1, 100, 1], expert * [1, 100, 1]) == pytest.approx(apart, rel=1e-4)
    assert distance(np.tile(other, 2), np.tile(expert, 2)) == pytest.approx(apart, rel=1e-4)


def test_a_dimension_that_never_changes_counts_nothing() -> None:
    expert = np.random.default_rng(0).normal(size=(500, 1))
    still = np.hstack([expert, np.ones_like(expert)])
    assert distance(still + np.array([4.0, 0.0]), still) == pytest.approx(
        distance(expert + 4.0, expert) / np.sqrt(2)
    )


def test_behaviour_of_episodes() -> None:
    obs = np.zeros((6, 5), np.float32)
    obs[:, 3] = 0.3 * np.array([0, 1, 2, 2, 3, 9])
    reward = np.array([1, 1, 1, 1, 5, 3], np.float32)
    demos = Demonstrations(obs, np.zeros((6, 1), np.float32), episode=[0, 0, 0, 0, 1, 1], reward=reward)
    assert behaviour(demos, demos) == pytest.approx(Behaviour(6.0, 0.0, 2.0, 3.0), rel=1e-5)


def test_of_those_with_the_wanted_return_the_most_alike_is_picked() -> None:
    found = [
        Behaviour(500, 0.6, 1.0, 600),
        Behaviour(550, 0.79, 0.9, 620),  # the most alike
        Behaviour(700, 0.8, 1.0, 600),  # too good
        Behaviour(20, 0.6, 0.0, 20),
    ]
    assert pick(found, AUTHORS, FRACTIONS, best=1000) == [1, 3]


def test_no_policy_is_picked_twice_and_none_that_is_not_there() -> None:
    same = [AUTHORS[0], AUTHORS[1], AUTHORS[1]]
    found = [Behaviour(500, 0.8, 1.0, 600), Behaviour(480, 0.6, 1.0, 600)]
    assert pick(found, same, (1.0, 0.5, 0.5), best=1000) == [0, 1]
    with pytest.raises(SystemExit, match=r"near 0\.00"):
        pick(found, AUTHORS, FRACTIONS, best=1000)
