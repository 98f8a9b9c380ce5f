"""Four small simulators in NumPy: a point mass, a unicycle, a two-link arm, and a cart with a pole."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Simulator(Protocol):
    """What a controller acts in. `merit` says how well things stand now; 1 is the best there is."""

    action_dim: int

    @property
    def limit(self) -> float | np.ndarray:
        """Actions are clipped to this in both directions: one limit, or one for each dimension."""
        ...

    def reset(self, seed: int, start: str) -> np.ndarray:
        """The first observation; the same seed and start regime always give the same episode."""
        ...

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        """The next observation, the merit there, and whether the episode is over."""
        ...


class PointMass:
    """Pushes a mass on a plane to a random goal: position, velocity and goal; the action is a force."""

    action_dim, limit = 2, 1.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.position, self.goal = rng.uniform(-1, 1, 2), rng.uniform(-1, 1, 2)
        while np.linalg.norm(self.goal - self.position) < 0.5:
            self.goal = rng.uniform(-1, 1, 2)
        if start == "far":  # outside of where everybody else starts
            self.position *= 2.5 / np.linalg.norm(self.position)
        self.velocity = np.zeros(2)
        self.begin = np.linalg.norm(self.goal - self.position)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self.velocity = 0.98 * self.velocity + 0.1 * action
        self.position = self.position + 0.1 * self.velocity
        distance = np.linalg.norm(self.goal - self.position)
        there = bool(distance < 0.03 and np.linalg.norm(self.velocity) < 0.05)
        return self._observe(), float(1 - distance / self.begin), there

    def _observe(self) -> np.ndarray:
        return np.concatenate([self.position, self.velocity, self.goal])


class Unicycle:
    """Drives to a random goal: position, heading (cos, sin) and goal; the action is speed and turn."""

    action_dim, limit = 2, 1.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.position, self.heading = np.zeros(2), rng.uniform(-np.pi, np.pi)
        bearing = self.heading + rng.uniform(-1, 1) if start == "ahead" else rng.uniform(-np.pi, np.pi)
        self.begin = rng.uniform(1.0, 2.0)
        self.goal = self.begin * np.array([np.cos(bearing), np.sin(bearing)])
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self.heading += 0.25 * action[1]
        self.position = self.position + 0.06 * action[0] * np.array(
            [np.cos(self.heading), np.sin(self.heading)]
        )
        distance = np.linalg.norm(self.goal - self.position)
        return self._observe(), float(1 - distance / self.begin), bool(distance < 0.04)

    def _observe(self) -> np.ndarray:
        return np.concatenate([self.position, [np.cos(self.heading), np.sin(self.heading)], self.goal])


class TwoLinkArm:
    """Moves the tip of a two-link arm to a random goal: joints (cos, sin), their speeds, and the goal.

    Joints are driven independently; links of 0.5 and 0.5. The action is two torques.
    """

    action_dim, limit = 2, 1.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.joint, self.speed = np.array([rng.uniform(-1.5, 1.5), rng.uniform(-0.5, 0.5)]), np.zeros(2)
        if start == "folded":
            self.joint[1] = rng.choice([-1, 1]) * rng.uniform(2.2, 2.8)
        radius, angle = rng.uniform(0.4, 0.9), rng.uniform(-np.pi / 2, np.pi / 2)
        self.goal = radius * np.array([np.cos(angle), np.sin(angle)])
        self.begin = max(0.3, self._distance())
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self.speed = 0.95 * self.speed + 0.2 * action
        self.joint = self.joint + 0.05 * self.speed
        distance = self._distance()
        there = bool(distance < 0.02 and np.linalg.norm(self.speed) < 0.1)
        return self._observe(), 1 - distance / self.begin, there

    def _distance(self) -> float:
        inner, both = self.joint[0], self.joint.sum()
        tip = 0.5 * np.array([np.cos(inner) + np.cos(both), np.sin(inner) + np.sin(both)])
        return float(np.linalg.norm(self.goal - tip))

    def _observe(self) -> np.ndarray:
        return np.concatenate([np.cos(self.joint), np.sin(self.joint), self.speed, self.goal])


class CartPole:
    """Swings a pole up and holds it: cart, its speed, pole (cos, sin), its speed; the action is a force."""

    action_dim, limit = 1, 1.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        low = 0.0 if start == "up" else np.pi
        self.state = np.array([rng.uniform(-0.3, 0.3), 0.0, low + rng.uniform(-0.15, 0.15), 0.0])
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        for _ in range(4):  # 4 x 5 ms; cart 1 kg, pole 0.1 kg, half length 0.5 m
            x, dx, angle, turn = self.state
            sin, cos = np.sin(angle), np.cos(angle)
            push = (10 * float(action[0]) + 0.05 * turn**2 * sin) / 1.1
            spin = (9.8 * sin - cos * push) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
            slide = push - 0.05 * spin * cos / 1.1
            dx, turn = dx + 0.005 * slide, turn + 0.005 * spin
            self.state = np.array([x + 0.005 * dx, dx, angle + 0.005 * turn, turn])
        x, _, angle, _ = self.state
        if abs(x) > 3.0:  # ran off the rail
            return self._observe(), -1.0, True
        return self._observe(), float(np.cos(angle) - 0.1 * abs(x)), False

    def _observe(self) -> np.ndarray:
        x, dx, angle, turn = self.state
        return np.array([x, dx, np.cos(angle), np.sin(angle), turn])
