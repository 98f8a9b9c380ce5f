"""The report's numbers against closed forms and brute force."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
import scipy.stats

from rilco.experiment.statistics import (
    Interval,
    estimate,
    final_return,
    holm,
    improvement,
    interquartile_mean,
    iqm,
    probability_of_improvement,
    stretch_means,
    welch,
)


def test_final_return_is_the_mean_of_the_last_640k_transitions() -> None:
    transitions = np.arange(1, 51) * 100_000
    returns = np.arange(50.0)
    # 5.0 M - 640 k = 4.36 M: evaluations at 4.4 to 5.0 M, that is the last seven
    assert final_return(transitions, returns) == np.mean([43, 44, 45, 46, 47, 48, 49])
    assert final_return(transitions * 6.4, returns) == 49.0  # exclusive at its beginning


def test_final_return_of_a_run_that_is_shorter_than_the_window() -> None:
    assert final_return(np.array([640, 1280]), np.array([1.0, 3.0])) == 2.0


def test_estimate_has_the_textbook_standard_error() -> None:
    assert estimate([1.0, 2.0, 3.0, 6.0]) == (3.0, pytest.approx(math.sqrt(14 / 3) / 2), 4)
    assert estimate([7.0]) == (7.0, None, 1)


def test_stretch_means_against_a_loop() -> None:
    rng = np.random.default_rng(0)
    transitions = np.cumsum(rng.integers(1, 7, 200)) * 10  # many fall on the end of a stretch
    returns = rng.normal(size=200)
    found = stretch_means(transitions, returns, 100)
    for i, (mean_x, mean_y) in found.items():
        inside = (transitions > i * 100) & (transitions <= (i + 1) * 100)
        assert inside.any()
        assert mean_x == pytest.approx(transitions[inside].mean())
        assert mean_y == pytest.approx(returns[inside].mean())
    assert sum(((transitions > i * 100) & (transitions <= (i + 1) * 100)).sum() for i in found) == 200


# -- over the tasks ------------------------------------------------------------------------------


def test_interquartile_mean_of_known_numbers() -> None:
    assert interquartile_mean(np.array([100.0, 1.0, 2.0, -50.0])) == 1.5
    assert interquartile_mean(np.arange(8.0)) == 3.5
    assert interquartile_mean(np.array([1.0, 5.0])) == 3.0  # too few to leave any out
    assert interquartile_mean(np.array([1.0, 2.0, 3.0, 4.0, 1e9])) == 3.0


def test_improvement_against_all_pairs() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 5, 6).astype(float), rng.integers(0, 5, 4).astype(float)  # with ties
    pairs = [1.0 if a > b else 0.5 if a == b else 0.0 for a, b in itertools.product(x, y)]
    assert improvement(x, y) == pytest.approx(np.mean(pairs))
    assert improvement(x, y) + improvement(y, x) == pytest.approx(1.0)
    u = scipy.stats.mannwhitneyu(x, y).statistic
    assert improvement(x, y) == pytest.approx(u / (len(x) * len(y)))


def test_improvement_of_two_normals_has_its_closed_form() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(0.7, 1.0, 1000), rng.normal(0.0, 1.0, 1000)
    assert improvement(x, y) == pytest.approx(scipy.stats.norm.cdf(0.7 / math.sqrt(2)), abs=0.03)


def test_probability_of_improvement_counts_every_task_alike() -> None:
    always, never = (np.array([2.0] * 9), np.array([1.0])), (np.array([1.0]), np.array([2.0] * 5))
    assert probability_of_improvement([always[0], never[0]], [always[1], never[1]]).value == 0.5


def check_tails(interval: Interval, values: Sequence[float] | np.ndarray) -> None:
    """The interval's ends cut 2.5% off either side of a discrete distribution, whose steps may hold more."""
    values = np.asarray(values)
    assert (values < interval.low - 1e-9).mean() <= 0.03
    assert (values <= interval.low + 1e-9).mean() >= 0.02
    assert (values > interval.high + 1e-9).mean() <= 0.03
    assert (values >= interval.high - 1e-9).mean() >= 0.02


def test_intervals_against_all_possible_resamples() -> None:
    tasks = [np.array([0.0, 1.0, 5.0]), np.array([2.0, 2.5, 7.0])]
    rivals = [np.array([1.0, 2.0]), np.array([2.0, 9.0])]

    def draws(runs: np.ndarray) -> list[np.ndarray]:
        return [np.array(draw) for draw in itertools.product(runs, repeat=len(runs))]

    means = [interquartile_mean(np.concatenate(pair)) for pair in itertools.product(*map(draws, tasks))]
    check_tails(iqm(tasks).interval, means)
    each = [
        [float(improvement(a, b)) for a, b in itertools.product(draws(x), draws(y))]
        for x, y in zip(tasks, rivals, strict=True)
    ]
    check_tails(probability_of_improvement(tasks, rivals).interval, np.add.outer(*each).ravel() / 2)


def test_intervals_are_stratified_by_task() -> None:
    # Each task's runs agree, so drawing them again changes nothing; drawing across tasks would.
    tasks = [np.array([1.0, 1.0, 1.0]), np.array([5.0, 5.0, 5.0])]
    assert iqm(tasks) == (3.0, (3.0, 3.0))


def test_a_single_run_of_a_task_gives_no_interval() -> None:
    several, single = np.array([1.0, 2.0]), np.array([3.0])
    assert iqm([several, single]).interval is None
    assert probability_of_improvement([several], [single]).interval is None
    assert iqm([several, several]).interval is not None


def test_intervals_are_the_same_every_time() -> None:
    tasks = [np.random.default_rng(3).normal(size=5)]
    assert iqm(tasks) == iqm(tasks)


def test_welch_by_its_formula() -> None:
    ours, theirs = np.array([1.0, 2.0, 4.0, 7.0]), np.array([3.0, 3.5, 3.0])
    spread = [group.var(ddof=1) / len(group) for group in (ours, theirs)]
    found = welch(ours, theirs)
    assert found is not None
    freedom = sum(spread) ** 2 / (spread[0] ** 2 / 3 + spread[1] ** 2 / 2)
    t = found.mean / math.sqrt(sum(spread))
    assert found.mean == pytest.approx(3.5 - 9.5 / 3)
    assert found.p_value == pytest.approx(2 * scipy.stats.t.sf(abs(t), freedom))
    half = scipy.stats.t.ppf(0.975, freedom) * math.sqrt(sum(spread))
    assert found.interval == pytest.approx((found.mean - half, found.mean + half))
    assert welch([1.0], theirs) is None


def test_holm_multiplies_the_smallest_most_and_never_turns_the_order() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
