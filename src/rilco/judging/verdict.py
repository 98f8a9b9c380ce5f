"""One verdict from all opinions, and how good it is where labels are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from rilco.data.record import Demonstrations
from rilco.judging.config import JudgingConfig
from rilco.judging.opinion import Opinion

Decision = Literal["keep", "drop", "unsure"]
DECISIONS: tuple[Decision, ...] = ("keep", "drop", "unsure")


@dataclass(frozen=True)
class Judgement:
    """Of one demonstration."""

    index: int
    """Its place in the order of `Demonstrations.episodes`."""
    name: str
    """Who made it, and the how manieth it is."""
    demonstrator: str
    pairs: int
    decision: Decision
    probability: float
    """Of being good."""
    score: float
    """For ranking: higher is more like the good ones."""
    judge: str
    """Who spoke: a judge's name, `you` where the user vouched, or `nobody`."""
    reason: str
    family: int
    """Index of its family, or -1 where it is too short to have one."""


@dataclass(frozen=True)
class Family:
    """Demonstrations that live together."""

    index: int
    name: str
    demonstrations: tuple[int, ...]
    """Indices of its members."""
    pairs: int
    typical: int
    """The member that shares most with the others."""
    oddest: int
    """The member that shares least."""
    decision: Decision
    """What most of its pairs got."""
    majority: bool
    """Whether it is the one that is taken to be good."""


@dataclass(frozen=True)
class Majority:
    """Which family is the largest, counted in two ways."""

    by_demonstrations: int | None
    by_pairs: int | None
    agree: bool
    sentence: str


@dataclass(frozen=True, eq=False, repr=False)
class Verdict:
    """What is to be kept, what dropped, and why."""

    demonstrations: tuple[Judgement, ...]
    families: tuple[Family, ...]
    """The largest by pairs first."""
    opinions: tuple[Opinion, ...]
    majority: Majority
    sure: bool
    confidence: float
    """That the decisions as a whole are right."""
    summary: str
    assumption: str
    """What it rests on, in a sentence."""
    of_pair: np.ndarray
    """[N] the demonstration of each pair."""

    def __repr__(self) -> str:
        return f"Verdict({self.summary!r}, sure={self.sure}, confidence={self.confidence:.2f})"

    @property
    def decisions(self) -> np.ndarray:
        """[D] of `keep`, `drop` and `unsure`."""
        return np.array([each.decision for each in self.demonstrations])


def combine(
    opinions: Sequence[Opinion], trust: float, config: JudgingConfig
) -> tuple[np.ndarray, np.ndarray]:
    """[D] probabilities of being good, and [D] which opinion spoke (-1 for none).

    A charge by one judge that has standing is enough to doubt: praise by another is no alibi, because each sees only its own
    kind of fault. The doubts of several are a charge. Where nobody charges, those that praise speak together. `trust` is how
    likely the assumption is.
    """
    good = np.stack([opinion.good for opinion in opinions])  # [J, D]
    lowest, highest = good.min(0), good.max(0)
    charged = lowest < 0.5
    agreed = (good < 0.5).sum(0) >= config.doubts
    lowest = np.where(agreed, np.minimum(lowest, 0.5 - config.proven), lowest)
    probability = np.where(charged, lowest, highest)
    speaker = np.where(charged, good.argmin(0), good.argmax(0))
    speaker = np.where(np.abs(probability - 0.5) < 1e-9, -1, speaker)
    return 0.5 + trust * (probability - 0.5), speaker


def rank(opinions: Sequence[Opinion], probability: np.ndarray, config: JudgingConfig) -> np.ndarray:
    """[D] scores: what is kept above what is unsure, that above what is dropped, and each by the judges' own orders.

    Only judges that praise have an order, and they count by their standing.
    """
    weight = np.array([opinion.standing * (opinion.good > 0.5).any() for opinion in opinions]) + 1e-9
    places = np.stack(
        [np.unique(opinion.score, return_inverse=True)[1] / len(probability) for opinion in opinions]
    )
    bounds = np.array([0.0, config.unsure_from, config.unsure_to, 1.0])
    decided = (probability > config.unsure_from).astype(np.int64) + (probability >= config.unsure_to)
    return bounds[decided] + (bounds[decided + 1] - bounds[decided]) * (weight @ places / weight.sum())


def decide(probability: float, config: JudgingConfig) -> Decision:
    if probability >= config.unsure_to:
        return "keep"
    return "drop" if probability <= config.unsure_from else "unsure"


def count_words(judged: Sequence[Judgement]) -> str:
    """How many are kept, dropped and unsure, in a sentence."""
    said = [one.decision for one in judged]
    kept, dropped, unsure = (f"{said.count(word):,}" for word in DECISIONS)
    return f"Of {len(judged):,} demonstrations {kept} are kept, {dropped} dropped and {unsure} unsure."


def decision_of(judged: Sequence[Judgement], members: Sequence[int]) -> Decision:
    """What most pairs of a family got."""
    pairs = dict.fromkeys(DECISIONS, 0)
    for one in (judged[i] for i in members):
        pairs[one.decision] += one.pairs
    return max(DECISIONS, key=lambda word: pairs[word])


# -- for measuring the method, never part of it ------------------------------------------------------------------


class Truth(NamedTuple):
    """A verdict against the labels. None where one class is missing."""

    auroc: float | None
    """The chance that a good demonstration scores above a bad one."""
    good_kept: float | None
    """Share of the good pairs that are kept."""
    bad_kept: float | None
    """Share of the bad pairs that are kept."""
    good_dropped: float | None
    """Share of the good pairs that are dropped."""
    bad_dropped: float | None
    """Share of the bad pairs that are dropped."""


def compare(verdict: Verdict, demos: Demonstrations) -> Truth | None:
    """None where no labels are known."""
    good = demos.expert
    if good is None:
        return None
    share = np.bincount(verdict.of_pair, good) / np.bincount(verdict.of_pair)
    decision = np.array([one.decision for one in verdict.demonstrations])[verdict.of_pair]
    kept, dropped = decision == "keep", decision == "drop"
    return Truth(
        auroc(np.array([one.score for one in verdict.demonstrations]), share > 0.5),
        *(
            float(chosen[which].mean()) if which.any() else None
            for chosen in (kept, dropped)
            for which in (good, ~good)
        ),
    )


def auroc(scores: np.ndarray, positive: np.ndarray) -> float | None:
    """The chance that a positive scores above a negative, ties counting half; None where one kind is missing."""
    ups, downs = int(positive.sum()), int((~positive).sum())
    if not ups or not downs:
        return None
    ranks = midranks(scores)
    return float((ranks[positive].sum() - ups * (ups + 1) / 2.0) / (ups * downs))


def midranks(values: np.ndarray) -> np.ndarray:
    """[D] from 1; equal ones share their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2.0)[place])
