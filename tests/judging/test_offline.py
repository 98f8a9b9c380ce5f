"""The whole way: who is kept, who is not, and what must not matter."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.judging.probes import linear_demos, steps_home, two_places
from threadpoolctl import threadpool_info, threadpool_limits

from rilco.data.loading import load_demonstrations
from rilco.data.record import Demonstrations, concatenate
from rilco.errors import ConfigError, DemonstrationError
from rilco.judging.case import Case
from rilco.judging.config import JudgingConfig
from rilco.judging.hearing import in_the_sum, spare_styles
from rilco.judging.judges.consensus import judge_consensus
from rilco.judging.judges.families import find_families
from rilco.judging.material import prepare
from rilco.judging.offline import judge_offline
from rilco.judging.roster import vouchers
from rilco.judging.verdict import Verdict, combine, decide


def decided(verdict: Verdict) -> list[str]:
    return verdict.decisions.tolist()


def test_clean_demonstrations_are_all_kept() -> None:
    assert decided(judge_offline(linear_demos(20))) == ["keep"] * 20


def test_threads_do_not_wait_for_each_other() -> None:
    seen: list[int] = []

    def look(what: str, share: float) -> None:
        seen.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")

    with threadpool_limits(limits=2, user_api="blas"):
        judge_offline(linear_demos(8), progress=look)
    assert set(seen) == {1}


@pytest.mark.parametrize("fault", [{"gain": 1.0}, {"offset": 1.0}], ids=["sign", "offset"])
def test_who_acts_unlike_the_others_in_the_same_places_is_not_kept(fault: dict[str, float]) -> None:
    verdict = judge_offline(linear_demos(20, 6, **fault))
    assert decided(verdict)[:20] == ["keep"] * 20
    assert "keep" not in decided(verdict)[20:]


def test_a_wrong_unit_is_doubted_and_named() -> None:
    verdict = judge_offline(linear_demos(20, 4, gain=-0.3))
    assert decided(verdict)[:20] == ["keep"] * 20
    assert "keep" not in decided(verdict)[20:]
    assert "0.31 times what happened next asks for" in verdict.demonstrations[-1].reason


def test_a_wrong_record_has_no_say_in_what_is_usual() -> None:
    verdict = judge_offline(linear_demos(20, 4, gain=-0.3))
    good_by = {each.judge: each.good for each in verdict.opinions}
    wrong = good_by["records"] < 0.5
    assert wrong.sum() >= 3
    assert not wrong[:20].any()
    assert (good_by["manner"][wrong] == 0.5).all()
    assert (good_by["manner"][:20] > 0.5).all()


def test_who_is_usual_in_sum_is_not_doubted_for_one_part_of_it() -> None:
    clean = judge_offline(linear_demos(12)).opinions
    by_actions = replace(clean[1], good=np.array([0.1] * 2 + [0.8] * 10))
    by_manner = replace(clean[-1], good=np.array([0.8, 0.4] + [0.5] * 10))
    assert in_the_sum(by_actions, by_manner).good.tolist() == [0.5, 0.1] + [0.8] * 10
    plainly = np.array([True] + [False] * 11)
    assert in_the_sum(by_actions, by_manner, besides=plainly).good.tolist() == [0.1, 0.1] + [0.8] * 10


def test_typical_of_a_family_is_who_is_judged_as_most_of_it_are() -> None:
    verdict = judge_offline(linear_demos(20, 4, gain=-0.3))
    family = verdict.families[0]
    assert family.decision == verdict.demonstrations[family.typical].decision


def test_who_lives_apart_is_dropped_and_the_reason_says_so() -> None:
    verdict = judge_offline(two_places(12, 3))
    assert decided(verdict) == ["keep"] * 12 + ["drop"] * 3
    assert verdict.demonstrations[-1].judge == "families"
    assert "apart" in verdict.demonstrations[-1].reason
    assert [len(family.demonstrations) for family in verdict.families] == [12, 3]


@pytest.mark.parametrize(("others", "good"), [(12, 3), (24, 12)])
def test_naming_one_good_demonstration_turns_the_verdict_round(others: int, good: int) -> None:
    verdict = judge_offline(two_places(others, good), good=[others + good - 1])
    assert decided(verdict) == ["drop"] * others + ["keep"] * good
    assert verdict.demonstrations[-1].judge == "you"


def test_who_vouches_for_what_is_kept_anyway_changes_nothing_else() -> None:
    demos = linear_demos(18, 6)
    for each in (judge_offline(demos, good=[0]), judge_offline(demos, good=[0, 1, 2, 3, 4])):
        assert decided(each) == decided(judge_offline(demos))
        assert each.majority.sentence.endswith("anyway.")
        assert not each.sure


def test_naming_one_of_two_close_rivals_settles_which_is_good() -> None:
    demos = two_places(8, 7)
    assert decided(judge_offline(demos, good=[0])) == ["keep"] * 8 + ["drop"] * 7
    assert decided(judge_offline(demos, good=[14])) == ["drop"] * 8 + ["keep"] * 7


def test_a_family_of_one_is_no_measure() -> None:
    demos, alone = two_places(12, 4), two_places(1, 0)
    demos = concatenate([demos, replace(alone, obs=alone.obs + 50.0)])
    for named in (13, 16):
        verdict = judge_offline(demos, good=[named])
        assert all(np.isfinite(one.probability) for one in verdict.demonstrations)
        assert "nan" not in " ".join(one.reason for one in verdict.demonstrations)


def test_an_equal_rival_is_not_dropped() -> None:
    assert "drop" not in decided(judge_offline(two_places(8, 7)))


def test_where_counts_by_demonstrations_and_by_pairs_differ_it_is_not_sure() -> None:
    demos = two_places(8, 7)
    first = np.flatnonzero(demos.episode < 8)
    verdict = judge_offline(
        demos.select(np.concatenate([first[first % 50 < 25], np.flatnonzero(demos.episode >= 8)]))
    )
    assert not verdict.majority.agree
    assert not verdict.sure


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ConfigError, match="neither a demonstrator nor a demonstration"):
        judge_offline(linear_demos(6), good=["nobody"])
    with pytest.raises(ConfigError, match="good and bad"):
        judge_offline(linear_demos(6), good=[1], bad=[1])


MIXED = linear_demos(20, 5, gain=1.0)


def changed(demos: Demonstrations, how: str) -> tuple[Demonstrations, np.ndarray]:
    """The same demonstrations told differently, and which of the old ones each of the new ones is."""
    count = 25
    same = np.arange(count)
    if how == "units":
        scale = np.array([1e3, 1e-3, 7.0, 0.1], np.float32)
        return replace(demos, obs=demos.obs * scale + 5.0 * scale, action=demos.action * 20.0 - 3.0), same
    if how == "order":
        order = np.random.default_rng(1).permutation(count)
        rows = np.concatenate([np.flatnonzero(demos.episode == i) for i in order])
        return demos.select(rows), order
    if how == "copied":
        return replace(
            demos, obs=np.hstack([demos.obs, -2.0 * demos.obs[:, :1]]), action=np.hstack([demos.action] * 2)
        ), same
    if how == "constant":
        return replace(demos, obs=np.hstack([np.full((len(demos), 1), 4.0), demos.obs])), same
    assert how == "names"
    return replace(demos, demonstrator_names=("\N{RIGHT-TO-LEFT OVERRIDE}x",)), same


@pytest.mark.parametrize("how", ["units", "order", "copied", "constant", "names"])
def test_what_must_not_matter(how: str) -> None:
    demos, old = changed(MIXED, how)
    expected = judge_offline(MIXED).decisions
    np.testing.assert_array_equal(judge_offline(demos).decisions, expected[old])


@pytest.mark.parametrize("numbers", [[2, 0, 3, 1], [-9, 70, 1000, 4]])
def test_the_numbers_of_choices_must_not_matter(numbers: list[int]) -> None:
    """They have no order: 0 is as far from 3 as from 1."""
    demos = steps_home(20, 5)
    renamed = replace(demos, action=np.array(numbers)[demos.action[:, 0].astype(int)])
    first, other = judge_offline(demos), judge_offline(renamed)
    assert decided(first) == decided(other)
    assert decided(first)[:20] == ["keep"] * 20
    assert "keep" not in decided(first)[20:]
    for one, same in zip(first.demonstrations, other.demonstrations, strict=True):
        assert one.probability == pytest.approx(same.probability)


def test_a_demonstration_cut_in_two_is_judged_alike() -> None:
    cut = np.where(np.arange(len(MIXED)) >= 22 * 40 + 20, MIXED.episode + 1, MIXED.episode)
    cut = np.where((np.arange(len(MIXED)) >= 20), cut + 1, cut)  # a good one and a bad one
    decisions = decided(judge_offline(replace(MIXED, episode=cut)))
    assert decisions[:21] == ["keep"] * 21
    assert "keep" not in decisions[21:]


def test_the_same_data_gives_the_same_verdict() -> None:
    one, other = judge_offline(MIXED), judge_offline(MIXED)
    assert [j.probability for j in one.demonstrations] == [j.probability for j in other.demonstrations]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_too_few_to_compare_is_said(count: int) -> None:
    verdict = judge_offline(linear_demos(count))
    assert decided(verdict) == ["unsure"] * count
    assert "Too few" in verdict.demonstrations[0].reason


def test_one_pair_each_cannot_be_judged() -> None:
    rng = np.random.default_rng(0)
    demos = Demonstrations(
        rng.standard_normal((5000, 3)), rng.standard_normal((5000, 1)), episode=np.arange(5000)
    )
    assert set(decided(judge_offline(demos))) == {"unsure"}


def test_identical_demonstrations_and_constant_actions_are_not_dropped() -> None:
    one = linear_demos(1)
    same = Demonstrations(
        np.tile(one.obs, (8, 1)), np.tile(one.action, (8, 1)), episode=np.repeat(np.arange(8), 40)
    )
    assert "drop" not in decided(judge_offline(same))
    still = replace(linear_demos(8), action=np.ones((320, 1)))
    assert "drop" not in decided(judge_offline(still))


def test_constant_observations_are_refused() -> None:
    with pytest.raises(DemonstrationError, match="same observation"):
        judge_offline(
            Demonstrations(
                np.ones((80, 2)),
                np.random.default_rng(0).standard_normal((80, 1)),
                episode=np.repeat(np.arange(8), 10),
            )
        )


def test_progress_is_told() -> None:
    told: list[tuple[str, float]] = []
    judge_offline(linear_demos(6), progress=lambda what, share: told.append((what, share)))
    assert {what for what, _ in told} >= {"Families", "Consensus"}
    assert all(0.0 <= share <= 1.0 for _, share in told)


def test_opinions_have_a_place_for_each_demonstration() -> None:
    demos = linear_demos(10)
    short = demos.select(np.flatnonzero((demos.episode != 3) | (np.arange(len(demos)) < 3 * 40 + 2)))
    verdict = judge_offline(short)
    assert verdict.demonstrations[3].decision == "unsure"
    for opinion in verdict.opinions:
        assert len(opinion.good) == len(opinion.reasons) == 10
        assert opinion.good[3] == 0.5
        assert np.isnan(opinion.score[3])


def test_a_demonstration_is_vouched_for_by_name_or_by_number() -> None:
    names, makers = ["me #1", "me #2", "7 #1"], ["me", "me", "7"]
    assert vouchers(names, makers, ["1"], [2]).tolist() == [0, 1, -1]
    assert vouchers(names, makers, ["me"], ["7"]).tolist() == [1, 1, -1]  # a name goes before a number
    with pytest.raises(ConfigError, match="'9' is neither"):
        vouchers(names, makers, ["9"], [])


def test_where_nearly_all_of_a_demonstrators_are_charged_the_rest_is_doubted() -> None:
    demos = two_places(12, 3)
    maker = np.where(np.isin(demos.episode, [0, 12, 13, 14]), 1, 0)
    verdict = judge_offline(replace(demos, demonstrator=maker, demonstrator_names=("anna", "ben")))
    assert decided(verdict)[0] == "unsure"
    assert "ben" in verdict.demonstrations[0].reason
    assert verdict.demonstrations[0].judge == "nobody", "the judge that praised it does not say this"
    assert verdict.demonstrations[0].score < verdict.demonstrations[1].score
    assert decided(verdict)[1:12] == ["keep"] * 11


@pytest.mark.parametrize("task", ["Walker2D", "Ant"])
def test_many_short_pieces_do_not_outvote_a_few_whole_demonstrations(shared_dir: Path, task: str) -> None:
    """Pieces of policies that stand still all end alike: that is no goal. Of 240 demonstrations 10 are the expert's."""
    demos = load_demonstrations([shared_dir / "demos" / f"{task}BulletEnv-v0"], 0.4, seed=1)
    verdict = judge_offline(demos)
    kept = (verdict.decisions == "keep")[verdict.of_pair]
    assert demos.expert is not None
    assert np.array_equal(kept, demos.expert)


def test_those_that_are_odd_alike_may_be_another_style_and_are_not_dropped() -> None:
    """A quarter does something else in the same places, all of them the same; without any manner they are charged."""
    rng = np.random.default_rng(0)
    obs = rng.uniform(-1.0, 1.0, (24 * 40, 2))
    odd = np.repeat(np.arange(24) >= 18, 40)
    usual = np.sin(2.0 * obs) + 0.1 * rng.standard_normal(obs.shape)
    config = JudgingConfig()

    def opinion_of(others: np.ndarray) -> tuple[np.ndarray, str]:
        action = np.where(odd[:, None], others, usual)
        demos = Demonstrations(obs, action, episode=np.repeat(np.arange(24), 40))
        material = prepare(demos, demos.index.place, np.arange(24), config)
        opinion = judge_consensus(material, config)
        late = material.order >= 18
        return opinion.good[late], opinion.reasons[int(np.flatnonzero(late)[0])]

    good, reason = opinion_of(0.8 * obs[:, ::-1] + 0.1 * rng.standard_normal(obs.shape))
    assert ((good > config.unsure_from) & (good < 0.5)).all()
    assert "another way, or the same mistake" in reason
    good, reason = opinion_of(rng.uniform(-1.0, 1.0, obs.shape))
    assert (good < config.unsure_from).all()
    assert "mistake" not in reason


def test_a_few_long_ones_that_agree_leave_open_who_is_right() -> None:
    """Six of fifty demonstrations, with 63% of the pairs, act alike; the others act by chance."""
    rng = np.random.default_rng(0)
    episode = np.repeat(np.arange(50), np.where(np.arange(50) < 6, 300, 24))
    obs = rng.uniform(-1.0, 1.0, (len(episode), 2))
    chance, noise = rng.standard_normal((2, *obs.shape))
    action = np.where((episode < 6)[:, None], np.sin(2.0 * obs) + 0.1 * noise, 3.0 * chance)
    demos, config = Demonstrations(obs, action, episode=episode), JudgingConfig()
    opinion = judge_consensus(prepare(demos, demos.index.place, np.arange(50), config), config)
    assert "who is right is open" in opinion.why


def test_a_large_group_that_acts_otherwise_may_be_another_style() -> None:
    demos, config = linear_demos(20), JudgingConfig()
    material = prepare(demos, demos.index.place, np.arange(20), config)
    case = Case(material, find_families(material, config), np.zeros(20, np.int64), config)
    opinion = judge_consensus(material, config)
    few, many = (replace(opinion, good=np.where(np.arange(20) < count, 0.12, 0.8)) for count in (6, 8))
    assert spare_styles(few, case).good.min() == 0.12
    assert spare_styles(many, case).good.tolist() == [config.alone] * 8 + [0.8] * 12
    named = replace(case, vouched=np.eye(20, dtype=np.int64)[19])
    assert spare_styles(many, named).good.min() == 0.12


def test_the_doubts_of_three_are_a_charge() -> None:
    opinions = [
        replace(each, good=np.array([0.4] * doubts + [0.8] * (12 - doubts)))
        for each, doubts in zip(judge_offline(linear_demos(12)).opinions, (3, 2, 1, 0, 0, 0), strict=True)
    ]
    probability, _ = combine(opinions, 1.0, JudgingConfig())
    assert [decide(p, JudgingConfig()) for p in probability] == ["drop", "unsure", "unsure"] + ["keep"] * 9


def test_copies_are_no_further_witnesses() -> None:
    demos = linear_demos(12, 5, gain=1.0)
    shift = int(demos.episode.max()) + 1
    bad = demos.select(demos.episode >= 12)
    copies = [replace(bad, episode=bad.episode + k * shift) for k in range(1, 4)]
    alone, many = judge_offline(demos), judge_offline(concatenate([demos, *copies]))
    assert many.decisions[:17].tolist() == alone.decisions.tolist()
    assert many.decisions[17:].tolist() == 3 * alone.decisions[12:].tolist()
    copy = many.demonstrations[17]
    assert copy.reason.startswith(f"A copy of {many.demonstrations[12].name}. ")
    assert 17 in many.families[copy.family].demonstrations
