"""Scripted controllers for the machines; where linear feedback suffices, the tasks use that."""

from __future__ import annotations

import numpy as np
from benchmarks.zoo.controllers import Factory, vary
from benchmarks.zoo.faults import Controller


def quadrotor(pull: float, speed: float, levelling: float, climb_first: bool = False) -> Factory:
    """Tilts towards the goal as far as its speed limit lets it; or climbs to its height first."""

    def make(rng: np.random.Generator) -> Controller:
        p, fastest, level = vary(rng, pull, speed, levelling)

        def act(obs: np.ndarray) -> np.ndarray:
            gap, tilt = obs[7:9] - obs[:2], np.arctan2(obs[5], obs[4])
            if climb_first and abs(gap[1]) > 0.3:
                gap[0] = 0.0
            wanted = np.clip(p * gap, -fastest, fastest)
            push = np.clip(2 * (wanted - obs[2:4]), -4, 4)
            turn = level * (-push[0] / 9.8 - tilt) - 0.12 * obs[6]
            return push[1] / 9.8 + np.array([-turn, turn])

        return act

    return make


def rooms(stiffness: float, gap: int = 0) -> Factory:
    """Through the gap in the wall, above (1) or below (-1), or the nearer one (0); then to the goal."""

    def make(rng: np.random.Generator) -> Controller:
        (p,) = vary(rng, stiffness)
        clearance = rng.uniform(0.7, 0.85)

        def act(obs: np.ndarray) -> np.ndarray:
            position, velocity, aim = obs[:2], obs[2:4], obs[4:6]
            if position[0] * aim[0] < 0:
                side = gap or (1 if position[1] + aim[1] > 0 else -1)
                level = side * position[1] > 0.65
                aim = np.array([np.sign(aim[0]) * 0.3 if level else position[0], side * clearance])
            return p * np.clip(aim - position, -0.4, 0.4) - velocity

        return act

    return make


def acrobot(push: float, shoulder: float, stiffness: float) -> Factory:
    """Pushes the way it swings, by the speed of the elbow and `shoulder` of the bar's, and keeps straight."""

    def make(rng: np.random.Generator) -> Controller:
        f, s, p = vary(rng, push, shoulder, stiffness)

        def act(obs: np.ndarray) -> np.ndarray:
            bend, swing = np.arctan2(obs[3], obs[1]), s * obs[4] + (1 - s) * obs[5]
            return np.array([f * np.tanh(2 * swing) - p * bend])

        return act

    return make


def bowl(push: float, softness: float, steering: float) -> Factory:
    """Pushes the way it moves along the line to the goal, and damps what goes aside."""

    def make(rng: np.random.Generator) -> Controller:
        f, s, k = vary(rng, push, softness, steering)

        def act(obs: np.ndarray) -> np.ndarray:
            velocity, along = obs[2:4], obs[4:6] / np.linalg.norm(obs[4:6])
            aside = np.array([-along[1], along[0]])
            pump = f * np.tanh((velocity @ along + 1e-3) / s)
            return pump * along - k * (velocity @ aside) * aside

        return act

    return make


def disc_push(speed: float, patience: float) -> Factory:
    """Goes round the disc to behind it, and pushes; corrects when more than `patience` off the line."""

    def make(rng: np.random.Generator) -> Controller:
        v, off_line = vary(rng, speed, patience)

        def act(obs: np.ndarray) -> np.ndarray:
            finger, disc, goal = obs[:2], obs[2:4], obs[4:6]
            way = (goal - disc) / (np.linalg.norm(goal - disc) + 1e-6)
            place, side = finger - disc, np.array([-way[1], way[0]])
            if place @ way < 0 and abs(place @ side) < off_line:
                aim = disc - 0.7 * way - finger + way
            elif place @ way > -0.6:  # beside or before the disc: round it at a distance
                aim = disc - way + 1.1 * np.copysign(1.0, place @ side) * side - finger
            else:
                aim = disc - 1.2 * way - finger
            return v * aim / max(0.3, float(np.linalg.norm(aim)))

        return act

    return make
