"""The decision rule on made-up scores whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rilco.judging import cut
from rilco.judging.audit_config import AuditConfig
from rilco.judging.cut import Cut, expert_probability, weighted_quantile

CONFIG = AuditConfig()

EXPERT = np.array([2.36, 2.40, 2.41, 2.43, 2.43, 2.45, 2.46, 2.47, 2.49, 2.52])  # ten demonstrations
POLICY = -1.5
Case = tuple[np.ndarray, np.ndarray, float]  # scores, lengths and the learner's score


def mixture(others: np.ndarray, expert: np.ndarray = EXPERT) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, lengths and truth of whole episodes of an expert and runs of 50 pairs of others."""
    scores = np.concatenate([expert, others])
    pairs = np.concatenate([np.full(len(expert), 1000), np.full(len(others), 50)])
    return scores, pairs, np.arange(len(scores)) < len(expert)


def broad(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-3.0, 1.2, count)


def find_cut(scores: np.ndarray, pairs: np.ndarray, policy: float) -> Cut | None:
    return cut.find_cut(scores, pairs, policy, CONFIG)


def kept(scores: np.ndarray, pairs: np.ndarray, policy: float = POLICY) -> np.ndarray:
    found = find_cut(scores, pairs, policy)
    return scores >= found.cut if found.certain else np.ones(len(scores), bool)


# --- mixtures


@pytest.mark.parametrize("others", [20, 50, 100, 150])  # true fractions of 1/11, 1/5, 1/3 and 3/7
@pytest.mark.parametrize("seed", range(5))
def test_the_cut_is_exact_at_every_noise_rate(others: int, seed: int) -> None:
    scores, pairs, truth = mixture(broad(others, seed))
    found = find_cut(scores, pairs, POLICY)
    assert found.certain
    np.testing.assert_array_equal(scores >= found.cut, truth)
    assert found.expert.share == pytest.approx(pairs[truth].sum() / pairs.sum(), abs=0.01)
    assert found.expert.mean == pytest.approx(EXPERT.mean(), abs=0.02)
    assert found.doubtful == 0.0


def test_the_best_of_the_others_may_come_close() -> None:
    """The largest gap below the upper half is elsewhere: between 2.13 and 1.65, or further down."""
    others = np.concatenate([np.full(8, 2.13), [1.65], np.linspace(-2.0, 1.43, 91)])
    scores, pairs, truth = mixture(others, np.linspace(2.40, 2.47, 10))
    below = np.sort(scores)
    gaps = np.diff(below[below < 2.40], append=2.40)
    assert gaps.argmax() < len(gaps) - 1, "the example shows what it is meant to show"
    np.testing.assert_array_equal(kept(scores, pairs), truth)


@pytest.mark.parametrize("outlier", [2.3, 3.5])  # by three of the least spread below, and far above
def test_a_demonstration_apart_from_the_rest_and_far_above_the_others_is_kept(outlier: float) -> None:
    expert = EXPERT.copy()
    expert[0] = outlier
    scores, pairs, truth = mixture(broad(150), expert)
    np.testing.assert_array_equal(kept(scores, pairs), truth)


def test_kinds_that_are_each_of_one_score_are_told_apart_however_far() -> None:
    for distance in (0.5, 3.0, 100.0):
        scores, pairs, truth = mixture(np.full(100, -distance), np.zeros(10))
        np.testing.assert_array_equal(kept(scores, pairs, policy=-1.0), truth)


def test_one_demonstration_of_another_kind_among_few() -> None:
    scores = np.array([2.40, 2.41, 2.43, 2.45, 2.47, 2.46, 2.42, 2.44, 2.43, 0.3])
    np.testing.assert_array_equal(kept(scores, np.full(10, 1000)), scores > 1.0)


# --- clean data


@pytest.mark.parametrize("count", [3, 10, 11, 50])
@pytest.mark.parametrize("spread", [0.0, 0.005, CONFIG.least_spread, 0.02, 0.2])
@pytest.mark.parametrize("seed", range(5))
def test_one_kind_is_not_cut(count: int, spread: float, seed: int) -> None:
    unit = EXPERT.mean() - POLICY
    scores = EXPERT.mean() + spread * unit * np.random.default_rng(seed).normal(size=count)
    found = find_cut(scores, np.full(count, 1000), POLICY)
    assert not found.certain
    assert expert_probability(scores, found).mean() > 0.6


@pytest.mark.parametrize("count", [10, 11])
@pytest.mark.parametrize("below", [0.02, CONFIG.least_separation])
def test_a_mild_outlier_is_no_other_kind(count: int, below: float) -> None:
    scores = np.full(count, 2.4)
    scores[-1] -= below * (2.4 - POLICY)
    found = find_cut(scores, np.full(count, 1000), POLICY)
    assert not found.certain


def test_equal_scores_are_of_one_kind() -> None:
    found = find_cut(np.full(12, 0.7), np.full(12, 10), 0.7)
    assert not found.certain
    assert found.cut <= 0.7
    assert (expert_probability(np.full(12, 0.7), found) > 0.9).all()


def test_fewer_than_two_demonstrations_have_no_cut() -> None:
    assert find_cut(np.array([1.0]), np.array([100]), 0.0) is None
    assert find_cut(np.empty(0), np.empty(0, int), 0.0) is None
    np.testing.assert_array_equal(expert_probability(np.array([1.0]), None), [1.0])


def test_what_a_learner_has_caught_up_with_is_not_told_apart() -> None:
    """Scores that differ by little of a classifier's own scale, however long the way to the learner."""
    scores, pairs, _ = mixture(np.full(100, 2.44 - 0.02), np.full(10, 2.44))
    assert not find_cut(scores, pairs, policy=2.40).certain


# --- what the answer does not depend on


@pytest.mark.parametrize(("shift", "scale"), [(5.0, 1.0), (-40.0, 1.0), (0.0, 3.0), (2.0, 100.0)])
def test_shifting_and_scaling_all_scores_moves_the_cut_along(shift: float, scale: float) -> None:
    scores, pairs, _ = mixture(broad(100))
    one = find_cut(scores, pairs, POLICY)
    other = find_cut(shift + scale * scores, pairs, shift + scale * POLICY)
    assert other.cut == pytest.approx(shift + scale * one.cut, abs=1e-6 * scale)
    assert other.separation == pytest.approx(one.separation)
    assert other.evidence == pytest.approx(one.evidence)


def test_the_order_and_the_unit_of_length_do_not_matter() -> None:
    scores, pairs, _ = mixture(broad(100))
    order = np.random.default_rng(1).permutation(len(scores))
    one, other = find_cut(scores, pairs, POLICY), find_cut(scores[order], 7 * pairs[order], POLICY)
    assert other.cut == pytest.approx(one.cut)
    assert other.evidence == pytest.approx(one.evidence)


def test_lengths_matter() -> None:
    """The same scores, but the upper ones are a minority of the pairs."""
    scores, pairs, _ = mixture(broad(150))
    assert find_cut(scores, pairs, POLICY).expert.share == pytest.approx(4 / 7, abs=0.01)
    even = find_cut(scores, np.full(len(scores), 50), POLICY)
    assert even.expert.std > 0.5, "most of them are not alike"


# --- probabilities


@pytest.mark.parametrize(
    "scores",
    [
        mixture(broad(100))[0],
        np.concatenate([np.full(9, -1.0), np.linspace(-5.0, 5.0, 40)]),  # the others are the narrow kind
        np.array([0.0, 1.0]),
    ],
)
def test_the_probability_rises_with_the_score(scores: np.ndarray) -> None:
    found = find_cut(scores, np.full(len(scores), 100), POLICY)
    probability = expert_probability(np.linspace(-20.0, 20.0, 2001), found)
    assert (np.diff(probability) >= -1e-12).all()
    assert 0.0 <= probability.min() <= probability.max() <= 1.0


def test_worse_than_bad_is_not_good() -> None:
    """A broad expert and one consistent other: far below the latter the former's density would win."""
    rng = np.random.default_rng(0)
    expert, others = rng.normal(2.0, 0.4, 30), rng.normal(-1.0, 0.05, 20)
    found = find_cut(np.concatenate([expert, others]), np.full(50, 100), POLICY)
    assert found.certain
    assert found.expert.std > found.other.std
    assert expert_probability(np.array([-4.0, -1.0, 2.0]), found) == pytest.approx([0.0, 0.0, 1.0], abs=0.01)


def test_near_the_cut_it_is_doubtful() -> None:
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.normal(1.0, 0.5, 60), rng.normal(-0.8, 0.5, 40)])
    found = find_cut(scores, np.full(100, 50), -2.0)
    assert found.certain
    assert found.doubtful > 0.02
    assert 0.1 < expert_probability(np.array([found.cut]), found)[0] < 0.9


# --- anything at all


@st.composite
def anything(draw: st.DrawFn) -> Case:
    count = draw(st.integers(2, 30))
    numbers = st.one_of(st.floats(-50, 50), st.sampled_from([-1.0, 0.0, 1.0, 1.0 + 1e-12]))
    scores = np.array(draw(st.lists(numbers, min_size=count, max_size=count)))
    pairs = np.array(draw(st.lists(st.sampled_from([1, 50, 1000, 10**6]), min_size=count, max_size=count)))
    return scores, pairs, draw(st.floats(-60, 60))


@given(anything())
def test_nothing_is_ever_undefined(case: Case) -> None:
    scores, pairs, policy = case
    found = find_cut(scores, pairs, policy)
    values = [*found.expert, *found.other, found.cut, found.evidence, found.separation, found.doubtful]
    assert np.isfinite(values).all()
    assert 0.0 <= found.probability <= 1.0
    assert 0.5 <= found.expert.share <= 1.0
    assert found.expert.share + found.other.share == pytest.approx(1.0)
    probability = expert_probability(np.sort(scores), found)
    assert ((probability >= 0.0) & (probability <= 1.0)).all()
    assert (np.diff(probability) >= -1e-9).all()
    if found.certain:
        assert found.other.mean < found.cut < found.expert.mean


@given(anything(), st.floats(0.01, 0.99))
def test_the_quantile_is_the_largest_value_that_enough_is_not_below(case: Case, share: float) -> None:
    values, weight, _ = case
    found = weighted_quantile(values, weight / weight.sum(), share)
    reached = [v for v in values if weight[values >= v].sum() / weight.sum() >= share - 1e-12]
    assert found == max(reached)


def test_an_uneven_expert_is_kept_where_the_others_are_much_alike() -> None:
    """From a real audit of MuJoCo's Hopper: two of the expert's episodes fell, and the others stand close together."""
    expert = np.array([1.60, 1.61, 1.43, 1.28, 1.49, 1.57, 1.53, 1.61, 1.59, 1.57, 1.22])
    lengths = np.array([1000, 1000, 919, 684, 1000, 852, 1000, 1000, 1000, 1000, 609])
    others = np.random.default_rng(0).normal(-0.05, 0.03, 19)
    scores = np.concatenate([expert, others])
    cut = find_cut(scores, np.concatenate([lengths, np.full(19, 372)]), policy=-1.02)
    assert cut is not None
    assert cut.certain
    assert others.max() < cut.cut < expert.min()


# --- two kinds of good


def test_no_cut_between_two_clusters_that_are_both_far_from_the_rest() -> None:
    """Easy and hard starts of one expert, near each other; the bad ones are far below both."""
    easy, hard, bad = np.linspace(2.4, 2.5, 20), np.linspace(2.0, 2.1, 8), np.linspace(-2.2, -2.0, 6)
    scores = np.concatenate([easy, hard, bad])
    found = find_cut(scores, np.full(34, 100), POLICY)
    assert hard.max() < found.cut < easy.min(), "the example shows what it is meant to show"
    assert found.floor < hard.min(), "the hard starts are undecided"
    assert found.floor > bad.max(), "the bad ones are not excused"


def test_a_gap_among_the_bad_that_is_no_wider_changes_nothing() -> None:
    scores = np.concatenate(
        [np.linspace(2.4, 2.5, 12), np.linspace(-0.1, 0.1, 6), np.linspace(-1.6, -1.4, 6)]
    )
    found = find_cut(scores, np.full(24, 100), POLICY)
    assert found.floor == found.cut
