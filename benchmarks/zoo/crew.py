"""Scripted controllers for the chores, the capsule, the wheel's pendulum, the rowing boat and the finger."""

from __future__ import annotations

import numpy as np
from benchmarks.zoo.controllers import Factory, tuned, vary
from benchmarks.zoo.faults import Controller


@tuned
def mower(
    obs: np.ndarray,
    speed: float,
    turning: float,
    *,
    order: tuple[int, ...] = (0, 1, 2, 3),
    reach: float = 0.4,
) -> object:
    """Mows on where something is left ahead in its lane; else goes to the nearer end of what the next lane has left."""
    place, ends, ahead = obs[:2], obs[7:].reshape(4, 2), np.sign(obs[2])
    left = [k for k in order if ends[k].any()]
    if not left:
        return [0.0, 0.0]
    within = [k for k in left if abs(place[1] - k / 2) < 0.2 and abs(obs[2]) > 0.9]
    here = [k for k in within if (ahead * (ends[k] - place[0])).max() > 0]
    lane = (here or left)[0]
    along = place[0] + reach * ahead if here else min(ends[lane], key=lambda end: abs(end - place[0]))
    gap = np.array([along, lane / 2]) - place
    off = np.arctan2(gap[1], gap[0]) - np.arctan2(obs[3], obs[2])
    off = np.arctan2(np.sin(off), np.cos(off))
    return [speed * max(0.0, np.cos(off)) ** 3, turning * off]


@tuned
def valve(obs: np.ndarray, quickness: float, stroke: float) -> object:
    """Turns it by `stroke` to either side, lets go, turns back, and grips again."""
    wrist, _, grip, now, wanted = obs
    left = wanted - now
    side, at = np.sign(left), np.sign(left) * wrist
    if abs(left) < 0.05:
        return [0.0, -5.0]
    if grip > 0.8 and at < stroke:
        return [np.clip(quickness * left, -3, 3), 5.0]
    if at > -stroke and not (grip > 0.4 and at < stroke):
        return [0.0 if grip > 0.4 else -3.0 * side, -5.0]
    return [0.0, 5.0 if at < stroke else -5.0]


@tuned
def juggler(obs: np.ndarray, lift: float, centring: float, *, plane: float = 0.0) -> object:
    """The racket is the ball's mirror image below `plane`, moves the more the higher it is to fly, and tilts it inwards."""
    x, y, ahead, up, at, height, tilt, wish = obs
    share = 0.11 + lift * (wish - y - up**2 / 19.6)
    meet = plane - share * (y - plane)
    wanted = centring * x + 0.3 * centring * ahead
    return [ahead + 8 * (x - at), -share * up + 15 * (meet - height), 20 * (wanted - tilt)]


@tuned
def capsule(obs: np.ndarray, speed: float, quickness: float, *, waits: float = 3.0) -> object:
    """Flies round the station to `waits` times as far out as the port, then in."""
    place, now, port = obs[:2], obs[2:4], obs[4:6]
    out = port / np.linalg.norm(port)
    far, turn = np.linalg.norm(place), np.arctan2(out[0] * place[1] - out[1] * place[0], place @ out)
    aim = port
    if abs(turn) > 0.2 and far < 150:
        angle = np.arctan2(out[1], out[0]) + turn - np.clip(turn, -0.5, 0.5)
        aim = max(waits * 10, 0.9 * far) * np.array([np.cos(angle), np.sin(angle)])
    gap = aim - place
    left = float(np.linalg.norm(gap))
    wanted = min(speed, 0.02 * left, np.sqrt(0.006 * left)) * gap / left
    pull = np.array([3 * 0.00113**2 * place[0] + 0.00226 * now[1], -0.00226 * now[0]])
    return 1000 * (quickness * (wanted - now) - pull)


@tuned
def wheel_pendulum(obs: np.ndarray, pump: float, slowing: float, *, catches: float = 0.97) -> object:
    """Pumps energy by the wheel, then balances by linear feedback that also slows the wheel."""
    angle, turn, wheel = np.arctan2(obs[1], obs[0]), obs[2], obs[3]
    if obs[0] > catches:
        return [4.0 * angle + 0.6 * turn + slowing * wheel]
    energy = 0.01 * turn**2 + obs[0] - 1.02
    return [pump * np.tanh(energy / 0.2) * np.sign(turn) - 0.0002 * wheel]


@tuned
def rower(obs: np.ndarray, strength: float, stroke: float, steering: float) -> object:
    """Dips the blades when the oars are forwards and lifts them when they are back; pulls less on the side it turns to."""
    gap, turn, oars, dip = obs[10:12] - obs[:2], obs[5], obs[6:8], obs[8:10]
    off = np.arctan2(gap[1], gap[0]) - np.arctan2(obs[3], obs[2])
    more = np.clip(steering * np.arctan2(np.sin(off), np.cos(off)) - turn, -0.8, 0.8)
    pull = strength * np.minimum(1.0, 1 + more * np.array([-1, 1]))
    under = dip > 0.5
    sweep = np.where(under, -pull, 2.0)
    blades = np.where(under, np.where(oars > -stroke, 6.0, -6.0), np.where(oars > stroke, 6.0, -6.0))
    return [*sweep, *blades]


def finger(
    beat: float, inner: tuple[float, float], outer: tuple[float, float], lead: float, grip: float
) -> Factory:
    """Strokes the spinner `beat` times a second; each joint has a middle and a width."""

    def make(rng: np.random.Generator) -> Controller:
        hertz, wide, far, p = vary(rng, beat, inner[1], outer[1], grip)
        phase = rng.uniform(0, 2 * np.pi)

        def act(obs: np.ndarray) -> np.ndarray:
            nonlocal phase
            phase += 2 * np.pi * hertz * 0.02
            wanted = [inner[0] + wide * np.sin(phase), outer[0] + far * np.sin(phase + lead)]
            return p * (np.array(wanted) - obs[:2]) - 0.1 * obs[4:6]

        return act

    return make
