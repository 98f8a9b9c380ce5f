"""Simulators of further packages: Gymnasium-Robotics (Fetch and a maze), dm_control's suite, and Gymnasium's racing car."""

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

    def __init__(self, domain: str, task: str, merit: Callable[[Any], float], limit: float = 1.0) -> None:
        from dm_control import suite

        self._env: Any = suite.load(domain, task, task_kwargs={"random": 0})
        self.action_dim, self.limit, self._merit = self._env.action_spec().shape[0], limit, merit

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


def at_rest(physics: Any) -> float:
    """LQR's chain of masses: how near all of them are to where they belong."""
    return float(np.exp(-((np.linalg.norm(physics.position()) / 0.7) ** 2)))


def swum(physics: Any) -> float:
    """Fish: how far it has come, in units of 20 cm."""
    return 5 * float(np.linalg.norm(physics.named.data.xpos["torso"] - [0, 0, 0.1]))


def spun(physics: Any) -> float:
    """Finger: how fast the spinner turns, in units of 15 rad/s."""
    return float(min(1.0, -physics.hinge_velocity() / 15))


class _Road:
    """What is under a wheel of Gymnasium's car."""

    road_friction = 1.0


class Racing:
    """Drives Gymnasium's racing car round a winding circuit: place beside the line, heading along it, speeds, and bends.

    The action turns the wheels, and is gas where it is positive and brake where it is negative.
    """

    action_dim, limit = 2, 1.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        from Box2D import b2World
        from gymnasium.envs.box2d.car_dynamics import Car

        rng = np.random.default_rng(seed)
        around = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
        waves = [
            rng.uniform(0.5, 1) / k**2 * np.sin(k * around + rng.uniform(0, 2 * np.pi)) for k in (2, 3, 4)
        ]
        radius = 120 * (1 + 0.35 * sum(waves, np.zeros(2000)))
        self._line = np.stack([radius * np.cos(around), radius * np.sin(around)], 1)
        ahead = np.roll(self._line, -1, 0) - self._line
        self._along = np.cumsum(np.linalg.norm(ahead, axis=1))
        self._way = np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0]))
        aside = rng.choice([-1, 1]) * rng.uniform(5, 8) if start == "off the line" else rng.uniform(-1, 1)
        way, self._at = self._way[0], 0
        x, y = self._line[0] + aside * np.array([-np.sin(way), np.cos(way)])
        self._car: Any = Car(b2World(gravity=(0, 0)), way - np.pi / 2 + rng.uniform(-0.1, 0.1), x, y)
        for wheel in self._car.wheels:
            wheel.tiles.add(_Road())
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        before = self._at
        self._car.steer(float(action[0]))
        self._car.gas(float(action[1]))
        self._car.brake(max(0.0, -0.8 * float(action[1])))
        for _ in range(2):
            self._car.step(0.02)
            self._car.world.Step(0.02, 180, 60)
        obs = self._observe()
        gone = (self._along[self._at] - self._along[before]) % self._along[-1]
        return obs, float(gone * np.exp(-((obs[0] / 6) ** 2))), bool(abs(obs[0]) > 15)

    def _bend(self, ahead: float) -> float:
        """The line's curvature so many metres ahead."""
        here = np.searchsorted(self._along, (self._along[self._at] + ahead) % self._along[-1]) % 2000
        turn = self._way[(here + 20) % 2000] - self._way[here]
        return float((turn + np.pi) % (2 * np.pi) - np.pi) / float(
            (self._along[(here + 20) % 2000] - self._along[here]) % self._along[-1]
        )

    def _observe(self) -> np.ndarray:
        hull = self._car.hull
        near = (self._at + np.arange(40)) % 2000  # the car does not go back
        gap = np.array(hull.position) - self._line[near]
        nearest = int(np.linalg.norm(gap, axis=1).argmin())
        self._at = int(near[nearest])
        way, heading = self._way[self._at], hull.angle + np.pi / 2
        aside = gap[nearest] @ [-np.sin(way), np.cos(way)]
        bow, speed = np.array([np.cos(heading), np.sin(heading)]), np.array(hull.linearVelocity)
        off = heading - way
        moving = [speed @ bow, speed @ np.array([-bow[1], bow[0]]), hull.angularVelocity]
        return np.array([aside, np.cos(off), np.sin(off), *moving, self._bend(10.0), self._bend(30.0)])
