"""Judging demonstrations without a simulator: the whole way from pairs to a verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError
from rilco.judging.config import JudgingConfig
from rilco.judging.given import Given, read_given
from rilco.judging.judges.consensus import judge_consensus
from rilco.judging.judges.endings import judge_endings
from rilco.judging.judges.families import Families, find_families, gaps_to, how_apart, judge_families
from rilco.judging.judges.held import judge_held
from rilco.judging.judges.manner import judge_manner
from rilco.judging.judges.records import judge_records
from rilco.judging.material import Material, prepare
from rilco.judging.opinion import Opinion
from rilco.judging.verdict import Family, Judgement, Majority, Verdict, decide, join, rank

Progress = Callable[[str, float], None]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


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
    given = read_given(demos, good, bad)
    chosen = np.flatnonzero(given.pairs >= config.min_pairs)
    if len(given.pairs) > config.max_demonstrations:
        raise DemonstrationError(
            f"There are {len(given.pairs):,} demonstrations; at most {config.max_demonstrations:,} can be judged at once. Judge "
            "them in parts, or join episodes."
        )
    if len(chosen) < config.min_demonstrations:
        return _nothing(given, config)
    say("Preparing", 0.0)
    material = prepare(demos, given.of_pair, chosen, config)
    mine = given.vouched[material.order]
    families = find_families(material, config, lambda share: say("Families", share))
    majority, main = _majority(families.label, material.pairs, mine)
    opinions, apart = _ask(material, families, majority, main, mine, config, say)
    trust = _trust(majority, families.label, apart, material.pairs, mine, config)
    probability, speaker = join(opinions, trust, config)
    judged = _judgements(given, material, families.label, opinions, probability, speaker, config)
    judged = _by_company(judged, config)
    members = _families(families, material, main, judged)
    return _verdict(given, judged, members, opinions, majority, material, config)


def _ask(
    material: Material,
    families: Families,
    majority: Majority,
    main: int,
    vouched: np.ndarray,
    config: JudgingConfig,
    say: Progress,
) -> tuple[list[Opinion], np.ndarray]:
    """What each judge says, and [D] who lives apart from the others."""
    named = bool((vouched > 0).any())
    ours = np.isin(families.label, [main, *families.label[vouched > 0]])
    gap = gaps_to(families, main, config)
    far = how_apart(gap, families, main, config)
    say("Endings", 0.0)
    if named or not majority.agree:
        # Others are compared with one family: the named one, or the largest by pairs, which many short ones would outvote.
        by_end = judge_endings(material, config, apart=~ours, alibi=False)
        far = _apart_from(ours, far, by_end, families, main, config) if named else _beside(ours, far, config)
    else:
        by_end = judge_endings(material, config, apart=far > 0.0)
        home = by_end.evidence["home"] > 0.0
        # Who reaches the goal that the others reach is one of them, whatever the way.
        far = np.where(home & (home[families.label == main].mean() > 0.5), 0.0, far)
    say("Records", 0.0)
    by_record = judge_records(material, config, apart=far > 0.0)
    by_held = judge_held(material, config)
    say("Consensus", 0.0)
    # What a wrong record or an idle demonstrator does is of no use to the consensus.
    bad = (vouched < 0) | (np.minimum(by_record.good, by_held.good) < config.unsure_from)
    # One is not enough to foretell actions by: where others were set against its family, the family speaks.
    good = (vouched > 0) | (named & ours & ~ours.all())
    good &= ~bad & (good.sum() >= config.min_demonstrations)
    by_consensus = judge_consensus(material, config, good=good, bad=bad, apart=far > 0.0)
    by_family = judge_families(families, material.pairs, main, gap, far, config, rivals=not named)
    by_manner = judge_manner(
        material,
        config,
        seen={**by_consensus.evidence, "stops": (by_end.good < 0.5).astype(np.float64)},
        heard=~np.array(named) & ~bad & (far <= (config.manner_far if majority.agree else 0.0)),
    )
    say("Consensus", 1.0)
    plain = by_consensus.evidence.get("margin", np.zeros(material.count)) > config.plain_margin
    summed = [
        in_the_sum(by_family, by_manner),
        in_the_sum(by_consensus, by_manner, besides=plain),
        in_the_sum(by_end, by_manner),
    ]
    return [*summed, by_record, by_held, by_manner], far > 0.0


def in_the_sum(
    opinion: Opinion, by_manner: Opinion, *, besides: np.ndarray | Literal[False] = False
) -> Opinion:
    """Without doubts about those that the judge of manner praises: places, actions and ends are in its sum.

    Doubts `besides` [D] stand: who is plainly odd in one thing is not usual in sum.
    """
    usual = (by_manner.good > 0.5) & ~np.asarray(besides)
    return replace(opinion, good=np.where(usual, np.maximum(opinion.good, 0.5), opinion.good))


def _apart_from(
    ours: np.ndarray,
    far: np.ndarray,
    by_end: Opinion,
    families: Families,
    main: int,
    config: JudgingConfig,
) -> np.ndarray:
    """[D] how far others are from a family that was named; one that ends as it does may be another good way, and is doubted."""
    far = np.where(ours, 0.0, np.maximum(far, _seen_from_there(families, main, config)))
    return np.where(by_end.evidence["home"] > 0.0, config.same_end * far, far)


def _beside(ours: np.ndarray, far: np.ndarray, config: JudgingConfig) -> np.ndarray:
    """[D] how far others are from the largest family by pairs: far enough to be doubted."""
    return np.where(ours, far, np.maximum(far, config.beside))


def _seen_from_there(families: Families, main: int, config: JudgingConfig) -> np.ndarray:
    """[D] how far the family `main` is, by the measure of each one's own family: a wide family has narrow ones near it."""
    label, far = families.label, np.zeros(len(families.label))
    for other in np.setdiff1d(np.unique(label), main):
        back = how_apart(gaps_to(families, int(other), config), families, int(other), config)
        far[label == other] = np.median(back[label == main])
    return far


def _majority(label: np.ndarray, pairs: np.ndarray, vouched: np.ndarray) -> tuple[Majority, int]:
    """The largest family, and the one that is taken to be good."""
    members, size = np.bincount(label), np.bincount(label, pairs)
    by_demonstrations, by_pairs = int(np.argmax(members)), int(np.argmax(size))
    if (vouched > 0).any():
        main = int(np.argmax(np.bincount(label[vouched > 0], minlength=len(size))))
        sentence = (
            f"You vouched for {int((vouched > 0).sum())} demonstrations; the others are compared with them."
        )
        return Majority(by_demonstrations, by_pairs, True, sentence), main
    names = [family_name(f) for f in (by_demonstrations, by_pairs)]
    agree = by_demonstrations == by_pairs
    share = float(size[by_pairs] / size.sum())
    if agree:
        sentence = f"{names[0]} is the largest, by demonstrations ({members[by_demonstrations]} of {len(label)}) and by pairs ({share:.0%})."
    else:
        sentence = (
            f"By demonstrations {names[0]} is the largest ({members[by_demonstrations]} of {len(label)}), by pairs {names[1]} "
            f"({share:.0%}); the audit goes by pairs, and is not sure. Name a good family."
        )
    return Majority(by_demonstrations, by_pairs, agree, sentence), by_pairs


def _trust(
    majority: Majority,
    label: np.ndarray,
    apart: np.ndarray,
    pairs: np.ndarray,
    vouched: np.ndarray,
    config: JudgingConfig,
) -> float:
    """How likely the good ones are the majority; a family that is not `apart` [D] counts with the largest."""
    if (vouched > 0).any():
        return 1.0
    share = float(pairs[~apart].sum() / pairs.sum())
    outnumbered = apart[label == majority.by_demonstrations].mean() > 0.5
    trust = float(np.interp(share, *config.majority_trust))
    return trust * config.outnumbered_trust if outnumbered else trust


def family_name(family: int) -> str:
    return f"family {LETTERS[family]}" if family < len(LETTERS) else f"family {family + 1}"


def _judgements(
    given: Given,
    material: Material,
    label: np.ndarray,
    opinions: list[Opinion],
    probability: np.ndarray,
    speaker: np.ndarray,
    config: JudgingConfig,
) -> list[Judgement]:
    score = rank(opinions, probability, config)
    at = np.full(len(given.names), -1)
    at[material.order] = np.arange(material.count)
    judged = []
    for i, k in enumerate(at.tolist()):
        if given.vouched[i]:
            well = given.vouched[i] > 0
            p, who, why = float(well), "you", f"You called it {'good' if well else 'bad'}."
        elif k < 0:
            p, who, why = 0.5, "nobody", f"Too short to be judged: {given.pairs[i]} pairs."
        elif speaker[k] < 0:
            p, who, why = 0.5, "nobody", "No judge sees anything here."
        else:
            opinion = opinions[speaker[k]]
            p, who, why = float(probability[k]), opinion.judge, opinion.reasons[k]
        family = int(label[k]) if k >= 0 else -1
        place = float(score[k]) if k >= 0 and not given.vouched[i] else p
        judged.append(
            Judgement(
                i,
                given.names[i],
                given.makers[i],
                int(given.pairs[i]),
                decide(p, config),
                p,
                place,
                who,
                why,
                family,
            )
        )
    return judged


def _by_company(judged: list[Judgement], config: JudgingConfig) -> list[Judgement]:
    """A doubt about those whose demonstrator's others are nearly all charged; half of all cannot be one bad demonstrator's."""
    of_maker: dict[str, list[Judgement]] = {}
    for one in judged:
        of_maker.setdefault(one.demonstrator, []).append(one)
    doubted = set()
    for maker, own in of_maker.items():
        charged = sum(one.probability < 0.5 for one in own)
        if config.company_least <= len(own) < len(judged) / 2 and charged >= config.company * len(own):
            doubted.add(maker)
    return [
        replace(
            one,
            decision="unsure",
            probability=config.alone,
            score=config.alone,
            judge="nobody",
            reason=f"Most others by {one.demonstrator} are doubted.",
        )
        if one.demonstrator in doubted and one.decision == "keep" and one.judge != "you"
        else one
        for one in judged
    ]


def _families(families: Families, material: Material, main: int, judged: list[Judgement]) -> list[Family]:
    found = []
    for f in range(int(families.label.max()) + 1):
        inside = np.flatnonzero(families.label == f)
        members, own = material.order[inside], families.ties[inside, f]
        weight = {
            d: sum(judged[m].pairs for m in members if judged[m].decision == d)
            for d in ("keep", "unsure", "drop")
        }
        decision = max(weight, key=lambda d: weight[d])
        # Typical is who is judged as most of the family are.
        typical = np.where([judged[m].decision == decision for m in members], own, -1.0)
        found.append(
            Family(
                f,
                family_name(f),
                tuple(sorted(members.tolist())),
                int(material.pairs[inside].sum()),
                int(members[np.argmax(typical)]),
                int(members[np.argmin(own)]),
                decision,  # type: ignore[arg-type]
                f == main,
            )
        )
    return found


def _verdict(
    given: Given,
    judged: list[Judgement],
    families: list[Family],
    opinions: list[Opinion],
    majority: Majority,
    material: Material,
    config: JudgingConfig,
) -> Verdict:
    p = np.array([j.probability for j in judged])
    confidence = float(np.maximum(p, 1.0 - p).mean())
    counts = {d: sum(j.decision == d for j in judged) for d in ("keep", "drop", "unsure")}
    if (given.vouched > 0).any():
        assumption = "The demonstrations that you vouched for are good."
    elif majority.agree:
        assumption = "Most demonstrations are good."
    else:
        assumption = "Most of what was recorded is good, counted in pairs."
    return Verdict(
        tuple(judged),
        tuple(families),
        tuple(_given_order(opinion, material.order, len(judged)) for opinion in opinions),
        majority,
        confidence >= config.sure,
        confidence,
        f"{counts['keep']} to keep, {counts['drop']} to drop, {counts['unsure']} unsure.",
        assumption,
        given.of_pair,
    )


def _given_order(opinion: Opinion, order: np.ndarray, count: int) -> Opinion:
    """With a place for each given demonstration; of those too short to be judged there is nothing but 0.5 and NaN."""

    def spread(values: np.ndarray, empty: float) -> np.ndarray:
        whole = np.full(count, empty)
        whole[order] = values
        return whole

    reasons = ["Too short to be judged."] * count
    for place, reason in zip(order.tolist(), opinion.reasons, strict=True):
        reasons[place] = reason
    return replace(
        opinion,
        score=spread(opinion.score, np.nan),
        good=spread(opinion.good, 0.5),
        reasons=tuple(reasons),
        evidence={name: spread(values, np.nan) for name, values in opinion.evidence.items()},
    )


def _nothing(given: Given, config: JudgingConfig) -> Verdict:
    why = f"Too few demonstrations of at least {config.min_pairs} pairs to compare."
    judged = tuple(
        Judgement(i, name, maker, int(pairs), "unsure", 0.5, 0.5, "nobody", why, -1)
        for i, (name, maker, pairs) in enumerate(zip(given.names, given.makers, given.pairs, strict=True))
    )
    majority = Majority(None, None, True, "There are too few demonstrations for a majority.")
    return Verdict(judged, (), (), majority, False, 0.5, "Nothing can be judged.", "None.", given.of_pair)
