"""The hearing: each judge is asked in turn, and told what those before it found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from rilco.judging.case import Case
from rilco.judging.config import JudgingConfig
from rilco.judging.judges.consensus import judge_consensus
from rilco.judging.judges.endings import judge_endings
from rilco.judging.judges.families import gaps_to, how_apart, judge_families
from rilco.judging.judges.held import judge_held
from rilco.judging.judges.manner import judge_manner
from rilco.judging.judges.records import judge_records
from rilco.judging.opinion import Opinion

Progress = Callable[[str, float], None]


def hear(case: Case, say: Progress) -> tuple[list[Opinion], np.ndarray]:
    """What each judge says, and [D] who lives apart from the others."""
    material, config = case.material, case.config
    say("Endings", 0.0)
    gap = gaps_to(case.families, case.main, config)
    by_end, far = _endings(case, how_apart(gap, case.families, case.main, config))
    say("Records", 0.0)
    by_record = judge_records(material, config, apart=far > 0.0)
    by_held = judge_held(material, config)
    # What a wrong record or an idle demonstrator does is of no use to the judges of actions.
    bad = (case.vouched < 0) | (np.minimum(by_record.good, by_held.good) < config.unsure_from)
    say("Consensus", 0.0)
    by_consensus = judge_consensus(material, config, good=_known_good(case, bad), bad=bad, apart=far > 0.0)
    by_family = judge_families(
        case.families, material.pairs, case.main, gap, far, config, rivals=not case.named
    )
    near = far <= (config.manner_far if case.majority.agree else 0.0)
    by_manner = judge_manner(
        material,
        config,
        seen={**by_consensus.evidence, "stops": (by_end.good < 0.5).astype(np.float64)},
        heard=near & ~bad & ~np.array(case.named),
    )
    say("Consensus", 1.0)
    by_family, by_consensus = (spare_styles(each, case) for each in (by_family, by_consensus))
    summed = [
        in_the_sum(by_family, by_manner),
        in_the_sum(by_consensus, by_manner, besides=_plain(by_consensus, config)),
        in_the_sum(by_end, by_manner, besides=_plain(by_end, config, config.plain_end)),
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


def spare_styles(opinion: Opinion, case: Case) -> Opinion:
    """With doubts in place of charges against a large part of all that lives together: it may be another good style."""
    charged, label, pairs = opinion.good < case.config.unsure_from, case.families.label, case.material.pairs
    shares = [np.bincount(label, charged * size) / size.sum() for size in (np.ones(len(label)), pairs)]
    style = charged & (np.min(shares, axis=0)[label] > case.config.style) & ~np.array(case.named)
    return replace(opinion, good=np.where(style, case.config.alone, opinion.good))


def _plain(opinion: Opinion, config: JudgingConfig, proof: float = -np.inf) -> np.ndarray:
    """[D] who is plainly odd by the judge's margin, where the group of odd ones is as clear as `proof`."""
    nothing = np.zeros(len(opinion.good))
    margin, clear = (opinion.evidence.get(name, nothing) for name in ("margin", "proof"))
    return (margin > config.plain_margin) & (clear >= proof)


def _endings(case: Case, far: np.ndarray) -> tuple[Opinion, np.ndarray]:
    """The judge of endings, and [D] how `far` others live from the good family, with ends considered."""
    if case.named:
        return _endings_beside_the_named(case, far)
    if not case.majority.agree:
        # Many short ones would outvote the largest family by pairs: the others are all doubted.
        beside = np.where(case.ours, far, np.maximum(far, case.config.beside))
        return judge_endings(case.material, case.config, apart=~case.ours, alibi=False), beside
    by_end = judge_endings(case.material, case.config, apart=far > 0.0)
    home = by_end.evidence["home"] > 0.0
    # Who reaches the goal that the others reach is one of them, whatever the way.
    return by_end, np.where(home & (home[case.families.label == case.main].mean() > 0.5), 0.0, far)


def _endings_beside_the_named(case: Case, far: np.ndarray) -> tuple[Opinion, np.ndarray]:
    """The same where a family was named: one that ends as it does may be another good way, and is doubted."""
    by_end = judge_endings(case.material, case.config, apart=~case.ours, alibi=False)
    far = np.where(case.ours, 0.0, np.maximum(far, _seen_from_there(case)))
    return by_end, np.where(by_end.evidence["home"] > 0.0, case.config.same_end * far, far)


def _seen_from_there(case: Case) -> np.ndarray:
    """[D] how far the good family is, by the measure of each one's own family: a wide family has narrow ones near it."""
    families, main, config = case.families, case.main, case.config
    far = np.zeros(len(families.label))
    for other in np.setdiff1d(np.unique(families.label), main).tolist():
        back = how_apart(gaps_to(families, other, config), families, other, config)
        far[families.label == other] = np.median(back[families.label == main])
    return far


def _known_good(case: Case, bad: np.ndarray) -> np.ndarray:
    """[D] whose actions are known to be good: what was vouched for, with the families that it is in.

    One is not enough to foretell actions by: where others were set against its family, the family speaks.
    """
    good = case.good | (case.named & case.ours & ~case.ours.all())
    good &= ~bad
    return good & (good.sum() >= case.config.min_demonstrations)
