"""From scores of pairs to verdicts, on made-up scores."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rilco.data.record import Demonstrations
from rilco.judging.grouping import TELLING_PAIRS, Grouping, best_means, group
from rilco.judging.judging import (
    AGREEMENT,
    MOST_UNEVEN,
    PATIENCE,
    _sentence,
    decide,
    formed,
    judge,
    short_names,
)
from rilco.judging.scoring import Scores

POLICY = -1.5
EXPERT = np.linspace(2.36, 2.5, 10)


def make_demos(lengths, makers=None, expert=None, **more) -> Demonstrations:
    """Demonstrations of these lengths; `makers` and `expert` hold one value for each."""
    episode = np.repeat(np.arange(len(lengths)), lengths)
    if makers is not None:
        more["demonstrator"] = np.repeat(makers, lengths)
    if expert is not None:
        more["expert"] = np.repeat(expert, lengths)
    empty = np.zeros((len(episode), 1), np.float32)
    return Demonstrations(empty, empty, episode=episode, **more)


def make_scores(levels, demos: Demonstrations, policy=POLICY, seed=0, spread=0.3) -> Scores:
    """Scores whose means over the demonstrations are `levels` [S, D]."""
    grouping, rng = group(demos), np.random.default_rng(seed)
    stretches = []
    for level in np.atleast_2d(levels):
        noise = rng.normal(0.0, spread, len(demos))
        noise -= grouping.means(noise)[grouping.of_pair]
        stretches.append(level[grouping.of_pair] + noise)
    return Scores(np.array(stretches, np.float32), np.full(len(stretches), policy), 12_800)


def mixture(others=40, seed=0, **more):
    """An expert's ten demonstrations of 400 pairs and others of 50; levels [2, D], demonstrations, truth."""
    rng = np.random.default_rng(seed)
    levels = np.concatenate([EXPERT, rng.uniform(-3.0, 1.2, others)])
    truth = np.arange(len(levels)) < len(EXPERT)
    demos = make_demos(
        np.where(truth, 400, 50), np.where(truth, 0, 1 + np.arange(len(levels)) % 3), truth, **more
    )
    moved = levels + 0.01 * rng.normal(size=(2, len(levels)))
    return moved, demos, truth


def audited(levels, demos, **more):
    return judge(make_scores(levels, demos, **more), demos, task="toy", files=["a.npz"], seeds=[1])


# --- which pair belongs to which demonstration


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_groups_are_the_episodes_in_their_order(ids):
    """Also of episodes whose pairs are interleaved, and whose numbers do not rise."""
    obs = np.arange(len(ids), dtype=np.float32)[:, None]
    demos = Demonstrations(obs, obs, episode=np.array(ids))
    grouping = group(demos)
    episodes = list(demos.episodes())
    assert [len(episode) for episode in episodes] == grouping.pairs.tolist()
    for index, episode in enumerate(episodes):
        np.testing.assert_array_equal(np.flatnonzero(grouping.of_pair == index), episode.obs[:, 0])
    np.testing.assert_allclose(grouping.means(obs[:, 0]), [episode.obs.mean() for episode in episodes])


def test_a_windows_score_is_that_of_its_best_pairs_on_the_scale_of_all():
    rng = np.random.default_rng(0)
    grouping = Grouping(np.repeat(np.arange(11), 200), np.full(11, 200))
    scores = rng.normal(2.0, 1.0, 2200)
    scores[-200:] = np.tile(np.repeat([-3.0, 2.0], [35, 15]), 4)  # of the last one
    of_demos = grouping.scores(scores)
    np.testing.assert_allclose(of_demos[:10], 2.0, atol=0.35)
    usual = np.median(np.sort(scores.reshape(-1, 50))[:, -15:].mean(1) - scores.reshape(-1, 50).mean(1))
    assert of_demos[10] == pytest.approx(2.0 - usual)
    assert usual == pytest.approx(1.1, abs=0.15), "of fifteen of fifty from a normal distribution"


@given(lengths=st.lists(st.integers(1, 120), min_size=1, max_size=5), seed=st.integers(0, 100))
def test_the_score_of_a_demonstration_is_the_mean_of_its_windows(lengths, seed):
    rng = np.random.default_rng(seed)
    of_pair = rng.permutation(np.repeat(np.arange(len(lengths)), lengths))
    grouping = Grouping(of_pair, np.array(lengths))
    scores = rng.normal(size=len(of_pair))
    windows, of_windows = grouping.windows(), grouping.window_scores(scores)
    best = best_means(scores, windows)
    for window, rows in enumerate(np.flatnonzero(windows == w) for w in range(len(best))):
        assert best[window] == pytest.approx(np.sort(scores[rows])[-TELLING_PAIRS:].mean())
        if len(rows) <= TELLING_PAIRS:
            assert of_windows[window] == pytest.approx(scores[rows].mean()), "there is nothing to choose from"
    expected = [of_windows[windows[rows]].mean() for rows in grouping.rows()]
    np.testing.assert_allclose(grouping.scores(scores), expected)


@pytest.mark.parametrize("length", [5, 10, 20, 35, 50])
def test_short_demonstrations_are_not_judged_by_their_length(length):
    """Of one kind, whose pairs swing within a stride."""
    demos = make_demos([1000] * 8 + [length] * (2000 // length))
    stride = np.sin(np.arange(len(demos)) * 2 * np.pi / 20)
    level = np.repeat(np.random.default_rng(0).normal(2.0, 0.05, len(group(demos).pairs)), group(demos).pairs)
    pairs = level + stride + np.random.default_rng(1).normal(0.0, 0.2, len(demos))
    scores = group(demos).scores(pairs)
    assert scores[8:].mean() == pytest.approx(scores[:8].mean(), abs=0.1)
    audit, judged = judge(
        Scores(np.array([pairs, pairs], np.float32), np.full(2, POLICY), 1),
        demos,
        task="toy",
        files=(),
        seeds=[1],
    )
    assert judged.keep.all(), audit.verdict.sentence


# --- what the decision is


def test_a_mixture_is_cut_between_its_kinds():
    levels, demos, truth = mixture()
    decision = decide(make_scores(levels, demos), group(demos))
    assert decision.kind == "mixed"
    np.testing.assert_array_equal(decision.scores >= decision.cut.cut, truth)
    assert decision.agreement == 1.0
    assert decision.confidence > 0.99
    assert formed(make_scores(levels, demos), 2, group(demos))


def test_one_kind_is_clean():
    demos = make_demos([400] * 10)
    decision = decide(make_scores([EXPERT, EXPERT[::-1]], demos), group(demos))
    assert decision.kind == "clean"
    assert decision.confidence > 0.9
    assert formed(make_scores([EXPERT, EXPERT[::-1]], demos), 2, group(demos))


def test_stretches_that_disagree_are_inseparable():
    levels, demos, _ = mixture()
    other = levels[1].copy()
    other[:2], other[-16:] = -1.0, 2.4  # as many pairs: two of the expert's change places with others
    scores = make_scores([levels[0], other], demos)
    decision = decide(scores, group(demos))
    assert decision.agreement < AGREEMENT
    assert decision.kind == "inseparable"
    assert not formed(scores, 2, group(demos))
    audit, pairs = audited([levels[0], other], demos)
    assert audit.verdict.cut is None
    assert audit.noise_fraction is None
    assert pairs.keep.all()
    assert "keeps changing" in audit.verdict.sentence


def test_it_has_not_formed_while_others_are_among_the_expert():
    """Half of the others score about as the expert does, on either side; the rest are far below."""
    levels = np.concatenate([EXPERT, np.linspace(1.8, 3.0, 20), np.linspace(-3.4, -2.6, 20)])
    demos = make_demos([400] * 10 + [50] * 40)
    scores = make_scores([levels, levels], demos)
    decision = decide(scores, group(demos))
    assert decision.kind == "mixed"
    assert decision.cut.unevenness > MOST_UNEVEN
    assert not formed(scores, 2, group(demos))
    assert formed(scores, PATIENCE, group(demos)), "nobody waits for ever: an expert may be uneven"


def test_a_group_above_the_majority_is_majority_bad():
    """The bad ones are many and alike, and the expert is above them."""
    levels = np.concatenate([np.linspace(-0.05, 0.05, 14), np.linspace(2.0, 2.1, 6)])
    demos = make_demos([100] * 20)
    scores = make_scores([levels, levels], demos)
    decision = decide(scores, group(demos))
    assert decision.kind == "majority-bad"
    assert decision.above == pytest.approx(0.3)
    assert not formed(scores, 2, group(demos))
    audit, pairs = audited([levels, levels], demos)
    assert audit.verdict.cut is None
    assert pairs.keep.all()
    assert audit.verdict.sentence.startswith("30% of the pairs")


@pytest.mark.parametrize("share", [0.3, 0.4, 0.45, 0.5])
def test_no_cut_keeps_half_or_less(share):
    """Who holds that more than half is the expert's cannot drop half."""
    count = round(40 * share)
    levels = np.concatenate([np.linspace(2.36, 2.5, count), np.linspace(-1.5, -1.2, 40 - count)])
    demos = make_demos([50] * 40)
    audit, pairs = audited([levels, levels], demos)
    assert audit.verdict.kind == "majority-bad"
    assert pairs.keep.all()
    above = np.concatenate([np.linspace(2.36, 2.5, 22), np.linspace(-1.5, -1.2, 18)])
    assert audited([above, above], demos)[0].verdict.kind == "mixed"


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.sampled_from([1, 10, 60, 150])), min_size=2, max_size=25),
    st.floats(-6, 6),
)
def test_whatever_the_scores_what_is_kept_is_the_majority(rows, policy):
    levels, lengths = (np.array(column) for column in zip(*rows, strict=True))
    demos = make_demos(lengths)
    audit, pairs = audited([levels, levels + 0.02], demos, policy=policy)
    assert pairs.keep.mean() > 0.5
    assert np.isfinite(pairs.expert_probability).all()
    assert (audit.verdict.kind == "mixed") == (audit.verdict.cut is not None)


def test_kinds_that_run_into_each_other_are_inseparable():
    rng = np.random.default_rng(0)
    levels = np.concatenate([rng.normal(1.0, 0.5, 120), rng.normal(-0.6, 0.5, 80)])
    demos = make_demos([50] * 200)
    audit, pairs = audited([levels, levels], demos, spread=0.0)
    assert audit.verdict.kind == "inseparable"
    assert {demo.verdict for demo in audit.demonstrations} == {"unsure"}, "and none is called good"
    assert audit.verdict.confidence is None
    assert "run into each other" in audit.verdict.sentence
    assert pairs.keep.all()


def test_a_single_demonstration_has_nothing_to_be_compared_with():
    demos = make_demos([60])
    audit, pairs = audited([[1.0], [1.0]], demos)
    assert audit.verdict.kind == "inseparable"
    assert audit.verdict.confidence is None
    assert "only one" in audit.verdict.sentence
    assert pairs.keep.all()


# --- the audit as a whole


def test_the_audit_fits_together():
    reward = np.ones(10 * 400 + 40 * 50, np.float32)
    levels, demos, truth = mixture(reward=reward, demonstrator_names=("e.npz", "a.npz", "b.npz", "c.npz"))
    audit, pairs = audited(levels, demos)
    cut = audit.verdict.cut
    assert audit.verdict.kind == "mixed"
    assert [demo.verdict for demo in audit.demonstrations] == ["keep"] * 10 + ["drop"] * 40
    assert [demo.truth == "expert" for demo in audit.demonstrations] == truth.tolist()
    assert [demo.pairs for demo in audit.demonstrations] == [400] * 10 + [50] * 40
    assert [demo.episode_return for demo in audit.demonstrations] == [400.0] * 10 + [50.0] * 40
    of_demos = pairs.grouping.scores(pairs.score)
    for demo in audit.demonstrations:
        mine = pairs.demonstration == demo.index
        assert demo.score == pytest.approx(of_demos[demo.index], abs=1e-5)
        assert demo.score == pytest.approx(np.mean(demo.windows), abs=1e-3)
        assert (pairs.keep[mine] == (demo.score >= cut)).all()
    assert [(maker.name, maker.verdict) for maker in audit.demonstrators] == [
        ("e", "keep"),
        ("a", "drop"),
        ("b", "drop"),
        ("c", "drop"),
    ]
    assert sum(maker.pairs for maker in audit.demonstrators) == len(demos)
    assert [demo.name for demo in audit.demonstrations[:3]] == ["e #1", "e #2", "e #3"]
    assert f"{POLICY:.2f}" in audit.verdict.sentence, "the learner's own score"
    assert "40 of 50" in audit.verdict.sentence
    order = np.argsort(pairs.score)
    assert (np.diff(pairs.expert_probability[order]) >= -1e-6).all()
    assert pairs.expert_probability.mean() == pytest.approx(2 / 3, abs=0.01)


def test_who_made_what_may_be_unknown():
    levels, demos, _ = mixture()
    audit, _ = audited(
        levels,
        dataclasses.replace(demos, demonstrator=np.zeros(len(demos), int), demonstrator_names=("all",)),
    )
    assert audit.demonstrators == ()
    assert audit.demonstrations[0].demonstrator is None
    assert audit.demonstrations[11].name == "all #12"


@pytest.mark.parametrize("others", [0, 8, 40, 72])
@pytest.mark.parametrize("seed", range(3))
def test_the_noise_interval_contains_the_truth(others, seed):
    levels, demos, _ = mixture(others, seed)
    noise = audited(levels, demos)[0].noise_fraction
    assert noise.low - 1e-3 <= demos.noise_fraction <= noise.high + 1e-3
    assert noise.estimate == pytest.approx(demos.noise_fraction, abs=0.02)
    assert noise.high - noise.low < 0.1


def test_the_interval_covers_what_single_stretches_say():
    levels, demos, _ = mixture()
    levels[1, -5:] = 2.43  # 250 of 6000 pairs: too few to call it inseparable
    audit, _ = audited(levels, demos)
    assert audit.verdict.kind == "mixed"
    assert audit.noise_fraction.low == pytest.approx((2000 - 250) / 6000, abs=0.01)


def test_doubtful_demonstrations_are_called_so_and_cut_all_the_same():
    levels, demos, _ = mixture(seed=2)
    near = levels.copy()
    grid = np.linspace(2.36, 2.0, 200)
    for level in grid:  # down until it is doubtful
        near[:, -1] = level
        audit, pairs = audited(near, demos)
        last = audit.demonstrations[-1]
        if last.verdict == "unsure":
            break
    assert last.verdict == "unsure"
    assert 0.1 < last.expert_probability < 0.9
    assert pairs.keep[-1] == (last.score >= audit.verdict.cut)


def test_ground_truth_is_copied_and_has_no_influence():
    levels, demos, _ = mixture()
    scores = make_scores(levels, demos)
    how = {"task": "toy", "files": ["a.npz"], "seeds": [1]}
    one, pairs = judge(scores, demos, **how)
    other, other_pairs = judge(scores, dataclasses.replace(demos, expert=~demos.expert), **how)
    none, none_pairs = judge(scores, dataclasses.replace(demos, expert=None), **how)
    assert {demo.truth for demo in none.demonstrations} == {None}

    def without_truth(audit):
        rows = tuple(dataclasses.replace(demo, truth=None) for demo in audit.demonstrations)
        return dataclasses.replace(audit, demonstrations=rows)

    assert one != other
    assert without_truth(one) == without_truth(other) == none
    for name in pairs._fields:
        for there in (other_pairs, none_pairs):
            np.testing.assert_array_equal(getattr(pairs, name), getattr(there, name))


def test_an_interleaved_record_gives_the_same_judgements():
    """Judgements of pairs are in the demonstrations' own order, whatever it is."""
    levels, demos, _ = mixture(demonstrator_names=("e", "a", "b", "c"))
    scores = make_scores(levels, demos)
    # Episodes that run at the same time: within each, the order in time stays.
    order = np.argsort(np.random.default_rng(0).permutation(demos.episode), kind="stable").argsort()
    assert np.any(np.diff(demos.episode[order]) < 0)
    how = {"task": "toy", "files": ["a.npz"], "seeds": [1]}
    audit, pairs = judge(scores, demos, **how)
    mixed_audit, mixed_pairs = judge(
        Scores(scores.stretches[:, order], scores.policy, scores.transitions), demos.select(order), **how
    )
    assert mixed_audit.verdict.cut == pytest.approx(audit.verdict.cut, abs=1e-6)
    np.testing.assert_array_equal(mixed_pairs.keep, pairs.keep[order])
    np.testing.assert_allclose(mixed_pairs.expert_probability, pairs.expert_probability[order], atol=1e-4)


# --- windows and names


def test_a_pair_is_judged_with_its_neighbours():
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
def test_neighbours_come_from_the_same_demonstration_and_change_no_mean(lengths, around, seed):
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


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["a_b_1.h5", "a_b_2.h5"], ["1", "2"]),
        (["runs/1.npz", "runs/12.npz"], ["1", "12"]),
        (["expert.npz"], ["expert.npz"]),
        (["x.npz", "x.npz"], ["x.npz", "x.npz"]),
        (["demo.npz", "demo-2.npz"], ["demo.npz", "demo-2.npz"]),  # nothing would be left of one
        (["one", "two"], ["one", "two"]),
        (["a-x-b", "a-y-b", "a-x-b"], ["x", "y", "x"]),
        (["a-1_b", "a-1__b"], ["a-1_b", "a-1__b"]),  # shortened they would be the same
    ],
)
def test_names_are_shortened_to_what_tells_them_apart(names, short):
    assert short_names(names) == short


def test_a_hint_of_two_kinds_is_not_called_clean():
    """One long episode and a few short pieces below it: too little for a cut, too much to be called clean."""
    lengths = [1000, *[50] * 12]
    levels = np.array([2.0, *np.linspace(0.5, -2.5, 12)], np.float32)
    pairs = np.repeat(levels, lengths)
    grouping = Grouping(np.repeat(np.arange(13), lengths), np.array(lengths))
    decision = decide(Scores(np.stack([pairs, pairs]), np.array([-2.0, -2.0]), 1), grouping)
    assert not decision.cut.certain
    assert decision.cut.probability > 0.5
    assert decision.kind == "inseparable"
    assert "too few" in _sentence(decision, grouping)


def test_a_minority_that_stands_out_is_not_called_clean():
    """Four of an expert's episodes above many pieces of all kinds, which together are twice as much."""
    lengths = [1000] * 4 + [50] * 150
    levels = np.concatenate([[2.4, 2.42, 2.44, 2.46], np.linspace(1.4, -2.5, 150)]).astype(np.float32)
    pairs = np.repeat(levels, lengths)
    grouping = Grouping(np.repeat(np.arange(154), lengths), np.array(lengths))
    decision = decide(Scores(np.stack([pairs, pairs]), np.array([-1.5, -1.5]), 1), grouping)
    assert decision.kind == "majority-bad"
    assert "look at the top of the ranking" in _sentence(decision, grouping)
