"""Who differs in many small things?

A weak policy, a wrong goal or a trembling hand is seldom odd beyond doubt in one thing. It is a little odd in several. So each
demonstration is measured in many ways (`traits`). What goes beyond the usual in each adds up, with weights that were fitted to
the design half of `benchmarks/zoo`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.gaps import core
from rilco.judging.judges.endings import goes_on
from rilco.judging.material import Material
from rilco.judging.opinion import Opinion
from rilco.judging.traits import OF_ACTIONS, WORDS, measure

NAME = "manner"


def judge_manner(
    material: Material, config: JudgingConfig, *, seen: Mapping[str, np.ndarray], heard: np.ndarray
) -> Opinion:
    """A doubt about those that are odd in sum, and praise for the others; with it alone nothing is dropped.

    `seen` is the consensus's evidence, and whose end the judge of endings doubts. Only those `heard` [D] are compared; the others live elsewhere.
    """
    count = material.count
    silent = Opinion(NAME, 0.0, "", np.zeros(count), np.full(count, 0.5), ("Not heard.",) * count)
    if heard.sum() < config.manner_demonstrations or "error" not in seen:
        return replace(silent, why="What is usual is open: too few to compare, or the majority is in doubt.")
    excess = excesses(measure(material, seen, heard, config), material.pairs, heard, config)
    pieces = goes_on(material, np.arange(count), config)
    if pieces.mean() < 0.5:  # a part of one is not compared with whole ones, but for what it does where
        excess = {name: each if name in OF_ACTIONS else each * ~pieces for name, each in excess.items()}
    parts = {name: weight * excess[name] for name, weight in config.manner}
    score = config.manner_start + np.sum(list(parts.values()), axis=0)
    at = cut_score(score[heard], np.sqrt(material.pairs[heard]), config)
    odd = heard & (score > at)
    good = np.where(odd, config.alone, np.interp(score, *config.manner_praise))
    names = np.array(list(parts))
    ranked = np.argsort(-np.stack(list(parts.values())), axis=0, kind="stable")  # [T, D] the weightiest first
    return Opinion(
        NAME,
        1.0,
        why=f"{len(parts)} small things are compared; in sum {odd.sum()} of {heard.sum()} demonstrations stand out.",
        score=-score,
        good=np.where(heard, good, 0.5),
        reasons=tuple(
            _reason([WORDS[name] for name in names[ranked[:, i]] if parts[name][i] > config.manner_tells])
            if odd[i]
            else "Nothing about it is unusual, in sum."
            if heard[i]
            else "Not heard."
            for i in range(count)
        ),
        evidence=excess,
    )


def excesses(
    traits: Mapping[str, np.ndarray], pairs: np.ndarray, heard: np.ndarray, config: JudgingConfig
) -> dict[str, np.ndarray]:
    """[D] of each trait: how far beyond the usual, on a logarithmic scale; 0 up to one spread.

    What is usual is the densest half. Demonstrations count by the root of their length, between counting them and counting
    pairs. With few demonstrations the spread is taken to be larger.
    """
    found = {}
    for name, values in traits.items():
        centre, spread = core(values[heard], np.sqrt(pairs[heard]))
        spread = max(spread * (1.0 + config.manner_few / heard.sum()), config.least_width)
        found[name] = np.log1p(np.clip((values - centre) / spread - 1.0, 0.0, config.manner_most))
    return found


def cut_score(score: np.ndarray, weight: np.ndarray, config: JudgingConfig) -> float:
    """Where the odd ones begin: in the widest gap above at least half of the `weight` [H], by an S-shaped measure of the
    log-odds. Gaps far from its middle count for little; with no gap at all nobody is odd."""
    middle, width = config.manner_cut
    order = np.argsort(score, kind="stable")
    place = np.append(1.0 / (1.0 + np.exp((middle - score[order]) / width)), 1.0)
    usual = np.cumsum(weight[order]) >= 0.5 * weight.sum()
    last = int(np.argmax(np.where(usual, np.diff(place), -np.inf)))
    at = min(0.5 * (place[last] + place[last + 1]), 1.0 - 1e-9)
    return float(middle + width * np.log(at / (1.0 - at)))


def _reason(words: list[str]) -> str:
    if not words:
        return "Odd in sum, in many small things."
    return f"Odd in sum: it {', '.join(words[:-1][:2])}{' and ' if len(words) > 1 else ''}{words[:3][-1]}."
