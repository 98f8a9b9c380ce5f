"""Made-up audits for the tests of the record and the page: seeded, and in the shapes of real ones."""

from __future__ import annotations

import numpy as np

from rilco.judging.grouping import best_means
from rilco.judging.judged import WINDOW_PAIRS
from rilco.judging.record import Audit, Conclusion, JudgedDemonstration, JudgedDemonstrator, NoiseFraction

CUT = 0.4


def scores_over_time(rng: np.random.Generator, level: float, pairs: int, *, from_start: bool) -> np.ndarray:
    """Pair scores [pairs] that wander about a level; a whole episode first has to get going."""
    noise = rng.normal(0.0, 0.5, pairs)
    wander = np.empty(pairs)
    previous = rng.normal(0.0, 0.5)
    for step in range(pairs):
        previous = 0.97 * previous + 0.1 * noise[step]
        wander[step] = previous
    rhythm = 0.25 * np.sin(np.arange(pairs) * 0.35 + rng.uniform(0, 6))
    start = -2.0 * np.exp(-np.arange(pairs) / 18.0) if from_start else 0.0
    return level + 1.5 * wander + rhythm + 0.3 * noise + start


def windows_of(scores: np.ndarray) -> np.ndarray:
    """Of a demonstration with these scores of pairs: the best of each window, with nothing taken off."""
    return best_means(scores, np.arange(len(scores)) // WINDOW_PAIRS)


def make_audit(
    *,
    experts: int = 10,
    episode_pairs: int = 1000,
    others: int = 5,
    pieces: int = 30,
    piece_pairs: int = 50,
    labelled: bool = False,
    with_return: bool = True,
    names: dict[int, str] | None = None,
    seed: int = 0,
) -> Audit:
    """A mixture as the noise protocol makes it: whole episodes of an expert and short pieces of the others."""
    rng = np.random.default_rng(seed)
    levels = [1.9, *np.linspace(-1.1, -3.0, max(others, 1))[:others]]
    demonstrations, totals = [], []
    for maker, level in enumerate(levels):
        count, pairs = (experts, episode_pairs) if maker == 0 else (pieces, piece_pairs)
        file = "expert.npz" if maker == 0 else f"non-expert-{maker}.npz"
        for episode in range(count):
            index = len(demonstrations)
            scores = scores_over_time(rng, level + rng.normal(0, 0.2), pairs, from_start=maker == 0)
            windows = windows_of(scores)
            score = float(np.repeat(windows, WINDOW_PAIRS)[:pairs].mean())
            verdict = "unsure" if abs(score - CUT) < 0.25 else "keep" if score >= CUT else "drop"
            demonstrations.append(
                JudgedDemonstration.from_scores(
                    index,
                    (names or {}).get(index, f"{file} · episode {episode}"),
                    scores,
                    windows,
                    demonstrator=maker,
                    expert_probability=1 / (1 + np.exp(-4.0 * (score - CUT))),
                    verdict=verdict,
                    episode_return=float(2.4 * pairs * (1 + 0.3 * level / 2) + rng.normal(0, 12))
                    if with_return
                    else None,
                    truth=("expert" if maker == 0 else "non-expert") if labelled else None,
                )
            )
        own = [demo for demo in demonstrations if demo.demonstrator == maker]
        score = float(np.average([demo.score for demo in own], weights=[demo.pairs for demo in own]))
        totals.append(
            JudgedDemonstrator(
                id=maker,
                name=file,
                demonstrations=len(own),
                pairs=sum(demo.pairs for demo in own),
                score=score,
                expert_probability=1 / (1 + np.exp(-5.0 * (score - CUT))),
                verdict="keep" if score >= CUT else "drop",
            )
        )
    dropped = sum(demo.pairs for demo in demonstrations if demo.score < CUT)
    share = dropped / sum(demo.pairs for demo in demonstrations)
    return Audit(
        task="hopper",
        files=tuple(maker.name for maker in totals),
        transitions=300_160,
        seeds=(1, 2, 3),
        verdict=Conclusion(
            "mixed",
            "The scores fall into two groups with an empty stretch between them, and the upper group holds more than "
            "half of the pairs. The three seeds agree on every demonstration.",
            0.97,
            CUT,
        ),
        noise_fraction=NoiseFraction(share, max(0.0, share - 0.018), min(1.0, share + 0.022)),
        demonstrators=tuple(totals),
        demonstrations=tuple(demonstrations),
        settings={
            "method": "ril-co",
            "scored by": "the classifier of the other half",
            "stretch": "last 150 iterations",
        },
    )


def without_cut(audit: Audit, kind: str, sentence: str, confidence: float | None) -> Audit:
    """The same demonstrations where no cut is proposed."""
    from dataclasses import replace

    verdict = "keep" if kind == "clean" else "unsure"
    return replace(
        audit,
        verdict=Conclusion(kind, sentence, confidence, None),
        noise_fraction=None if kind == "inseparable" else NoiseFraction(0.0, 0.0, 0.03),
        demonstrations=tuple(replace(demo, verdict=verdict) for demo in audit.demonstrations),
        demonstrators=tuple(replace(maker, verdict=verdict) for maker in audit.demonstrators),
    )
