"""A cut is found where there are two groups, and nowhere else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.gaps import core, find_gap, gap_above

CONFIG = JudgingConfig()


def test_two_groups_are_cut_between_them() -> None:
    rng = np.random.default_rng(0)
    margin = np.concatenate([0.2 * rng.standard_normal(30), 3.0 + 0.2 * rng.standard_normal(6)])
    cut = find_gap(margin, CONFIG)
    assert 0.7 < cut.at < 2.3
    assert cut.proof > 2.0
    assert (cut.good[:30] > 0.85).all()
    assert (cut.good[30:] < 0.1).all()


def test_one_group_is_not_cut() -> None:
    for seed in range(20):
        cut = find_gap(0.3 * np.random.default_rng(seed).standard_normal(40), CONFIG)
        assert cut.proof < 1.0, seed
        assert (cut.good > 0.35).all(), seed


def test_identical_numbers_are_not_cut() -> None:
    assert np.isinf(find_gap(np.zeros(10), CONFIG).at)


def test_the_core_is_that_of_the_majority() -> None:
    centre, width = core(np.concatenate([np.linspace(-0.1, 0.1, 60), np.full(40, 5.0)]))
    assert abs(centre) < 0.05
    assert width < 0.2


def test_a_large_group_is_never_beyond_doubt() -> None:
    rng = np.random.default_rng(0)
    margin = np.concatenate([0.1 * rng.standard_normal(25), 5.0 + 0.1 * rng.standard_normal(15)])
    cut = find_gap(margin, CONFIG)
    assert (cut.good[25:] > 0.1).all()
    assert (cut.good[25:] < 0.35).all()


def test_what_lies_between_two_clear_gaps_is_odd_too() -> None:
    rng = np.random.default_rng(0)
    margin = np.concatenate([0.1 * rng.standard_normal(30), np.full(4, 2.0), np.full(4, 3.2)])
    assert 0.3 < find_gap(margin, CONFIG).at < 2.0
    assert find_gap(margin, replace(CONFIG, lower_gap=1.0)).at > 2.0


def test_a_long_tail_is_not_cut_in_its_middle() -> None:
    margin = np.concatenate([np.linspace(-0.2, 0.2, 50), np.linspace(0.2, 1.8, 45), np.linspace(2.6, 2.8, 5)])
    cut = find_gap(margin, CONFIG)
    assert cut.at > 1.8


def test_where_it_is_known_who_is_usual_the_odd_ones_may_be_the_majority() -> None:
    margin = np.concatenate([np.linspace(-0.1, 0.1, 10), np.full(5, 0.6), np.full(40, 2.0)])
    good = gap_above(margin, 0.1, CONFIG).good
    assert (good[:10] > 0.5).all()
    assert ((good[10:15] > CONFIG.unsure_from) & (good[10:15] < 0.5)).all()
    assert (good[15:] < CONFIG.unsure_from).all()
