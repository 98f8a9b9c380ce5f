"""Seven further simulators: six in NumPy, from a crane to a bowl, and a disc on a table in Box2D."""

from __future__ import annotations

import math

import numpy as np


class Crane:
    """Brings a hanging load to a random place: trolley, its speed, rope (angle, speed); the action is a push.

    The trolley's place is counted from where the load is to hang.
    """

    action_dim, limit = 1, 1.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.begin = rng.uniform(1.0, 3.0)
        swing = rng.uniform(0.4, 0.6) * rng.choice([-1, 1]) if start == "swinging" else 0.0
        self.state = np.array([rng.choice([-1, 1]) * self.begin, 0.0, swing, 0.0])
        return self.state.copy()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        for _ in range(2):  # 2 x 25 ms; a rope of 1 m
            x, dx, angle, turn = self.state
            push = 3 * float(action[0]) - 0.3 * dx
            fall = 9.8 * np.sin(angle) + push * np.cos(angle) + 0.05 * turn
            dx, turn = dx + 0.025 * push, turn - 0.025 * fall
            self.state = np.array([x + 0.025 * dx, dx, angle + 0.025 * turn, turn])
        distance = abs(self.state[0] + np.sin(self.state[2]))
        there = bool(distance < 0.05 and np.abs(self.state[1:]).max() < 0.1)
        return self.state.copy(), float(1 - distance / self.begin), there


class Quadrotor:
    """Flies to a random goal in a vertical plane: place, speed, tilt (cos, sin), spin, goal; two thrusts."""

    action_dim, limit = 2, 1.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.place, self.speed = rng.uniform(-1, 1, 2), np.zeros(2)
        self.tilt, self.spin, self.goal = 0.0, 0.0, rng.uniform(-2, 2, 2)
        while np.linalg.norm(self.goal - self.place) < 1:
            self.goal = rng.uniform(-2, 2, 2)
        if start == "thrown":
            self.speed, self.tilt = rng.uniform(-2, 2, 2), rng.choice([-1, 1]) * rng.uniform(0.8, 1.4)
        self.begin = np.linalg.norm(self.goal - self.place)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        left, right = 4.9 * (1 + action)  # 0 hovers
        lift = (left + right) * np.array([-np.sin(self.tilt), np.cos(self.tilt)])
        self.speed = self.speed + 0.04 * (lift - [0, 9.8] - 0.1 * self.speed)
        self.spin += 0.04 * (5 * (right - left) - 0.5 * self.spin)
        self.place, self.tilt = self.place + 0.04 * self.speed, self.tilt + 0.04 * self.spin
        distance = np.linalg.norm(self.goal - self.place)
        crashed = bool(distance > 6)
        there = bool(distance < 0.08 and np.linalg.norm(self.speed) < 0.15)
        return self._observe(), -1.0 if crashed else float(1 - distance / self.begin), there or crashed

    def _observe(self) -> np.ndarray:
        turn = [np.cos(self.tilt), np.sin(self.tilt), self.spin]
        return np.concatenate([self.place, self.speed, turn, self.goal])


class Rooms:
    """Slides from one room to a random place in the other: position, velocity, goal; the action is a force.

    A wall at x = 0 parts the rooms; it is open above 0.6 and below -0.6.
    """

    action_dim, limit = 2, 1.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        side = 1.0 if start == "right" else -1.0
        self.position = np.array([side * rng.uniform(0.3, 1), rng.uniform(-1, 1)])
        self.goal = np.array([-side * rng.uniform(0.3, 1), rng.uniform(-1, 1)])
        self.velocity = np.zeros(2)
        self.begin = np.linalg.norm(self.goal - self.position)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self.velocity = 0.9 * self.velocity + 0.1 * action
        to = self.position + 0.1 * self.velocity
        if to[0] * self.position[0] <= 0 and abs(to[1]) < 0.6:  # runs into the wall, and stays on its side
            to[0], self.velocity[0] = np.copysign(0.01, self.position[0]), 0.0
        self.position = to
        distance = np.linalg.norm(self.goal - self.position)
        return self._observe(), float(1 - distance / self.begin), bool(distance < 0.05)

    def _observe(self) -> np.ndarray:
        return np.concatenate([self.position, self.velocity, self.goal])


class BallOnPlate:
    """Keeps a ball in the middle of a plate: place, speed and tilt, each in x and y; the action tilts."""

    action_dim, limit = 2, 1.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.place, self.speed, self.tilt = rng.uniform(-0.6, 0.6, 2), rng.uniform(-0.3, 0.3, 2), np.zeros(2)
        if start == "rolling":
            bearing = rng.uniform(-np.pi, np.pi)
            self.speed = 1.2 * np.array([np.cos(bearing), np.sin(bearing)])
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self.tilt = np.clip(self.tilt + 0.05 * action, -0.3, 0.3)
        self.speed = self.speed - 0.03 * (7 * np.sin(self.tilt) + 0.05 * self.speed)
        self.place = self.place + 0.03 * self.speed
        far = float(np.linalg.norm(self.place))
        if far > 1.5:  # over the edge
            return self._observe(), 0.0, True
        return self._observe(), float(np.exp(-((far / 0.3) ** 2))), False

    def _observe(self) -> np.ndarray:
        return np.concatenate([self.place, self.speed, self.tilt])


class Acrobot:
    """Swings two links above the bar by a torque between them: links (cos, sin) and their speeds."""

    action_dim, limit = 1, 1.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.angle, self.speed = rng.uniform(-0.2, 0.2, 2), rng.uniform(-0.2, 0.2, 2)
        if start == "bent":
            self.angle = rng.choice([-1, 1]) * np.array([rng.uniform(0.8, 1.2), rng.uniform(-1.2, -0.8)])
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        (one, two), (turn, bend) = self.angle.tolist(), self.speed.tolist()
        for _ in range(8):  # 8 x 6.25 ms; links of 1 m and 1 kg, thin rods
            sin, cos, pull = math.sin(two) / 2, math.cos(two), 4.9 * math.sin(one + two)
            first = sin * bend * (2 * turn + bend) - 14.7 * math.sin(one) - pull - 0.05 * turn
            second = 5 * float(action[0]) - sin * turn**2 - pull - 0.05 * bend
            own, mixed = 5 / 3 + cos, 1 / 3 + cos / 2  # the mass matrix is [[own, mixed], [mixed, 1 / 3]]
            size = own / 3 - mixed**2
            turn += (first / 3 - mixed * second) / size / 160
            bend += (own * second - mixed * first) / size / 160
            one, two = one + turn / 160, two + bend / 160
        self.angle, self.speed = np.array([one, two]), np.array([turn, bend])
        height = -(np.cos(self.angle[0]) + np.cos(self.angle.sum())) / 2
        return self._observe(), float(height), bool(height > 0.6)

    def _observe(self) -> np.ndarray:
        return np.concatenate([np.cos(self.angle), np.sin(self.angle), self.speed])


class Bowl:
    """Swings out of a bowl at a random place of its rim: position, velocity, goal; a weak force acts."""

    action_dim, limit = 2, 1.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        bearing = rng.uniform(-np.pi, np.pi)
        self.goal = np.array([np.cos(bearing), np.sin(bearing)])
        self.position, self.velocity = rng.uniform(-0.1, 0.1, 2), np.zeros(2)
        if start == "aside":
            self.position = self.position + rng.choice([-0.6, 0.6]) * np.array([-self.goal[1], self.goal[0]])
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self.velocity = 0.995 * self.velocity + 0.1 * (0.4 * action - 2 * self.position)
        self.position = self.position + 0.1 * self.velocity
        out = bool(np.linalg.norm(self.position - self.goal) < 0.15 or self.position @ self.goal > 1)
        return self._observe(), float(out), out

    def _observe(self) -> np.ndarray:
        return np.concatenate([self.position, self.velocity, self.goal])


class DiscPush:
    """Pushes a disc to a random goal with a round finger: finger, disc, goal; the action is a speed."""

    action_dim, limit = 2, 1.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        from Box2D import b2World

        rng = np.random.default_rng(seed)
        finger, self.goal = rng.uniform(-3, 3, 2), rng.uniform(-3, 3, 2)
        disc = rng.uniform(-2, 2, 2)
        while min(np.linalg.norm(self.goal - disc), np.linalg.norm(finger - disc)) < 1.5:
            finger, self.goal, disc = rng.uniform(-3, 3, 2), rng.uniform(-3, 3, 2), rng.uniform(-2, 2, 2)
        self._world = b2World(gravity=(0, 0))
        self._finger = self._world.CreateDynamicBody(position=finger.tolist())
        self._finger.CreateCircleFixture(radius=0.3, density=10)
        self._disc = self._world.CreateDynamicBody(position=disc.tolist(), linearDamping=10)
        self._disc.CreateCircleFixture(radius=0.5, density=1)
        self.begin = np.linalg.norm(self.goal - disc)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self._finger.linearVelocity = (3 * action).tolist()
        self._world.Step(0.05, 10, 10)
        obs = self._observe()
        distance = np.linalg.norm(self.goal - obs[2:4])
        return obs, float(1 - distance / self.begin), bool(distance < 0.15)

    def _observe(self) -> np.ndarray:
        return np.concatenate([self._finger.position, self._disc.position, self.goal])
