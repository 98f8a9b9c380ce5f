"""Who lives together?

Pairs of different demonstrations that are each other's nearest neighbours link their demonstrations. Communities of that
graph are families. Two families are one where most demonstrations of the smaller pass through the larger one's region: so a
second gait of one expert, reached from the same start, stays with the first.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.gaps import core
from rilco.judging.material import Material
from rilco.judging.neighbours import medians, mutual, nearest_of_others
from rilco.judging.opinion import Opinion

NAME = "families"


@dataclass(frozen=True, eq=False)
class Families:
    """Which demonstrations live together, and the sample of pairs that says so."""

    label: np.ndarray
    """[D] the family of each demonstration; 0 is the largest by pairs."""
    ties: np.ndarray
    """[D, F] how many mutual neighbours a pair has in each family, in the mean."""
    points: np.ndarray
    """[M, dim] the sample: observations and actions, each block weighing as much as the other."""
    demo: np.ndarray
    """[M] whose these pairs are, sorted."""
    noisy: bool
    """Whether actions differ between nearly equal states, and not because of goals: then pairs are far from each other anyway."""


def find_families(
    material: Material, config: JudgingConfig, progress: Callable[[float], None] = lambda share: None
) -> Families:
    rows = material.sample(config.sample_pairs, config.sample_least)
    demo = material.demo[rows]
    # What never changes within a demonstration, a goal for instance, was given and not chosen: it makes no family.
    given = _given(material, config)
    obs, action = (
        block / np.sqrt(block.shape[1]) for block in (material.obs[rows][:, ~given], material.action[rows])
    )
    typical, overall = _noise(obs, action, demo, config)
    noisy = overall >= config.noisy and not given.any()
    points = np.hstack([obs, action * np.interp(typical, *config.noisy_actions)])
    start, end = mutual(nearest_of_others(points, demo, config.neighbours, progress))
    label = _communities(demo[start], demo[end], material.count, config)
    label = _merge(label, start, demo, end, config.noisy_share if noisy else config.visit_share, config)
    pairs = np.bincount(label, material.pairs)
    rank = np.empty(len(pairs), np.int64)
    rank[np.argsort(-pairs, kind="stable")] = np.arange(len(pairs))
    label = rank[label]
    links = np.bincount(demo[start] * len(pairs) + label[demo[end]], minlength=material.count * len(pairs))
    ties = links.reshape(material.count, len(pairs)) / np.bincount(demo)[:, None]
    return Families(label, ties, points, demo, noisy)


def judge_families(
    families: Families,
    pairs: np.ndarray,
    main: int,
    gap: np.ndarray,
    apart: np.ndarray,
    config: JudgingConfig,
    *,
    rivals: bool = True,
) -> Opinion:
    """By how far `apart` [D] a demonstration is from the family `main`, which is taken to be good; `pairs` [D] are their sizes.

    A family that is nearly as large may be another good style. Only a person can say: then there are no `rivals`.
    """
    label = families.label
    members, size = np.bincount(label), np.bincount(label, pairs)
    inside = label == main
    if inside.all():
        return Opinion(
            NAME,
            standing=0.0,
            why="All demonstrations live together: there is one family.",
            score=families.ties[:, main],
            good=np.full(len(label), 0.5),
            reasons=("Lives with all the others.",) * len(label),
            evidence={"gap": np.ones(len(label)), "apart": np.zeros(len(label)), "family": label},
        )
    rivalry = np.interp(size / size[main], config.rival, (0.0, float(rivals)))[label]
    why = (
        f"There are {len(size)} families; the one taken to be good holds {members[main]} of {len(label)} demonstrations "
        f"and {size[main] / size.sum():.0%} of the pairs."
    )
    # The clearer the others' distance, the more it says to be inside, for those whose neighbours are all there.
    standing = float(np.median(apart[~inside]))
    loyal = families.ties[:, main] / np.maximum(families.ties.sum(1), 1e-9)
    good = 0.5 + config.families_trust * np.where(inside, standing * loyal, -apart * (1.0 - rivalry))
    return Opinion(
        NAME,
        standing,
        why,
        score=-np.log(gap),
        good=good,
        reasons=tuple(
            _reason(home, many, far)
            for home, many, far in zip(inside.tolist(), members[label].tolist(), gap.tolist(), strict=True)
        ),
        evidence={"gap": gap, "apart": apart, "family": label, "rivalry": rivalry},
    )


def how_apart(gap: np.ndarray, families: Families, main: int, config: JudgingConfig) -> np.ndarray:
    """[D] from 0 to 1: whether a demonstration, and its family with it, is far from the family `main`.

    Far is measured by the members' typical distance and by their spread.
    """
    label, bounds = families.label, config.noisy_gap if families.noisy else config.gap
    inside = label == main
    centre, spread = core(np.log(gap[inside]))

    def far(gap: np.ndarray) -> np.ndarray:
        spreads = (np.log(gap) - centre) / max(spread, config.least_width)
        return np.minimum(
            np.interp(gap, bounds, (0.0, 1.0)), np.interp(spreads, config.gap_spreads, (0.0, 1.0))
        )

    together = medians(gap, label, int(label.max()) + 1)[label]
    return np.where(inside, 0.0, np.minimum(far(gap), far(together)))


def gaps_to(families: Families, main: int, config: JudgingConfig) -> np.ndarray:
    """[D] the distance of a demonstration's pairs to those of `main`, in units of what is usual within it. With one member nothing
    is usual, and all are at 1."""
    count = len(families.label)
    inside = families.label[families.demo] == main
    nearest = nearest_of_others(families.points, families.demo, config.state_neighbours, among=inside)
    if not nearest.shape[1]:
        return np.ones(count)
    distance = np.sqrt(np.square(families.points[:, None] - families.points[nearest]).sum(2)).mean(1)
    typical = medians(distance, families.demo, count)
    return np.maximum(typical / max(float(np.median(distance[inside])), 1e-6), 1e-3)


def _reason(home: bool, members: int, gap: float) -> str:
    if home:
        return f"Lives with {members - 1} others, in the family that is taken to be good."
    company = "alone" if members == 1 else f"with {members - 1} others"
    return f"Lives apart from the majority, {company}: {gap:.1f} times as far from it as its members are from each other."


def _given(material: Material, config: JudgingConfig) -> np.ndarray:
    """[obs_dim] true where a dimension hardly varies within demonstrations, and varies between them."""
    size = material.pairs
    within = np.empty(material.obs.shape[1])
    for k, column in enumerate(material.obs.T.astype(np.float64)):
        mean = np.bincount(material.demo, column) / size
        within[k] = np.square(column - mean[material.demo]).mean() / max(column.var(), 1e-12)
    given = within < config.given
    return given if not given.all() else np.zeros_like(given)


def _noise(
    obs: np.ndarray, action: np.ndarray, demo: np.ndarray, config: JudgingConfig
) -> tuple[float, float]:
    """How much actions differ between nearly equal states, as a share of their variance: typically, and in the mean."""
    nearest = nearest_of_others(obs, demo, config.state_neighbours)
    differ = np.square(action[:, None] - action[nearest]).mean((1, 2))
    share = differ / max(2.0 * float(action.var(0).mean()), 1e-12)
    return float(np.median(share)), float(share.mean())


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
    demo: np.ndarray,
    end: np.ndarray,
    least: float,
    config: JudgingConfig,
) -> np.ndarray:
    """Families joined, the most visited first, until no family's members mostly visit a larger one."""
    size = np.bincount(demo)
    while (count := int(label.max()) + 1) > 1:
        touched = np.unique(start * count + label[demo[end]])  # a pair and a family that it has links to
        visited = np.bincount(demo[touched // count] * count + touched % count, minlength=len(label) * count)
        visited = visited.reshape(len(label), count)
        visits = (visited >= config.visit_pairs) & (visited >= least * size[:, None])
        members = np.bincount(label)
        share = np.zeros((count, count))
        np.add.at(share, label, visits / members[label][:, None])
        # Only the smaller one's members are asked; of two alike the first goes to the second.
        rank = members * count + np.arange(count)
        share = np.where(rank[:, None] < rank, share, 0.0)
        source, target = np.unravel_index(int(np.argmax(share)), share.shape)
        if share[source, target] < config.visitors:
            break
        label = np.unique(np.where(label == source, target, label), return_inverse=True)[1]
    return label
