"""What can be wrong with a demonstration. A fault turns a controller into one that has it.

A fault of the *recording* leaves what was done alone, and spoils what was written down. The demonstrator
acted well; who acts as the record says does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

Controller = Callable[[np.ndarray], np.ndarray]
"""From an observation to an action; made anew for each episode."""


@dataclass(frozen=True)
class Body:
    """What faults need to know of a task."""

    action_dim: int
    limit: float | np.ndarray
    """Largest action: of all dimensions, or of each."""
    goal: tuple[int, ...]
    """Observation dimensions that a wrong goal moves: the goal's, or those of what is to be reached."""
    goal_span: float
    """How far goals are apart."""


Fault = Callable[[Controller, float, Body, np.random.Generator], Controller]


def noisy(act: Controller, size: float, body: Body, rng: np.random.Generator) -> Controller:
    """Fresh Gaussian noise on every action, `size` of the limit."""
    return lambda obs: act(obs) + size * body.limit * rng.standard_normal(body.action_dim)


def sloppy(act: Controller, size: float, body: Body, rng: np.random.Generator) -> Controller:
    """A slow wander on top of every action, about ten steps long, `size` of the limit."""
    wander = np.zeros(body.action_dim)

    def sway(obs: np.ndarray) -> np.ndarray:
        nonlocal wander
        wander = 0.9 * wander + np.sqrt(1 - 0.9**2) * rng.standard_normal(body.action_dim)
        return act(obs) + size * body.limit * wander

    return sway


def offset(act: Controller, size: float, body: Body, rng: np.random.Generator) -> Controller:
    """The same error on every action, in a direction drawn once."""
    bias = size * body.limit * _direction(body.action_dim, rng)
    return lambda obs: act(obs) + bias


def laggy(act: Controller, size: float, body: Body, rng: np.random.Generator) -> Controller:
    """Every action comes `size` steps late; before the first, nothing is done."""
    waiting = [np.zeros(body.action_dim)] * round(size)

    def late(obs: np.ndarray) -> np.ndarray:
        waiting.append(act(obs))
        return waiting.pop(0)

    return late


def idle(act: Controller, size: float, body: Body, rng: np.random.Generator) -> Controller:
    """Does nothing for stretches of about 15 steps, `size` of the time."""
    resting = _stretches(size, rng)
    return lambda obs: np.zeros(body.action_dim) if next(resting) else act(obs)


def stuck(act: Controller, size: float, body: Body, rng: np.random.Generator) -> Controller:
    """Holds the last action for stretches of about 15 steps, `size` of the time."""
    held = _stretches(size, rng)
    last = np.zeros(body.action_dim)

    def hold(obs: np.ndarray) -> np.ndarray:
        nonlocal last
        wanted = act(obs)
        last = last if next(held) else wanted
        return last

    return hold


def gain(act: Controller, size: float, body: Body, rng: np.random.Generator) -> Controller:
    """Every action is `size` times what it should be: too gentle, too strong, or in wrong units."""
    return lambda obs: size * act(obs)


def sign(act: Controller, size: float, body: Body, rng: np.random.Generator) -> Controller:
    """The sign of one action dimension, number `size`, is wrong."""
    flip = np.ones(body.action_dim)
    flip[round(size)] = -1
    return lambda obs: flip * act(obs)


def swapped(act: Controller, size: float, body: Body, rng: np.random.Generator) -> Controller:
    """Action dimensions stand in the wrong order, `size` places on."""
    return lambda obs: np.roll(act(obs), round(size))


def wrong_goal(act: Controller, size: float, body: Body, rng: np.random.Generator) -> Controller:
    """Goes for a place that is `size` goal spans from the right one, in a direction drawn once."""
    shift = size * body.goal_span * _direction(len(body.goal), rng)

    def misled(obs: np.ndarray) -> np.ndarray:
        seen = obs.copy()
        seen[list(body.goal)] += shift
        return act(seen)

    return misled


def random_acts(act: Controller, size: float, body: Body, rng: np.random.Generator) -> Controller:
    """Moves without any aim, about `size` of the limit."""
    return sloppy(lambda obs: np.zeros(body.action_dim), size, body, rng)


FAULTS: dict[str, Fault] = {
    "noisy": noisy,
    "sloppy": sloppy,
    "offset": offset,
    "laggy": laggy,
    "idle": idle,
    "stuck": stuck,
    "gain": gain,
    "sign": sign,
    "swapped": swapped,
    "wrong goal": wrong_goal,
    "random": random_acts,
}
"""Faults of acting; mixtures name them. `aborted` is not among them: it cuts the recording."""

RECORDING_FAULTS = {
    "wrong units": "gain",
    "sign in the record": "sign",
    "time shifted": "laggy",
    "columns swapped": "swapped",
}
"""Faults of the recording, and the fault of acting that each looks like."""


def _direction(dims: int, rng: np.random.Generator) -> np.ndarray:
    vector = rng.standard_normal(dims)
    return vector / np.linalg.norm(vector)


def _stretches(share: float, rng: np.random.Generator) -> Iterator[bool]:
    """Steps of a two-state chain that is on for `share` of the time, 15 steps in the mean."""
    on = bool(rng.random() < share)
    while True:
        leave = 1 / 15 if on else share / (15 * (1 - share))
        on ^= bool(rng.random() < leave)
        yield on
