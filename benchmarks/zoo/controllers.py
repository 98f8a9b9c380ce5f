"""Scripted controllers: several good styles and some weak ones for every task.

A factory makes a fresh controller for each episode, its gains a few percent off, since no two
demonstrations are quite alike.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.zoo.faults import Controller

Factory = Callable[[np.random.Generator], Controller]


def vary(rng: np.random.Generator, *gains: float) -> list[float]:
    """The gains, each up to 5% off."""
    return [gain * rng.uniform(0.95, 1.05) for gain in gains]


def tuned(rule: Callable[..., object]) -> Callable[..., Factory]:
    """A factory for a rule that goes from the observation and its gains to an action.

    Gains are a few percent off in each episode; what is named is as given.
    """

    def given(*gains: float, **named: object) -> Factory:
        def make(rng: np.random.Generator) -> Controller:
            mine = vary(rng, *gains)
            return lambda obs: np.asarray(rule(obs, *mine, **named), np.float64)

        return make

    return given


@tuned
def point_mass(obs: np.ndarray, stiffness: float, damping: float, *, by_axis: bool = False) -> object:
    """Straight to the goal; or by axis: first along x, then along y."""
    position, velocity, goal = obs[:2], obs[2:4], obs[4:6]
    error = np.clip(goal - position, -0.7, 0.7)
    if by_axis and abs(goal[0] - position[0]) > 0.1:
        error[1] = 0.0
    return stiffness * error - damping * velocity


@tuned
def unicycle(obs: np.ndarray, turning: float, speed: float, *, reverse: bool = False) -> object:
    """Drives to the goal while turning towards it; or with its back ahead."""
    way = -1 if reverse else 1
    gap, heading = obs[4:6] - obs[:2], way * obs[2:4]
    error = np.arctan2(heading[0] * gap[1] - heading[1] * gap[0], heading @ gap)
    forward = speed * max(0.0, np.cos(error)) * min(1.0, 5 * float(np.linalg.norm(gap)))
    return np.array([way * forward, turning * error])


def _inverse(goal: np.ndarray, inner: float, outer: float, elbow: int) -> np.ndarray:
    """Joint angles that put the tip of a two-link arm on the goal, with the elbow on the given side."""
    distance = float(np.clip(np.linalg.norm(goal), abs(inner - outer) + 1e-3, inner + outer - 1e-3))
    bend = np.arccos((distance**2 - inner**2 - outer**2) / (2 * inner * outer)) * elbow
    shoulder = np.arctan2(goal[1], goal[0]) - np.arctan2(outer * np.sin(bend), inner + outer * np.cos(bend))
    return np.array([shoulder, bend])


def arm(
    links: tuple[float, float], stiffness: float, damping: float, speed_at: int, goal_at: int, elbow: int
) -> Factory:
    """Turns the joints to where the tip is on the goal; elbow 1 or -1, or 0: the nearer of the two."""

    def make(rng: np.random.Generator) -> Controller:
        p, d = vary(rng, stiffness, damping)

        def act(obs: np.ndarray) -> np.ndarray:
            joint = np.arctan2(obs[2:4], obs[:2])
            sides = [elbow] if elbow else [1, -1]
            gaps = [_inverse(obs[goal_at : goal_at + 2], *links, side) - joint for side in sides]
            gaps = [(gap + np.pi) % (2 * np.pi) - np.pi for gap in gaps]
            nearest = min(gaps, key=lambda gap: float(np.abs(gap).max()))
            return p * nearest - d * obs[speed_at : speed_at + 2]

        return act

    return make


@tuned
def pendulum(obs: np.ndarray, pump: float, stiffness: float, damping: float) -> object:
    """Pumps energy until it suffices for the top, then holds it there."""
    cos, sin, speed = obs
    angle = np.arctan2(sin, cos)
    energy = speed**2 / 6 + 5 * (cos - 1)  # 0 at rest at the top
    if cos > 0.85 and abs(speed) < 4:
        return np.array([-stiffness * angle - damping * speed])
    return np.array([-pump * energy * (speed if abs(speed) > 0.05 else 0.05)])


@tuned
def cart_pole(obs: np.ndarray, pump: float, centring: float) -> object:
    """Pumps energy with the cart, then balances by linear feedback."""
    x, dx, cos, sin, turn = obs
    angle = np.arctan2(sin, cos)
    if cos > 0.9 and abs(turn) < 4:
        return np.array([(1.5 * x + 2.5 * dx + 32 * angle + 6 * turn) / 10])
    energy = turn**2 / 2 * (2 / 3) + 9.8 * (cos - 1)  # 0 at rest at the top, in units of m l
    return np.array([pump * energy * np.sign(turn * cos) / 9.8 - centring * x - 0.5 * centring * dx])


def linear(gains: tuple[float, ...], angles: tuple[int, ...] = (), axes: int = 1) -> Factory:
    """Linear feedback of chosen observation dimensions; alike for each of several axes, which take turns."""

    def make(rng: np.random.Generator) -> Controller:
        k = np.array(vary(rng, *gains))
        chosen = list(angles or range(axes * len(gains)))
        return lambda obs: np.array([-k @ obs[chosen][axis::axes] for axis in range(axes)])

    return make


def mountain_car(push: float, softness: float) -> Factory:
    """Always pushes the way the car already moves; softly where it is slow."""

    def make(rng: np.random.Generator) -> Controller:
        f, s = vary(rng, push, softness)
        return lambda obs: np.array([f * np.tanh((obs[1] + 1e-3) / s)])

    return make


@tuned
def lander(obs: np.ndarray, descent: float, levelling: float, *, hover: float = 0.55) -> object:
    """After Gymnasium's heuristic: tilts towards the pad, and sinks the slower the lower it is."""
    x, y, vx, vy, angle, spin, left, right = obs
    tilt = float(np.clip(0.5 * x + vx, -0.4, 0.4))
    turn = levelling * (0.5 * (tilt - angle) - spin)
    lift = 10 * (hover * abs(x) - y - vy / descent)
    if left or right:
        turn, lift = 0.0, -10 * vy
    return np.array([lift - 1, -turn])


def walker(speed: float) -> Factory:
    """Gymnasium's own walking heuristic, at another speed; it falls when too fast."""

    def make(rng: np.random.Generator) -> Controller:
        from gymnasium.envs.box2d.bipedal_walker import BipedalWalkerHeuristics

        gait: Any = BipedalWalkerHeuristics()
        (gait.SPEED,) = vary(rng, speed)
        return lambda obs: gait.step_heuristic(obs).copy()

    return make


def metaworld(policy: str, speed: float = 1.0) -> Factory:
    """Metaworld's own scripted policy, with hand speed limited to `speed`."""

    def make(rng: np.random.Generator) -> Controller:
        import metaworld.policies

        # Its scripts ask for more than the hand can do, and say so at every step; clipping is what they mean.
        warnings.filterwarnings("ignore", "Constant.s. may be too high", UserWarning)
        script: Any = getattr(metaworld.policies, policy)()
        (v,) = vary(rng, speed)

        def act(obs: np.ndarray) -> np.ndarray:
            action = np.asarray(script.get_action(obs.copy()), np.float64)
            action[:3] = np.clip(action[:3], -v, v)
            return action

        return act

    return make


@cache
def _trained() -> dict[str, Any]:
    policies: dict[str, Any] = json.loads((Path(__file__).parent / "linear_policies.json").read_text())
    return policies


def trained(name: str) -> Factory:
    """A linear policy that `train_linear.py` found, and that is kept beside this file."""

    def make(rng: np.random.Generator) -> Controller:
        policy = _trained()[name]
        weight, bias = np.array(policy["weight"]), np.array(policy["bias"])
        return lambda obs: weight @ obs + bias

    return make
