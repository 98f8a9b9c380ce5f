"""Made-up demonstrations and verdicts for the tests of the record, the page and the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rilco.data.record import Demonstrations
from rilco.judging.audit import Audit
from rilco.judging.opinion import Opinion
from rilco.judging.record import Source
from rilco.judging.verdict import Decision, Family, Judgement, Majority, Verdict, count_words
from rilco.judging.windows import group


def two_kinds(
    good: int = 12,
    bad: int = 6,
    pairs: int = 40,
    *,
    names: tuple[str, ...] = ("anna.npz", "ben.npz"),
    **more: Any,
) -> Demonstrations:
    """Good ones circle about one place, bad ones about another and the other way round; each maker has a file."""
    rng = np.random.default_rng(0)
    obs, action = [], []
    for k in range(good + bad):
        turn = 1.0 if k < good else -1.0
        phase = rng.uniform(0, 6) + turn * 0.3 * np.arange(pairs)
        centre = 0.0 if k < good else 4.0
        noise = rng.normal(0.0, 0.05, (pairs, 4))
        obs.append(np.stack([centre + np.cos(phase), np.sin(phase)], 1) + noise[:, :2])
        action.append(turn * np.stack([-np.sin(phase), np.cos(phase)], 1) + noise[:, 2:])
    episode = np.repeat(np.arange(good + bad), pairs)
    return Demonstrations(
        np.concatenate(obs),
        np.concatenate(action),
        episode=episode,
        demonstrator=(episode >= good).astype(int),
        demonstrator_names=names,
        **more,
    )


def make_verdict(
    demos: Demonstrations,
    families: Sequence[Sequence[int]],
    *,
    decisions: Sequence[Decision] | None = None,
    names: dict[int, str] | None = None,
    scores: Sequence[float] | None = None,
    consensus: Sequence[float] | None = None,
) -> Verdict:
    """The first family is taken to be good; `consensus` has that judge's probabilities, where it is to have standing."""
    grouping = group(demos)
    of_pair, pairs = grouping.of_pair, grouping.pairs
    makers = [demos.demonstrator_names[int(demos.demonstrator[rows[0]])] for rows in grouping.rows()]
    family = {i: f for f, members in enumerate(families) for i in members}
    judged = []
    for i, maker in enumerate(makers):
        word: Decision = "unsure" if i not in family else "keep" if family[i] == 0 else "drop"
        word = word if decisions is None else decisions[i]
        likely = {"keep": 0.97, "drop": 0.04, "unsure": 0.5}[word]
        reason = {
            "keep": "Lives with the majority.",
            "drop": "Lives apart.",
            "unsure": "No judge sees anything.",
        }
        judged.append(
            Judgement(
                i,
                (names or {}).get(i, f"{maker} #{i + 1}"),
                maker,
                int(pairs[i]),
                word,
                likely,
                likely if scores is None else scores[i],
                "nobody" if word == "unsure" else "families",
                reason[word],
                family.get(i, -1),
            )
        )
    good = np.array([one.probability for one in judged])
    opinions = [
        Opinion("families", 0.9, "Families share little.", good, good, tuple(one.reason for one in judged))
    ]
    seen = np.full(len(judged), 0.5) if consensus is None else np.array(consensus)
    reasons = tuple(
        "Acts unlike the others there." if p < 0.5 else "Acts like the others there." for p in seen
    )
    why = "Demonstrations share too few states." if consensus is None else "Demonstrations share states."
    opinions.append(Opinion("consensus", 0.0 if consensus is None else 0.9, why, seen, seen, reasons))
    made = tuple(
        Family(
            f,
            f"family {'ABCDEFGHIJ'[f]}",
            tuple(members),
            int(pairs[list(members)].sum()),
            members[0],
            members[-1],
            judged[members[0]].decision,
            f == 0,
        )
        for f, members in enumerate(families)
    )
    return Verdict(
        tuple(judged),
        made,
        tuple(opinions),
        Majority(0, 0, True, "family A is the largest."),
        True,
        0.95,
        count_words(tuple(judged)),
        "Most demonstrations are good.",
        of_pair,
    )


def make_audit(good: int = 12, bad: int = 6, small: int = 0, pairs: int = 40, **more: Any) -> Audit:
    """Family A is good, B is bad; the last `small` of the bad are a family C of their own."""
    demos = two_kinds(good, bad, pairs)
    total = good + bad
    families = [list(range(good)), list(range(good, total - small))]
    families += [list(range(total - small, total))] if small else []
    rng = np.random.default_rng(1)
    scores = np.where(np.arange(total) < good, 0.9, 0.1) + rng.uniform(-0.05, 0.05, total)
    verdict = make_verdict(demos, families, scores=scores.tolist(), **more)
    source = Source(files=("anna.npz", "ben.npz"), fingerprint=demos.fingerprint())
    return Audit(demos, verdict, source)
