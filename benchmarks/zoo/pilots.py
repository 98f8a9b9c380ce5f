"""Scripted controllers for the crafts and the works."""

from __future__ import annotations

import numpy as np
from benchmarks.zoo.controllers import tuned
from benchmarks.zoo.works import reach


@tuned
def house(obs: np.ndarray, pull: float, *, knows: float = 1.0) -> object:
    """Heats by what the wishes need, as far as it `knows`, and more the colder it is; very strong: on and off."""
    rooms, radiators, outside, wishes = obs[:2], obs[2:4], obs[4], obs[5:7]
    needed = wishes - outside + 1.25 * (wishes - wishes[::-1])
    return 2.5 * (knows * needed + pull * (wishes - rooms) + 0.3 * (needed - radiators)) - 50


@tuned
def convoy(obs: np.ndarray, distance: float, speed: float) -> object:
    """Goes faster the longer the gap, and the faster the car ahead."""
    gap, own, ahead, _, wanted = obs
    return [distance * (gap - wanted * own) + speed * (ahead - own)]


@tuned
def glider(obs: np.ndarray, path: float, braking: float, *, speed: float = 26.0) -> object:
    """Heads for a place a little before the spot, brakes by airspeed, and flares near the ground."""
    place, height, now, angle, wind, spot = obs
    over = max(5.0, now - wind) / now
    aim = -0.03 if height < 6 else -over * np.arctan2(height, max(30.0, spot - 60 - place))
    press = 0.6 * now**2 / 35
    lift = (9.8 * np.cos(angle) + now * path * (max(aim, -0.25) - angle)) / press
    return [(lift - 0.8) / 0.6, braking * (now - speed)]


@tuned
def satellite(obs: np.ndarray, stiffness: float, damping: float) -> object:
    """Turns back about the axis by which it is off, and damps its rates."""
    axis = obs[1:4] * np.copysign(1.0, obs[0])
    return np.array([10.0, 16.0, 7.0]) * (-stiffness * axis - damping * obs[4:7])


@tuned
def bicycle(obs: np.ndarray, turning: float, stiffness: float, damping: float) -> object:
    """Leans to the side it is to turn to, by steering against the lean that it has too much."""
    lean, fall, steer, heading, wish = obs
    wanted = np.clip(turning * (wish - heading), -0.3, 0.3)
    into = 0.044 * (9.8 * lean + stiffness * (lean - wanted) + damping * fall)
    return [12 * (into - steer)]


@tuned
def lift(obs: np.ndarray, speed: float, braking: float) -> object:
    """Drives so that it can stop at the floor, opens the doors there, and shuts them elsewhere."""
    height, now, doors, pull, floor = obs
    gap = floor - height
    if abs(gap) < 0.1 and abs(now) < 0.1:
        return [-2 * now - pull, 1.0]
    fast = np.sign(gap) * min(speed, np.sqrt(2 * braking * abs(gap)), 1.5 * abs(gap))
    return [2.5 * (fast - now) - pull, -1.0 * (doors > 0)]


def _bent(wrist: np.ndarray, tilt: float, joint: np.ndarray) -> np.ndarray:
    """The joints at which the digger's bucket hangs there; its own joint follows what the others are now."""
    x, y = wrist - [0, 1]
    far = min(7.9, float(np.hypot(x, y)))
    stick = -np.arccos(np.clip((far**2 - 34) / 30, -1, 1))
    boom = np.arctan2(y, x) - np.arctan2(3 * np.sin(stick), 5 + 3 * np.cos(stick))
    return np.array([boom, stick, tilt - joint[0] - joint[1]])


@tuned
def digger(obs: np.ndarray, pull: float, height: float, *, curls: float = -2.7) -> object:
    """Sets the bucket into the pile, curls it, carries it over the dump, and opens it."""
    joint, load, pile, dump = obs[:3], obs[6], obs[7], obs[8]
    x, y = reach(joint)
    if load > 0.03 and abs(x - dump) < 0.35:
        aim, tilt = (dump, height), -1.2
    elif load > 0.9:
        aim, tilt = (pile if y < 0.6 * height else dump, height), curls
    elif abs(x - pile) > 0.4:
        aim, tilt = (pile, 1.8), -1.3
    else:
        aim, tilt = (pile, 0.2), -1.3 if y > 0.45 else -2.8
    return pull * (_bent(np.array(aim), tilt, joint) - joint)


@tuned
def conveyor(obs: np.ndarray, pull: float, ahead: float, height: float) -> object:
    """Meets the thing from above `ahead` seconds on, grips it, and lets it go over the box."""
    hand, grip, thing, belt, box = obs[:3], obs[3], obs[4:7], obs[7], obs[8:10]
    if grip < 5 and np.abs(thing - hand).max() < 0.01:
        over = np.linalg.norm(box - hand[:2]) < 3
        aim = np.append(box if hand[2] > 0.5 * height else hand[:2], height)
        return [*(pull * (aim - hand)), 40.0 if over else -5.0]
    gap = thing - hand + ahead * belt * np.array([1, 0, 0])
    if np.linalg.norm(gap[:2]) > 2:
        gap[2] += height
    return [*(pull * gap), -40.0 if np.linalg.norm(thing - hand) < 1.7 else 40.0]


@tuned
def floating_ball(obs: np.ndarray, stiffness: float, damping: float) -> object:
    """The voltage for the current that pulls the ball back to where it should be."""
    gap, speed, current, wish = obs
    fall = -stiffness * np.clip(gap - wish, -2.5, 2.5) - damping * speed
    wanted = gap / 12 * np.sqrt(max(0.0, 1 - fall / 0.0098))
    return [10 * current + 25 * (wanted - current) - 10]
