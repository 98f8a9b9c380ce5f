"""A demonstrator's demonstrations are judged together, too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rilco.judging.company import doubt_by_company
from rilco.judging.config import JudgingConfig
from rilco.judging.verdict import Judgement, auroc, midranks

CONFIG = JudgingConfig()


def judged(scores: dict[str, list[float]], probability: float = 0.8) -> list[Judgement]:
    rows = [(maker, score) for maker, many in scores.items() for score in many]
    return [
        Judgement(i, f"{maker} #{i}", maker, 50, "keep", probability, score, "consensus", "Fine.", 0)
        for i, (maker, score) in enumerate(rows)
    ]


def doubted(judged: list[Judgement]) -> set[str]:
    return {one.demonstrator for one in doubt_by_company(judged, CONFIG) if one.decision == "unsure"}


def test_who_is_always_a_little_odder_than_the_others_is_doubted() -> None:
    rng = np.random.default_rng(0)
    scores = {name: rng.uniform(0.7, 1.0, 10).tolist() for name in ("ann", "bea", "cem")}
    assert doubted(judged(scores)) == set()
    scores["bea"] = rng.uniform(0.65, 0.75, 10).tolist()
    assert doubted(judged(scores)) == {"bea"}
    after = [one.score for one in doubt_by_company(judged(scores), CONFIG) if one.demonstrator == "bea"]
    assert np.argsort(after).tolist() == np.argsort(scores["bea"]).tolist()
    assert max(after) < CONFIG.unsure_to
    reasons = {one.reason for one in doubt_by_company(judged(scores), CONFIG) if one.demonstrator == "bea"}
    assert reasons == {
        "Nearly all by bea are odder than the others: the same mistake, or a style of their own."
    }


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
    assert doubted(judged({"ann": [0.8] * 5, "bea": [0.8] * 5, "cem": [0.8] * 5})) == set()


def test_half_of_all_and_two_demonstrations_are_never_one_bad_demonstrator() -> None:
    assert doubted(judged({"ann": [0.7] * 10, "bea": [0.9] * 10})) == set()
    assert doubted(judged({"ann": [0.7] * 2, "bea": [0.9] * 10})) == set()
    assert doubted(judged({"ann": [0.7] * 3, "bea": [0.9] * 10})) == {"ann"}


def test_the_rest_of_a_charged_demonstrator_is_doubted_unless_one_is_vouched_for() -> None:
    rows = judged({"ann": [0.8] * 6, "bea": [0.8] * 10})
    rows[:4] = [replace(one, decision="unsure", probability=0.4) for one in rows[:4]]
    after = doubt_by_company(rows, CONFIG)
    assert [one.decision for one in after] == ["unsure"] * 6 + ["keep"] * 10
    assert after[5].reason == "Most others by ann are doubted."
    rows[4] = replace(rows[4], judge="you")
    assert doubt_by_company(rows, CONFIG) == rows
