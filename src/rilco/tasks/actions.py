"""Actions as learners write them, beside what environments and files hold.

Learners see every action as a vector of about unit size. Quantities are written in units: half of the space's range,
or the size that is usual in the demonstrations where the space has no bounds. Choices are written one-hot, so that classifiers
see no order among them. Only this module knows both sides.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rilco.errors import RunError
from rilco.files import as_record

UNIT_SIZE = (0.1, 10.0)  # the largest of actions that need no unit


@dataclass(frozen=True)
class Actions:
    """One kind of actions: their shape in the environment, and how learners write them."""

    shape: tuple[int, ...]
    """Shape in the environment; files hold actions flat."""
    choices: tuple[int, ...] = ()
    """Number of values of each choice. Empty: actions are quantities."""
    origin: tuple[float, ...] = ()
    """The least value of each choice, or the value of quantities that 0 stands for."""
    scale: tuple[float, ...] = ()
    """One unit of each quantity; 0 where only demonstrations can tell. Empty: quantities are written as they are."""
    bounded: tuple[bool, ...] = field(default=(), compare=False)
    """Which quantities the environment takes no larger than one unit. Empty: none."""

    @property
    def size(self) -> int:
        """Numbers in an action of the environment."""
        return math.prod(self.shape)

    @property
    def width(self) -> int:
        """Numbers in an action as learners write it: also the outputs of a policy network."""
        return sum(self.choices) if self.choices else self.size

    @property
    def spread_width(self) -> int:
        """Numbers in a policy's log-std: choices have none."""
        return 0 if self.choices else self.size

    @property
    def units(self) -> tuple[np.ndarray, np.ndarray]:
        """[size] float32: the quantities that 0 stands for, and one unit of each."""
        origin, scale = self.origin or (0.0,) * self.size, self.scale or (1.0,) * self.size
        return np.array(origin, np.float32), np.array(scale, np.float32)

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """[size] float32: the least and the largest values; infinite where the space has no bounds."""
        first = np.array(self.origin or (0.0,) * self.size)
        if self.choices:
            low, high = first, first + np.array(self.choices) - 1.0
        else:
            half = np.array(self.scale or (1.0,) * self.size)
            half = np.where(half > 0, half, np.inf)
            low, high = first - half, first + half
        return low.astype(np.float32), high.astype(np.float32)

    def encode(self, action: np.ndarray) -> np.ndarray:
        """Convert from files [..., size] to learners [..., width]."""
        if self.choices:
            return one_hot(np.rint(action - np.asarray(self.origin)).astype(np.int64), self.choices)
        if not self.scale:
            return action
        return ((action - np.asarray(self.origin)) / np.asarray(self.scale)).astype(np.float32)

    def decode(self, written: np.ndarray) -> np.ndarray:
        """Convert from learners [..., width] to the environment, flat: [..., size]."""
        if self.choices:
            return (self._largest(written) + np.asarray(self.origin)).astype(np.float32)
        if not self.scale:
            return written
        return written * np.array(self.scale, np.float32) + np.array(self.origin, np.float32)

    def clip(self, action: np.ndarray) -> np.ndarray:
        """[..., size] as the environment executes them: within its bounds, where it has some."""
        if not any(self.bounded):
            return action
        low, high = (np.where(self.bounded, bound, np.nan) for bound in self.bounds)
        return np.fmin(np.fmax(action, low), high).astype(np.float32)

    def shaped(self, action: np.ndarray) -> np.ndarray:
        """[n, size] as the environment takes them: [n, *shape], and whole numbers where they are choices."""
        whole = np.rint(action).astype(np.int64) if self.choices else action
        return whole.reshape(len(action), *self.shape)

    def noise(self, rng: np.random.Generator, *shape: int) -> np.ndarray:
        """[*shape, width] random numbers, out of which `act` samples."""
        if self.choices:
            return rng.gumbel(size=(*shape, self.width)).astype(np.float32)
        return rng.standard_normal((*shape, self.width), np.float32)

    def act(
        self, output: np.ndarray, noise: np.ndarray | None = None, std: np.ndarray | float = 1.0
    ) -> np.ndarray:
        """[..., width] for a policy network's output: the likeliest, or with noise a sample; `std` is of quantities."""
        if not self.choices:
            return output if noise is None else output + noise * std
        if noise is not None:
            output = output + noise  # the largest logit plus Gumbel noise is a sample
        return one_hot(self._largest(output), self.choices)

    def _largest(self, written: np.ndarray) -> np.ndarray:
        """[..., size]: which value of each choice has the largest number."""
        return np.stack([np.argmax(part, axis=-1) for part in self.split(written)], axis=-1)

    def split(self, written: Any) -> list[Any]:
        """The part of each choice, of NumPy's arrays or JAX's."""
        edges = [0, *itertools.accumulate(self.choices)]
        return [written[..., a:b] for a, b in itertools.pairwise(edges)]

    def fitted(self, action: np.ndarray | None) -> Actions:
        """Take the units of demonstrations [N, size], their root mean square, where the space has none. Without them, 1."""
        if self.choices or not self.scale:
            return self
        origin, scale = np.array(self.origin), np.array(self.scale)
        unknown = scale == 0.0
        if action is None:
            scale[unknown] = 1.0
        elif unknown.any():
            # Not their spread: an expert whose actions hardly vary would leave nothing to explore.
            size = np.sqrt(np.mean(np.square(action, dtype=np.float64), axis=0))
            scale[unknown] = np.where(size > 0, size, 1.0)[unknown]
        plain = not origin.any() and (scale == 1.0).all()
        kept = ((), ()) if plain else (tuple(origin.tolist()), tuple(scale.tolist()))
        return dataclasses.replace(self, origin=kept[0], scale=kept[1])

    @classmethod
    def of(cls, action: np.ndarray, *, discrete: bool) -> Actions:
        """Guess from demonstrations [N, size] alone: choices up to the largest that was made, or quantities.

        Quantities of about unit size are taken as they are, others in units of their usual size.
        """
        shape = (action.shape[1],)
        if not discrete:
            low, high = UNIT_SIZE
            if low <= max(action.max(), -action.min()) <= high:
                return cls(shape)
            return cls(shape, origin=(0.0,) * shape[0], scale=(0.0,) * shape[0]).fitted(action)
        least = np.minimum(action.min(axis=0), 0.0)
        counts = np.rint(action.max(axis=0) - least).astype(int) + 1
        # A choice needs an alternative; one that was never made does no harm.
        choices = tuple(np.maximum(counts, 2).tolist())
        return cls(() if shape == (1,) else shape, choices, tuple(least.astype(float).tolist()))

    @classmethod
    def from_json(cls, table: Mapping[str, Any]) -> Actions:
        """Raises ValueError unless it describes actions."""
        with contextlib.suppress(RunError):
            actions = as_record(cls, table, "actions")
            size = actions.size
            lengths = (len(actions.choices), len(actions.origin), len(actions.scale))
            known = lengths in ((0, 0, 0), (0, size, size), (size, size, 0)) and len(actions.bounded) in (
                0,
                size,
            )
            if known and min((*actions.shape, *actions.choices, *actions.scale), default=1) > 0:
                return actions
        raise ValueError(f"its actions are described by {str(table)[:200]}, which no environment has")


AS_THEY_ARE = Actions((0,))
"""Stands for the environment's own actions, quantities of whatever number there are."""


def one_hot(index: np.ndarray, counts: Sequence[int]) -> np.ndarray:
    """[..., n] whole numbers from 0 on, the k-th below counts[k], as float32 side by side: [..., sum of counts]."""
    columns = [np.eye(count, dtype=np.float32)[index[..., k]] for k, count in enumerate(counts)]
    return np.concatenate(columns, axis=-1)
