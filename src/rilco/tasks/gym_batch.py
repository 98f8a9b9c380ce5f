"""Ordinary Gymnasium environments with the interface of a batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from rilco.errors import TaskError
from rilco.tasks.batch import Step


class GymBatch:
    """`num_envs` copies of a registered environment, stepped one after the other.

    Observations and actions are flattened to one dimension. Actions are clipped to the space's bounds on
    their way in, since environments differ in what they do with an action outside of them.
    """

    def __init__(self, env_id: str, num_envs: int, **options: Any) -> None:
        self.envs = [make_environment(env_id, **options) for _ in range(num_envs)]
        self.num_envs = num_envs
        obs_space, action_space = box_spaces(self.envs[0], env_id)
        self.obs_dim = int(np.prod(obs_space.shape))
        self.action_dim = int(np.prod(action_space.shape))
        self._action_space = action_space

    def reset(
        self, rows: Sequence[int], rngs: Iterable[np.random.Generator], first: bool = False
    ) -> np.ndarray:
        """Start new episodes; each environment is seeded from its generator, so an episode can be replayed."""
        obs = np.empty((len(rows), self.obs_dim), np.float32)
        for i, (row, rng) in enumerate(zip(rows, rngs, strict=True)):
            obs[i] = np.ravel(self.envs[row].reset(seed=int(rng.integers(2**31)))[0])
        return obs

    def step(self, action: np.ndarray, rows: Sequence[int] | None = None) -> Step:
        rows = range(self.num_envs) if rows is None else rows
        low, high, shape = self._action_space.low, self._action_space.high, self._action_space.shape
        obs = np.empty((len(rows), self.obs_dim), np.float32)
        reward = np.empty(len(rows))
        terminated, truncated = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
        for i, row in enumerate(rows):
            clipped = np.clip(np.reshape(action[i], shape), low, high).astype(self._action_space.dtype)
            outcome = self.envs[row].step(clipped)
            obs[i] = np.ravel(outcome[0])
            reward[i], terminated[i], truncated[i] = outcome[1:4]
        return Step(obs, reward, terminated, truncated)

    def render(self, row: int) -> np.ndarray:
        frame = self.envs[row].render()
        if not isinstance(frame, np.ndarray):
            raise TaskError(f"{self.envs[row].spec}: render() gave {type(frame).__name__}, not an RGB array.")
        return frame

    def close(self) -> None:
        for env in self.envs:
            env.close()


def make_environment(env_id: str, **options: Any) -> gymnasium.Env:
    """`gymnasium.make` with our error: what was asked for, and what to do."""
    try:
        return gymnasium.make(env_id, **options)
    except Exception as error:  # an environment's constructor may raise anything
        raise TaskError(
            f"--env {env_id}: gymnasium.make could not build it: {type(error).__name__}: {error}. Check the id; "
            "an environment registered by a module of yours is named 'module:EnvId-v0', and the module must be "
            "importable (set PYTHONPATH=. for one in this folder)."
        ) from error


def box_spaces(env: gymnasium.Env, env_id: str) -> tuple[Box, Box]:
    """The environment's spaces, refused unless both are continuous boxes."""
    for what, space in (("observation", env.observation_space), ("action", env.action_space)):
        if not isinstance(space, Box) or (what == "action" and not np.issubdtype(space.dtype, np.floating)):
            raise TaskError(
                f"--env {env_id}: its {what} space is {space}; supported are Box observations and Box actions, "
                "the actions of floating-point numbers. Wrap the environment, for example with "
                "gymnasium.wrappers.FlattenObservation, and register the wrapped one."
            )
    return env.observation_space, env.action_space  # type: ignore[return-value]
