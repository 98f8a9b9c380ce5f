"""Probabilities of pairs: isotonic regression against closed forms, and calibration against labels."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rilco.judging.calibration import BINS, Calibration, rising


def nearest_by_brute_force(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Of all ways to cut the sequence into blocks, each at its mean, the best that does not fall."""
    best, best_error = None, np.inf
    for ends in itertools.product([False, True], repeat=len(values) - 1):
        blocks = np.split(np.arange(len(values)), np.flatnonzero(ends) + 1)
        fitted = np.concatenate(
            [np.full(len(rows), np.average(values[rows], weights=weights[rows])) for rows in blocks]
        )
        error = np.sum(weights * np.square(values - fitted))
        if (np.diff(fitted) >= -1e-12).all() and error < best_error:
            best, best_error = fitted, error
    return best


@pytest.mark.parametrize(
    ("values", "weights", "expected"),
    [
        ([1, 2, 3], [1, 1, 1], [1, 2, 3]),
        ([3, 2, 1], [1, 1, 1], [2, 2, 2]),
        ([3, 0], [1, 2], [1, 1]),
        ([1, 3, 2, 4], [1, 1, 1, 1], [1, 2.5, 2.5, 4]),
        ([2, 3, 0, 0], [1, 1, 1, 1], [1.25, 1.25, 1.25, 1.25]),  # a pooled block pulls in the one before
        ([5], [2], [5]),
        ([1, 1], [1, 3], [1, 1]),
    ],
)
def test_closed_forms(values, weights, expected):
    np.testing.assert_allclose(rising(np.array(values, float), np.array(weights, float)), expected)


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=8))
def test_it_is_the_nearest_rising_sequence(rows):
    values, weights = (np.array(column, float) for column in zip(*rows, strict=True))
    np.testing.assert_allclose(rising(values, weights), nearest_by_brute_force(values, weights), atol=1e-12)


@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(0, 1)), min_size=1, max_size=60))
def test_it_rises_and_stays_between_what_it_was_fitted_to(rows):
    scores, probabilities = (np.array(column) for column in zip(*rows, strict=True))
    fitted = Calibration(scores, probabilities)(np.linspace(-10, 10, 101))
    assert (np.diff(fitted) >= -1e-12).all()
    assert probabilities.min() - 1e-12 <= fitted.min() <= fitted.max() <= probabilities.max() + 1e-12


def test_of_the_pairs_with_a_probability_as_many_are_the_experts():
    """Pairs of demonstrations of known kind: scores overlap, and the logistic function is the truth."""
    rng = np.random.default_rng(0)
    kind = np.repeat(rng.random(4000) < 0.6, 50)  # [N] whose demonstration a pair is of
    scores = np.where(kind, 1.0, -1.0) + rng.normal(size=len(kind)) * np.sqrt(2.0)
    probability = Calibration(scores, kind.astype(float))(scores)
    for low in np.arange(0.0, 1.0, 0.1):
        inside = (probability >= low) & (probability < low + 0.1)
        if inside.sum() > 1000:
            assert kind[inside].mean() == pytest.approx(probability[inside].mean(), abs=0.02)
    truth = 1.0 / (1.0 + np.exp(-scores) * 0.4 / 0.6)
    assert np.abs(probability - truth).mean() < 0.02


def test_without_a_connection_to_the_score_every_pair_has_the_mean():
    scores = np.arange(2000.0)
    probabilities = np.where(np.arange(2000) % 2, 1.0, 0.2)
    np.testing.assert_allclose(Calibration(scores, probabilities)(scores), 0.6, atol=1e-9)


def test_one_pair_is_enough():
    np.testing.assert_array_equal(Calibration(np.array([0.3]), np.array([0.8]))([-1.0, 0.3, 2.0]), 0.8)


def test_equal_scores_have_one_probability():
    for count in (4, 10 * BINS):
        rng = np.random.default_rng(count)
        probabilities = rng.random(count)
        fitted = Calibration(np.zeros(count), probabilities)
        assert fitted(np.array([0.0])) == pytest.approx(probabilities.mean())


def test_few_distinct_scores_keep_their_means():
    scores = np.repeat([0.0, 1.0, 2.0], 5000)
    probabilities = np.random.default_rng(0).random(15_000) * np.repeat([0.2, 0.6, 1.0], 5000)
    expected = probabilities.reshape(3, 5000).mean(1)
    np.testing.assert_allclose(Calibration(scores, probabilities)([0.0, 1.0, 2.0]), expected, rtol=0.01)
