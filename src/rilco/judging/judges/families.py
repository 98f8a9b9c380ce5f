"""Who lives together?

Pairs of different demonstrations that are each other's nearest neighbours link their demonstrations. Communities of that
graph are families. Two families are one where most demonstrations of the smaller pass through the larger one's region: so a
second gait of one expert, reached from the same start, stays with the first.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.material import Material
from rilco.judging.neighbours import mutual, nearest_of_others
from rilco.judging.opinion import Opinion

NAME = "families"


def judge_families(
    label: np.ndarray, ties: np.ndarray, pairs: np.ndarray, main: int, config: JudgingConfig
) -> Opinion:
    """By how much a demonstration shares with the family `main`, which is taken to be good.

    `label` [D] and `ties` [D, F] come from `find_families`; `pairs` [D] are the demonstrations' sizes.
    """
    inside = label == main
    usual = float(np.median(ties[inside, main]))
    share = np.minimum(ties[:, main] / max(usual, 1e-9), 1.0)
    size = np.bincount(label, pairs)
    rivalry = np.interp(size / size[main], config.rival, (0.0, 1.0))[label]
    apart = (0.5 - config.families_trust) + rivalry * (config.families_trust)
    good = np.where(inside, 0.5 + config.families_trust * np.maximum(share, 0.6), apart)
    others = int(inside.sum())
    reasons = [
        f"Lives with {others - 1} others, the family that is taken to be good."
        if home
        else "Lives alone: nobody else does the like in the like places."
        if members == 1
        else f"Lives apart from the majority, with {members - 1} others, and shares {tie:.0%} of what is usual in it."
        for home, members, tie in zip(inside, np.bincount(label)[label], share, strict=True)
    ]
    alone = float(inside.mean())
    why = (
        "All demonstrations live together: there is one family."
        if inside.all()
        else f"There are {len(size)} families that share little; the one taken to be good holds {alone:.0%} of the "
        f"demonstrations and {size[main] / size.sum():.0%} of the pairs."
    )
    standing = 0.0 if inside.all() else 1.0
    return Opinion(
        NAME,
        standing,
        why,
        score=share,
        good=np.full(len(label), 0.5) if inside.all() else good,
        reasons=tuple(reasons),
        evidence={"share": share, "family": label, "rivalry": rivalry},
    )


def find_families(
    material: Material, config: JudgingConfig, progress: Callable[[float], None] = lambda share: None
) -> tuple[np.ndarray, np.ndarray]:
    """[D] the family of each demonstration, 0 the largest by pairs; and [D, F] how many links a pair has to each family.

    These numbers are means over a demonstration's pairs: its ties.
    """
    rows = material.sample(config.sample_pairs, config.sample_least)
    demo = material.demo[rows]
    blocks = (material.obs[rows], material.action[rows])
    points = np.hstack([block / np.sqrt(block.shape[1]) for block in blocks])
    start, end = mutual(nearest_of_others(points, demo, config.neighbours, progress))
    label = _communities(demo[start], demo[end], material.count, config)
    label = _merge(label, start, demo[start], demo[end], np.bincount(demo), config)
    pairs = np.bincount(label, material.pairs)
    rank = np.empty(len(pairs), np.int64)
    rank[np.lexsort((np.arange(len(pairs)), -pairs))] = np.arange(len(pairs))
    label = rank[label]
    ties = np.zeros((material.count, len(pairs)))
    np.add.at(ties, (demo[start], label[demo[end]]), 1.0)
    return label, ties / np.bincount(demo)[:, None]


def _communities(one: np.ndarray, other: np.ndarray, count: int, config: JudgingConfig) -> np.ndarray:
    """[D] by the Louvain method on how often two demonstrations' pairs are linked."""
    import igraph  # here: it takes time to import, and families alone need it

    edges, weight = np.unique(one * count + other, return_counts=True)
    ahead = edges // count < edges % count
    graph = igraph.Graph(n=count, edges=np.stack([edges // count, edges % count], 1)[ahead])
    igraph.set_random_number_generator(random.Random(0))
    try:
        found = graph.community_multilevel(weights=weight[ahead].tolist(), resolution=config.resolution)
    finally:
        igraph.set_random_number_generator(random)
    return np.array(found.membership, np.int64)


def _merge(
    label: np.ndarray,
    start: np.ndarray,
    one: np.ndarray,
    other: np.ndarray,
    size: np.ndarray,
    config: JudgingConfig,
) -> np.ndarray:
    """Families joined, the most visited first, until no family's members mostly visit a larger one."""
    while (count := int(label.max()) + 1) > 1:
        touched = np.unique(start * count + label[other])  # a pair and a family that it has links to
        demo_of = np.zeros(int(start.max()) + 1, np.int64)
        demo_of[start] = one
        visited = np.zeros((len(label), count))
        np.add.at(visited, (demo_of[touched // count], touched % count), 1.0)
        visits = (visited >= config.visit_pairs) & (visited >= config.visit_share * size[:, None])
        members = np.bincount(label, minlength=count)
        share = np.zeros((count, count))
        np.add.at(share, label, visits / members[label][:, None])
        # Only the smaller one's members are asked; of two alike the first goes to the second.
        smaller = members[:, None] * count + np.arange(count)[:, None] < members * count + np.arange(count)
        share = np.where(smaller, share, 0.0)
        source, target = np.unravel_index(int(np.argmax(share)), share.shape)
        if share[source, target] < config.visitors:
            break
        label = np.unique(np.where(label == source, target, label), return_inverse=True)[1]
    return label
