"""Gymnasium ids of the Bullet tasks, registered when Gymnasium loads its plugins."""

from __future__ import annotations

import gymnasium

from rilco.tasks.robots import ROBOTS, TIME_LIMIT


def gymnasium_id(task: str) -> str:
    """`halfcheetah` -> `rilco/HalfCheetahBullet-v0`."""
    return f"rilco/{ROBOTS[task].stock_id.removesuffix('BulletEnv-v0')}Bullet-v0"


def register_environments() -> None:
    for task in ROBOTS:
        if gymnasium_id(task) not in gymnasium.registry:
            gymnasium.register(
                gymnasium_id(task),
                entry_point="rilco.tasks.gym_env:BulletEnv",
                max_episode_steps=TIME_LIMIT,
                kwargs={"task": task},
            )
