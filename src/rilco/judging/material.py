"""Demonstrations as the judges see them: in standard units, in an order of their own, and with a sample to compare."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError
from rilco.judging.config import JudgingConfig


@dataclass(frozen=True, eq=False)
class Material:
    """What can be judged. Demonstrations are sorted by content, so that nothing depends on the order they came in."""

    obs: np.ndarray
    """[N, obs_dim] float32 in robust standard units; neither constant nor repeated dimensions."""
    action: np.ndarray
    """[N, action_dim] the same of actions; of choices one-hot."""
    demo: np.ndarray
    """[N] int64, sorted: the demonstration of each pair."""
    first: np.ndarray
    """[D + 1] where each demonstration begins, and the number of pairs."""
    order: np.ndarray
    """[D] which of the given demonstrations each one is."""

    @property
    def count(self) -> int:
        return len(self.order)

    @property
    def pairs(self) -> np.ndarray:
        """[D] of each demonstration."""
        return np.diff(self.first)

    def sample(self, total: int, least: int, most: int | None = None) -> np.ndarray:
        """Sorted rows: about `total`, spread evenly, of each demonstration at least `least` and no more than `most`.

        With thousands of demonstrations `least` gives way, down to 3, so that three times `total` are enough.
        """
        least = min(least, max(3, 3 * total // self.count))
        wanted = np.ceil(self.pairs * min(1.0, total / len(self.demo))).astype(np.int64)
        wanted = np.minimum(np.clip(wanted, least, most), self.pairs)
        place = np.arange(wanted.sum()) - np.repeat(np.cumsum(wanted) - wanted, wanted)
        share = (place + 0.5) / np.repeat(wanted, wanted)
        rows = np.repeat(self.first[:-1], wanted) + np.floor(share * np.repeat(self.pairs, wanted))
        return rows.astype(np.int64)


def prepare(
    demos: Demonstrations, of_pair: np.ndarray, chosen: np.ndarray, config: JudgingConfig
) -> Material:
    """The `chosen` demonstrations; `of_pair` [N] has the demonstration of each pair, in the order of its steps."""
    rows = np.argsort(of_pair, kind="stable")
    rows = rows[np.isin(of_pair[rows], chosen)]
    obs = _standardise(demos.obs[rows], "observation", config)
    given = _one_hot(demos.action[rows], config.most_choices) if demos.discrete else demos.action[rows]
    action = _standardise(given, "action", config)
    _, dense = np.unique(of_pair[rows], return_inverse=True)
    # Sorted by content: the mean of each dimension, the first one first.
    means = [np.bincount(dense, column) / np.bincount(dense) for column in (*obs.T, *action.T)]
    order = np.lexsort([np.round(mean, 4) for mean in reversed(means)])
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    by_rank = np.argsort(rank[dense], kind="stable")
    demo = rank[dense][by_rank]
    first = np.searchsorted(demo, np.arange(len(order) + 1))
    return Material(obs[by_rank], action[by_rank], demo, first, np.sort(chosen)[order])


def _one_hot(choices: np.ndarray, most: int) -> np.ndarray:
    """A column for each value that was chosen, the commonest first: numbers of choices have neither order nor distance.

    Values beyond the `most` common ones of a choice have no column.
    """
    columns = []
    for choice in choices.T:
        values, count = np.unique(choice, return_counts=True)
        columns.append(choice[:, None] == values[np.argsort(-count, kind="stable")[:most]])
    return np.hstack(columns).astype(np.float32)


def _standardise(values: np.ndarray, what: str, config: JudgingConfig) -> np.ndarray:
    """Each dimension in units of its own spread about its median; what is constant or repeated is left out."""
    some = values[:: max(1, len(values) // 100_000)].astype(np.float64)
    centre, low, high = np.quantile(some, [0.5, 0.02, 0.98], axis=0)
    spread = np.clip(some, low, high).std(0)
    spread = np.where(
        spread > 1e-6 * np.abs(some - centre).max(0), spread, some.std(0)
    )  # seldom anything but its median
    varies = spread > 1e-7 * np.maximum(np.abs(centre), np.abs(some).max(0))
    if not varies.any():
        if what == "observation":
            raise DemonstrationError(
                f"All {len(values)} pairs have the same observation. Nothing can be said about what was done where: "
                "give observations that vary."
            )
        return np.zeros((len(values), 1), np.float32)  # nobody ever did anything else: all act alike
    scaled = np.empty((len(values), int(varies.sum())), np.float32)
    for column, dimension in enumerate(np.flatnonzero(varies)):
        unit = (values[:, dimension].astype(np.float64) - centre[dimension]) / spread[dimension]
        scaled[:, column] = np.clip(unit, -config.clip, config.clip)
    return scaled[:, _distinct(scaled[:: max(1, len(values) // 100_000)], config)]


def _distinct(values: np.ndarray, config: JudgingConfig) -> list[int]:
    """The dimensions that are no copy, in whatever units, of one before."""
    centred = values - values.mean(0, dtype=np.float64)
    length = np.sqrt(np.square(centred).sum(0)) + 1e-30
    alike = np.square((centred / length).T @ (centred / length)) > 1.0 - config.same_dimension
    return [i for i in range(values.shape[1]) if not alike[i, :i].any()]
