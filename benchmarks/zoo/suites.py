"""Simulators of two further packages: Gymnasium-Robotics (Fetch and a maze) and dm_control's suite."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np


class GoalSimulator:
    """An environment of Gymnasium-Robotics with a goal; the goal stands at the end of the observation."""

    limit = 1.0

    def __init__(self, env_id: str, near: float, way: Callable[[np.ndarray, np.ndarray], float]) -> None:
        import gymnasium_robotics

        gym.register_envs(gymnasium_robotics)
        self._env: Any = gym.make(env_id).unwrapped
        space: Any = self._env.action_space
        self.action_dim, self._near, self._way = space.shape[0], near, way

    def reset(self, seed: int, start: str) -> np.ndarray:
        seen, _ = self._env.reset(seed=seed)
        self._begin = max(2 * self._near, self._way(seen["achieved_goal"], seen["desired_goal"]))
        return np.concatenate([seen["observation"], seen["desired_goal"]])

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        seen, *_ = self._env.step(action)
        left = self._way(seen["achieved_goal"], seen["desired_goal"])
        obs = np.concatenate([seen["observation"], seen["desired_goal"]])
        return obs, 1 - left / self._begin, left < self._near


def straight(place: np.ndarray, goal: np.ndarray) -> float:
    """The distance in the air."""
    return float(np.linalg.norm(goal - place))


def bends(place: np.ndarray) -> float:
    """How far a place of the U-shaped maze is along its corridor, counted from the middle of the bend."""
    x, y = place
    return float(-y if abs(y) < 0.5 else -np.sign(y) * (2 - x))


def along_the_maze(place: np.ndarray, goal: np.ndarray) -> float:
    """The distance along the corridor."""
    same = bends(place) * bends(goal) > 0 and abs(bends(place) - bends(goal)) < 1
    return straight(place, goal) if same else abs(bends(goal) - bends(place))


class SuiteSimulator:
    """A task of dm_control's suite; `merit` sees its physics."""

    def __init__(self, domain: str, task: str, merit: Callable[[Any], float]) -> None:
        from dm_control import suite

        self._env: Any = suite.load(domain, task, task_kwargs={"random": 0})
        self.action_dim, self.limit, self._merit = self._env.action_spec().shape[0], 1.0, merit

    def reset(self, seed: int, start: str) -> np.ndarray:
        self._env.task.random.seed(seed % 2**32)
        return self._observe(self._env.reset())

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        obs = self._observe(self._env.step(action))
        return obs, self._merit(self._env.physics), False

    @staticmethod
    def _observe(step: Any) -> np.ndarray:
        return np.concatenate([np.ravel(value) for value in step.observation.values()])


def pole_up(physics: Any) -> float:
    """Cartpole: the height of the pole's tip, less for a cart away from the middle."""
    return float(physics.pole_angle_cosine()[0] - 0.1 * abs(physics.cart_position()))
