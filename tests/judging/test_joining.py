"""Opinions joined into a verdict, and what a person decides."""

from __future__ import annotations

import numpy as np
import pytest
from tests.judging.examples import make_audit, make_verdict, two_kinds

from rilco.judging.audit_config import AuditConfig
from rilco.judging.joining import apply_cut, apply_decisions, join, proposed_cut, verdict_of
from rilco.judging.opinion import Opinion
from rilco.judging.roster import read_roster
from rilco.judging.verdict import Verdict

CONFIG = AuditConfig()


def opinion(good: list[float], standing: float = 0.95) -> Opinion:
    values = np.array(good)
    return Opinion(
        "ril-co", standing, "Scores are of two kinds.", values, values, tuple("It says so." for _ in good)
    )


@pytest.fixture
def verdict() -> Verdict:
    return make_verdict(two_kinds(6, 3), [[0, 1, 2, 3, 4, 5], [6, 7, 8]])


def test_an_opinion_that_agrees_changes_no_decision(verdict: Verdict) -> None:
    joined = join(verdict, opinion([0.99] * 6 + [0.01] * 3), CONFIG)
    assert joined.demonstrations == verdict.demonstrations
    assert (joined.confidence, joined.sure) == (verdict.confidence, True)
    assert [one.judge for one in joined.opinions] == ["families", "consensus", "ril-co"]
    assert "say the same" in joined.summary


def test_it_settles_what_nobody_saw_and_the_summary_counts_it(verdict: Verdict) -> None:
    before = make_verdict(
        two_kinds(6, 3), [[0, 1, 2, 3, 4, 5], [6, 7, 8]], decisions=["keep"] * 5 + ["unsure"] + ["drop"] * 3
    )
    joined = join(before, opinion([0.99] * 6 + [0.01] * 3), CONFIG)
    assert joined.decisions.tolist() == ["keep"] * 6 + ["drop"] * 3
    assert "6 are kept, 3 dropped and 0 unsure" in joined.summary
    assert "and decide 1 more" in joined.summary


def test_where_it_disagrees_nobody_is_sure(verdict: Verdict) -> None:
    joined = join(verdict, opinion([0.99] * 5 + [0.02] + [0.01] * 3), CONFIG)
    assert joined.decisions.tolist() == ["keep"] * 5 + ["unsure"] + ["drop"] * 3
    doubted = joined.demonstrations[5]
    assert (doubted.probability, doubted.judge) == (0.5, "nobody")
    assert "disagree" in doubted.reason
    assert joined.confidence < verdict.confidence
    assert not joined.sure
    assert "disagree about 1 " in joined.summary


def test_an_opinion_without_standing_is_only_shown(verdict: Verdict) -> None:
    joined = join(verdict, opinion([0.5] * 9, standing=0.0), CONFIG)
    assert joined.demonstrations == verdict.demonstrations
    assert joined.opinions[-1].judge == "ril-co"
    assert "abstain" in joined.summary


def test_an_opinion_that_does_not_know_leaves_a_decision_alone(verdict: Verdict) -> None:
    joined = join(verdict, opinion([0.5] * 9), CONFIG)
    assert joined.decisions.tolist() == verdict.decisions.tolist()


def test_alone_it_speaks_but_is_never_sure() -> None:
    nobody = make_verdict(two_kinds(6, 3), [], decisions=["unsure"] * 9)
    joined = join(nobody, opinion([0.99] * 6 + [0.01] * 3, standing=1.0), CONFIG)
    assert joined.decisions.tolist() == ["keep"] * 6 + ["drop"] * 3
    assert {one.judge for one in joined.demonstrations} == {"ril-co"}
    assert joined.confidence == CONFIG.alone < CONFIG.judges.sure
    assert not joined.sure


def test_what_the_user_vouched_for_stays(verdict: Verdict) -> None:
    vouched = apply_decisions(verdict, {7: "keep"}, "You called it good.")
    joined = join(vouched, opinion([0.99] * 6 + [0.01] * 3), CONFIG)
    assert joined.demonstrations[7].decision == "keep"
    assert joined.demonstrations[7].judge == "you"


def test_the_verdict_of_one_judge_alone() -> None:
    demos = two_kinds(4, 2)
    alone = verdict_of(opinion([0.9] * 4 + [0.1] * 2), read_roster(demos), CONFIG)
    assert alone.decisions.tolist() == ["keep"] * 4 + ["drop"] * 2
    assert alone.families == ()


def test_decisions_and_what_families_then_got(verdict: Verdict) -> None:
    decided = apply_decisions(verdict, {6: "keep", 7: "keep", 0: "keep"}, "You said so.")
    assert decided.decisions.tolist() == ["keep"] * 8 + ["drop"]
    assert decided.families[1].decision == "keep"
    assert decided.demonstrations[0].judge == "families", "what was so already is still the judge's"
    assert decided.demonstrations[6].reason == "You said so."


def test_a_cut_goes_by_the_score() -> None:
    made = make_audit(6, 3)
    cut = proposed_cut(made.verdict)
    assert cut is not None
    assert apply_cut(made.verdict, cut).decisions.tolist() == made.verdict.decisions.tolist()
    assert set(apply_cut(made.verdict, 2.0).decisions) == {"drop"}
    assert "below your cut at 2" in apply_cut(made.verdict, 2.0).demonstrations[0].reason


def test_no_cut_is_proposed_where_scores_do_not_part_the_two() -> None:
    verdict = make_verdict(two_kinds(2, 2), [[0, 1], [2, 3]], scores=[0.9, 0.2, 0.5, 0.1])
    assert proposed_cut(verdict) is None
