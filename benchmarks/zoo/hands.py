"""Scripted controllers for the environments of Gymnasium-Robotics and dm_control, and for Ant."""

from __future__ import annotations

import numpy as np
from benchmarks.zoo.controllers import Factory, tuned, vary
from benchmarks.zoo.faults import Controller
from benchmarks.zoo.suites import bends


@tuned
def fetch_reach(obs: np.ndarray, pull: float, speed: float) -> object:
    """Straight to the goal, no faster than `speed`."""
    return np.append(np.clip(pull * (obs[10:13] - obs[:3]), -speed, speed), 0.0)


@tuned
def fetch_push(obs: np.ndarray, speed: float) -> object:
    """Over the block to behind it, down, and on towards the goal."""
    hand, block, goal = obs[:3], obs[3:6], obs[25:28]
    way = (goal - block)[:2] / (np.linalg.norm((goal - block)[:2]) + 1e-6)
    place = (hand - block)[:2]
    aside = abs(place[1] * way[0] - place[0] * way[1])
    if place @ way < -0.02 and aside < 0.03 and hand[2] < block[2] + 0.03:
        aim = np.append(block[:2] + way * min(0.05, np.linalg.norm((goal - block)[:2])), block[2])
    else:
        behind = np.append(block[:2] - 0.1 * way, block[2])
        there = np.linalg.norm((hand - behind)[:2]) < 0.025
        aim = behind if there else behind + np.array([0, 0, 0.08])
        if not there and hand[2] < block[2] + 0.05:
            aim[:2] = hand[:2]
    return np.append(np.clip(10 * (aim - hand), -speed, speed), 0.0)


@tuned
def point_maze(obs: np.ndarray, stiffness: float, damping: float, *, cautious: float = 1.0) -> object:
    """Along the U to the goal, from corner to corner."""
    place, velocity, goal = obs[:2], obs[2:4], obs[4:6]
    here, there = bends(place), bends(goal)
    aim = goal
    if (abs(there - here) > 1 and here * there < 0) or abs(here) < 0.5 < abs(there):
        side = np.sign(here) if abs(here) > 1 and place[0] < 0.8 else np.sign(there)
        aim = np.array([1.0, -side])
    return stiffness * np.clip(aim - place, -cautious, cautious) - damping * velocity


_BACKWARDS, _FOLDED = np.array([1, 1, -1, -1]), np.array([1, -1, -1, 1])
"""Which way a leg's hip turns to push, and its ankle to fold; legs are front left, back left, and so on."""


def ant(beat: float, stride: float, lift: float, lead: float, crouch: float, grip: float) -> Factory:
    """Legs swing `beat` times a second, the front ones against the back ones; a stronger side turns it back."""

    def make(rng: np.random.Generator) -> Controller:
        hertz, wide, high, p = vary(rng, beat, stride, lift, grip)
        phase = rng.uniform(0, 2 * np.pi) + np.pi * np.array([0, 1, 1, 0])

        def act(obs: np.ndarray) -> np.ndarray:
            nonlocal phase
            w, x, y, z = obs[1:5]
            yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y**2 + z**2))
            wanted = np.empty(8)
            wanted[0::2] = _BACKWARDS * wide * (1 + 0.5 * _BACKWARDS * yaw) * np.sin(phase)
            wanted[1::2] = _FOLDED * (crouch + high * np.sin(phase + lead))
            phase = phase + 2 * np.pi * hertz * 0.05
            return np.roll(p * (wanted - obs[5:13]) - 0.05 * obs[19:27], 2)

        return act

    return make


def reordered(factory: Factory, places: tuple[int, ...]) -> Factory:
    """A controller for another simulator of the same machine, which observes in another order."""

    def make(rng: np.random.Generator) -> Controller:
        act = factory(rng)
        return lambda obs: act(obs[list(places)])

    return make
