"""Conversion of Gymnasium's spaces, and errors for those that are not supported."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces as gym

from rilco.errors import TaskError
from rilco.tasks.actions import Actions
from rilco.tasks.batch import Spaces
from rilco.tasks.observations import Observations, Part

LARGEST_RANGE = 1e30  # float32 can hold; a wider space is as good as unbounded
IMAGE_DIMENSIONS = 2


def read_spaces(env: Any, env_name: str, obs_keys: Sequence[str] = ()) -> Spaces:
    """Spaces of an environment. `obs_keys` chooses among named parts of observations, where there are some."""
    return Spaces(
        read_observations(env.observation_space, env_name, obs_keys), read_actions(env.action_space, env_name)
    )


def read_actions(space: gym.Space[Any], env_name: str) -> Actions:
    """Choices, or quantities in units of half their range. Where that is infinite, demonstrations will tell."""
    match space:
        case gym.Discrete() | gym.MultiDiscrete():
            counts, least = _choices(space)
            return Actions(space.shape or (), counts, tuple(map(float, least)))
        case gym.MultiBinary():
            size = math.prod(space.shape)
            return Actions(space.shape, (2,) * size, (0.0,) * size)
        case gym.Box() if np.issubdtype(space.dtype, np.floating):
            low, high = (np.ravel(bound).astype(np.float64) for bound in (space.low, space.high))
            bounded = (high - low < LARGEST_RANGE) & (high > low)
            with np.errstate(invalid="ignore", over="ignore"):
                origin = np.where(bounded, (low + high) / 2, 0.0)
                scale = np.where(bounded, (high - low) / 2, 0.0)
            return Actions(space.shape, (), *(tuple(part.tolist()) for part in (origin, scale, bounded)))
    raise TaskError(
        f"--env {env_name}: its action space is {space}; supported are Discrete, MultiDiscrete and MultiBinary, and Box "
        "of floating-point numbers. Wrap the environment so that it has one of these."
    )


def read_observations(space: gym.Space[Any], env_name: str, obs_keys: Sequence[str] = ()) -> Observations:
    """All parts in the order of their sorted names, or those of `obs_keys` in theirs."""
    if not isinstance(space, gym.Dict):
        return Observations((_part("", space, env_name),))
    leaves = dict(sorted(_leaves(space)))
    for name in obs_keys:
        if name not in leaves:
            raise TaskError(
                f"--obs-keys {','.join(obs_keys)}: {env_name} has no observation {name!r}; it has "
                f"{', '.join(leaves)}. Choose among these."
            )
    return Observations(tuple(_part(name, leaves[name], env_name) for name in obs_keys or leaves))


def _choices(space: gym.Discrete | gym.MultiDiscrete) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The number of values of each choice, and the least of them."""
    counts = space.n if isinstance(space, gym.Discrete) else space.nvec
    return tuple(np.ravel(counts).tolist()), tuple(np.ravel(space.start).tolist())


def _leaves(space: gym.Dict, prefix: str = "") -> Iterator[tuple[str, gym.Space[Any]]]:
    for name, inner in space.spaces.items():
        if isinstance(inner, gym.Dict):
            yield from _leaves(inner, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", inner


def _part(name: str, space: gym.Space[Any], env_name: str) -> Part:
    called = f"its observation {name!r}" if name else "its observation space"
    match space:
        case gym.Discrete() | gym.MultiDiscrete():
            return Part(name, math.prod(space.shape or ()), *_choices(space))
        case gym.Box(shape=shape, dtype=np.uint8) if len(shape) >= IMAGE_DIMENSIONS:
            raise TaskError(
                f"--env {env_name}: {called} is {space}, an image. Images are not supported: networks here see flat "
                "vectors of numbers. Choose other parts with --obs-keys, or turn images into features with a wrapper."
            )
        case gym.Box() | gym.MultiBinary():
            return Part(name, math.prod(space.shape))
    raise TaskError(
        f"--env {env_name}: {called} is {space}; supported are Box, Discrete, MultiDiscrete and MultiBinary, and Dict of "
        "these. Choose other parts of a Dict with --obs-keys, or wrap the environment."
    )
