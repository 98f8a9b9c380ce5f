"""VILD's draws from the demonstrations, on the host: pairs of every demonstrator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rilco.rewards.config import ClassifierConfig
from rilco.rewards.learner import DemoArrays

FULL_POOLS = 6
"""Beyond this number of demonstrators their pools are smaller, so that a draw stays as cheap as RIL-Co's."""


class Pool(NamedTuple):
    """Draws of one iteration: P pairs of each of K demonstrators, among which the update chooses."""

    obs: np.ndarray  # [K, P, D]
    action: np.ndarray  # [K, P, A]
    share: np.ndarray  # [K] each demonstrator's part of all pairs
    turn: np.ndarray  # [M, n] int32: whose pairs a step of the model takes, everybody's in turn


class Roster(NamedTuple):
    """Whose pairs are where."""

    order: np.ndarray  # [N] row numbers, one demonstrator's after the other's
    start: np.ndarray  # [K] where in `order` a demonstrator's begin
    count: np.ndarray  # type: ignore[assignment]  # [K], and never the method that it hides


def make_roster(num_demonstrators: int, ids: np.ndarray) -> Roster:
    """The roster of ids [N] from 0 to num_demonstrators - 1, as `Demonstrations` has checked them."""
    count = np.bincount(ids, minlength=num_demonstrators)
    return Roster(np.argsort(ids, kind="stable"), np.cumsum(count) - count, count)


def remember_last(build: Callable[[Any], Roster]) -> Callable[[Any], Roster]:
    """Grouping takes time in the number of pairs, and a draw must not; the ids are the same all through a run."""
    last: list[tuple[Any, Roster]] = []

    def get(ids: Any) -> Roster:
        if not last or last[0][0] is not ids:
            last[:] = [(ids, build(ids))]
        return last[0][1]

    return get


def draw_pool(config: ClassifierConfig, roster: Roster, demos: DemoArrays, rng: np.random.Generator) -> Pool:
    """Draw as many pairs of each demonstrator as an iteration can use; fewer where there are many of them."""
    rows, demonstrators = config.minibatches * config.batch, len(roster.count)
    size = min(rows, -(-FULL_POOLS * rows // demonstrators))
    who = np.broadcast_to(np.arange(demonstrators)[:, None], (demonstrators, size))
    index = draw_rows(roster, who, rng)
    return Pool(
        np.asarray(demos.obs).take(index, axis=0),
        np.asarray(demos.action).take(index, axis=0),
        (roster.count / roster.count.sum()).astype(np.float32),
        in_turn(roster, (config.minibatches, config.batch), rng),
    )


def draw_rows(roster: Roster, who: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random row of each demonstrator in `who`; any row where it has none, for nobody will use it."""
    place = roster.start[who] + (rng.random(who.shape) * roster.count[who]).astype(np.int64)
    return roster.order[np.minimum(place, len(roster.order) - 1)]


def in_turn(roster: Roster, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Demonstrators that have pairs, one after the other over and over, from a random one on."""
    present = np.flatnonzero(roster.count)
    turns = rng.integers(len(present)) + np.arange(shape[0] * shape[1])
    return present[turns % len(present)].reshape(shape).astype(np.int32)
