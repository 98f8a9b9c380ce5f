"""The Bullet tasks as single Gymnasium environments, for everyone else's learners."""

from __future__ import annotations

import math
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from rilco.tasks.bullet import DT, BulletBatch
from rilco.tasks.robots import ROBOTS


class BulletEnv(gymnasium.Env[np.ndarray, np.ndarray]):
    """One environment of a Bullet task. The registered ids add the 1000-step limit."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": round(1 / DT)}  # noqa: RUF012 (gymnasium's contract)

    def __init__(self, task: str, render_mode: str | None = None) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode {render_mode!r} is not supported; expected None or 'rgb_array'")
        self.render_mode = render_mode
        self._batch = BulletBatch(ROBOTS[task], 1, time_limit=math.inf)
        self._first = True
        self.action_space = Box(-1.0, 1.0, (self._batch.action_dim,), np.float32)
        self.observation_space = Box(-5.0, 5.0, (self._batch.obs_dim,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        obs = self._batch.reset([0], [self.np_random], first=self._first)
        self._first = False
        return obs[0], {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        outcome = self._batch.step(np.asarray(action)[None])
        return outcome.obs[0], float(outcome.reward[0]), bool(outcome.terminated[0]), False, {}

    def render(self) -> np.ndarray | None:
        return self._batch.render(0) if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        self._batch.close()
