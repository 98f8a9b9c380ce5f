"""Five further simulators in NumPy that steer or steady something: a house, a car, a glider, a satellite and a bicycle."""

from __future__ import annotations

import numpy as np


class House:
    """Heats two rooms through a day: rooms, how much warmer their radiators are, outside, and the wishes, all in C.

    The action opens each radiator, in percent from half open, for five minutes. Each wish changes once.
    """

    action_dim, limit = 2, 50.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.rooms, self.radiators, self.clock = rng.uniform(15, 18, 2), np.zeros(2), 0
        if start == "cold":
            self.rooms = rng.uniform(4, 8, 2)
        self.wishes, self.change = rng.uniform(17, 23, (2, 2)), rng.integers(100, 190, 2)
        hours = np.arange(289) / 12
        self.weather = rng.uniform(-5, 6) + rng.uniform(2, 5) * np.sin(hours / 4 + rng.uniform(0, 6))
        self.weather += np.cumsum(0.1 * rng.standard_normal(289))
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        gained = self.radiators / 5 + (self.weather[self.clock] - self.rooms) / 5  # an hour
        self.rooms = self.rooms + (gained + (self.rooms[::-1] - self.rooms) / 4) / 12
        self.radiators = self.radiators + (40 * (50 + action) / 100 - self.radiators) / 3
        self.clock = min(self.clock + 1, 288)
        gap = np.linalg.norm(self.rooms - self._wish())
        return self._observe(), float(np.exp(-((gap / 1.2) ** 2))), False

    def _wish(self) -> np.ndarray:
        before, after = self.wishes
        return np.where(self.clock < self.change, before, after)

    def _observe(self) -> np.ndarray:
        return np.array([*self.rooms, *self.radiators, self.weather[self.clock], *self._wish()])


class Convoy:
    """Follows a car at a random number of seconds behind: gap (m), both speeds, own acceleration, and the wish (s).

    The action is the acceleration that is asked for, in m/s2.
    """

    action_dim, limit = 1, 4.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        self.rng = np.random.default_rng(seed)
        self.ahead = self.cruise = self.rng.uniform(14, 28)
        self.speed, self.push = self.ahead + self.rng.uniform(-2, 2), 0.0
        self.wanted = self.rng.uniform(1, 2.2)
        self.gap = self.speed * self.rng.uniform(1.2, 2.5)
        if start == "closing":
            self.speed, self.gap = self.ahead + self.rng.uniform(6, 9), self.gap + 40
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        if self.rng.random() < 0.02:  # the other driver changes his mind
            self.cruise = self.rng.uniform(8, 30)
        for _ in range(4):  # 4 x 50 ms
            self.ahead += 0.05 * float(np.clip(0.4 * (self.cruise - self.ahead), -2.5, 1.5))
            self.push += 0.05 / 0.4 * (float(action[0]) - self.push)
            self.speed = max(0.0, self.speed + 0.05 * (self.push - 0.0004 * self.speed**2))
            self.gap += 0.05 * (self.ahead - self.speed)
        off = self.gap / max(self.speed, 5.0) - self.wanted
        crashed = self.gap < 1
        return self._observe(), 0.0 if crashed else float(np.exp(-((off / 0.25) ** 2))), crashed

    def _observe(self) -> np.ndarray:
        return np.array([self.gap, self.speed, self.ahead, self.push, self.wanted])


class Glider:
    """Lands a glider on a random spot: place and height (m), airspeed, angle of its path, headwind (m/s), and the spot.

    The action changes the wing's lift and opens the airbrakes, each from the middle of what it can.
    """

    action_dim, limit = 2, 1.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.spot, self.wind = rng.uniform(900, 1500), rng.uniform(-2, 5)
        self.place = np.array([0.0, self.spot / rng.uniform(10, 14)])
        self.speed, self.path = rng.uniform(25, 30), rng.uniform(-0.08, 0.0)
        if start == "diving":
            self.speed, self.path = rng.uniform(32, 36), rng.uniform(-0.3, -0.2)
        self.begin = self._left()
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        lift, brake = 0.8 + 0.6 * float(action[0]), 0.04 * (1 + float(action[1]))
        for _ in range(5):  # 5 x 0.1 s; 350 N on a square metre of wing
            press = 0.6 * self.speed**2 / 35.0
            slow = press * (0.012 + 0.02 * lift**2 + brake) + 9.8 * np.sin(self.path)
            turn = (press * lift - 9.8 * np.cos(self.path)) / self.speed
            self.speed, self.path = max(5.0, self.speed - 0.1 * slow), self.path + 0.1 * turn
            self.place = self.place + 0.1 * self._over_ground()
            if self.place[1] < 0:
                break
        landed = bool(self.place[1] < 0)
        hard = landed and self._over_ground()[1] < -2
        return self._observe(), 0.0 if hard else float(1 - self._left() / self.begin), landed

    def _over_ground(self) -> np.ndarray:
        return self.speed * np.array([np.cos(self.path), np.sin(self.path)]) - [self.wind, 0]

    def _left(self) -> float:
        return float(np.hypot(self.spot - self.place[0], 5 * self.place[1]))

    def _observe(self) -> np.ndarray:
        return np.array([*self.place, self.speed, self.path, self.wind, self.spot])


class Satellite:
    """Turns a satellite to where it is to look: a quaternion (scalar first) and rates (rad/s); three torques in N m."""

    action_dim, limit = 3, 0.5
    inertia = np.array([10.0, 16.0, 7.0])

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        axis, angle = rng.standard_normal(3), rng.uniform(1.0, 2.4)
        self.turned = np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis / np.linalg.norm(axis))])
        self.rate, self.begin = rng.uniform(-0.01, 0.01, 3), angle
        if start == "tumbling":
            self.rate = rng.choice([-1, 1], 3) * rng.uniform(0.08, 0.15, 3)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        for _ in range(2):  # 2 x 0.25 s
            torque = action - np.cross(self.rate, self.inertia * self.rate)
            self.rate = self.rate + 0.25 * torque / self.inertia
            scalar, vector = self.turned[0], self.turned[1:]
            change = [-vector @ self.rate, *(scalar * self.rate + np.cross(vector, self.rate))]
            self.turned = self.turned + 0.125 * np.array(change)
            self.turned = self.turned / np.linalg.norm(self.turned)
        angle = 2 * np.arccos(min(1.0, abs(self.turned[0])))
        there = bool(angle < 0.04 and np.linalg.norm(self.rate) < 0.01)
        return self._observe(), float(1 - angle / self.begin), there

    def _observe(self) -> np.ndarray:
        return np.concatenate([self.turned, self.rate])


class Bicycle:
    """Rides a bicycle at 5 m/s in random directions: lean, its speed, steering angle, heading, and the wish.

    The action is the speed of steering in rad/s. To turn to a side it first has to steer to the other.
    """

    action_dim, limit = 1, 3.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.lean, self.fall, self.steer, self.heading = rng.uniform(-0.05, 0.05), 0.0, 0.0, 0.0
        if start == "leaning":
            self.lean = rng.choice([-1, 1]) * rng.uniform(0.15, 0.25)
        self.wishes, self.clock = np.cumsum(rng.choice([-1, 1], 4) * rng.uniform(0.4, 1.2, 4)), 0
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        for _ in range(4):  # 4 x 10 ms; 1.1 m between the wheels, the weight 1 m high and in the middle
            rate = float(action[0]) if abs(self.steer + 0.01 * float(action[0])) < 0.7 else 0.0
            self.steer += 0.01 * rate
            bend = np.tan(self.steer) / 1.1
            tip = 9.8 * np.sin(self.lean) - (25 * bend + 2.5 / 1.1 * rate) * np.cos(self.lean)
            self.fall += 0.01 * tip
            self.lean, self.heading = self.lean + 0.01 * self.fall, self.heading + 0.05 * bend
        self.clock += 1
        fallen = bool(abs(self.lean) > 0.9)
        gap = self.wishes[min(self.clock // 75, 3)] - self.heading
        return self._observe(), 0.0 if fallen else float(np.exp(-((gap / 0.4) ** 2))), fallen

    def _observe(self) -> np.ndarray:
        wish = self.wishes[min(self.clock // 75, 3)]
        return np.array([self.lean, self.fall, self.steer, self.heading, wish])
