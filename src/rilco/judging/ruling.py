"""What RIL-Co's classifiers make of demonstrations: a ruling on their scores, and the opinion that it amounts to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rilco.data.record import Demonstrations
from rilco.judging.audit_config import AuditConfig
from rilco.judging.classifiers import Scores
from rilco.judging.cut import Cut, expert_probability, find_cut
from rilco.judging.opinion import Opinion
from rilco.judging.windows import Grouping

JUDGE = "ril-co"


class Ruling(NamedTuple):
    """What the rule makes of the scores of a dataset."""

    kind: str
    """`mixed`, `clean`, `inseparable` or `majority-bad`."""
    cut: Cut | None
    scores: np.ndarray  # [D] of the demonstrations
    probability: np.ndarray  # [D] that they are the expert's
    agreement: float
    """Share of pairs on which every stretch of training decides the same."""
    above: float
    """Share of pairs in demonstrations that score far above the majority."""

    @property
    def decided(self) -> bool:
        return self.kind in ("mixed", "clean")

    @property
    def confidence(self) -> float:
        """That it holds: how clear the two kinds are, times how steady the ruling. 0 where nothing is decided."""
        if self.cut is None or not self.decided:
            return 0.0
        two = self.cut.probability
        return float(np.clip((two if self.kind == "mixed" else 1.0 - two) * self.agreement, 0.0, 1.0))

    @property
    def kept(self) -> np.ndarray:
        """[D] what the cut keeps; without one, everything."""
        if self.cut is None or self.kind != "mixed":
            return np.ones(len(self.scores), bool)
        return self.scores >= self.cut.cut


def rule(scores: Scores, grouping: Grouping, config: AuditConfig) -> Ruling:
    """Apply the rule to the mean over all stretches, and ask of each stretch whether it says the same."""
    pairs = grouping.pairs
    overall = of_demonstrations(scores.pairs, grouping, config)
    cut = find_cut(overall, pairs, float(scores.policy.mean()), config)
    if cut is None:
        return Ruling("inseparable", None, overall, np.full(len(pairs), 0.5), 0.0, 0.0)
    kept = _kept(overall, cut)
    agreements = []
    for stretch, level in zip(scores.stretches, scores.policy, strict=True):
        each = of_demonstrations(stretch, grouping, config)
        same = _kept(each, find_cut(each, pairs, float(level), config)) == kept
        agreements.append(float(pairs[same].sum() / pairs.sum()))
    # Where the cut keeps no more than half, what it drops is the majority.
    far = kept if pairs[kept].sum() <= 0.5 * pairs.sum() else overall > cut.expert.mean + 4.0 * cut.expert.std
    above = float(pairs[far].sum() / pairs.sum())
    kind = _kind(cut, min(agreements), above, config)
    return Ruling(kind, cut, overall, expert_probability(overall, cut), min(agreements), above)


def of_demonstrations(of_pairs: np.ndarray, grouping: Grouping, config: AuditConfig) -> np.ndarray:
    """[D] scores of the demonstrations, by those of pairs [N] steadied over a stride."""
    return grouping.scores(grouping.steadied(of_pairs, config.around), config)


def _kept(scores: np.ndarray, cut: Cut | None) -> np.ndarray:
    return np.ones(len(scores), bool) if cut is None or not cut.certain else scores >= cut.cut


def _kind(cut: Cut, agreement: float, above: float, config: AuditConfig) -> str:
    if above > config.outside:
        return "majority-bad"
    if agreement < config.agreement or (cut.certain and cut.doubtful > config.most_doubtful):
        return "inseparable"
    if not cut.certain and cut.probability > 0.5:
        return "inseparable"
    if not cut.certain and cut.spread > config.most_spread:
        return "majority-bad"
    return "mixed" if cut.certain else "clean"


def why_go_on(scores: Scores, stretches: int, grouping: Grouping, config: AuditConfig) -> str | None:
    """Why training goes on after so many stretches; None where the separation has come to stay."""
    ruling = rule(scores, grouping, config)
    if ruling.agreement < config.agreement:
        return f"the newest stretches of training agree on only {ruling.agreement:.0%} of the pairs"
    if ruling.above > config.outside:
        return f"{ruling.above:.0%} of the pairs score far above the majority"
    uneven = ruling.cut is not None and ruling.cut.unevenness > config.most_uneven
    return "what would be kept is not of one kind yet" if uneven and stretches < config.patience else None


def opinion_of(ruling: Ruling, scores: Scores, demos: Demonstrations, config: AuditConfig) -> Opinion:
    """The opinion of RIL-Co's classifiers. It has no standing where nothing is decided or the learner learned nothing."""
    count = len(ruling.scores)
    behind = not_outgrown(scores, demos, config)
    if behind is not None or not ruling.decided or ruling.cut is None:
        why = behind or _why_undecided(ruling, config)
        nothing = ("RIL-Co's classifiers abstain.",) * count
        return Opinion(JUDGE, 0.0, why, ruling.scores, np.full(count, 0.5), nothing)
    cut, kept, probability = ruling.cut, ruling.kept, ruling.probability.copy()
    between = ~kept & (ruling.scores >= cut.floor)
    probability[between] = 0.5
    if ruling.kind == "clean":
        reasons = ["Its pairs look like all the others'."] * count
        why = "All demonstrations score alike: two kinds would not explain the scores better than one."
    else:
        reasons = [
            "It scores nearer to the good ones than to the rest."
            if middle
            else "Its pairs look like the majority's."
            if good
            else "Its pairs look like what the learner has outgrown, not like the majority's."
            for good, middle in zip(kept.tolist(), between.tolist(), strict=True)
        ]
        why = f"The scores are of two kinds, and {ruling.agreement:.0%} of the pairs were always judged the same."
    evidence = {"score": ruling.scores, "kept": kept.astype(np.float64)}
    return Opinion(JUDGE, ruling.confidence, why, ruling.scores, probability, tuple(reasons), evidence)


def not_outgrown(scores: Scores, demos: Demonstrations, config: AuditConfig) -> str | None:
    """Why these scores compare demonstrations with noise; None where the learner has outgrown the worst demonstrators."""
    after = f"After {scores.transitions:,} transitions its learner has not outgrown the demonstrators"
    if scores.spread is not None and scores.spread > config.most_learner_spread:
        return (
            f"{after}: its actions still spread {scores.spread:.1f} times as wide as the data's. Its classifiers would "
            "compare demonstrations with noise. Train longer (--steps), or trust the other judges."
        )
    worst = worst_return(demos)
    if worst is not None and scores.learner_return is not None and scores.learner_return < worst:
        return (
            f"{after}: its return is {scores.learner_return:,.1f}, and that of the worst demonstrator {worst:,.1f}. Its "
            "classifiers would compare demonstrations with noise. Train longer (--steps), or trust the other judges."
        )
    return None


def worst_return(demos: Demonstrations) -> float | None:
    """The lowest mean return of a demonstrator, over episodes that came to an end; None where that is unknown."""
    if demos.reward is None or (demos.terminated is None and demos.truncated is None):
        return None
    ended = np.zeros(len(demos), bool)
    for flags in (demos.terminated, demos.truncated):
        ended |= False if flags is None else flags
    _, dense = np.unique(demos.episode, return_inverse=True)
    whole = np.bincount(dense, ended) > 0
    if not whole.any():
        return None
    returns = np.bincount(dense, demos.reward.astype(np.float64))
    maker = np.zeros(len(returns), np.int64)
    maker[dense] = demos.demonstrator
    return min(float(returns[whole & (maker == who)].mean()) for who in np.unique(maker[whole]))


def _why_undecided(ruling: Ruling, config: AuditConfig) -> str:
    if ruling.cut is None:
        return "There is only one demonstration, and nothing to compare it with."
    if ruling.kind == "majority-bad" and ruling.above <= config.outside:
        return (
            "The scores are spread widely, and no majority of them lies close together as one expert's would."
        )
    if ruling.kind == "majority-bad":
        return (
            f"{ruling.above:.0%} of the pairs score far above the majority. Either training was too short, or most of the "
            "data is not an expert's."
        )
    if ruling.agreement < config.agreement:
        return (
            f"Where to cut keeps changing: only {ruling.agreement:.0%} of the pairs were always judged the same. Train "
            "longer (--steps), or with several seeds (--seeds 3)."
        )
    if not ruling.cut.certain:
        return (
            f"There seem to be two kinds, but {len(ruling.scores):,} demonstrations are too few to be sure."
        )
    return f"Good and bad run into each other: {ruling.cut.doubtful:.0%} of the pairs may well be of either kind."
