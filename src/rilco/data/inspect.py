"""Inspection of a dataset: episodes, lengths, returns, every dimension, and faults.

NaN and infinite values, which training refuses, are counted here.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rilco.data.index import Demonstrator, demonstrators
from rilco.data.record import Demonstrations, non_finite_allowed
from rilco.errors import ConfigError
from rilco.words import listed

Bounds = tuple[float, float] | tuple[np.ndarray, np.ndarray]
"""The same low and high for every dimension, or [D] of each."""


class Dimensions(NamedTuple):
    """Every dimension of the observations or of the actions, [D] each, over its finite values."""

    rows_outside: int  # pairs with any value outside the bounds
    low: np.ndarray  # NaN, like all of these numbers, where no value is finite
    high: np.ndarray
    mean: np.ndarray
    spread: np.ndarray  # standard deviation
    finite: np.ndarray  # number of finite values
    nan: np.ndarray
    infinite: np.ndarray
    outside: np.ndarray  # number of finite values outside the bounds

    @property
    def constant(self) -> np.ndarray:
        """[D] bool: more than one value, and all the same."""
        return (self.low == self.high) & (self.finite > 1)


class Inspection(NamedTuple):
    """A dataset in numbers."""

    name: str
    obs: Dimensions
    action: Dimensions
    lengths: np.ndarray  # [episodes] pairs in each
    returns: np.ndarray | None  # [episodes] sums of the rewards that the file holds, where it holds any
    demonstrators: list[Demonstrator]
    bounds: tuple[
        float, float
    ]  # that actions were compared with; the widest, where dimensions have their own
    within: str  # the bounds in words
    assumed_bounds: bool  # whether nobody said what they are
    noise_rate: float | None
    noise_fraction: float | None
    digests: list[bytes]  # [episodes] equal for episodes that are equal pair for pair

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
            share = self.action.rows_outside / self.pairs
            unless = " The environment's own bounds may be others: name it by --env."
            found.append(
                f"{share:.1%} of the pairs have an action outside {self.within}."
                f"{unless if self.assumed_bounds else ''}"
            )
        return found

    def to_json(self) -> dict[str, Any]:
        """Plain numbers; what is not finite is null."""
        table = {
            "name": self.name,
            "pairs": self.pairs,
            "episodes": self.episodes,
            "length": statistics(self.lengths),
            "return": None if self.returns is None else statistics(self.returns),
            "duplicated_episodes": self.duplicated_episodes,
            "pairs_with_action_outside": self.action.rows_outside,
            "bounds": self.bounds,
            "noise_rate": self.noise_rate,
            "noise_fraction": self.noise_fraction,
            "demonstrators": [one._asdict() for one in self.demonstrators],
            "obs": _columns(self.obs),
            "action": _columns(self.action),
            "remarks": self.remarks(),
        }
        return {name: _plain(value) for name, value in table.items()}


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
    """Left out, bounds are +-1; choices have their own."""
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
    same = (low == low[0]).all() and (high == high[0]).all()
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
        demonstrators=demonstrators(demos),
        bounds=(float(low.min()), float(high.max())),
        within=f"[{low[0]:g}, {high[0]:g}]" if same else "its dimension's bounds",
        assumed_bounds=assumed,
        noise_rate=demos.noise_rate,
        noise_fraction=demos.noise_fraction,
        digests=list(digests(demos)),
    )


def statistics(values: np.ndarray | None) -> dict[str, float | None]:
    """Statistics of the finite values; None where there are none."""
    finite = np.empty(0) if values is None else values[np.isfinite(values)]
    names = ("min", "median", "max", "mean", "std")
    if not len(finite):
        return dict.fromkeys(names)
    return {name: float(getattr(np, name)(finite)) for name in names}


def measure(array: np.ndarray, bounds: Bounds = (-math.inf, math.inf)) -> Dimensions:
    """Every dimension of an array [N, D], one after the other, so that no more than one is copied."""
    low, high = (np.broadcast_to(bound, array.shape[1]) for bound in bounds)
    rows_outside = np.zeros(len(array), bool)
    found = []
    for k in range(array.shape[1]):
        values = array[:, k].astype(np.float64)
        is_finite = np.isfinite(values)
        is_outside = is_finite & ((values < low[k]) | (values > high[k]))
        rows_outside |= is_outside
        finite = values[is_finite] if is_finite.any() else np.array([np.nan])
        numbers = finite.min(), finite.max(), finite.mean(), finite.std()
        counts = is_finite.sum(), np.isnan(values).sum(), np.isinf(values).sum(), is_outside.sum()
        found.append((*numbers, *counts))
    columns = [np.array(column) for column in zip(*found, strict=True)]
    return Dimensions(int(rows_outside.sum()), *columns)


def digests(demos: Demonstrations) -> Iterator[bytes]:
    """Of each episode; equal for those that are equal pair for pair."""
    for k in range(len(demos.index)):
        rows = demos.index.rows(k)
        digest = hashlib.blake2b(digest_size=16)
        for array in (demos.obs, demos.action):
            digest.update(np.ascontiguousarray(array[rows]).data)
        yield digest.digest()


def _listing(dimensions: np.ndarray) -> str:
    """`dimensions 1, 4 and 7`, or the first few of them."""
    return f"dimension{'s' if len(dimensions) > 1 else ''} {listed(map(str, dimensions.tolist()), most=8)}"


def _columns(part: Dimensions) -> list[dict[str, Any]]:
    names = ("low", "high", "mean", "spread", "nan", "infinite", "outside", "constant")
    columns = [getattr(part, name).tolist() for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
