"""Who takes much longer than the others, or runs out of time?

Where most demonstrations end by themselves, those that were cut off at one and the same length did not finish. A task may also
end by a fall, and then only the best go on. So what takes long is doubted only where its actions or its end are odd as well.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.gaps import find_cut
from rilco.judging.material import Material
from rilco.judging.opinion import Opinion

NAME = "time"


def judge_time(material: Material, config: JudgingConfig, *ranks: np.ndarray) -> Opinion:
    """A doubt about those that take long, and some praise for the others, if one of the `ranks` [D] has them high as well."""
    count, length = material.count, material.pairs
    silent = Opinion(NAME, 0.0, "", np.zeros(count), np.full(count, 0.5), ("Not heard.",) * count)
    late = _late(length, config)
    if not late.any() or max(late.mean(), length[late].sum() / length.sum()) >= 0.5:
        return replace(silent, why="No minority of the demonstrations takes much longer than the others.")
    if max(_ranked_above(late, rank) for rank in ranks) < config.late_odd:
        return replace(silent, why="Some take longer, but neither their actions nor their ends are odd.")
    usual = float(np.median(length[~late]))
    return Opinion(
        NAME,
        1.0,
        why=f"{late.sum()} of {count} demonstrations take much longer than the others, or to a time limit.",
        score=-length / usual,
        good=np.where(late, config.alone, 0.5 + config.in_time),
        reasons=tuple(
            f"Takes {own / usual:.1f} times as long as is usual." if is_late else "Is done in time."
            for own, is_late in zip(length.tolist(), late.tolist(), strict=True)
        ),
        evidence={"length": length / usual},
    )


def _late(length: np.ndarray, config: JudgingConfig) -> np.ndarray:
    """[D] those above a clear cut of the lengths; else those at the largest one, if more have it than would by chance."""
    logs = np.log(length)
    cut = find_cut(logs, replace(config, proof_gap=config.late_gap))
    if cut.proof >= 1.0:
        return np.asarray(logs > cut.at)
    longest = length.max()
    by_chance = ((length >= 0.9 * longest) & (length < longest)).sum() / (0.1 * longest)
    limit = length == longest
    return np.asarray(limit & (limit.sum() >= max(2.0, config.late_rare * by_chance)))


def _ranked_above(which: np.ndarray, rank: np.ndarray) -> float:
    """How often one of `which` ranks above one of the rest; a tie is half."""
    difference = rank[which][:, None] - rank[~which]
    return float((difference > 0).mean() + 0.5 * (difference == 0).mean())
