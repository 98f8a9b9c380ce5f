"""The four Bullet robots: what differs between them, and nothing else.

The numbers are facts of the PyBullet locomotion environments (`*BulletEnv-v0`): power, per-joint
coefficients, which links count as feet and when a robot is considered fallen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TIME_LIMIT = 1000
"""Steps after which every task cuts an episode."""


@dataclass(frozen=True)
class Robot:
    """One MJCF robot of `pybullet_data` and the constants of its task."""

    name: str  # task name on the command line
    stock_id: str  # id of the same task in `pybullet_envs_gymnasium`
    model: str  # MJCF file under `pybullet_data/mjcf`
    obs_dim: int  # numbers in an observation
    action_dim: int  # motors
    power: float  # factor on every motor torque
    feet: tuple[str, ...]  # links whose ground contact is part of the observation, in that order
    joint_power: Mapping[str, float] = field(default_factory=dict, hash=False)  # torques; 100 where absent
    min_height: float = -float("inf")  # fallen when the torso's centre is at or below this height
    max_pitch: float = float("inf")  # fallen when the torso pitches this far (radians)
    knees: tuple[int, ...] = ()  # indices into `feet` that must not touch the ground
    ends_when_fallen: bool = True  # else a fall only costs the alive bonus (HalfCheetah)


ROBOTS = {
    robot.name: robot
    for robot in (
        Robot(
            name="halfcheetah",
            stock_id="HalfCheetahBulletEnv-v0",
            model="half_cheetah.xml",
            obs_dim=26,
            action_dim=6,
            power=0.90,
            feet=("ffoot", "fshin", "fthigh", "bfoot", "bshin", "bthigh"),
            joint_power={
                "bthigh": 120.0,
                "bshin": 90.0,
                "bfoot": 60.0,
                "fthigh": 140.0,
                "fshin": 60.0,
                "ffoot": 30.0,
            },
            max_pitch=1.0,
            knees=(1, 2, 4, 5),
            ends_when_fallen=False,
        ),
        Robot(
            name="hopper",
            stock_id="HopperBulletEnv-v0",
            model="hopper.xml",
            obs_dim=15,
            action_dim=3,
            power=0.75,
            feet=("foot",),
            min_height=0.8,
            max_pitch=1.0,
        ),
        Robot(
            name="walker2d",
            stock_id="Walker2DBulletEnv-v0",
            model="walker2d.xml",
            obs_dim=22,
            action_dim=6,
            power=0.40,
            feet=("foot", "foot_left"),
            joint_power={"foot_joint": 30.0, "foot_left_joint": 30.0},
            min_height=0.8,
            max_pitch=1.0,
        ),
        Robot(
            name="ant",
            stock_id="AntBulletEnv-v0",
            model="ant.xml",
            obs_dim=28,
            action_dim=8,
            power=2.5,
            feet=("front_left_foot", "front_right_foot", "left_back_foot", "right_back_foot"),
            min_height=0.26,
        ),
    )
}
