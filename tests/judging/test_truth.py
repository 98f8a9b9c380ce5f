"""Measures of an audit against labels, by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rilco.data.record import Demonstrations
from rilco.judging.grouping import Grouping
from rilco.judging.judging import PairJudgements
from rilco.judging.truth import auroc, compare


def brute_force(scores, positive):
    wins = [np.sign(up - down) for up in scores[positive] for down in scores[~positive]]
    return float(np.mean(wins) / 2 + 0.5)


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=40))
def test_auroc_counts_ties_half(rows):
    scores, positive = (np.array(column) for column in zip(*rows, strict=True))
    if positive.all() or not positive.any():
        assert auroc(scores, positive) is None
    else:
        assert auroc(scores, positive) == pytest.approx(brute_force(scores, positive))


def test_windows_are_of_one_demonstration_and_at_most_fifty_pairs():
    """Of demonstrations with 120, 50 and 7 pairs, the first two of them interleaved."""
    demonstration = np.array([0] * 30 + [1] * 50 + [0] * 90 + [2] * 7)
    ids = Grouping(demonstration, np.bincount(demonstration)).windows(50)
    first = np.array([0] * 50 + [1] * 50 + [2] * 20)  # the windows of the first, in its own order
    np.testing.assert_array_equal(ids[demonstration == 0], first)
    np.testing.assert_array_equal(ids[demonstration == 1], 3)
    np.testing.assert_array_equal(ids[demonstration == 2], 4)


def judged(score, keep, probability, demonstration):
    return PairJudgements(
        np.array(score, np.float32),
        np.array(probability, np.float32),
        np.array(keep),
        np.array(demonstration, np.int32),
    )


def test_shares_and_errors_are_of_pairs():
    expert = np.array([True] * 4 + [False] * 4)
    demos = Demonstrations(np.zeros((8, 1)), np.zeros((8, 1)), expert=expert)
    pairs = judged(
        [1, 2, 3, 4, 0, 0, 0, 2.5],
        [True, True, True, False, False, False, False, True],
        [1, 1, 1, 0.5, 0, 0, 0, 1],
        [0, 0, 1, 1, 2, 2, 3, 3],
    )
    truth = compare(pairs, demos)
    assert truth.pair_auroc == brute_force(pairs.score, expert)
    assert truth.demonstration_auroc == 1.0  # means 1.5 and 3.5 against 0 and 1.25
    assert truth.window_auroc == 1.0
    assert truth.expert_kept == 0.75
    assert truth.other_kept == 0.25
    assert truth.brier == pytest.approx((0.25 + 1.0) / 8)


def test_what_cannot_be_measured_is_none():
    demos = Demonstrations(np.zeros((2, 1)), np.zeros((2, 1)))
    pairs = judged([0, 1], [True, True], [1, 1], [0, 1])
    assert compare(pairs, demos) is None
    clean = compare(pairs, Demonstrations(demos.obs, demos.action, expert=np.array([True, True])))
    assert (clean.pair_auroc, clean.demonstration_auroc, clean.other_kept) == (None, None, None)
    assert clean.expert_kept == 1.0
    assert clean.brier == 0.0
