"""From scores of pairs to verdicts, on made-up scores."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from rilco.data.record import Demonstrations
from rilco.judging import ruling as judging
from rilco.judging.audit_config import AuditConfig
from rilco.judging.classifiers import Scores
from rilco.judging.opinion import Opinion
from rilco.judging.ruling import Ruling, not_outgrown, opinion_of, why_go_on, worst_return
from rilco.judging.windows import Grouping, best_means, group, in_pieces

CONFIG = AuditConfig()
POLICY = -1.5
EXPERT = np.linspace(2.36, 2.5, 10)


def make_demos(
    lengths: Sequence[int] | np.ndarray,
    makers: ArrayLike | None = None,
    expert: ArrayLike | None = None,
    **more: Any,
) -> Demonstrations:
    """Demonstrations of these lengths; `makers` and `expert` hold one value for each."""
    episode = np.repeat(np.arange(len(lengths)), lengths)
    if makers is not None:
        more["demonstrator"] = np.repeat(makers, lengths)
    if expert is not None:
        more["expert"] = np.repeat(expert, lengths)
    empty = np.zeros((len(episode), 1), np.float32)
    return Demonstrations(empty, empty, episode=episode, **more)


def make_scores(
    levels: ArrayLike, demos: Demonstrations, policy: float = POLICY, spread: float = 0.3
) -> Scores:
    """Scores whose means over the demonstrations are `levels` [S, D]."""
    grouping, rng = group(demos), np.random.default_rng(0)
    stretches = []
    for level in np.atleast_2d(levels):
        noise = rng.normal(0.0, spread, len(demos))
        noise -= grouping.means(noise)[grouping.of_pair]
        stretches.append(level[grouping.of_pair] + noise)
    return Scores(np.array(stretches, np.float32), np.full(len(stretches), policy), 12_800)


def mixture(others: int = 40) -> tuple[np.ndarray, Demonstrations, np.ndarray]:
    """An expert's ten demonstrations of 400 pairs and others of 50; levels [2, D], demonstrations, truth."""
    rng = np.random.default_rng(0)
    levels = np.concatenate([EXPERT, rng.uniform(-3.0, 1.2, others)])
    truth = np.arange(len(levels)) < len(EXPERT)
    makers = np.where(truth, 0, 1 + np.arange(len(levels)) % 3)
    demos = make_demos(np.where(truth, 400, 50), makers, truth)
    moved = levels + 0.01 * rng.normal(size=(2, len(levels)))
    return moved, demos, truth


def rule(scores: Scores, grouping: Grouping) -> Ruling:
    return judging.rule(scores, grouping, CONFIG)


def formed(scores: Scores, stretches: int, grouping: Grouping) -> bool:
    return why_go_on(scores, stretches, grouping, CONFIG) is None


def audited(levels: ArrayLike, demos: Demonstrations, **more: Any) -> tuple[Ruling, Opinion]:
    scores = make_scores(levels, demos, **more)
    ruling = rule(scores, group(demos))
    return ruling, opinion_of(ruling, scores, demos, CONFIG)


# --- which pair belongs to which demonstration


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_groups_are_the_episodes_in_their_order(ids: list[int]) -> None:
    """Also of episodes whose pairs are interleaved, and whose numbers do not rise."""
    obs = np.arange(len(ids), dtype=np.float32)[:, None]
    demos = Demonstrations(obs, obs, episode=np.array(ids))
    grouping = group(demos)
    episodes = list(demos.episodes())
    assert [len(episode) for episode in episodes] == grouping.pairs.tolist()
    for index, episode in enumerate(episodes):
        np.testing.assert_array_equal(np.flatnonzero(grouping.of_pair == index), episode.obs[:, 0])
    np.testing.assert_allclose(grouping.means(obs[:, 0]), [episode.obs.mean() for episode in episodes])


def test_a_windows_score_is_that_of_its_best_pairs_on_the_scale_of_all() -> None:
    rng = np.random.default_rng(0)
    grouping = Grouping(np.repeat(np.arange(11), 200), np.full(11, 200))
    scores = rng.normal(2.0, 1.0, 2200)
    scores[-200:] = np.tile(np.repeat([-3.0, 2.0], [35, 15]), 4)  # of the last one
    of_demos = grouping.scores(scores, CONFIG)
    np.testing.assert_allclose(of_demos[:10], 2.0, atol=0.35)
    usual = np.median(np.sort(scores.reshape(-1, 50))[:, -15:].mean(1) - scores.reshape(-1, 50).mean(1))
    assert of_demos[10] == pytest.approx(2.0 - usual)
    assert usual == pytest.approx(1.1, abs=0.15), "of fifteen of fifty from a normal distribution"


@given(lengths=st.lists(st.integers(1, 120), min_size=1, max_size=5), seed=st.integers(0, 100))
def test_a_window_counts_by_its_best_pairs(lengths: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    of_pair = rng.permutation(np.repeat(np.arange(len(lengths)), lengths))
    grouping = Grouping(of_pair, np.array(lengths))
    scores = rng.normal(size=len(of_pair))
    windows = grouping.windows(50)
    best = best_means(scores, windows, 15)
    for window, rows in enumerate(np.flatnonzero(windows == w) for w in range(len(best))):
        assert best[window] == pytest.approx(np.sort(scores[rows])[-15:].mean())
    if max(lengths) <= 15:
        expected = [scores[rows].mean() for rows in grouping.rows()]
        np.testing.assert_allclose(
            grouping.scores(scores, CONFIG), expected, err_msg="nothing to choose from"
        )


@pytest.mark.parametrize("length", [5, 10, 20, 35, 50])
def test_short_demonstrations_are_not_judged_by_their_length(length: int) -> None:
    """Of one kind, whose pairs swing within a stride."""
    demos = make_demos([1000] * 8 + [length] * (2000 // length))
    stride = np.sin(np.arange(len(demos)) * 2 * np.pi / 20)
    level = np.repeat(np.random.default_rng(0).normal(2.0, 0.05, len(group(demos).pairs)), group(demos).pairs)
    pairs = level + stride + np.random.default_rng(1).normal(0.0, 0.2, len(demos))
    scores = group(demos).scores(pairs, CONFIG)
    assert scores[8:].mean() == pytest.approx(scores[:8].mean(), abs=0.1)
    ruling = rule(Scores(np.array([pairs, pairs], np.float32), np.full(2, POLICY), 1), group(demos))
    assert ruling.kept.all(), ruling.kind


# --- what the ruling is


def test_a_mixture_is_cut_between_its_kinds() -> None:
    levels, demos, truth = mixture()
    ruling = rule(make_scores(levels, demos), group(demos))
    assert ruling.kind == "mixed"
    np.testing.assert_array_equal(ruling.scores >= ruling.cut.cut, truth)
    assert ruling.agreement == 1.0
    assert ruling.confidence > 0.99
    assert formed(make_scores(levels, demos), 2, group(demos))


def test_one_kind_is_clean() -> None:
    demos = make_demos([400] * 10)
    ruling = rule(make_scores([EXPERT, EXPERT[::-1]], demos), group(demos))
    assert ruling.kind == "clean"
    assert ruling.confidence > 0.9
    assert formed(make_scores([EXPERT, EXPERT[::-1]], demos), 2, group(demos))


def test_stretches_that_disagree_are_inseparable() -> None:
    levels, demos, _ = mixture()
    other = levels[1].copy()
    other[:2], other[-16:] = -1.0, 2.4  # as many pairs: two of the expert's change places with others
    scores = make_scores([levels[0], other], demos)
    ruling = rule(scores, group(demos))
    assert ruling.agreement < CONFIG.agreement
    assert ruling.kind == "inseparable"
    assert not formed(scores, 2, group(demos))
    ruling, opinion = audited([levels[0], other], demos)
    assert ruling.kept.all()
    assert opinion.standing == 0.0
    assert set(opinion.good) == {0.5}
    assert "keeps changing" in opinion.why


def test_it_has_not_formed_while_others_are_among_the_expert() -> None:
    """Half of the others score about as the expert does, on either side; the rest are far below."""
    levels = np.concatenate([EXPERT, np.linspace(1.8, 3.0, 20), np.linspace(-3.4, -2.6, 20)])
    demos = make_demos([400] * 10 + [50] * 40)
    scores = make_scores([levels, levels], demos)
    ruling = rule(scores, group(demos))
    assert ruling.kind == "mixed"
    assert ruling.cut.unevenness > CONFIG.most_uneven
    assert not formed(scores, 2, group(demos))
    assert formed(scores, CONFIG.patience, group(demos)), "nobody waits for ever: an expert may be uneven"


def test_a_group_above_the_majority_is_majority_bad() -> None:
    """The bad ones are many and alike, and the expert is above them."""
    levels = np.concatenate([np.linspace(-0.05, 0.05, 14), np.linspace(2.0, 2.1, 6)])
    demos = make_demos([100] * 20)
    scores = make_scores([levels, levels], demos)
    ruling = rule(scores, group(demos))
    assert ruling.kind == "majority-bad"
    assert ruling.above == pytest.approx(0.3)
    assert not formed(scores, 2, group(demos))
    _, opinion = audited([levels, levels], demos)
    assert opinion.standing == 0.0
    assert opinion.why.startswith("30% of the pairs")


@pytest.mark.parametrize("share", [0.3, 0.4, 0.45, 0.5])
def test_no_cut_keeps_half_or_less(share: float) -> None:
    """Who holds that more than half is the expert's cannot drop half."""
    count = round(40 * share)
    levels = np.concatenate([np.linspace(2.36, 2.5, count), np.linspace(-1.5, -1.2, 40 - count)])
    demos = make_demos([50] * 40)
    ruling, _ = audited([levels, levels], demos)
    assert ruling.kind == "majority-bad"
    assert ruling.kept.all()
    above = np.concatenate([np.linspace(2.36, 2.5, 22), np.linspace(-1.5, -1.2, 18)])
    assert audited([above, above], demos)[0].kind == "mixed"


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.sampled_from([1, 10, 60, 150])), min_size=2, max_size=25),
    st.floats(-6, 6),
)
def test_whatever_the_scores_what_is_kept_is_the_majority(
    rows: list[tuple[float, int]], policy: float
) -> None:
    levels, lengths = (np.array(column) for column in zip(*rows, strict=True))
    demos = make_demos(lengths)
    ruling, opinion = audited([levels, levels + 0.02], demos, policy=policy)
    assert lengths[ruling.kept].sum() > 0.5 * lengths.sum()
    assert ((opinion.good >= 0.0) & (opinion.good <= 1.0)).all()
    assert ruling.decided == (opinion.standing > 0.0) or ruling.confidence == 0.0


def test_kinds_that_run_into_each_other_are_inseparable() -> None:
    rng = np.random.default_rng(0)
    levels = np.concatenate([rng.normal(1.0, 0.5, 120), rng.normal(-0.6, 0.5, 80)])
    demos = make_demos([50] * 200)
    ruling, opinion = audited([levels, levels], demos, spread=0.0)
    assert ruling.kind == "inseparable"
    assert set(opinion.good) == {0.5}, "and none is called good"
    assert "run into each other" in opinion.why


def test_a_single_demonstration_has_nothing_to_be_compared_with() -> None:
    ruling, opinion = audited([[1.0], [1.0]], make_demos([60]))
    assert ruling.kind == "inseparable"
    assert ruling.kept.all()
    assert "only one" in opinion.why


# --- the opinion


def test_the_opinion_on_a_mixture_is_that_of_the_cut() -> None:
    levels, demos, truth = mixture()
    ruling, opinion = audited(levels, demos)
    assert opinion.standing == ruling.confidence > 0.99
    np.testing.assert_array_equal(opinion.good >= 0.65, truth)
    assert "like the majority's" in opinion.reasons[0]
    assert "outgrown" in opinion.reasons[-1]


def test_ground_truth_has_no_influence() -> None:
    levels, demos, _ = mixture()
    other = dataclasses.replace(demos, expert=~demos.expert)
    first, second = audited(levels, demos)[1], audited(levels, other)[1]
    np.testing.assert_array_equal(first.good, second.good)
    assert first.reasons == second.reasons


def test_an_interleaved_record_gives_the_same_opinion() -> None:
    levels, demos, _ = mixture(others=10)
    scores = make_scores(levels, demos)
    # First pairs, second pairs and so on: those of an episode stay in order, and episodes appear in the same order.
    order = np.argsort(np.concatenate([np.arange(n) for n in group(demos).pairs]), kind="stable")
    mixed = demos.select(order)
    moved = Scores(scores.stretches[:, order], scores.policy, scores.transitions)
    first, second = rule(scores, group(demos)), rule(moved, group(mixed))
    assert first.kind == second.kind == "mixed"
    np.testing.assert_allclose(second.scores, first.scores)
    opinions = opinion_of(first, scores, demos, CONFIG), opinion_of(second, moved, mixed, CONFIG)
    np.testing.assert_allclose(opinions[1].good, opinions[0].good)


# --- a learner that never got off the ground


def test_a_learner_that_acts_at_random_is_noticed() -> None:
    levels, demos, _ = mixture()
    scores = make_scores(levels, demos)
    ruling = rule(scores, group(demos))
    assert opinion_of(ruling, scores._replace(spread=1.2), demos, CONFIG).standing > 0.9
    behind = opinion_of(ruling, scores._replace(spread=6.1), demos, CONFIG)
    assert behind.standing == 0.0
    assert set(behind.good) == {0.5}
    assert "spread 6.1 times as wide" in behind.why


def test_a_learner_below_the_worst_demonstrator_is_noticed() -> None:
    lengths = [10, 10, 10, 10]
    ends = np.tile(np.arange(10) == 9, 4)
    demos = make_demos(lengths, [0, 0, 1, 1], reward=np.repeat([5.0, 5.0, 1.0, 2.0], 10), truncated=ends)
    assert worst_return(demos) == pytest.approx(15.0)
    scores = make_scores([np.ones(4), np.ones(4)], demos)
    assert not_outgrown(scores._replace(learner_return=16.0), demos, CONFIG) is None
    assert "return is 14.0" in str(not_outgrown(scores._replace(learner_return=14.0), demos, CONFIG))


def test_returns_of_pieces_say_nothing_about_a_learner() -> None:
    """A piece of 50 steps has a small return; only episodes that came to an end are compared."""
    demos = make_demos([10, 10], reward=np.ones(20), truncated=np.zeros(20, bool))
    assert worst_return(demos) is None
    assert worst_return(make_demos([10, 10])) is None


# --- pieces


def test_pieces_follow_each_episode_also_where_episodes_are_interleaved() -> None:
    episode = np.array([5] * 4 + [2] * 3 + [5] * 3)
    demos = Demonstrations(np.zeros((10, 1)), np.zeros((10, 1)), episode=episode)
    np.testing.assert_array_equal(in_pieces(demos, 3).episode, [0, 0, 0, 1, 3, 3, 3, 1, 1, 2])
    assert in_pieces(demos, 0) is demos


# --- windows


def test_a_pair_is_judged_with_its_neighbours() -> None:
    scores = np.array([0.0, 3.0, 0.0, 6.0, 9.0, 100.0])
    grouping = Grouping(np.array([0, 0, 0, 0, 0, 1]), np.array([5, 1]))
    expected = [1.0, 1.0, 3.0, 5.0, 8.0, 100.0]  # the ends are mirrored: (0 + 0 + 3) / 3, (6 + 9 + 9) / 3
    np.testing.assert_allclose(grouping.steadied(scores, 1), expected)
    np.testing.assert_array_equal(grouping.steadied(scores, 0), scores)


@given(
    lengths=st.lists(st.integers(1, 20), min_size=1, max_size=6),
    around=st.integers(0, 15),
    seed=st.integers(0, 100),
)
def test_neighbours_come_from_the_same_demonstration_and_change_no_mean(
    lengths: list[int], around: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    of_pair = rng.permutation(np.repeat(np.arange(len(lengths)), lengths))
    grouping = Grouping(of_pair, np.array(lengths))
    scores = rng.normal(size=len(of_pair)) + 100.0 * of_pair
    steadied = grouping.steadied(scores, around)
    np.testing.assert_allclose(grouping.means(steadied), grouping.means(scores), rtol=1e-9)
    for rows in grouping.rows():
        alone = Grouping(np.zeros(len(rows), int), np.array([len(rows)]))
        np.testing.assert_allclose(steadied[rows], alone.steadied(scores[rows], around), rtol=1e-9)
        assert (
            scores[rows].min() - 1e-9
            <= steadied[rows].min()
            <= steadied[rows].max()
            <= scores[rows].max() + 1e-9
        )


def test_a_hint_of_two_kinds_is_not_called_clean() -> None:
    """One long episode and a few short pieces below it: too little for a cut, too much to be called clean."""
    lengths = [1000, *[50] * 12]
    levels = np.array([2.0, *np.linspace(0.5, -2.5, 12)], np.float32)
    pairs = np.repeat(levels, lengths)
    grouping = Grouping(np.repeat(np.arange(13), lengths), np.array(lengths))
    scores = Scores(np.stack([pairs, pairs]), np.array([-2.0, -2.0]), 1)
    ruling = rule(scores, grouping)
    assert not ruling.cut.certain
    assert ruling.cut.probability > 0.5
    assert ruling.kind == "inseparable"
    assert why_go_on(scores, 4, grouping, CONFIG) is None


def test_a_minority_that_stands_out_is_not_called_clean() -> None:
    """Four of an expert's episodes above many pieces of all kinds, which together are twice as much."""
    lengths = [1000] * 4 + [50] * 150
    levels = np.concatenate([[2.4, 2.42, 2.44, 2.46], np.linspace(1.4, -2.5, 150)]).astype(np.float32)
    pairs = np.repeat(levels, lengths)
    grouping = Grouping(np.repeat(np.arange(154), lengths), np.array(lengths))
    ruling = rule(Scores(np.stack([pairs, pairs]), np.array([-1.5, -1.5]), 1), grouping)
    assert ruling.kind == "majority-bad"
