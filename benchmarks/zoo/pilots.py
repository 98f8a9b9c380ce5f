"""Scripted controllers for the vehicles."""

from __future__ import annotations

import numpy as np
from benchmarks.zoo.controllers import Factory, vary
from benchmarks.zoo.faults import Controller


def path_follower(speed: float, stiffness: float, straightening: float) -> Factory:
    """Turns with the line's bend a little ahead, back to the line, and along it."""

    def make(rng: np.random.Generator) -> Controller:
        v, p, d = vary(rng, speed, stiffness, straightening)

        def act(obs: np.ndarray) -> np.ndarray:
            turn = v * (obs[3] + obs[4]) / 2 - p * obs[0] - d * np.arctan2(obs[2], obs[1])
            return (v + 0.15 * turn * np.array([-1, 1])) / 0.05

        return act

    return make


def parking(speed: float, reach: float, steering: float) -> Factory:
    """Steers for a point of the slot's middle line that lies `reach` metres ahead, and slows down."""

    def make(rng: np.random.Generator) -> Controller:
        fastest, ahead, p = vary(rng, speed, reach, steering)

        def act(obs: np.ndarray) -> np.ndarray:
            x, y, cos, sin, now = obs
            off = np.arctan2(-y, ahead) - np.arctan2(sin, cos)
            wanted = np.clip(-0.6 * x, -0.5, fastest)
            return np.array([2 * (wanted - now), p * off * np.sign(now)])

        return act

    return make


def boat(throttle: float, steering: float, aside: float = 0.0) -> Factory:
    """Points the bow at the buoy, or `aside` radians beside it while it is far, against the drift."""

    def make(rng: np.random.Generator) -> Controller:
        f, p = vary(rng, throttle, steering)

        def act(obs: np.ndarray) -> np.ndarray:
            gap, bow, drift = obs[7:9] - obs[:2], obs[2:4], obs[4:6]
            distance = float(np.linalg.norm(gap))
            across = np.array([-gap[1], gap[0]]) / distance
            wanted = np.arctan2(gap[1], gap[0]) + aside * min(1.0, distance / 15)
            wanted -= 0.4 * (drift @ across) * min(1.0, distance / 5) * (aside == 0)
            off = wanted - np.arctan2(bow[1], bow[0])
            off = np.arctan2(np.sin(off), np.cos(off))
            thrust = 300 * f * max(0.3, np.cos(off)) * min(1.0, 0.3 + distance / 10)
            return np.array([thrust, p * off - 0.5 * obs[6]])

        return act

    return make


def stirred_tank(inlet: float, heater: float, knows: float = 1.0) -> Factory:
    """Gives what the wanted state needs, as far as it `knows`, and more the farther off the tank is."""

    def make(rng: np.random.Generator) -> Controller:
        a, b = vary(rng, inlet, heater)

        def act(obs: np.ndarray) -> np.ndarray:
            level, warm, inflow, wanted, warmth = obs
            into = 30 * np.sqrt(wanted) / 4 - 50
            opening = knows * into + a * (wanted - level)
            flow = 4 * (50 + np.clip(opening, -50, 50))
            heat = flow * (warmth - inflow) / 144 - 50
            return np.array([opening, knows * heat + b * (warmth - warm)])

        return act

    return make


def spring_arm(stiffness: float, damping: float, link: float) -> Factory:
    """Turns the motor to the goal, damps it, and damps the link through the spring."""

    def make(rng: np.random.Generator) -> Controller:
        p, d, k = vary(rng, stiffness, damping, link)

        def act(obs: np.ndarray) -> np.ndarray:
            motor, _, motor_speed, load_speed, goal = obs
            return np.array([p * (goal - motor) - d * motor_speed + k * (motor_speed - load_speed)])

        return act

    return make
