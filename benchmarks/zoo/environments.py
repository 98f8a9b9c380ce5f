"""Gymnasium's and Metaworld's environments as simulators: start regimes, and how well things stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gymnasium as gym
import numpy as np

Merit = Callable[[Any, np.ndarray, float, dict[str, Any]], tuple[float, bool]]
"""(environment, observation, reward, info) -> merit, and whether the task is done."""
Start = Callable[[Any, np.random.Generator], None]
"""Moves a freshly reset environment into another start regime."""


class GymSimulator:
    """A Gymnasium environment without its time limit; a recording has its own."""

    def __init__(
        self,
        env_id: str,
        merit: Merit,
        fallen: float | None = None,
        starts: Mapping[str, Start] | None = None,
    ) -> None:
        self._env: Any = gym.make(env_id).unwrapped
        self._merit, self._fallen, self._starts = merit, fallen, dict(starts or {})
        space: Any = self._env.action_space
        self.action_dim, self.limit = space.shape[0], float(space.high[0])

    def reset(self, seed: int, start: str) -> np.ndarray:
        obs, _ = self._env.reset(seed=seed)
        if start:
            self._starts[start](self._env, np.random.default_rng(seed))
            obs = self._observe()
        return np.asarray(obs, np.float64)

    def _observe(self) -> np.ndarray:
        """The observation after a move; MountainCar has no method for it, its state is the observation."""
        return self._env._get_obs() if hasattr(self._env, "_get_obs") else np.asarray(self._env.state)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        obs, reward, terminated, _, info = self._env.step(action.astype(np.float32))
        merit, done = self._merit(self._env, obs, float(reward), info)
        if terminated and self._fallen is not None and not done:
            merit = self._fallen
        return np.asarray(obs, np.float64), merit, bool(terminated or done)


class MetaworldSimulator:
    """A Metaworld task with a random layout; done once it has been a success."""

    action_dim, limit = 4, 1.0

    def __init__(self, name: str) -> None:
        from metaworld.env_dict import ALL_V3_ENVIRONMENTS_GOAL_OBSERVABLE as ENVIRONMENTS

        self._env: Any = ENVIRONMENTS[f"{name}-v3-goal-observable"](seed=0)
        self._env._freeze_rand_vec, self._env.seeded_rand_vec = False, True

    def reset(self, seed: int, start: str) -> np.ndarray:
        self._env.seed(seed)
        obs, _ = self._env.reset()
        self._begin = 0.0
        return np.asarray(obs, np.float64)

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self._env.curr_path_length = 0  # a recording has its own time limit
        obs, _, _, _, info = self._env.step(action.astype(np.float32))
        distance = float(info["obj_to_target"])
        self._begin = self._begin or distance
        return np.asarray(obs, np.float64), 1 - distance / self._begin, bool(info["success"])


def upright(env: Any, obs: np.ndarray, reward: float, info: dict[str, Any]) -> tuple[float, bool]:
    """Pendulum: the height of its tip."""
    return float(obs[0]), False


def centred(env: Any, obs: np.ndarray, reward: float, info: dict[str, Any]) -> tuple[float, bool]:
    """InvertedPendulum: upright, and in the middle of the rail."""
    return float(np.exp(-((obs[0] / 0.3) ** 2) - (obs[1] / 0.1) ** 2)), False


def tip_centred(env: Any, obs: np.ndarray, reward: float, info: dict[str, Any]) -> tuple[float, bool]:
    """InvertedDoublePendulum: the tip is high and in the middle."""
    x, _, y = env.data.site_xpos[0]
    return float(np.exp(-((x / 0.3) ** 2) - ((y - 1.2) / 0.1) ** 2)), False


def over_the_hill(env: Any, obs: np.ndarray, reward: float, info: dict[str, Any]) -> tuple[float, bool]:
    """MountainCar: up or not."""
    up = bool(obs[0] >= 0.45)
    return float(up), up


def travelled(env: Any, obs: np.ndarray, reward: float, info: dict[str, Any]) -> tuple[float, bool]:
    """MuJoCo's runners and swimmers: how far they have come."""
    return float(env.data.qpos[0]), False


def walked(env: Any, obs: np.ndarray, reward: float, info: dict[str, Any]) -> tuple[float, bool]:
    """BipedalWalker: how far the hull has come."""
    return float(env.hull.position[0]), False


def reached(env: Any, obs: np.ndarray, reward: float, info: dict[str, Any]) -> tuple[float, bool]:
    """Reacher: how near the fingertip is, in units of a usual start; done when it rests there."""
    distance = float(np.linalg.norm(obs[8:10]))
    return 1 - distance / 0.15, bool(distance < 0.01 and np.linalg.norm(obs[6:8]) < 0.5)


def pushed(env: Any, obs: np.ndarray, reward: float, info: dict[str, Any]) -> tuple[float, bool]:
    """Pusher: how near the object is to the goal, in units of a usual start."""
    distance = float(np.linalg.norm(obs[17:19] - obs[20:22]))
    return 1 - distance / 0.3, distance < 0.04


def landed(env: Any, obs: np.ndarray, reward: float, info: dict[str, Any]) -> tuple[float, bool]:
    """LunarLander: near the pad, slow and level; at rest there it is done."""
    rest = reward >= 100
    return float(1 - np.hypot(obs[0], obs[1]) - 0.3 * np.hypot(obs[2], obs[3]) - 0.3 * abs(obs[4])), rest


def start_at_top(env: Any, rng: np.random.Generator) -> None:
    """Pendulum: starts near the top, where the others have to get first."""
    env.state = np.array([rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3)])


def start_at_bottom(env: Any, rng: np.random.Generator) -> None:
    """Pendulum: starts hanging, the hardest start."""
    env.state = np.array([np.pi + rng.uniform(-0.4, 0.4), rng.uniform(-0.3, 0.3)])


def start_tilted(env: Any, rng: np.random.Generator) -> None:
    """InvertedPendulum: starts off the middle, tilted so far that it takes a big move to save it."""
    side = rng.choice([-1, 1])
    env.set_state(np.array([side * rng.uniform(0.3, 0.5), side * rng.uniform(0.05, 0.1)]), np.zeros(2))


def start_left(env: Any, rng: np.random.Generator) -> None:
    """MountainCar: starts on the left slope."""
    env.state = np.array([rng.uniform(-1.1, -0.9), 0.0])
