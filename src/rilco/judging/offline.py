"""Judging demonstrations without a simulator: the whole way from pairs to a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError
from rilco.judging.case import Case, family_name
from rilco.judging.company import doubt_by_company
from rilco.judging.config import JudgingConfig
from rilco.judging.hearing import Progress, hear
from rilco.judging.judges.families import find_families
from rilco.judging.material import prepare
from rilco.judging.opinion import Opinion
from rilco.judging.roster import Roster, read_roster
from rilco.judging.verdict import (
    Family,
    Judgement,
    Majority,
    Verdict,
    combine,
    count_words,
    decide,
    decision_of,
    rank,
)


@threadpool_limits.wrap(
    limits=1, user_api="blas"
)  # matrices are small: threads would only wait for each other
def judge_offline(
    demos: Demonstrations,
    config: JudgingConfig = JudgingConfig(),
    *,
    good: Sequence[str | int] = (),
    bad: Sequence[str | int] = (),
    progress: Progress | None = None,
) -> Verdict:
    """Keep, drop or unsure for each episode, with reasons.

    `good` and `bad` name demonstrators or demonstrations that the user vouches for or against, by name or by index. They
    replace the assumption that the majority is good.
    """
    say = progress or (lambda what, share: None)
    roster = read_roster(demos, good, bad)
    chosen = np.unique(roster.original[roster.pairs >= config.min_pairs])
    if len(roster.pairs) > config.max_demonstrations:
        raise DemonstrationError(
            f"There are {len(roster.pairs):,} demonstrations; at most {config.max_demonstrations:,} can be judged at once. Judge "
            "them in parts, or join episodes."
        )
    if len(chosen) < config.min_demonstrations:
        return _nothing(roster, config)
    say("Preparing", 0.0)
    material = prepare(demos, roster.of_pair, chosen, config)
    families = find_families(material, config, lambda share: say("Families", share))
    case = Case(material, families, roster.vouched[material.order], config)
    case, opinions, apart = _heard(case, say)
    judged = doubt_by_company(_judgements(roster, case, opinions, case.trust(apart)), roster, config)
    # Of what the user decided nothing was found out.
    p = np.array([one.probability for one in judged if one.judge != "you"] or [1.0])
    confidence = float(np.maximum(p, 1.0 - p).mean())
    return Verdict(
        tuple(judged),
        tuple(_families(case, judged)),
        tuple(_given_order(opinion, material.order, roster.original) for opinion in opinions),
        case.majority,
        confidence >= config.sure,
        confidence,
        count_words(judged),
        _assumption(case),
        roster.of_pair,
    )


def _heard(case: Case, say: Progress) -> tuple[Case, list[Opinion], np.ndarray]:
    """The case, confirmed or not; what each judge says; and [D] who lives apart.

    Where nobody doubts the majority, and all that the user vouches for would be kept without a word, the majority is good. Else
    the vouched ones replace it.
    """
    if case.named:
        confirmed = replace(case, confirmed=True)
        opinions, apart = hear(confirmed, say)
        probability, _ = combine(opinions, 1.0, case.config)
        kept = (probability[case.vouched > 0] >= case.config.unsure_to).all()
        if kept and confirmed.majority.agree and confirmed.trust(apart) == 1.0:
            return confirmed, opinions, apart
    return case, *hear(case, say)


def _judgements(roster: Roster, case: Case, opinions: list[Opinion], trust: float) -> list[Judgement]:
    """Of all that were given, also of those that nobody could judge."""
    probability, speaker = combine(opinions, trust, case.config)
    score = rank(opinions, probability, case.config)
    at = np.full(len(roster.names), -1)
    at[case.material.order] = np.arange(case.material.count)
    at = at[roster.original]
    judged = []
    for i, k in enumerate(at.tolist()):
        place = None if k < 0 else float(score[k])
        if roster.vouched[i]:
            well, place = roster.vouched[i] > 0, None
            p, who, why = float(well), "you", f"You called it {'good' if well else 'bad'}."
        elif k < 0:
            p, who, why = 0.5, "nobody", f"Too short to be judged: {roster.pairs[i]} pairs."
        elif speaker[k] < 0:
            p, who, why = 0.5, "nobody", "No judge sees anything here."
        else:
            opinion = opinions[speaker[k]]
            p, who, why = float(probability[k]), opinion.judge, opinion.reasons[k]
        if (first := roster.original[i]) != i:
            why = f"A copy of {roster.names[first]}. {why}"
        judged.append(
            Judgement(
                index=i,
                name=roster.names[i],
                demonstrator=roster.makers[i],
                pairs=int(roster.pairs[i]),
                decision=decide(p, case.config),
                probability=p,
                score=p if place is None else place,
                judge=who,
                reason=why,
                family=int(case.families.label[k]) if k >= 0 else -1,
            )
        )
    return judged


def _families(case: Case, judged: list[Judgement]) -> list[Family]:
    found = []
    for f in range(int(case.families.label.max()) + 1):
        inside = np.flatnonzero(case.families.label == f)
        shown, own = case.material.order[inside], case.families.ties[inside, f]
        members = tuple(one.index for one in judged if one.family == f)
        decision = decision_of(judged, members)
        # Typical is who is judged as most of the family are.
        typical = np.where([judged[m].decision == decision for m in shown], own, -1.0)
        found.append(
            Family(
                index=f,
                name=family_name(f),
                demonstrations=members,
                pairs=sum(judged[m].pairs for m in members),
                typical=int(shown[np.argmax(typical)]),
                oddest=int(shown[np.argmin(own)]),
                decision=decision,
                majority=f == case.main,
            )
        )
    return found


def _assumption(case: Case) -> str:
    if case.named:
        return "The demonstrations that you vouched for are good."
    if case.majority.agree:
        return "Most demonstrations are good."
    return "Most of what was recorded is good, counted in pairs."


def _given_order(opinion: Opinion, order: np.ndarray, original: np.ndarray) -> Opinion:
    """With a place for each given demonstration; of those too short to be judged there is nothing but 0.5 and NaN."""

    def spread(values: np.ndarray, empty: float) -> np.ndarray:
        whole = np.full(len(original), empty)
        whole[order] = values
        return whole[original]

    reasons = dict(zip(order.tolist(), opinion.reasons, strict=True))
    return replace(
        opinion,
        score=spread(opinion.score, np.nan),
        good=spread(opinion.good, 0.5),
        reasons=tuple(reasons.get(i, "Too short to be judged.") for i in original.tolist()),
        evidence={name: spread(values, np.nan) for name, values in opinion.evidence.items()},
    )


def _nothing(roster: Roster, config: JudgingConfig) -> Verdict:
    why = f"Too few demonstrations of at least {config.min_pairs} pairs to compare."
    judged = tuple(
        Judgement(i, name, maker, int(pairs), "unsure", 0.5, 0.5, "nobody", why, -1)
        for i, (name, maker, pairs) in enumerate(zip(roster.names, roster.makers, roster.pairs, strict=True))
    )
    majority = Majority(None, None, True, "There are too few demonstrations for a majority.")
    return Verdict(judged, (), (), majority, False, 0.5, "Nothing can be judged.", "None.", roster.of_pair)
