"""Ordinary Gymnasium environments with the interface of a batch."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box

from rilco.errors import TaskError
from rilco.tasks.batch import Spaces, Step
from rilco.tasks.factory import make_environment
from rilco.tasks.observations import LARGEST_OBS
from rilco.tasks.spaces import read_spaces

DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY", "MUJOCO_GL")
"""Environment variables, one of which says what MuJoCo draws with."""


class GymBatch:
    """`num_envs` copies of an environment, stepped one after the other.

    Observations and actions are flat. Actions are clipped to the space's bounds on their way in, since
    environments differ in what they do with an action outside of them.
    """

    def __init__(
        self,
        env: str,
        num_envs: int,
        env_kwargs: Mapping[str, Any] | None = None,
        obs_keys: Sequence[str] = (),
        *,
        render: bool = False,
    ) -> None:
        self.name, self.num_envs = env, num_envs
        self.envs = [make_environment(env, env_kwargs, render=render) for _ in range(num_envs)]
        self.spaces = read_spaces(self.envs[0], env, obs_keys)
        self.obs_dim, self.action_dim = self.spaces.observations.width, self.spaces.actions.size
        self._action_space = self.envs[0].action_space
        for other in self.envs[1:]:
            check_same(env, self.spaces, read_spaces(other, env, obs_keys))

    def reset(
        self, rows: Sequence[int], rngs: Iterable[np.random.Generator], first: bool = False
    ) -> np.ndarray:
        """Start new episodes; each environment is seeded from its generator, so an episode can be replayed."""
        obs = np.empty((len(rows), self.obs_dim), np.float32)
        for i, (row, rng) in enumerate(zip(rows, rngs, strict=True)):
            seen = self.envs[row].reset(seed=int(rng.integers(2**31)))[0]
            obs[i] = self.spaces.observations.flatten(seen, self.name)
        return obs

    def step(self, action: np.ndarray, rows: Sequence[int] | None = None) -> Step:
        rows = range(self.num_envs) if rows is None else rows
        obs = np.empty((len(rows), self.obs_dim), np.float32)
        reward = np.empty(len(rows))
        terminated, truncated = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
        for i, (row, taken) in enumerate(zip(rows, self._actions(action), strict=True)):
            outcome = self.envs[row].step(taken)
            obs[i] = self.spaces.observations.flatten(outcome[0], self.name)
            reward[i], terminated[i], truncated[i] = outcome[1:4]
        return Step(obs, reward, terminated, truncated)

    def _actions(self, action: np.ndarray) -> np.ndarray:
        """[n, ...] as the environments take them."""
        space, shaped = self._action_space, self.spaces.actions.shaped(action)
        if isinstance(space, Box):
            return np.clip(shaped, space.low, space.high).astype(space.dtype)
        return shaped.astype(space.dtype)

    def render(self, row: int) -> np.ndarray:
        mujoco = hasattr(self.envs[row].unwrapped, "mujoco_renderer")
        if mujoco and not any(map(os.environ.get, DISPLAYS)):
            os.environ["MUJOCO_GL"] = "egl"  # which needs no display; without it MuJoCo would end the process
        try:
            frame: Any = self.envs[row].render()
        except Exception as error:
            if not mujoco:
                raise
            raise TaskError(
                f"{self.name}: MuJoCo cannot draw here ({type(error).__name__}: {error}). Without a display it needs EGL or "
                "OSMesa: MUJOCO_GL=egl or MUJOCO_GL=osmesa in the environment, where one of these is installed."
            ) from error
        if not isinstance(frame, np.ndarray):
            raise TaskError(f"{self.name}: render() gave {type(frame).__name__}, not an RGB array.")
        return frame

    def close(self) -> None:
        for env in self.envs:
            env.close()


def find_spaces(env: str, env_kwargs: Mapping[str, Any], obs_keys: Sequence[str]) -> Spaces:
    """Make and reset an environment to read its spaces, so that faults show before anything is learned."""
    with contextlib.closing(GymBatch(env, 1, env_kwargs, obs_keys)) as batch:
        obs = batch.reset([0], [np.random.default_rng(0)])
        check_same(env, batch.spaces, read_spaces(batch.envs[0], env, obs_keys))
    largest = np.abs(obs).max()
    if not largest < LARGEST_OBS:  # NaN is refused too
        raise TaskError(
            f"--env {env}: its first observation holds {largest:g}; expected finite numbers below {LARGEST_OBS:g}, whose "
            "squares do not overflow. Scale the observations in the environment."
        )
    return batch.spaces


def check_same(env: str, before: Spaces, now: Spaces) -> None:
    """Raises TaskError where an environment has other spaces than the one before."""
    if now != before:
        raise TaskError(
            f"--env {env}: its spaces change: first {before}, then {now}. A policy has one shape: give "
            "every environment, and every episode, the same spaces."
        )
