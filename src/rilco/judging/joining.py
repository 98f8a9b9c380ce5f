"""A further opinion joined into a verdict: where it disagrees, nobody is sure.

RIL-Co's classifiers are such an opinion. They see what a learner outgrows, which the offline judges do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from rilco.judging.audit_config import AuditConfig
from rilco.judging.opinion import Opinion
from rilco.judging.roster import Roster
from rilco.judging.verdict import Decision, Judgement, Majority, Verdict, count_words, decide, decision_of

VOUCHED = "you"
NOBODY = "nobody"


def join(verdict: Verdict, opinion: Opinion, config: AuditConfig) -> Verdict:
    """The verdict with one more opinion. An opinion without standing is shown, and changes nothing."""
    opinions = (*verdict.opinions, opinion)
    who, s = _named(opinion.judge), "" if opinion.judge == "ril-co" else "s"
    if opinion.standing == 0.0:
        summary = f"{verdict.summary} {who} abstain{s}."
        return replace(verdict, opinions=opinions, summary=summary)
    judged = tuple(
        _join_one(one, float(good), reason, opinion.judge, config)
        for one, good, reason in zip(
            verdict.demonstrations, opinion.good.tolist(), opinion.reasons, strict=True
        )
    )
    alone = all(one.judge in (NOBODY, VOUCHED) for one in verdict.demonstrations)
    before = verdict.demonstrations
    if alone:  # the others' scores rank nothing
        judged = tuple(
            replace(one, score=float(s)) for one, s in zip(judged, opinion.score.tolist(), strict=True)
        )
    pairs = np.array([one.pairs for one in judged])
    changed = np.array([a.decision != b.decision for a, b in zip(before, judged, strict=True)])
    split = changed & np.array([one.decision == "unsure" for one in judged])
    settled = int((changed & ~split).sum())
    agreed = 1.0 - float(pairs[split].sum() / pairs.sum())
    if alone:
        confidence = min(opinion.standing, config.alone)
        said = f"Only {who.replace('The', 'the', 1)} see{s} something here, so this is a proposal: look before you use it."
    elif agreed == 1.0:
        more = f", and decide{s} {settled:,} more" if settled else ""
        confidence, said = verdict.confidence, f"{who} say{s} the same{more}."
    else:
        confidence = verdict.confidence * agreed
        said = f"{who} disagree{s} about {int(split.sum()):,} demonstrations, which are now unsure."
    families = tuple(
        replace(family, decision=decision_of(judged, family.demonstrations)) for family in verdict.families
    )
    return replace(
        verdict,
        demonstrations=judged,
        families=families,
        opinions=opinions,
        sure=confidence >= config.judges.sure,
        confidence=confidence,
        summary=f"{count_words(judged)} {said}",
    )


def _named(judge: str) -> str:
    return "RIL-Co's classifiers" if judge == "ril-co" else f"The judge {judge}"


def _join_one(one: Judgement, good: float, reason: str, judge: str, config: AuditConfig) -> Judgement:
    if one.judge == VOUCHED:
        return one
    says = decide(good, config.judges)
    if says == "unsure" or says == one.decision:
        return one
    if one.judge == NOBODY:
        return replace(one, decision=says, probability=good, judge=judge, reason=reason)
    if one.decision == "unsure":  # the others disagree already; one more voice does not settle it
        return one
    reason = f"The judges disagree. {one.judge.capitalize()}: {one.reason} {_named(judge)}: {reason}"
    return replace(one, decision="unsure", probability=0.5, judge=NOBODY, reason=reason)


def verdict_of(opinion: Opinion, roster: Roster, config: AuditConfig) -> Verdict:
    """The verdict of one judge alone, with no families."""
    judged = tuple(
        Judgement(i, name, maker, int(pairs), "unsure", 0.5, 0.0, NOBODY, "No judge saw anything.", -1)
        for i, (name, maker, pairs) in enumerate(zip(roster.names, roster.makers, roster.pairs, strict=True))
    )
    nobody = Majority(None, None, True, "Families were not looked for.")
    assumption = "More than half of the pairs are an expert's."
    blank = Verdict(judged, (), (), nobody, False, 0.0, "No judge saw anything.", assumption, roster.of_pair)
    return join(blank, opinion, config)


# -- what a person decides ---------------------------------------------------------------------------------------


def apply_decisions(verdict: Verdict, decisions: Mapping[int, Decision], why: str) -> Verdict:
    """The verdict with these decisions, by index, in place of its own."""
    judged = tuple(
        one
        if decisions.get(one.index, one.decision) == one.decision
        else replace(
            one,
            decision=decisions[one.index],
            probability={"keep": 1.0, "drop": 0.0, "unsure": 0.5}[decisions[one.index]],
            judge=VOUCHED,
            reason=why,
        )
        for one in verdict.demonstrations
    )
    families = tuple(
        replace(family, decision=decision_of(judged, family.demonstrations)) for family in verdict.families
    )
    return replace(verdict, demonstrations=judged, families=families, summary=count_words(judged))


def apply_cut(verdict: Verdict, cut: float) -> Verdict:
    """Keep what scores at least `cut`, drop the rest."""
    decisions: dict[int, Decision] = {
        one.index: "keep" if one.score >= cut else "drop" for one in verdict.demonstrations
    }
    side = {"keep": "at or above", "drop": "below"}
    judged = apply_decisions(verdict, decisions, "")
    reasons = tuple(
        replace(one, judge=VOUCHED, reason=f"Its score is {side[one.decision]} your cut at {cut:g}.")
        for one in judged.demonstrations
    )
    return replace(judged, demonstrations=reasons, assumption=f"You cut at the score {cut:g}.")


def proposed_cut(verdict: Verdict) -> float | None:
    """The score between what is kept and what is dropped; None where scores do not separate the two."""
    keep = [one.score for one in verdict.demonstrations if one.decision == "keep"]
    drop = [one.score for one in verdict.demonstrations if one.decision == "drop"]
    if not keep or not drop or min(keep) <= max(drop):
        return None
    return 0.5 * (min(keep) + max(drop))
