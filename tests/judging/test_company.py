"""A demonstrator's demonstrations are judged together, too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from rilco.judging.company import doubt_by_company
from rilco.judging.config import JudgingConfig
from rilco.judging.roster import Roster
from rilco.judging.verdict import Judgement, auroc, midranks

CONFIG = JudgingConfig()
ODD = "Nearly all by bea are odder than the others: the same mistake, or a style of their own."


def judged(scores: Mapping[str, list[float]]) -> list[Judgement]:
    rows = [(maker, score) for maker, many in scores.items() for score in many]
    return [
        Judgement(i, f"{maker} #{i}", maker, 50, "keep", 0.8, score, "consensus", "Fine.", 0)
        for i, (maker, score) in enumerate(rows)
    ]


def of(rows: list[Judgement]) -> Roster:
    """The demonstrations behind `rows`, of which the user called good or bad what `you` decided."""
    word = [{"keep": 1, "drop": -1}[one.decision] if one.judge == "you" else 0 for one in rows]
    count, makers = len(rows), [one.demonstrator for one in rows]
    names = [one.name for one in rows]
    return Roster(np.arange(count), np.full(count, 50), names, makers, np.array(word), np.arange(count))


def doubted(rows: list[Judgement], roster: Roster | None = None) -> set[str]:
    after = doubt_by_company(rows, roster or of(rows), CONFIG)
    return {one.demonstrator for one in after if one.decision == "unsure"}


def three_people(seed: int = 0) -> dict[str, list[float]]:
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(0.7, 1.0, 10).tolist() for name in ("ann", "bea", "cem")}


def test_who_is_always_a_little_odder_than_the_others_is_doubted() -> None:
    assert doubted(judged(three_people())) == set()
    scores = {**three_people(), "bea": np.random.default_rng(1).uniform(0.65, 0.75, 10).tolist()}
    rows = judged(scores)
    after = doubt_by_company(rows, of(rows), CONFIG)
    assert {one.reason for one in after if one.decision == "unsure"} == {ODD}
    assert {one.demonstrator for one in after if one.decision == "unsure"} == {"bea"}
    own = [one.score for one in after if one.demonstrator == "bea"]
    assert np.argsort(own).tolist() == np.argsort(scores["bea"]).tolist()
    assert max(own) < CONFIG.unsure_to


def test_only_what_was_kept_is_doubted() -> None:
    rows = judged({**three_people(), "bea": [0.6] * 10})
    rows[10] = replace(rows[10], decision="drop", probability=0.1, score=0.1)
    rows[11] = replace(rows[11], decision="unsure", reason="Odd.", score=0.4)
    after = doubt_by_company(rows, of(rows), CONFIG)
    assert after[10:12] == rows[10:12]
    assert [one.decision for one in after[12:20]] == ["unsure"] * 8


def test_the_chance_to_rank_lower_is_that_of_the_area_under_the_curve() -> None:
    rng = np.random.default_rng(1)
    for shift in np.linspace(0.0, 0.3, 13):
        own, others = rng.uniform(0.6, 0.9, 9) - shift, rng.uniform(0.6, 0.9, 20)
        area = auroc(np.concatenate([own, others]), np.arange(29) >= 9)
        assert area is not None
        found = doubted(judged({"one": own.tolist(), "many": others.tolist()}))
        assert found == ({"one"} if area >= CONFIG.company_rank else set())


def test_equal_scores_doubt_nobody() -> None:
    assert midranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [3.5, 1.0, 3.5, 2.0]
    assert doubted(judged({name: [0.8] * 5 for name in ("ann", "bea", "cem")})) == set()


def test_half_of_all_are_never_one_bad_demonstrator() -> None:
    assert doubted(judged({"ann": [0.7] * 10, "bea": [0.9] * 10})) == set()
    assert doubted(judged({"ann": [0.7] * 9, "bea": [0.9] * 10})) == {"ann"}


def test_chance_is_no_reason_to_doubt_one_of_many() -> None:
    rng = np.random.default_rng(2)
    sets = [{str(k): rng.uniform(0.7, 1.0, 3).tolist() for k in range(30)} for _ in range(100)]
    assert sum(bool(doubted(judged(scores))) for scores in sets) <= 3


def test_the_rest_of_a_charged_demonstrator_is_doubted_unless_one_is_vouched_for() -> None:
    rows = judged({"ann": [0.8] * 6, "bea": [0.8] * 10})
    rows[:4] = [replace(one, decision="unsure", probability=0.4) for one in rows[:4]]
    after = doubt_by_company(rows, of(rows), CONFIG)
    assert [one.decision for one in after] == ["unsure"] * 6 + ["keep"] * 10
    assert after[5].reason == "Most others by ann are doubted."
    rows[4] = replace(rows[4], judge="you")
    assert doubt_by_company(rows, of(rows), CONFIG) == rows


def test_what_the_user_decided_says_nothing_about_the_others() -> None:
    rows = judged(three_people())
    praised = [replace(one, judge="you", score=1.0) if one.demonstrator != "cem" else one for one in rows]
    assert doubted(praised) == set()
    blamed = [
        replace(one, judge="you", decision="drop", probability=0.0, score=0.0)
        if 10 <= one.index < 18
        else one
        for one in rows
    ]
    assert doubted(blamed) == set()


def test_short_ones_and_copies_are_no_witnesses() -> None:
    rows = judged({"ann": [0.9] * 10, "bea": [0.9] * 10, "cem": [0.85] * 8})
    short = [replace(one, family=-1, score=0.5) if one.index > 20 else one for one in rows]
    assert doubted(short) == set()
    copies = replace(of(rows), original=np.minimum(np.arange(28), 20))
    assert doubted(rows) == {"cem"}
    assert doubted(rows, copies) == set()
