"""Three further simulators in NumPy of what moves by forces that last: a capsule in orbit, a wheel's pendulum, a rowing boat."""

from __future__ import annotations

import numpy as np
from benchmarks.zoo.vehicles import turned


class Capsule:
    """Docks in orbit at a station's port: place (m; outwards, and ahead on the orbit), speed (m/s), and the port.

    The action is acceleration in mm/s2. Who hits the station beside the port, or too fast, has lost.
    """

    action_dim, limit = 2, 5.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.place = rng.uniform(60, 110) * turned(rng.uniform(-np.pi, np.pi))
        self.speed = np.zeros(2)
        if start == "drifting":
            self.speed = rng.uniform(0.15, 0.3) * turned(rng.uniform(-np.pi, np.pi))
        self.port = 10 * turned(rng.uniform(-np.pi, np.pi))
        self.begin = np.linalg.norm(self.place - self.port)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        for _ in range(5):  # 5 x 2 s; once round in 93 minutes, and then what is higher is slower
            pull = [3 * 0.00113**2 * self.place[0] + 0.00226 * self.speed[1], -0.00226 * self.speed[0]]
            self.speed = self.speed + 2 * (action / 1000 + pull)
            self.place = self.place + 2 * self.speed
        gap = float(np.linalg.norm(self.place - self.port))
        docked = bool(gap < 2 and np.linalg.norm(self.speed) < 0.15)
        crashed = bool(np.linalg.norm(self.place) < 9 and not docked)
        return self._observe(), 0.0 if crashed else max(-1.0, float(1 - gap / self.begin)), docked or crashed

    def _observe(self) -> np.ndarray:
        return np.concatenate([self.place, self.speed, self.port])


class WheelPendulum:
    """Swings up a pendulum by the wheel at its end: angle (cos, sin; 0 is up), its speed, and the wheel's (rad/s).

    The action is the torque between them in N m. The wheel turns no faster than 300 rad/s.
    """

    action_dim, limit = 1, 0.3

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.angle, self.turn = np.pi + rng.uniform(-0.4, 0.4), rng.uniform(-0.2, 0.2)
        self.wheel = rng.uniform(-20, 20)
        if start == "up":
            self.angle, self.wheel = rng.uniform(-0.2, 0.2), rng.choice([-1, 1]) * rng.uniform(60, 120)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        for _ in range(4):  # 4 x 5 ms; 0.02 kg m2 that hang with 1 N m, and a wheel of 0.0005 kg m2
            torque = float(action[0]) if abs(self.wheel) < 300 or self.wheel * action[0] < 0 else 0.0
            self.turn += 0.005 * (np.sin(self.angle) - torque - 0.001 * self.turn) / 0.02
            self.wheel += 0.005 * (torque / 0.0005 - 0.02 * self.wheel)
            self.angle += 0.005 * self.turn
        return self._observe(), float(np.cos(self.angle) - 0.1 * abs(self.wheel) / 300), False

    def _observe(self) -> np.ndarray:
        return np.array([*turned(self.angle), self.turn, self.wheel])


class Rower:
    """Rows to a random buoy: place (m), heading (cos, sin), speed, turn, oars (rad; 1: forwards), blades, and the buoy.

    The action is the speed of each oar that is asked for (rad/s), and that of dipping each blade (1: under water).
    """

    action_dim, limit = 4, np.array([2.5, 2.5, 6.0, 6.0])

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.place, self.heading = np.zeros(2), rng.uniform(-np.pi, np.pi)
        bearing = rng.uniform(-0.6, 0.6)
        if start == "turned":
            bearing = rng.choice([-1, 1]) * rng.uniform(1.8, 2.6)
        self.begin = rng.uniform(20, 35)
        self.buoy = self.begin * turned(self.heading + bearing)
        self.speed, self.turn = 0.0, 0.0
        self.oars, self.sweep, self.dip = rng.uniform(-0.3, 0.3, 2), np.zeros(2), np.zeros(2)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        for _ in range(4):  # 4 x 25 ms; 120 kg, blades 2 m from the boat
            self.dip = np.clip(self.dip + 0.025 * action[2:], 0, 1)
            self.sweep = self.sweep + 0.25 * (action[:2] - self.sweep)
            to = np.clip(self.oars + 0.025 * self.sweep, -0.9, 0.9)
            rate, self.oars = (to - self.oars) / 0.025, to
            sides = np.array([1.0, -1.0])  # left, right: what pushes on the left turns it to the right
            slip = -2 * rate * np.cos(to) - (self.speed - 0.8 * sides * self.turn)
            push = 60 * self.dip * slip * np.abs(slip)
            self.speed += 0.025 * (push.sum() - 20 * self.speed * abs(self.speed) - 5 * self.speed) / 120
            self.turn += 0.025 * (-0.8 * (push @ sides) - 120 * self.turn) / 150
            self.heading += 0.025 * self.turn
            self.place = self.place + 0.025 * self.speed * turned(self.heading)
        left = float(np.linalg.norm(self.buoy - self.place))
        return self._observe(), 1 - left / self.begin, left < 2

    def _observe(self) -> np.ndarray:
        moving = [*turned(self.heading), self.speed, self.turn]
        return np.array([*self.place, *moving, *self.oars, *self.dip, *self.buoy])
