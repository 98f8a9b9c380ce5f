"""Gymnasium ids of the Bullet tasks, registered when Gymnasium loads its plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gymnasium

from rilco.tasks.robots import ROBOTS, TIME_LIMIT
from rilco.tasks.trust import is_trusted

if TYPE_CHECKING:
    from rilco.tasks.table import Task


def gymnasium_id(task: str) -> str:
    """`halfcheetah` -> `rilco/HalfCheetahBullet-v0`."""
    return f"rilco/{ROBOTS[task].stock_id.removesuffix('BulletEnv-v0')}Bullet-v0"


def name_in_files(task: Task | None) -> str | None:
    """The id that a dataset may name. None where only another file does: some formats import what they name."""
    if task is None or not is_trusted(task.name, task.named_by):
        return None
    return task.env if task.task is None else gymnasium_id(task.task)


def register_environments() -> None:
    for task in ROBOTS:
        if gymnasium_id(task) not in gymnasium.registry:
            gymnasium.register(
                gymnasium_id(task),
                entry_point="rilco.tasks.gym_env:BulletEnv",
                max_episode_steps=TIME_LIMIT,
                kwargs={"task": task},
            )
