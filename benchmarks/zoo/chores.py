"""Three further simulators in NumPy of what hands and tools do over and over: a mower, a valve, and a ball on a racket."""

from __future__ import annotations

import numpy as np
from benchmarks.zoo.vehicles import turned


class Mower:
    """Mows four lanes of a lawn: place (m), heading (cos, sin), speed, turn, the lawn's length, and what each has left.

    The action is the speed (m/s) and the turn (rad/s) that are asked for. What is left goes from one place to another.
    """

    action_dim, limit = 2, np.array([1.0, 2.0])
    lanes = 0.5 * np.arange(4)

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.length = rng.uniform(2.5, 4.0)
        self.place = np.array([rng.uniform(-0.8, -0.3), rng.uniform(-0.5, 0.5)])
        self.heading = rng.uniform(-1, 1)
        if start == "within":
            self.place = np.array([rng.uniform(0.3, 0.7) * self.length, rng.uniform(0.2, 1.3)])
            self.heading = rng.uniform(-np.pi, np.pi)
        self.moving = np.zeros(2)
        self.spots = np.arange(0.05, self.length, 0.1)
        self.grass = np.ones((4, len(self.spots)), bool)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self.moving = self.moving + 0.5 * (action - self.moving)
        self.heading += 0.1 * self.moving[1]
        self.place = self.place + 0.1 * self.moving[0] * turned(self.heading)
        aside = (self.lanes - self.place[1])[:, None]
        self.grass &= np.hypot(self.spots - self.place[0], aside) > 0.2
        mown = float(1 - self.grass.mean())
        return self._observe(), mown, mown == 1

    def _observe(self) -> np.ndarray:
        left = [self.spots[lane] if lane.any() else np.zeros(1) for lane in self.grass]
        ends = [end for lane in left for end in (lane[0], lane[-1])]
        return np.array([*self.place, *turned(self.heading), *self.moving, self.length, *ends])


class Valve:
    """Turns a valve by a random angle with a wrist that turns less: wrist, its speed, grip, valve, and the wish (rad).

    The action is the wrist's speed that is asked for (rad/s) and the speed of the grip (1: shut).
    """

    action_dim, limit = 2, np.array([3.0, 5.0])

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.wrist, self.turn, self.grip, self.valve = rng.uniform(-1, 1), 0.0, rng.uniform(0, 0.2), 0.0
        if start == "gripped":
            self.grip = 1.0
        self.wanted = rng.choice([-1, 1]) * rng.uniform(2.0, 4.5)
        self.stiff = rng.uniform(0.2, 0.5)
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        self.grip = float(np.clip(self.grip + 0.05 * float(action[1]), 0, 1))
        held = float(np.clip((self.grip - 0.4) / 0.4, 0, 1))  # below, the hand slips
        self.turn += 0.5 * (float(action[0]) * (1 - held * self.stiff) - self.turn)
        to = float(np.clip(self.wrist + 0.05 * self.turn, -1.3, 1.3))
        self.valve += held * (to - self.wrist)
        self.wrist = to
        off = abs(self.wanted - self.valve)
        return self._observe(), 1 - off / abs(self.wanted), bool(off < 0.1 and self.grip < 0.2)

    def _observe(self) -> np.ndarray:
        return np.array([self.wrist, self.turn, self.grip, self.valve, self.wanted])


class Juggler:
    """Bounces a ball on a racket to random heights: ball (m) and its speed, racket, its tilt, and the wish.

    The action is the racket's velocity (m/s) and the speed of its tilt (rad/s).
    """

    action_dim, limit = 3, np.array([2.0, 2.0, 6.0])

    def reset(self, seed: int, start: str) -> np.ndarray:
        rng = np.random.default_rng(seed)
        self.ball, self.speed = np.array([rng.uniform(-0.1, 0.1), rng.uniform(0.5, 0.8)]), np.zeros(2)
        self.racket, self.hand, self.tilt = np.zeros(2), np.zeros(2), 0.0
        if start == "thrown":
            self.ball[0] = rng.choice([-1, 1]) * rng.uniform(0.6, 0.8)
            self.speed = np.array([-self.ball[0] * rng.uniform(1.2, 1.6), rng.uniform(0.5, 1.0)])
        self.wishes, self.clock = rng.uniform(0.4, 0.9, 2), 0
        return self._observe()

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool]:
        for _ in range(5):  # 5 x 4 ms
            self.hand = self.hand + 0.2 * (action[:2] - self.hand)
            self.racket = np.clip(self.racket + 0.004 * self.hand, [-1.5, -0.4], [1.5, 0.4])
            self.tilt = float(np.clip(self.tilt + 0.004 * float(action[2]), -0.4, 0.4))
            self.speed = self.speed - [0, 0.004 * 9.8]
            self.ball = self.ball + 0.004 * self.speed
            up = turned(self.tilt + np.pi / 2)
            gap, hit = self.ball - self.racket, float((self.speed - self.hand) @ up)
            if hit < 0 and -0.08 < gap @ up < 0 and abs(gap[0] * up[1] - gap[1] * up[0]) < 0.15:
                self.speed = self.speed - 1.8 * hit * up  # it keeps 80% of its speed
                self.ball = self.ball - (gap @ up) * up
        self.clock += 1
        lost = bool(self.ball[1] < -0.6)
        off = (self.ball[1] + self.speed[1] ** 2 / 19.6 - self._wish()) / 0.15  # of how high it comes
        return self._observe(), 0.0 if lost else float(np.exp(-(off**2) - (self.ball[0] / 0.5) ** 2)), lost

    def _wish(self) -> float:
        return float(self.wishes[int(self.clock > 150)])

    def _observe(self) -> np.ndarray:
        return np.array([*self.ball, *self.speed, *self.racket, self.tilt, self._wish()])
