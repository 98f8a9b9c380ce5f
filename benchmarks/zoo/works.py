"""Four further simulators in NumPy of things that are carried and held: a lift, a digger, a conveyor, a floating ball."""

from __future__ import annotations

import numpy as np
from benchmarks.zoo.vehicles import turned


class Lift:
    """Serves three floors in turn: height (m), speed, how far the doors are open, the load's pull, and the floor's height.

    The action is acceleration in m/s2 and the doors' speed in 1/s. With open doors the lift does not move.
    """

    action_dim, limit = 2, np.array([1.5, 1.0])

    def reset(self, seed: int, start: str) -> np.ndarray:
        self.rng = np.random.default_rng(seed)
        floors = [int(self.rng.integers(0, 9))]
        while len(floors) < 4:
            floors.append(int(self.rng.choice([k for k in range(9) if abs(k - floors[-1]) > 1])))
        self.floors, self.served = 3.0 * np.array(floors[1:]), 0
        self.height, self.speed, self.doors = 3.0 * floors[0], 0.0, 1.0
        self.pull = self.rng.uniform(-0.3, 0.3)
        if start == "running":
            self.height, self.doors = self.rng.uniform(8, 16), 0.0
            self.speed = self.rng.choice([-1, 1]) * self.rng.uniform(1, 2)
        self.begin = max(3.0, abs(self.height - self.floors[0]))
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self.speed += 0.2 * (float(action[0]) + self.pull - 0.1 * self.speed)
        if self.doors > 0:
            self.speed = 0.0
        self.height = float(np.clip(self.height + 0.2 * self.speed, -1, 25))
        gap = abs(self.height - self.floors[self.served])
        merit = (self.served + max(0.0, 1 - gap / self.begin)) / 3
        if abs(self.speed) < 0.1:
            self.doors = float(np.clip(self.doors + 0.2 * float(action[1]), 0, 1))
        if self.doors == 1 and gap < 0.15:
            self.served, self.pull = self.served + 1, self.rng.uniform(-0.3, 0.3)
            if self.served == 3:
                return self._observe(), 1.0, True
            self.begin = abs(self.height - self.floors[self.served])
        return self._observe(), merit, False

    def _observe(self) -> np.ndarray:
        floor = self.floors[min(self.served, 2)]
        return np.array([self.height, self.speed, self.doors, self.pull, floor])


class Digger:
    """Carries a bucket of earth from one random place to another: three joints, their speeds, load, pile, and dump (m).

    The action is the speed of boom (5 m), stick (3 m) and bucket (1 m) that is asked for, in rad/s.
    """

    action_dim, limit = 3, 0.8

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.joint = np.array([rng.uniform(0.7, 0.9), rng.uniform(-1.6, -1.4), rng.uniform(-1.0, -0.7)])
        if start == "stretched":
            self.joint[:2] += [-0.2, 0.8]
        self.speed, self.load, self.dumped = np.zeros(3), 0.0, 0.0
        self.pile, self.dump = rng.uniform(3.6, 4.6), rng.uniform(5.9, 7.0)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self.speed = self.speed + 0.4 * (action - self.speed)
        self.joint = np.clip(self.joint + 0.1 * self.speed, [-0.5, -2.6, -2.4], [1.3, -0.2, 0.8])
        wrist, tilt = reach(self.joint), float(self.joint.sum())
        x, y = wrist + turned(tilt)
        if y < 0 and abs(x - self.pile) < 1.2:  # in the pile: curling fills it
            self.load = min(1.0, self.load + 0.15 * max(0.0, -float(self.speed.sum())))
        elif tilt > -1.9 and self.load > 0:  # too far open: it pours
            out = min(self.load, 0.1)
            self.load -= out
            self.dumped += out * (abs(x - self.dump) < 0.6 and y > 0.2)
        there = 1 - min(1.0, abs(wrist[0] - self.dump) / 3)
        merit = self.dumped + self.load * (0.5 + 0.3 * there)
        return self._observe(), float(merit), bool(self.dumped > 0.85)

    def _observe(self) -> np.ndarray:
        return np.array([*self.joint, *self.speed, self.load, self.pile, self.dump])


def reach(joint: np.ndarray) -> np.ndarray:
    """Where the digger's bucket hangs: its stick's end, from the foot of the boom 1 m above the ground."""
    boom, stick = joint[0], joint[0] + joint[1]
    return np.array([5 * np.cos(boom) + 3 * np.cos(stick), 1 + 5 * np.sin(boom) + 3 * np.sin(stick)])


class Conveyor:
    """Takes two things from a running belt into a box: hand (cm), grip (cm open), thing, belt's speed, and the box (x, y).

    The action is the hand's velocity in cm/s and the speed of opening the grip.
    """

    action_dim, limit = 4, 40.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        self.rng = np.random.default_rng(seed)
        self.hand, self.grip = np.array([*self.rng.uniform(-20, 20, 2), self.rng.uniform(15, 25)]), 8.0
        if start == "beside":
            self.hand[1] = self.rng.uniform(35, 50)
        self.box = np.array([self.rng.uniform(-30, 30), self.rng.uniform(25, 40)])
        self.belt, self.done, self.held = self.rng.uniform(4, 10), 0, False
        self._next()
        return self._observe()

    def _next(self) -> None:
        self.thing = np.array([self.rng.uniform(-45, -30), self.rng.uniform(-5, 5), 0.0])

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self.hand = np.clip(self.hand + 0.05 * action[:3], [-60, -40, 0], [60, 60, 40])
        self.grip = float(np.clip(self.grip + 0.05 * action[3], 2, 8))
        near = bool(np.linalg.norm(self.hand - self.thing) < 2)
        self.held = self.grip < 5 and (self.held or near)
        if self.held:
            self.thing = self.hand.copy()
        elif np.linalg.norm(self.thing[:2] - self.box) < 6:  # let go over the box
            self.done += 1
            self._next()
        elif self.thing[2] > 0 or self.thing[0] > 50:  # dropped, or gone by
            self._next()
        else:
            self.thing[0] += 0.05 * self.belt
        to, worth = (self.box, 0.5) if self.held else (self.thing[:2], 0.0)
        near_by = 0.5 * max(0.0, 1 - float(np.linalg.norm(self.hand[:2] - to)) / 60)
        return self._observe(), min(1.0, (self.done + worth + near_by) / 2), self.done == 2

    def _observe(self) -> np.ndarray:
        return np.array([*self.hand, self.grip, *self.thing, self.belt, *self.box])


class FloatingBall:
    """Holds an iron ball under a magnet at changing distances: gap (mm), its speed (mm/ms), current (A), and the wish (mm).

    The action is the coil's voltage, from that which holds it 12 mm below.
    """

    action_dim, limit = 1, 15.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.wishes, self.clock = rng.uniform(8, 16, 4), 0
        self.gap, self.speed = rng.uniform(11, 13), rng.uniform(-0.01, 0.01)
        if start == "low":
            self.gap = rng.uniform(15.5, 17)
        self.current = self.gap / 12
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        for _ in range(5):  # 5 x 1 ms; 10 ohm, and 0.1 H; 1 A holds the ball at 12 mm
            self.current = max(0.0, self.current + 0.01 * (float(action[0]) + 10 - 10 * self.current))
            self.speed += 0.0098 * (1 - (12 * self.current / self.gap) ** 2)
            self.gap += self.speed
            if not 2 < self.gap < 25:  # at the magnet, or on the floor
                return self._observe(), 0.0, True
        self.clock += 1
        return self._observe(), float(np.exp(-(((self.gap - self._wish()) / 1.5) ** 2))), False

    def _wish(self) -> float:
        return float(self.wishes[min(self.clock // 75, 3)])

    def _observe(self) -> np.ndarray:
        return np.array([self.gap, self.speed, self.current, self._wish()])
