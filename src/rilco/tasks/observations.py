"""Observations as one flat vector, whatever the environment calls them.

A dictionary is flattened in the order of its sorted names, `a`, `b/x`, `b/y`. HDF5 lists the parts of a file in the same
order, so an environment and its demonstrations cannot differ. Chosen names (`--obs-keys`) come in the order given. Numbers are taken as they are, and a discrete value becomes one-hot. Images are not supported: networks
here see flat vectors only. Choose other keys, or turn images into features with a wrapper of the environment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rilco.errors import DemonstrationError, TaskError


@dataclass(frozen=True)
class Part:
    """One entry of an observation; the only one, without a name, where it is no dictionary."""

    name: str
    size: int
    """Numbers in it, as files hold them."""
    choices: tuple[int, ...] = ()
    """Number of values of each, where they are discrete. Empty: they are quantities."""
    least: tuple[int, ...] = ()
    """The least of each one's discrete values."""

    @property
    def width(self) -> int:
        return sum(self.choices) if self.choices else self.size

    def encode(self, values: np.ndarray, where: str) -> np.ndarray:
        """[n, size] to [n, width] float32."""
        if not self.choices:
            return values.astype(np.float32)
        index = values.astype(np.float64) - np.asarray(self.least)
        bad = (index != np.rint(index)) | (index < 0) | (index >= np.asarray(self.choices))
        if bad.any():
            row, column = np.argwhere(bad)[0]
            first = self.least[column]
            raise DemonstrationError(
                f"{where}: the observation {self.name or 'itself'} holds {values[row, column]:g} in row {row}; expected "
                f"a whole number from {first} to {first + self.choices[column] - 1}. Fix the data."
            )
        rows = index.astype(np.int64)
        return np.concatenate(
            [np.eye(n, dtype=np.float32)[rows[:, k]] for k, n in enumerate(self.choices)], axis=1
        )


@dataclass(frozen=True)
class Observations:
    """The parts of an observation, in order."""

    parts: tuple[Part, ...]

    @property
    def width(self) -> int:
        """Numbers in the flat vector."""
        return sum(part.width for part in self.parts)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parts; empty where there is only one, without a name."""
        return tuple(part.name for part in self.parts if part.name)

    def flatten(self, obs: Any, env_name: str) -> np.ndarray:
        """[width] float32 of one observation of the environment."""
        if len(self.parts) == 1 and not self.parts[0].choices and not self.parts[0].name:
            flat = np.ravel(obs)
            if flat.size != self.parts[0].size:
                raise _changed(env_name, "", self.parts[0].size, flat.size)
            return flat
        pieces = []
        for part in self.parts:
            values = np.ravel(_entry(obs, part.name, env_name))
            if values.size != part.size:
                raise _changed(env_name, part.name, part.size, values.size)
            pieces.append(part.encode(values[None], env_name)[0])
        return np.concatenate(pieces)

    def encode(self, obs: np.ndarray, where: str) -> np.ndarray:
        """[N, width] of demonstrations that hold discrete parts as one number each; flat ones stay as they are."""
        sizes = [part.size for part in self.parts]
        if obs.shape[1] == self.width or obs.shape[1] != sum(sizes):
            return obs
        columns = np.split(obs, np.cumsum(sizes)[:-1], axis=1)
        return np.concatenate(
            [part.encode(values, where) for part, values in zip(self.parts, columns, strict=True)], axis=1
        )

    def choose(self, obs: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """[N, width] to the columns of some parts, in the order given."""
        columns = np.split(obs, np.cumsum([part.width for part in self.parts])[:-1], axis=1)
        named = {part.name: values for part, values in zip(self.parts, columns, strict=True)}
        return np.concatenate([named[name] for name in names], axis=1)


def _entry(obs: Any, name: str, env_name: str) -> Any:
    for key in name.split("/") if name else ():
        if not isinstance(obs, Mapping) or key not in obs:
            raise TaskError(
                f"--env {env_name}: an observation has no part {name!r}, although its space does. Fix the "
                "environment."
            )
        obs = obs[key]
    return obs


def _changed(env_name: str, name: str, expected: int, got: int) -> TaskError:
    part = f" part {name!r} of an" if name else "n"
    return TaskError(
        f"--env {env_name}: a{part} observation has {got} numbers, but its space had {expected} when the environment "
        "was made. Spaces must not change: fix the environment."
    )


def check_keys(wanted: Sequence[str], available: Sequence[str], env_name: str) -> None:
    """Raises TaskError unless the environment has all of these parts."""
    for name in wanted:
        if name not in available:
            raise TaskError(
                f"--obs-keys {','.join(wanted)}: {env_name} has no observation {name!r}; it has "
                f"{', '.join(available)}. Choose among these."
            )
