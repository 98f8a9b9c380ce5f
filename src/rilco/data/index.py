"""Index of a dataset: the pairs of each episode, and the demonstrators in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from rilco.data.record import Demonstrations


@dataclass(frozen=True, eq=False)
class EpisodeIndex:
    """The E episodes of N pairs, in the order of their ids. Pairs of an episode need not be neighbours."""

    ids: np.ndarray  # [E] ascending
    order: np.ndarray  # [N] rows, one episode's after the other's, each in their own order
    start: np.ndarray  # [E] where in `order` an episode begins
    length: np.ndarray  # [E] its pairs
    demonstrator: np.ndarray  # [E] who made its first pair

    @classmethod
    def of(cls, episode: np.ndarray, demonstrator: np.ndarray | None = None) -> EpisodeIndex:
        """Build from the episode ids of the pairs [N], at least one."""
        ordered = bool((np.diff(episode) >= 0).all())
        order = np.arange(len(episode)) if ordered else np.argsort(episode, kind="stable")
        start = np.concatenate([[0], np.flatnonzero(np.diff(episode[order])) + 1])
        first = order[start]
        who = np.zeros(len(start), np.int32) if demonstrator is None else demonstrator[first]
        return cls(episode[first], order, start, np.diff(start, append=len(episode)), who)

    def __len__(self) -> int:
        return len(self.ids)

    def rows(self, k: int) -> np.ndarray | slice:
        """Rows of the k-th episode; a slice where they are neighbours, so that no pair need be copied."""
        rows = self.order[self.start[k] : self.start[k] + self.length[k]]
        first, last = int(rows[0]), int(rows[-1])
        return slice(first, last + 1) if last - first + 1 == len(rows) else rows

    @cached_property
    def number(self) -> np.ndarray:
        """[N] which episode each pair is of, from 0 to E - 1."""
        return self._for_pairs(np.repeat(np.arange(len(self)), self.length))

    @cached_property
    def step(self) -> np.ndarray:
        """[N] how many pairs of its episode come before each."""
        return self._for_pairs(np.arange(len(self.order)) - np.repeat(self.start, self.length))

    @cached_property
    def by_appearance(self) -> np.ndarray:
        """[E] the episodes in the order in which their first pairs stand."""
        return np.argsort(self.order[self.start])

    @cached_property
    def place(self) -> np.ndarray:
        """[N] which episode each pair is of, counted in the order in which they appear."""
        return np.asarray(np.argsort(self.by_appearance)[self.number])

    def sums(self, values: np.ndarray) -> np.ndarray:
        """[E] of values [N], in double precision."""
        return np.add.reduceat(values[self.order], self.start, dtype=np.float64)

    def _for_pairs(self, in_order: np.ndarray) -> np.ndarray:
        values = np.empty_like(in_order)
        values[self.order] = in_order
        return values


class Demonstrator(NamedTuple):
    """One demonstrator in numbers."""

    name: str
    pairs: int
    episodes: int  # episodes in which it made any pair
    mean_return: float | None
    mean_reward: float | None  # a pair: also comparable where episodes are cut into runs
    expert_fraction: float | None


def demonstrators(demos: Demonstrations) -> list[Demonstrator]:
    """Those who made any pair, in order."""
    size, who = len(demos.demonstrator_names), demos.demonstrator
    pairs = np.bincount(who, minlength=size)
    # The two numbers make one, to be counted once.
    belongs = np.unique(demos.episode.astype(np.int64) * size + who)
    episodes = np.bincount(belongs % size, minlength=size)
    reward = None if demos.reward is None else np.bincount(who, weights=demos.reward, minlength=size)
    expert = None if demos.expert is None else np.bincount(who, weights=demos.expert, minlength=size)
    return [
        Demonstrator(
            name=demos.demonstrator_names[k],
            pairs=int(pairs[k]),
            episodes=int(episodes[k]),
            mean_return=None if reward is None else float(reward[k] / episodes[k]),
            mean_reward=None if reward is None else float(reward[k] / pairs[k]),
            expert_fraction=None if expert is None else float(expert[k] / pairs[k]),
        )
        for k in np.flatnonzero(pairs).tolist()
    ]
