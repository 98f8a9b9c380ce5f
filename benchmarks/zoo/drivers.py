"""Scripted controllers for the machines and the vehicles; where linear feedback suffices, the tasks use that."""

from __future__ import annotations

import numpy as np
from benchmarks.zoo.controllers import Factory, tuned, vary
from benchmarks.zoo.faults import Controller


@tuned
def quadrotor(
    obs: np.ndarray, pull: float, speed: float, levelling: float, *, climb_first: bool = False
) -> object:
    """Tilts towards the goal as far as its speed limit lets it; or climbs to its height first."""
    gap, tilt = obs[7:9] - obs[:2], np.arctan2(obs[5], obs[4])
    if climb_first and abs(gap[1]) > 0.3:
        gap[0] = 0.0
    wanted = np.clip(pull * gap, -speed, speed)
    push = np.clip(2 * (wanted - obs[2:4]), -4, 4)
    turn = levelling * (-push[0] / 9.8 - tilt) - 0.12 * obs[6]
    return push[1] / 9.8 + np.array([-turn, turn])


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


@tuned
def acrobot(obs: np.ndarray, push: float, shoulder: float, stiffness: float) -> object:
    """Pushes the way it swings, by the speed of the elbow and `shoulder` of the bar's, and keeps straight."""
    bend, swing = np.arctan2(obs[3], obs[1]), shoulder * obs[4] + (1 - shoulder) * obs[5]
    return np.array([push * np.tanh(2 * swing) - stiffness * bend])


@tuned
def bowl(obs: np.ndarray, push: float, softness: float, steering: float) -> object:
    """Pushes the way it moves along the line to the goal, and damps what goes aside."""
    velocity, along = obs[2:4], obs[4:6] / np.linalg.norm(obs[4:6])
    aside = np.array([-along[1], along[0]])
    pump = push * np.tanh((velocity @ along + 1e-3) / softness)
    return pump * along - steering * (velocity @ aside) * aside


@tuned
def disc_push(obs: np.ndarray, speed: float, patience: float) -> object:
    """Goes round the disc to behind it, and pushes; corrects when more than `patience` off the line."""
    finger, disc, goal = obs[:2], obs[2:4], obs[4:6]
    way = (goal - disc) / (np.linalg.norm(goal - disc) + 1e-6)
    place, side = finger - disc, np.array([-way[1], way[0]])
    if place @ way < 0 and abs(place @ side) < patience:
        aim = disc - 0.7 * way - finger + way
    elif place @ way > -0.6:  # beside or before the disc: round it at a distance
        aim = disc - way + 1.1 * np.copysign(1.0, place @ side) * side - finger
    else:
        aim = disc - 1.2 * way - finger
    return speed * aim / max(0.3, float(np.linalg.norm(aim)))


@tuned
def path_follower(obs: np.ndarray, speed: float, stiffness: float, straightening: float) -> object:
    """Turns with the line's bend a little ahead, back to the line, and along it."""
    turn = speed * (obs[3] + obs[4]) / 2 - stiffness * obs[0] - straightening * np.arctan2(obs[2], obs[1])
    return (speed + 0.15 * turn * np.array([-1, 1])) / 0.05


@tuned
def parking(obs: np.ndarray, speed: float, reach: float, steering: float) -> object:
    """Steers for a point of the slot's middle line that lies `reach` metres ahead, and slows down."""
    x, y, cos, sin, now = obs
    off = np.arctan2(-y, reach) - np.arctan2(sin, cos)
    wanted = np.clip(-0.6 * x, -0.5, speed)
    return np.array([2 * (wanted - now), steering * off * np.sign(now)])


@tuned
def boat(obs: np.ndarray, throttle: float, steering: float, *, aside: float = 0.0) -> object:
    """Points the bow at the buoy, or `aside` radians beside it while it is far, against the drift."""
    gap, bow, drift = obs[7:9] - obs[:2], obs[2:4], obs[4:6]
    distance = float(np.linalg.norm(gap))
    across = np.array([-gap[1], gap[0]]) / distance
    wanted = np.arctan2(gap[1], gap[0]) + aside * min(1.0, distance / 15)
    wanted -= 0.4 * (drift @ across) * min(1.0, distance / 5) * (aside == 0)
    off = wanted - np.arctan2(bow[1], bow[0])
    off = np.arctan2(np.sin(off), np.cos(off))
    thrust = 300 * throttle * max(0.3, np.cos(off)) * min(1.0, 0.3 + distance / 10)
    return np.array([thrust, steering * off - 0.5 * obs[6]])


@tuned
def stirred_tank(obs: np.ndarray, inlet: float, heater: float, *, knows: float = 1.0) -> object:
    """Gives what the wanted state needs, as far as it `knows`, and more the farther off the tank is."""
    level, warm, inflow, wanted, warmth = obs
    into = 30 * np.sqrt(wanted) / 4 - 50
    opening = knows * into + inlet * (wanted - level)
    flow = 4 * (50 + np.clip(opening, -50, 50))
    heat = flow * (warmth - inflow) / 144 - 50
    return np.array([opening, knows * heat + heater * (warmth - warm)])


@tuned
def spring_arm(obs: np.ndarray, stiffness: float, damping: float, link: float) -> object:
    """Turns the motor to the goal, damps it, and damps the link through the spring."""
    motor, _, motor_speed, load_speed, goal = obs
    return np.array([stiffness * (goal - motor) - damping * motor_speed + link * (motor_speed - load_speed)])
