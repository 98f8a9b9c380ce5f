"""Scripted controllers for the rigs, the racing car, the pusher and the fish."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from benchmarks.zoo.controllers import Factory, tuned, vary
from benchmarks.zoo.faults import Controller


@tuned
def furuta(obs: np.ndarray, pump: float, centring: float, *, catches: float = 0.9) -> object:
    """Pumps energy with the arm, then balances by linear feedback."""
    arm, tip = np.arctan2(obs[1], obs[0]), np.arctan2(obs[3], obs[2])
    if obs[2] > catches:
        return [0.18 * arm + 0.15 * obs[4] - 3.6 * tip - 0.5 * obs[5]]
    energy = 0.0015 * obs[5] ** 2 + 0.147 * (obs[2] - 1.15)  # a little more than at rest at the top
    return [-pump * np.tanh(energy / 0.05) * np.sign(obs[5] * obs[2]) - centring * (arm + 0.3 * obs[4])]


@tuned
def swing(obs: np.ndarray, stroke: float, quickness: float, softness: float) -> object:
    """Crouches on the way down, and rises on the way up."""
    up = np.tanh(obs[1] * obs[2] / softness)
    return [quickness * (2.5 - stroke * up - obs[3])]


@tuned
def trailer(obs: np.ndarray, speed: float, reach: float, steering: float) -> object:
    """Bends the hitch so that the trailer heads for a point of the dock's middle line `reach` metres behind it."""
    x, y, cos, sin, bend, now = obs
    off = np.arctan2(sin, cos) - np.arctan2(y, reach)
    back = max(0.2, -now)
    bent = np.clip(steering * off / back, -0.5, 0.5)
    wheels = np.arctan(0.6 * np.sin(bend) - 3 * (bent - bend) / back)
    return [1.5 * (np.clip(-0.5 * x, -speed, 0.3) - now), wheels]


@tuned
def pouring(obs: np.ndarray, pull: float, flow: float, caution: float) -> object:
    """Tilts past the edge by what is still missing, no more than `flow` degrees, and back a little before the end."""
    tilt, _, cup, glass, wanted = obs
    missing = wanted - glass
    past = min(flow, ((missing - 6) / caution) ** (2 / 3)) if missing > 7 else -12.0
    return [pull * (past - tilt + 90 - 0.15 * cup)]


@tuned
def peg(obs: np.ndarray, pull: float, down: float, *, height: float = 8.0) -> object:
    """Over the hole at a height, then down, the slower the harder it presses."""
    aside = obs[6:8] - (obs[:2] - obs[3:5] / 5)
    over = obs[2] < -0.5 or np.abs(aside).max() < 1.0
    sink = -down / (1 + max(0.0, obs[5]) / 20) if over else pull * (height - obs[2])
    return [*(pull * aside), sink]


@tuned
def monopod(obs: np.ndarray, placing: float, thrust: float, swinging: float) -> object:
    """Puts the foot where the speed stays, and farther ahead to slow down; stretches the leg when it is on the ground."""
    _, ahead, up, leg, length, wanted = obs
    foot = 0.085 * ahead + placing * (ahead - wanted)
    return [swinging * (np.arcsin(np.clip(foot, -0.5, 0.5)) - leg), thrust * (length < 1 and up > 0)]


@tuned
def racer(obs: np.ndarray, speed: float, line: float, heading: float) -> object:
    """Steers with the bend ahead, back to the line and along it; slower where it bends."""
    aside, cos, sin, ahead, _, turn, near, far = obs
    wanted = speed / (1 + 15 * max(abs(near), abs(far)))
    wheel = 4 * near - line * aside - heading * np.arctan2(sin, cos) - 0.15 * turn
    return [wheel, 0.15 * (wanted - ahead)]


@cache
def _lqr() -> np.ndarray:
    from dm_control import suite
    from dm_control.suite import lqr_solver

    gains: np.ndarray = lqr_solver.solve(suite.load("lqr", "lqr_6_2", task_kwargs={"random": 0}))[1]
    return gains


@tuned
def chain(obs: np.ndarray, strength: float, *, ends: float = 1.0) -> object:
    """The optimal linear feedback, times `strength`; the second motor gives `ends` of its part."""
    return strength * np.array([1.0, ends]) * (_lqr() @ obs)


@cache
def _pusher_arm() -> tuple[Any, Any]:
    import gymnasium as gym

    env: Any = gym.make("Pusher-v5").unwrapped
    return env.model, env.data


_BENT = np.array([0.0, 0.0, -1.0, -0.54, 0.0, -0.06, 0.0])
"""How the pusher's arm is bent where that moves its tip little; its first two joints are free."""


@tuned
def pusher(obs: np.ndarray, pull: float, damping: float, *, patience: float = 0.3) -> object:
    """Moves the tip behind the object and through it to the goal, by the inverse of the arm's Jacobian."""
    import mujoco

    model, data = _pusher_arm()
    data.qpos[:7] = obs[:7]
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    jacobian, body = np.zeros((3, model.nv)), model.body("tips_arm").id
    mujoco.mj_jac(model, data, jacobian, None, data.xipos[body], body)
    tip, thing, goal = obs[14:17], obs[17:20], obs[20:22]
    way = (goal - thing[:2]) / (np.linalg.norm(goal - thing[:2]) + 1e-6)
    place, side = (tip - thing)[:2], np.array([-way[1], way[0]])
    if place @ way < 0 and abs(place @ side) < patience:
        aim = -0.8 * (place @ side) * side
    else:
        aim = 0.16 * np.copysign(1.0, place @ side) * side - 0.12 * way
    error = np.append(thing[:2] + aim, thing[2]) - tip
    error = error * min(1.0, 0.1 / (float(np.linalg.norm(error)) + 1e-6))
    there = jacobian[:, :7]
    back = there.T @ np.linalg.inv(there @ there.T + 5e-4 * np.eye(3))
    bend = np.where(_BENT, _BENT - obs[:7], 0.0)
    return pull * (back @ error + 0.07 * (bend - back @ (there @ bend))) - damping * obs[7:14]


def fish(beat: float, stroke: float, damping: float) -> Factory:
    """Beats its tail `beat` times a second, and keeps itself from turning with tail and fins."""

    def make(rng: np.random.Generator) -> Controller:
        hertz, wide, d = vary(rng, beat, stroke, damping)
        phase = rng.uniform(0, 2 * np.pi)

        def act(obs: np.ndarray) -> np.ndarray:
            nonlocal phase
            phase += 2 * np.pi * hertz * 0.04
            fins = -d * obs[14]
            return np.array([wide * np.sin(phase) - d * obs[16], 0.0, 0.0, fins, fins])

        return act

    return make
