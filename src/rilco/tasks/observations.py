"""Observations as one flat vector, whatever the environment calls them.

A dictionary is flattened in the order of its sorted names, `a`, `b/x`, `b/y`. HDF5 lists the parts of a file in the same
order, so an environment and its demonstrations cannot differ. Chosen names (`--obs-keys`) come in the order given. Numbers
are taken as they are, and a discrete value becomes one-hot. Images are not supported: networks here see flat vectors only.
Choose other keys, or turn images into features with a wrapper of the environment.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rilco.errors import ConfigError, DemonstrationError, RunError, TaskError
from rilco.files import as_record
from rilco.tasks.actions import one_hot

LARGEST_OBS = 1e15  # squares of larger numbers overflow in sums of float32


@dataclass(frozen=True)
class Part:
    """One entry of an observation; the only one, without a name, where it is no dictionary."""

    name: str
    size: int  # numbers in it, as files hold them
    choices: tuple[int, ...] = ()
    """Number of values of each, where they are discrete. Empty: they are quantities."""
    least: tuple[int, ...] = ()  # the least of each one's discrete values

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
        return one_hot(index.astype(np.int64), self.choices)


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
            values = np.ravel(_entry(obs, part.name, f"--env {env_name}"))
            if values.size != part.size:
                raise _changed(env_name, part.name, part.size, values.size)
            pieces.append(part.encode(values[None], env_name)[0])
        return np.concatenate(pieces)

    def flatten_batch(self, obs: Any, where: str) -> np.ndarray:
        """[width] of one observation, or [n, width] where the entries have an axis of n more."""
        values = [np.asarray(_entry(obs, part.name, where)) for part in self.parts]
        counts = {array.size / part.size for part, array in zip(self.parts, values, strict=True)}
        if len(counts) > 1 or not min(counts).is_integer():
            shapes = [list(array.shape) for array in values]
            raise TaskError(
                f"{where}: observations have the shapes {shapes}; expected {[part.size for part in self.parts]} numbers "
                "for each. Give all of them, in the shapes of the environment's space."
            )
        pairs = zip(self.parts, values, strict=True)
        flat = np.concatenate(
            [part.encode(array.reshape(-1, part.size), where) for part, array in pairs], axis=1
        )
        first, own_axes = values[0], 0 if self.parts[0].choices and self.parts[0].size == 1 else 1
        several = len(flat) != 1 or (first.ndim > own_axes and len(first) == 1)
        return flat if several else flat[0]

    def encode(self, obs: np.ndarray, where: str) -> np.ndarray:
        """[N, width] of demonstrations that hold discrete parts as one number each; flat ones stay as they are."""
        sizes = [part.size for part in self.parts]
        if obs.shape[1] == self.width or obs.shape[1] != sum(sizes):
            return obs
        columns = np.split(obs, np.cumsum(sizes)[:-1], axis=1)
        return np.concatenate(
            [part.encode(values, where) for part, values in zip(self.parts, columns, strict=True)], axis=1
        )

    @classmethod
    def from_json(cls, table: Any) -> Observations:
        """What `described` wrote. Raises ValueError unless it describes observations."""
        with contextlib.suppress(RunError, TypeError):
            parts = tuple(as_record(Part, part, "observations") for part in table)
            if all(
                (len(part.choices), len(part.least)) in ((0, 0), (part.size, part.size))
                and min((part.size, *part.choices)) > 0
                for part in parts
            ):
                return cls(parts)
        raise ValueError(f"its observations are described by {str(table)[:200]}, which no environment has")

    def described(self) -> list[dict[str, Any]]:
        """The parts as JSON holds them; empty where an observation is an array of quantities already."""
        plain = not self.names and not any(part.choices for part in self.parts)
        return [] if plain else [asdict(part) for part in self.parts]

    def choose(self, obs: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """[N, width] to the columns of some parts, in the order given."""
        columns = np.split(obs, np.cumsum([part.width for part in self.parts])[:-1], axis=1)
        named = {part.name: values for part, values in zip(self.parts, columns, strict=True)}
        return np.concatenate([named[name] for name in names], axis=1)


def read_keys(value: Any) -> tuple[str, ...]:
    """Names of parts as a user gives them: `pos,vel` or a list."""
    keys = value.split(",") if isinstance(value, str) else value
    if not isinstance(keys, list | tuple) or not all(isinstance(key, str) for key in keys):
        raise ConfigError(f"obs_keys: expected names, for example pos,vel; got {value!r}.")
    return tuple(key.strip() for key in keys if key.strip())


def _entry(obs: Any, name: str, where: str) -> Any:
    for key in name.split("/") if name else ():
        if not isinstance(obs, Mapping) or key not in obs:
            raise TaskError(
                f"{where}: an observation has no part {name!r}, although the environment's space does. Give it, too."
            )
        obs = obs[key]
    return obs


def _changed(env_name: str, name: str, expected: int, got: int) -> TaskError:
    part = f" part {name!r} of an" if name else "n"
    return TaskError(
        f"--env {env_name}: a{part} observation has {got} numbers, but its space had {expected} when the environment "
        "was made. Spaces must not change: fix the environment."
    )
