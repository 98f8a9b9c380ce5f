"""Five further simulators in NumPy whose actions are in the units of their trade: rad/s, N, N m and percent."""

from __future__ import annotations

import numpy as np


def turned(angle: float) -> np.ndarray:
    """The unit vector in a direction."""
    return np.array([np.cos(angle), np.sin(angle)])


class PathFollower:
    """Two driven wheels follow a winding line: distance from it, heading along it, bends, and wheel speeds.

    The action is the speed of each wheel in rad/s; wheels of 5 cm, 30 cm apart.
    """

    action_dim, limit = 2, 20.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.along, self.aside, self.heading = 0.0, rng.uniform(-0.05, 0.05), rng.uniform(-0.1, 0.1)
        if start == "aside":
            self.aside = rng.choice([-1, 1]) * rng.uniform(0.25, 0.4)
        self.wheels, self.bends = np.zeros(2), rng.uniform(0, 2 * np.pi, 2)
        return self._observe()

    def _bend(self, along: float) -> float:
        """The line's curvature, in 1/m."""
        return float([0.9, 0.7] @ np.sin(np.array([1.1, 2.7]) * along + self.bends))

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self.wheels = self.wheels + 0.4 * (action - self.wheels)
        speed, turn = 0.05 * self.wheels.mean(), 0.05 * (self.wheels[1] - self.wheels[0]) / 0.3
        bend = self._bend(self.along)
        forward = speed * np.cos(self.heading) / max(0.2, 1 - bend * self.aside)
        self.along += 0.05 * forward
        self.aside += 0.05 * speed * np.sin(self.heading)
        self.heading += 0.05 * (turn - bend * forward)
        if abs(self.aside) > 0.8:  # lost the line
            return self._observe(), 0.0, True
        return self._observe(), float(forward * np.exp(-((self.aside / 0.1) ** 2))), False

    def _observe(self) -> np.ndarray:
        bends = [self._bend(self.along), self._bend(self.along + 0.3)]
        return np.array([self.aside, np.cos(self.heading), np.sin(self.heading), *bends, *self.wheels])


class Parking:
    """Parks a car in a slot at the origin: place, heading (cos, sin) and speed.

    The action is acceleration in m/s2 and the angle of the front wheels in rad; 2.5 m between the axles.
    """

    action_dim, limit = 2, np.array([2.0, 0.6])

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.place = np.array([rng.uniform(-14, -9), rng.uniform(-3, 3)])
        self.heading, self.speed = rng.uniform(-0.5, 0.5), 0.0
        if start == "rolling":
            self.speed = rng.uniform(1.5, 2.5)
        self.begin = self._distance()
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self.speed += 0.1 * (float(action[0]) - 0.1 * self.speed)
        self.heading += 0.1 * self.speed / 2.5 * np.tan(float(action[1]))
        self.place = self.place + 0.1 * self.speed * turned(self.heading)
        there = bool(self._distance() < 0.4 and abs(self.speed) < 0.3)
        return self._observe(), float(1 - self._distance() / self.begin), there

    def _distance(self) -> float:
        """Of the place, and a metre for every quarter of a radian that the car stands askew."""
        askew = 4 * np.sin(self.heading / 2) * np.exp(-np.linalg.norm(self.place) / 3)
        return float(np.hypot(np.linalg.norm(self.place), askew))

    def _observe(self) -> np.ndarray:
        return np.array([*self.place, *turned(self.heading), self.speed])


class Boat:
    """Steers a boat in a current to a random buoy: place, heading (cos, sin), speeds, turn, and the buoy.

    The action is thrust in N and the rudder's angle in rad; a boat of 200 kg.
    """

    action_dim, limit = 2, np.array([300.0, 0.6])

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.place, self.heading, self.turn = np.zeros(2), rng.uniform(-np.pi, np.pi), 0.0
        self.begin = rng.uniform(15, 30)
        self.buoy = self.begin * turned(rng.uniform(-np.pi, np.pi))
        self.current = rng.uniform(0, 0.3) * turned(rng.uniform(-np.pi, np.pi))
        self.speed = np.zeros(2)  # ahead and to the side, through the water
        if start == "drifting":
            self.speed, self.turn = rng.uniform(-1.5, 1.5, 2), rng.uniform(-0.5, 0.5)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        thrust, rudder = action.tolist()
        for _ in range(4):  # 4 x 50 ms
            ahead, side = self.speed.tolist()
            wash = ahead * abs(ahead) + thrust / 100  # the propeller's stream helps the rudder
            ahead += 0.05 * (thrust / 200 - 0.25 * ahead * abs(ahead) - 0.05 * ahead + side * self.turn)
            side -= 0.05 * (1.5 * side + 0.5 * ahead * self.turn)
            self.turn += 0.05 * (0.5 * wash * np.sin(rudder) - 1.2 * self.turn)
            self.speed, self.heading = np.array([ahead, side]), self.heading + 0.05 * self.turn
            self.place = self.place + 0.05 * self._over_ground()
        distance = float(np.linalg.norm(self.buoy - self.place))
        return self._observe(), 1 - distance / self.begin, distance < 1.5

    def _over_ground(self) -> np.ndarray:
        bow = turned(self.heading)
        return self.speed[0] * bow + self.speed[1] * np.array([-bow[1], bow[0]]) + self.current

    def _observe(self) -> np.ndarray:
        return np.array([*self.place, *turned(self.heading), *self._over_ground(), self.turn, *self.buoy])


class StirredTank:
    """Holds a tank's level (cm) and temperature (C): both, the inflow's temperature, and what both should be.

    The action opens the inlet and turns up the heater, each in percent from half open.
    """

    action_dim, limit = 2, 50.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        self.rng = np.random.default_rng(seed)
        self.level, self.warm = self.rng.uniform(20, 60), self.rng.uniform(25, 55)
        if start == "cold":
            self.level, self.warm = self.rng.uniform(5, 10), self.rng.uniform(10, 15)
        self.wanted = np.array([self.rng.uniform(25, 55), self.rng.uniform(30, 50)])
        self.inflow, self.draw = self.rng.uniform(8, 16), 1.0
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self.inflow += 0.1 * (12 - self.inflow) + 0.3 * self.rng.standard_normal()
        self.draw += 0.1 * (1 - self.draw) + 0.01 * self.rng.standard_normal()
        for _ in range(5):  # 5 s; a tank of 0.1 m2, 0.4 l/s and 60 kW at the most
            into, heat = 4 * (50 + action[0]), 14.4 / 100 * (50 + action[1])
            warmer = (into * (self.inflow - self.warm) + 1000 * heat) / (1000 * self.level)
            self.level = max(2.0, self.level + (into - 30 * self.draw * np.sqrt(self.level)) / 1000)
            self.warm = min(100.0, self.warm + warmer)
        gap = np.array([self.level, self.warm]) - self.wanted
        return self._observe(), float(np.exp(-((np.linalg.norm(gap) / 5) ** 2))), False

    def _observe(self) -> np.ndarray:
        return np.array([self.level, self.warm, self.inflow, *self.wanted])


class SpringArm:
    """Turns a heavy link through a spring to a random angle: motor and link, their speeds, and the goal.

    The action is the motor's torque in N m.
    """

    action_dim, limit = 1, 40.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        place = rng.uniform(-1.5, 1.5)
        self.angle, self.speed = np.array([place, place]), np.zeros(2)
        self.goal = place + rng.choice([-1, 1]) * rng.uniform(0.8, 2.5)
        if start == "swinging":
            self.angle[1] += rng.choice([-1, 1]) * rng.uniform(0.3, 0.5)
        self.begin = abs(self.goal - place)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        for _ in range(4):  # 4 x 5 ms; 0.5 and 1 kg m2, a spring of 60 N m/rad
            spring = 60 * (self.angle[0] - self.angle[1]) + 0.3 * (self.speed[0] - self.speed[1])
            push = np.array([2 * (action[0] - spring - self.speed[0]), spring - 0.2 * self.speed[1]])
            self.speed = self.speed + 0.005 * push
            self.angle = self.angle + 0.005 * self.speed
        distance = abs(self.goal - self.angle[1])
        there = bool(distance < 0.03 and np.abs(self.speed).max() < 0.15)
        return self._observe(), float(1 - distance / self.begin), there

    def _observe(self) -> np.ndarray:
        return np.array([*self.angle, *self.speed, self.goal])
