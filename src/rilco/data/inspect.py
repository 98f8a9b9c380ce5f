"""Inspection of a dataset: episodes, lengths, returns, every dimension, and faults.

Data is read in blocks of rows, so that memory maps are never read as a whole. NaN and infinite values, which training
refuses, are counted here.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rilco.data.index import Demonstrator, demonstrators
from rilco.data.record import Demonstrations, non_finite_allowed
from rilco.errors import ConfigError
from rilco.words import listed

BLOCK = 65_536
"""Rows that are read together."""

Bounds = tuple[float, float] | tuple[np.ndarray, np.ndarray]
"""The same low and high for every dimension, or [D] of each."""


@dataclass(frozen=True)
class Dimensions:
    """Every dimension of the observations or of the actions, [D] each, over its finite values."""

    low: np.ndarray
    """NaN, like all of these numbers, where no value is finite."""
    high: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    """Standard deviation."""
    finite: np.ndarray
    """Number of finite values."""
    nan: np.ndarray
    infinite: np.ndarray
    outside: np.ndarray
    """Number of finite values outside the bounds."""
    rows_outside: int
    """Pairs with any such value."""

    @property
    def constant(self) -> np.ndarray:
        """[D] bool: more than one value, and all the same."""
        return (self.low == self.high) & (self.finite > 1)


@dataclass(frozen=True)
class Inspection:
    """A dataset in numbers."""

    name: str
    obs: Dimensions
    action: Dimensions
    lengths: np.ndarray
    """[episodes]: pairs in each."""
    returns: np.ndarray | None
    """[episodes]: sums of the rewards that the file holds, where it holds any."""
    demonstrators: tuple[Demonstrator, ...]
    bounds: tuple[float, float]
    """Bounds that actions were compared with; the widest, where dimensions have their own."""
    same_bounds: bool
    """Whether all dimensions have these."""
    assumed_bounds: bool
    """Whether nobody said what they are."""
    noise_rate: float | None
    noise_fraction: float | None
    digests: tuple[bytes, ...] = field(repr=False)
    """[episodes]: equal for episodes that are equal pair for pair."""

    @property
    def pairs(self) -> int:
        return int(self.lengths.sum())

    @property
    def episodes(self) -> int:
        return len(self.lengths)

    @property
    def duplicated_episodes(self) -> int:
        """Episodes that repeat an earlier one."""
        return self.episodes - len(set(self.digests))

    @property
    def within(self) -> str:
        """The bounds in words."""
        low, high = self.bounds
        return f"[{low:g}, {high:g}]" if self.same_bounds else "its dimension's bounds"

    @property
    def mean_reward(self) -> float | None:
        """Mean reward of a pair."""
        return None if self.returns is None else float(self.returns.sum()) / self.pairs

    def remarks(self) -> list[str]:
        """What a person should know before learning from this data."""
        found = []
        for name, part in (("obs", self.obs), ("action", self.action)):
            nan, infinite = int(part.nan.sum()), int(part.infinite.sum())
            if nan or infinite:
                where = _listing(np.flatnonzero(part.nan + part.infinite))
                found.append(
                    f"{name} holds {nan:,} NaN and {infinite:,} infinite values, in {where}: training refuses "
                    "the file. Leave these pairs out or fix them."
                )
            if part.constant.any():
                found.append(f"{name} never changes in {_listing(np.flatnonzero(part.constant))}.")
        if self.returns is not None and not np.isfinite(self.returns).all():
            count = int((~np.isfinite(self.returns)).sum())
            found.append(f"{count:,} episodes hold rewards that are NaN or infinite.")
        if self.duplicated_episodes:
            found.append(
                f"{self.duplicated_episodes:,} of {self.episodes:,} episodes repeat an earlier one, pair for pair."
            )
        if self.action.rows_outside:
            unless = (
                " The environment's own bounds may be others: name it by --env."
                if self.assumed_bounds
                else ""
            )
            share = self.action.rows_outside / self.pairs
            found.append(f"{share:.1%} of the pairs have an action outside {self.within}.{unless}")
        return found

    def to_json(self) -> dict[str, Any]:
        """Plain numbers; what is not finite is null."""
        return {
            "name": self.name,
            "pairs": self.pairs,
            "episodes": self.episodes,
            "length": statistics(self.lengths),
            "return": None if self.returns is None else statistics(self.returns),
            "duplicated_episodes": self.duplicated_episodes,
            "pairs_with_action_outside": self.action.rows_outside,
            "bounds": [_plain(bound) for bound in self.bounds],
            "noise_rate": self.noise_rate,
            "noise_fraction": self.noise_fraction,
            "demonstrators": [
                {key: _plain(value) for key, value in one._asdict().items()} for one in self.demonstrators
            ],
            "obs": _columns(self.obs),
            "action": _columns(self.action),
            "remarks": self.remarks(),
        }


def inspect_files(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    bounds: Bounds | None = None,
    obs_keys: Sequence[str] = (),
) -> Iterator[Inspection]:
    """Each file by itself, one in memory at a time; a folder stands for the files in it."""
    from rilco.data import formats  # here, so that inspecting arrays imports no file library

    files = formats.find_files(paths)
    names = [file.name for file in files]
    for file in files:
        with non_finite_allowed():
            demos = formats.load_file(file, obs_keys=obs_keys)
        yield inspect(demos, name=file.name if names.count(file.name) == 1 else str(file), bounds=bounds)


def inspect(
    demos: Demonstrations, *, name: str = "demonstrations", bounds: Bounds | None = None
) -> Inspection:
    """Goes through the data once in blocks, and once by episode. Left out, bounds are +-1; choices have their own."""
    assumed = bounds is None and not demos.discrete
    if bounds is None:
        bounds = (np.nanmin(demos.action), np.nanmax(demos.action)) if demos.discrete else (-1.0, 1.0)
    low, high = (np.atleast_1d(bound).astype(np.float64) for bound in bounds)
    if isinstance(bounds[0], np.ndarray) and len(low) != demos.action_dim:
        raise ConfigError(
            f"{name}: an action has {demos.action_dim} dimensions, but {len(low)} in the environment. Choose the one that "
            "it comes from."
        )
    if not (low <= high).all():
        raise ConfigError(f"--bounds {low[0]:g} {high[0]:g}: expected the lower one first.")
    returns = None
    if demos.reward is not None:
        with np.errstate(invalid="ignore"):  # inf - inf
            returns = demos.index.sums(demos.reward)
    return Inspection(
        name=name,
        obs=measure(demos.obs),
        action=measure(demos.action, (low, high)),
        lengths=demos.index.length,
        returns=returns,
        demonstrators=tuple(demonstrators(demos)),
        bounds=(float(low.min()), float(high.max())),
        same_bounds=bool((low == low[0]).all() and (high == high[0]).all()),
        assumed_bounds=assumed,
        noise_rate=demos.noise_rate,
        noise_fraction=demos.noise_fraction,
        digests=tuple(_digests(demos)),
    )


def shared_episodes(inspections: Sequence[Inspection]) -> list[tuple[str, str, int]]:
    """Pairs of files that hold the same episodes, and how many."""
    found = []
    for i, one in enumerate(inspections):
        for other in inspections[i + 1 :]:
            common = len(set(one.digests) & set(other.digests))
            if common:
                found.append((one.name, other.name, common))
    return found


def statistics(values: np.ndarray) -> dict[str, float | None]:
    """Statistics of the finite values; None where there are none."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return dict.fromkeys(("min", "median", "max", "mean", "std"))
    low, median, high = (float(value) for value in np.quantile(finite, (0.0, 0.5, 1.0)))
    return {
        "min": low,
        "median": median,
        "max": high,
        "mean": float(finite.mean()),
        "std": float(finite.std()),
    }


def measure(array: np.ndarray, bounds: Bounds = (-math.inf, math.inf), block: int = BLOCK) -> Dimensions:
    """Every dimension of an array [N, D]; blocks of rows are merged as Chan, Golub and LeVeque (1979) do."""
    width = array.shape[1]
    low, high = np.full(width, np.inf), np.full(width, -np.inf)
    mean, squares = np.zeros(width), np.zeros(width)
    finite, nan, infinite, outside = (np.zeros(width, np.int64) for _ in range(4))
    rows_outside = 0
    for start in range(0, len(array), block):
        values = array[start : start + block].astype(np.float64)
        is_finite = np.isfinite(values)
        is_outside = is_finite & ((values < bounds[0]) | (values > bounds[1]))
        is_nan = np.isnan(values)
        nan += is_nan.sum(axis=0)
        infinite += (~is_finite & ~is_nan).sum(axis=0)
        outside += is_outside.sum(axis=0)
        rows_outside += int(is_outside.any(axis=1).sum())
        low = np.minimum(low, values.min(axis=0, where=is_finite, initial=np.inf))
        high = np.maximum(high, values.max(axis=0, where=is_finite, initial=-np.inf))
        count = is_finite.sum(axis=0)
        here = values.sum(axis=0, where=is_finite) / np.maximum(count, 1)
        centred = np.where(is_finite, values, here) - here
        both = np.maximum(finite + count, 1)
        squares += (centred**2).sum(axis=0) + (here - mean) ** 2 * finite * count / both
        mean += (here - mean) * count / both
        finite += count
    unknown = finite == 0
    for numbers in (low, high, mean, squares):
        numbers[unknown] = np.nan
    spread = np.sqrt(squares / np.maximum(finite, 1))
    return Dimensions(low, high, mean, spread, finite, nan, infinite, outside, rows_outside)


def _digests(demos: Demonstrations) -> Iterator[bytes]:
    for k in range(len(demos.index)):
        rows = demos.index.rows(k)
        digest = hashlib.blake2b(digest_size=16)
        for array in (demos.obs, demos.action):
            digest.update(np.ascontiguousarray(array[rows]).data)
        yield digest.digest()


def _listing(dimensions: np.ndarray, most: int = 8) -> str:
    """`dimensions 1, 4 and 7`, or the first few of them."""
    return f"dimension{'s' if len(dimensions) > 1 else ''} {listed(map(str, dimensions.tolist()), most)}"


def _columns(part: Dimensions) -> list[dict[str, Any]]:
    names = ("low", "high", "mean", "spread", "nan", "infinite", "outside", "constant")
    columns = [getattr(part, name).tolist() for name in names]
    return [
        {name: _plain(value) for name, value in zip(names, row, strict=True)}
        for row in zip(*columns, strict=True)
    ]


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
