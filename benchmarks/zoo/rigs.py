"""Six further simulators in NumPy, of things that stand in laboratories and workshops; units are those of their trade."""

from __future__ import annotations

import numpy as np
from benchmarks.zoo.vehicles import turned


class Furuta:
    """Swings up a pendulum on the end of a turning arm: angles of both (cos, sin; 0 is up) and their speeds.

    The action is the arm's torque in N m.
    """

    action_dim, limit = 1, 0.4

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        low = 0.0 if start == "up" else np.pi
        self.angle, self.speed = np.array([rng.uniform(-0.5, 0.5), low + rng.uniform(-0.2, 0.2)]), np.zeros(2)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        for _ in range(4):  # 4 x 5 ms; an arm of 20 cm, a pendulum of 100 g and 30 cm
            sin, cos = np.sin(self.angle[1]), np.cos(self.angle[1])
            turn, fall = self.speed
            mass = np.array([[0.02 + 0.00225 * sin**2, -0.003 * cos], [-0.003 * cos, 0.003]])
            pull = float(action[0]) - 0.001 * turn - 0.0045 * sin * cos * turn * fall - 0.003 * sin * fall**2
            tip = 0.00225 * sin * cos * turn**2 + 0.147 * sin - 0.0001 * fall
            self.speed = self.speed + 0.005 * np.linalg.solve(mass, [pull, tip])
            self.angle = self.angle + 0.005 * self.speed
        return self._observe(), float(np.cos(self.angle[1]) - 0.1 * abs(self.angle[0])), False

    def _observe(self) -> np.ndarray:
        return np.array([*turned(self.angle[0]), *turned(self.angle[1]), *self.speed])


class Swing:
    """Pumps a swing up by crouching and rising: angle (cos, sin), its speed, and how far the weight hangs (m).

    The action is the speed of the weight towards the ground in m/s.
    """

    action_dim, limit = 1, 0.8

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        least, most = (0.5, 0.7) if start == "pushed" else (0.15, 0.35)
        self.angle, self.speed, self.length = rng.choice([-1, 1]) * rng.uniform(least, most), 0.0, 2.5
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        for _ in range(5):  # 5 x 10 ms
            to = float(np.clip(self.length + 0.01 * float(action[0]), 2.3, 2.7))
            self.speed *= (self.length / to) ** 2  # the momentum stays
            self.speed -= 0.01 * (9.8 / to * np.sin(self.angle) + 0.02 * self.speed)
            self.length, self.angle = to, self.angle + 0.01 * self.speed
        energy = 0.5 * (self.length * self.speed) ** 2 + 9.8 * self.length * (1 - np.cos(self.angle))
        high = float(energy / (9.8 * self.length * 0.5))  # 1: it will reach 60 degrees
        return self._observe(), min(1.0, high), high > 1

    def _observe(self) -> np.ndarray:
        return np.array([*turned(self.angle), self.speed, self.length])


class Trailer:
    """Backs a trailer to a dock at the origin: its axle, its heading (cos, sin), the bend of the hitch, and the speed.

    The action is acceleration in m/s2 and the angle of the truck's front wheels in rad.
    """

    action_dim, limit = 2, np.array([1.0, 0.6])

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.place = np.array([rng.uniform(10, 15), rng.uniform(-1.5, 1.5)])
        self.heading, self.bend, self.speed = rng.uniform(-0.25, 0.25), rng.uniform(-0.1, 0.1), 0.0
        if start == "bent":
            self.bend = rng.choice([-1, 1]) * rng.uniform(0.35, 0.6)
        self.begin = np.linalg.norm(self.place)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        for _ in range(4):  # 4 x 50 ms; 3 m between the truck's axles, 5 m from the hitch to the trailer's
            self.speed = float(np.clip(self.speed + 0.05 * float(action[0]), -2, 2))
            turn = self.speed * np.sin(self.bend) / 5
            self.bend += 0.05 * (self.speed * np.tan(float(action[1])) / 3 - turn)
            self.heading += 0.05 * turn
            self.place = self.place + 0.05 * self.speed * np.cos(self.bend) * turned(self.heading)
        distance = np.linalg.norm(self.place)
        jackknifed = bool(abs(self.bend) > 1.2)
        there = bool(distance < 0.8 and abs(self.speed) < 0.3)
        return self._observe(), 0.0 if jackknifed else float(1 - distance / self.begin), there or jackknifed

    def _observe(self) -> np.ndarray:
        return np.array([*self.place, *turned(self.heading), self.bend, self.speed])


class Pouring:
    """Pours a random weight from a cup: its tilt (degrees) and speed of tilting, what is in it, the scale, and the wish.

    The action is the speed of tilting that is asked for, in degrees a second; weights are in grams.
    """

    action_dim, limit = 1, 60.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.tilt = self.turn = self.glass = 0.0
        self.cup, self.wanted = rng.uniform(250, 350), rng.uniform(80, 200)
        if start == "tilted":
            self.tilt = self.edge - rng.uniform(2, 8)
        self.falling = [0.0] * 4  # what has left the cup, and is not yet in the glass
        return self._observe()

    @property
    def edge(self) -> float:
        """The tilt at which it begins to flow: the later the less is in the cup."""
        return 90 - 0.15 * self.cup

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self.turn += 0.4 * (float(action[0]) - self.turn)
        self.tilt = float(np.clip(self.tilt + 0.05 * self.turn, 0, 120))
        out = min(self.cup, 0.05 * 4 * max(0.0, self.tilt - self.edge) ** 1.5)
        self.cup -= out
        self.falling.append(out)
        self.glass += self.falling.pop(0)
        off = abs(self.wanted - self.glass)
        done = off < 8 and self.tilt < self.edge - 5 and not any(self.falling)
        return self._observe(), 1 - off / self.wanted, bool(done)

    def _observe(self) -> np.ndarray:
        return np.array([self.tilt, self.turn, self.cup, self.glass, self.wanted])


class Peg:
    """Puts a peg into a hole at a random place of a plate: the tip (mm), the force on it (N), and the hole (mm).

    The action is the hand's velocity in mm/s; the hand gives way by 1 mm for 5 N.
    """

    action_dim, limit = 3, 40.0

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.hole = rng.uniform(-40, 40, 2)
        self.hand = np.array([*rng.uniform(-60, 60, 2), rng.uniform(20, 40)])
        if start == "touching":
            self.hand[2] = 0.0
        self.tip, self.begin = self.hand.copy(), 0.0
        self.begin = self._left()
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self.hand = np.clip(self.hand + 0.05 * action, [-90, -90, -40], [90, 90, 60])
        aside, to = self.hand[:2] - self.hole, self.hand.copy()
        if self.tip[2] < -1 and self.hand[2] < 0:  # in the hole, whose wall holds it
            to[:2] = self.hole + np.clip(aside, -0.5, 0.5)
            stuck = float(np.abs(aside).max()) > 8  # wedged by the force from the side
            to[2] = self.tip[2] if stuck else max(to[2], -25)
        elif to[2] < 0 and np.abs(aside).max() > 1.5:  # on the plate
            to[:2] = self.tip[:2] + 0.7 * (to[:2] - self.tip[:2])
            to[2] = 0.0
        self.tip = to
        return self._observe(), float(1 - self._left() / self.begin), bool(self.tip[2] < -20)

    def _left(self) -> float:
        return float(np.linalg.norm(self.tip[:2] - self.hole) + abs(self.tip[2] + 20))

    def _observe(self) -> np.ndarray:
        return np.concatenate([self.tip, 5 * (self.tip - self.hand), self.hole])


class Monopod:
    """Hops on one springy leg at a random speed: height, speeds ahead and up, the leg's angle and length, and the wish.

    The action swings the leg (rad/s, in the air) and stretches it (of 10 cm, on the ground).
    """

    action_dim, limit = 2, np.array([8.0, 1.0])

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.place, self.speed = (
            np.array([0.0, rng.uniform(1.1, 1.3)]),
            np.array([rng.uniform(-0.3, 0.3), 0.0]),
        )
        if start == "moving":
            self.speed[0] = rng.choice([-1, 1]) * rng.uniform(0.8, 1.4)
        self.leg, self.length = 0.0, 1.0
        self.foot: np.ndarray | None = None  # in the air
        self.wanted = rng.uniform(-1.2, 1.2)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        for _ in range(10):  # 10 x 2 ms; 10 kg on a leg of 1 m and 4 kN/m
            push = np.zeros(2)
            if self.foot is None:
                self.leg = float(np.clip(self.leg + 0.002 * float(action[0]), -0.7, 0.7))
                foot = self.place + np.array([np.sin(self.leg), -np.cos(self.leg)])
                if foot[1] <= 0 and self.speed[1] < 0:
                    self.foot = np.array([foot[0], 0.0])
            else:
                along = self.place - self.foot
                self.length = float(np.linalg.norm(along))
                along = along / self.length
                self.leg = float(np.arctan2(-along[0], along[1]))
                spring = 400 * (1 + 0.1 * max(0.0, float(action[1])) - self.length) - 2 * (self.speed @ along)
                push = max(0.0, spring) * along
                if self.length > 1 and self.speed @ along > 0:
                    self.foot, self.length = None, 1.0
            self.speed = self.speed + 0.002 * (push - [0, 9.8])
            self.place = self.place + 0.002 * self.speed
        if self.place[1] < 0.5:  # fallen
            return self._observe(), 0.0, True
        return self._observe(), float(np.exp(-(((self.speed[0] - self.wanted) / 0.5) ** 2))), False

    def _observe(self) -> np.ndarray:
        return np.array([self.place[1], *self.speed, self.leg, self.length, self.wanted])
