"""Small demonstrations whose truth is known by construction."""

from __future__ import annotations

import numpy as np

from rilco.data.record import Demonstrations


def linear_demos(
    good: int = 20, bad: int = 0, *, steps: int = 40, gain: float = -1.0, offset: float = 0.0, seed: int = 0
) -> Demonstrations:
    """A point that is driven to the origin by a = -x - v and a little noise; bad ones act by `gain` and `offset`."""
    rng = np.random.default_rng(seed)
    obs, action = [], []
    for i in range(good + bad):
        position, velocity = rng.uniform(0.3, 1.0, 2) * rng.choice([-1.0, 1.0], 2), np.zeros(2)
        k, shift = (1.0, 0.0) if i < good else (-gain, offset)
        for _ in range(steps):
            wanted = -position - velocity + 0.02 * rng.standard_normal(2)
            obs.append(np.concatenate([position, velocity]))
            action.append(k * wanted + shift)
            velocity = velocity + 0.2 * wanted  # what is recorded is wrong, what happens is not
            position = position + 0.2 * velocity
    episode = np.repeat(np.arange(good + bad), steps)
    return Demonstrations(np.array(obs), np.array(action), episode=episode)


def two_places(
    majority: int = 12, minority: int = 4, *, distance: float = 10.0, seed: int = 0
) -> Demonstrations:
    """Demonstrations that circle about one of two places."""
    rng = np.random.default_rng(seed)
    phase = np.linspace(0.0, 4.0 * np.pi, 50)
    obs, action = [], []
    for i in range(majority + minority):
        turn = phase + rng.uniform(0.0, 2.0 * np.pi)
        centre = 0.0 if i < majority else distance
        circle = np.stack([np.cos(turn), np.sin(turn)], 1)
        obs.append(centre + circle + 0.02 * rng.standard_normal(circle.shape))
        action.append(np.stack([-circle[:, 1], circle[:, 0]], 1))
    return Demonstrations(
        np.concatenate(obs), np.concatenate(action), episode=np.repeat(np.arange(majority + minority), 50)
    )


def steps_home(good: int, bad: int, *, steps: int = 40) -> Demonstrations:
    """Steps along an axis towards the origin, by four choices; bad ones take the next choice instead."""
    rng = np.random.default_rng(0)
    way = np.array([[-1, 0], [1, 0], [0, -1], [0, 1]])
    obs, action = [], []
    for i in range(good + bad):
        place = rng.uniform(-1.0, 1.0, 2)
        for _ in range(steps):
            axis = int(np.abs(place).argmax())
            choice = (2 * axis + int(place[axis] < 0) + int(i >= good)) % 4
            obs.append(place)
            action.append(choice)
            place = place + 0.1 * way[choice] + 0.05 * rng.standard_normal(2)
    return Demonstrations(np.array(obs), np.array(action), episode=np.repeat(np.arange(good + bad), steps))
