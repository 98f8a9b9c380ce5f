"""From scores to judgements: the verdict on the data, on every demonstrator, demonstration, window and pair."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rilco.data.record import Demonstrations
from rilco.judging.calibration import Calibration
from rilco.judging.grouping import Grouping, group
from rilco.judging.judged import WINDOW_PAIRS, JudgedDemonstration, JudgedDemonstrator
from rilco.judging.record import Audit, Conclusion, NoiseFraction
from rilco.judging.rule import UNSURE, Cut, expert_probability, find_cut
from rilco.judging.scoring import Scores

AGREEMENT = 0.95
"""Decisions from single stretches of training must agree with that from all on so many of the pairs."""
OUTSIDE = 0.01
"""If more than this share of the pairs scores far above the majority, it is not the best that there is."""
MOST_SPREAD = 0.15
"""Scores of one kind have at most this standard deviation, as a share of the way from the learner to the majority."""
MOST_UNEVEN, PATIENCE = 0.03, 4
"""While the demonstrations that are taken for one expert's spread by more than this, in the same unit, others may still be among
them, and training goes on; but after so many stretches it is the expert who is uneven."""
AROUND = 5
"""A pair's score is a mean with so many pairs before and after it, about a stride: within one, scores swing with the phase
of the gait."""
MOST_DOUBTFUL = 0.1
"""If more than this share of the pairs may well be of either kind, no cut is made."""


class Decision(NamedTuple):
    """What the decision rule makes of a dataset."""

    kind: str
    cut: Cut | None
    scores: np.ndarray  # [D] of the demonstrations
    probability: np.ndarray  # [D] that they are the expert's
    agreement: float
    """Share of pairs on which every stretch of training decides the same."""
    above: float
    """Share of pairs in demonstrations that score far above the majority."""
    policy: float
    """The learner's own mean score."""

    @property
    def confidence(self) -> float | None:
        """That the verdict holds: how clear the components are, times how steady the decision. None where it is that nothing
        can be decided."""
        if self.cut is None or not self.decided:
            return None
        two = self.cut.probability
        return float(np.clip((two if self.kind == "mixed" else 1.0 - two) * self.agreement, 0.0, 1.0))

    @property
    def decided(self) -> bool:
        return self.kind in ("mixed", "clean")

    @property
    def proposed(self) -> float | None:
        """The cut, where one is proposed."""
        return self.cut.cut if self.cut is not None and self.kind == "mixed" else None

    def verdict(self, probability: float, kept: bool) -> str:
        """On something with this probability of being the expert's, that is kept or not."""
        if not self.decided or UNSURE < probability < 1.0 - UNSURE:
            return "unsure"
        return "keep" if kept else "drop"


def decide(scores: Scores, grouping: Grouping) -> Decision:
    """Apply the rule to the mean over all stretches, and ask of each stretch whether it says the same."""
    pairs = grouping.pairs
    overall = grouping.scores(grouping.steadied(scores.pairs, AROUND))
    each = _of_each_stretch(scores, grouping)
    policy = float(scores.policy.mean())
    cut = find_cut(overall, pairs, policy)
    if cut is None:
        return Decision("inseparable", None, overall, np.ones(len(pairs)), 0.0, 0.0, policy)
    kept = _kept(overall, cut)
    agreements = []
    for stretch, level in zip(each, scores.policy, strict=True):
        same = _kept(stretch, find_cut(stretch, pairs, float(level))) == kept
        agreements.append(float(pairs[same].sum() / pairs.sum()))
    # Where the cut keeps no more than half, what it drops is the majority.
    far = kept if pairs[kept].sum() <= 0.5 * pairs.sum() else overall > cut.expert.mean + 4.0 * cut.expert.std
    above = float(pairs[far].sum() / pairs.sum())
    agreement = min(agreements)
    probability = expert_probability(overall, cut)
    kind = _kind(cut, agreement, above)
    return Decision(kind, cut, overall, probability, agreement, above, policy)


def _of_each_stretch(scores: Scores, grouping: Grouping) -> np.ndarray:
    """[S, D] scores of the demonstrations by each stretch of training alone."""
    return np.array([grouping.scores(grouping.steadied(stretch, AROUND)) for stretch in scores.stretches])


def formed(scores: Scores, stretches: int, grouping: Grouping) -> bool:
    """Whether the separation has come to stay after so many stretches: the newest agree, none has a group above the majority, and
    what is taken for the expert's is of one kind."""
    decision = decide(scores, grouping)
    even = stretches >= PATIENCE or decision.cut is None or decision.cut.unevenness <= MOST_UNEVEN
    return decision.agreement >= AGREEMENT and decision.above <= OUTSIDE and even


def _kept(scores: np.ndarray, cut: Cut | None) -> np.ndarray:
    return np.ones(len(scores), bool) if cut is None or not cut.certain else scores >= cut.cut


def _kind(cut: Cut, agreement: float, above: float) -> str:
    if above > OUTSIDE:
        return "majority-bad"
    if agreement < AGREEMENT or (cut.certain and cut.doubtful > MOST_DOUBTFUL):
        return "inseparable"
    if not cut.certain and cut.probability > 0.5:
        return "inseparable"
    if not cut.certain and cut.spread > MOST_SPREAD:
        return "majority-bad"
    return "mixed" if cut.certain else "clean"


def judge(
    scores: Scores,
    demos: Demonstrations,
    *,
    task: str,
    files: Sequence[str],
    seeds: Sequence[int],
    names: Sequence[str] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> tuple[Audit, PairJudgements]:
    """The audit of demonstrations by their scores, which have `names` or are numbered. Their ground truth, where there is one,
    is only copied along."""
    grouping = group(demos)
    decision = decide(scores, grouping)
    of_pairs = grouping.steadied(scores.pairs, AROUND)
    calibration = Calibration(of_pairs, decision.probability[grouping.of_pair])
    audit = Audit(
        task=task,
        files=tuple(files),
        transitions=scores.transitions,
        seeds=tuple(seeds),
        verdict=Conclusion(
            decision.kind, _sentence(decision, grouping), decision.confidence, decision.proposed
        ),
        noise_fraction=_noise(decision, scores, grouping),
        demonstrators=_demonstrators(demos, decision, grouping),
        demonstrations=_demonstrations(
            demos, names or names_of(demos, grouping), of_pairs, decision, grouping
        ),
        settings={
            "stretches": len(scores.stretches),
            "agreement of stretches": round(decision.agreement, 4),
            "evidence for two kinds": None if decision.cut is None else round(decision.cut.evidence, 1),
            **(settings or {}),
        },
    )
    keeps = np.array([audit.keeps(demo) for demo in audit.demonstrations])
    return audit, PairJudgements(
        of_pairs.astype(np.float32),
        calibration(of_pairs).astype(np.float32),
        keeps[grouping.of_pair],
        grouping.of_pair.astype(np.int32),
    )


class PairJudgements(NamedTuple):
    """Of every pair, in the demonstrations' own order."""

    score: np.ndarray  # [N] float32, with a few neighbours
    expert_probability: np.ndarray  # [N] float32, calibrated
    keep: np.ndarray  # [N] bool: the verdict on its demonstration
    demonstration: np.ndarray  # [N] int32

    @property
    def grouping(self) -> Grouping:
        return Grouping(self.demonstration, np.bincount(self.demonstration))


def _demonstrations(
    demos: Demonstrations, names: Sequence[str], scores: np.ndarray, decision: Decision, grouping: Grouping
) -> tuple[JudgedDemonstration, ...]:
    ends = np.cumsum(-(-grouping.pairs // WINDOW_PAIRS))  # of each one's windows
    windows = np.split(grouping.window_scores(scores), ends[:-1])
    judged = []
    for index, rows in enumerate(grouping.rows()):
        probability, cut = float(decision.probability[index]), decision.proposed
        judged.append(
            JudgedDemonstration.from_scores(
                index,
                names[index],
                scores[rows],
                windows[index],
                demonstrator=int(demos.demonstrator[rows[0]]) if len(demos.demonstrator_names) > 1 else None,
                expert_probability=probability,
                verdict=decision.verdict(probability, cut is None or bool(decision.scores[index] >= cut)),
                episode_return=None
                if demos.reward is None
                else float(demos.reward[rows].sum(dtype=np.float64)),
                truth=None
                if demos.expert is None
                else ("expert" if demos.expert[rows].mean() > 0.5 else "non-expert"),
            )
        )
    return tuple(judged)


def names_of(demos: Demonstrations, grouping: Grouping) -> list[str]:
    """Of the demonstrations: who made it, and the how manieth it is."""
    makers, counts = short_names(demos.demonstrator_names), np.zeros(len(demos.demonstrator_names), int)
    names = []
    for rows in grouping.rows():
        maker = int(demos.demonstrator[rows[0]])
        counts[maker] += 1
        names.append(f"{makers[maker]} #{counts[maker]}")
    return names


def short_names(names: Sequence[str]) -> list[str]:
    """Names without the words that all of them begin and end with: of `a_b_1.h5` and `a_b_2.h5` the numbers."""
    words = [re.split(r"(?<=[\W_])|(?=[\W_])", name) for name in names]
    shortest = min(map(len, words))
    if len(set(names)) < 2:
        return list(names)
    first = next(i for i in range(shortest + 1) if i == shortest or len({w[i] for w in words}) > 1)
    left = shortest - first
    last = next(i for i in range(left + 1) if i == left or len({w[-1 - i] for w in words}) > 1)
    short = ["".join(w[first : len(w) - last]).strip("-_. ") for w in words]
    return short if all(short) and len(set(short)) == len(set(names)) else list(names)


def _demonstrators(
    demos: Demonstrations, decision: Decision, grouping: Grouping
) -> tuple[JudgedDemonstrator, ...]:
    """Nothing where one made all of it, or nobody knows who made what."""
    if len(demos.demonstrator_names) < 2:
        return ()
    names = short_names(demos.demonstrator_names)
    judged = []
    for maker in np.unique(demos.demonstrator):
        mine = demos.demonstrator == maker
        of_its_pairs = grouping.of_pair[mine]
        probability = float(decision.probability[of_its_pairs].mean())
        judged.append(
            JudgedDemonstrator(
                id=int(maker),
                name=names[maker],
                demonstrations=len(np.unique(of_its_pairs)),
                pairs=int(mine.sum()),
                score=float(decision.scores[of_its_pairs].mean()),
                expert_probability=probability,
                verdict=decision.verdict(probability, decision.kind != "mixed" or probability >= 0.5),
            )
        )
    return tuple(judged)


def _noise(decision: Decision, scores: Scores, grouping: Grouping) -> NoiseFraction | None:
    """The expected share of non-expert pairs; the interval covers doubtful demonstrations and single stretches."""
    if decision.kind not in ("mixed", "clean"):
        return None
    share = grouping.pairs / grouping.pairs.sum()
    p = decision.probability
    estimate = float(np.sum(share * (1.0 - p)))
    spread = 1.96 * float(np.sqrt(np.sum(np.square(share) * p * (1.0 - p))))
    alone = []
    for each, policy in zip(_of_each_stretch(scores, grouping), scores.policy, strict=True):
        cut = find_cut(each, grouping.pairs, float(policy))
        alone.append(float(np.sum(share * (1.0 - expert_probability(each, cut)))))
    low = max(0.0, min(estimate - spread, *alone))
    return NoiseFraction(estimate, low, min(1.0, max(estimate + spread, *alone)))


def _sentence(decision: Decision, grouping: Grouping) -> str:
    """The verdict in words, with the reason."""
    count, pairs = len(grouping.pairs), grouping.pairs
    if decision.cut is None:
        return "There is only one demonstration, and nothing to compare it with."
    if decision.kind == "majority-bad" and decision.above <= OUTSIDE:
        return (
            "The scores are spread widely, and no majority of them lies close together as one expert's would. Most of the "
            "data may not be an expert's; look at the top of the ranking."
        )
    if decision.kind == "majority-bad":
        return (
            f"{decision.above:.0%} of the pairs score far above the majority. Either the classifiers have not found "
            "the expert yet (train longer), or most of the data is not the expert's; then no cut can be trusted."
        )
    if decision.kind == "inseparable" and decision.agreement >= AGREEMENT and not decision.cut.certain:
        return (
            f"There seem to be two kinds of demonstrations, but {count:,} of these lengths are too few to be sure. Give more, "
            "or look at the ranking."
        )
    if decision.kind == "inseparable" and decision.agreement >= AGREEMENT:
        return (
            f"Good and bad run into each other: {decision.cut.doubtful:.0%} of the pairs are in demonstrations that may "
            "well be of either kind. Short pieces are harder to judge than whole episodes."
        )
    if decision.kind == "inseparable":
        return (
            f"Where to cut keeps changing: over the last stretches of training only {decision.agreement:.0%} of the "
            "pairs were always judged the same. Train longer, or with several seeds."
        )
    if decision.kind == "clean":
        return (
            f"The scores of all {count:,} demonstrations are those of one kind: two kinds would not explain them "
            "enough better. Nothing is dropped."
        )
    dropped = decision.scores < decision.cut.cut
    return (
        f"{int(dropped.sum()):,} of {count:,} demonstrations, with {pairs[dropped].sum() / pairs.sum():.0%} of the "
        f"pairs, score below a cut at {decision.cut.cut:.2f}. The majority lies close together around "
        f"{decision.cut.expert.mean:.2f}; the learner itself scores {decision.policy:.2f}."
    )
