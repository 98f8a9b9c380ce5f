"""Names to environments: `--task NAME` for the Bullet tasks, `--env ID` for any Gymnasium environment."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass

from rilco.errors import ConfigError, TaskError, suggestion
from rilco.tasks.batch import Batch
from rilco.tasks.robots import ROBOTS


@dataclass(frozen=True)
class Task:
    """Which environment a run uses; exactly one of the two is set."""

    task: str | None = None
    """A Bullet task: halfcheetah, hopper, walker2d or ant."""
    env: str | None = None
    """A Gymnasium id, optionally with the module that registers it: `module:Id-v0`."""

    def __post_init__(self) -> None:
        if (self.task is None) == (self.env is None):
            raise ConfigError(
                f"Choose one environment: --task NAME ({', '.join(ROBOTS)}) or --env GYMNASIUM_ID; "
                f"got --task {self.task}, --env {self.env}."
            )
        if self.task is not None and self.task not in ROBOTS:
            raise ConfigError(
                f"--task {self.task}: unknown task; known are {', '.join(ROBOTS)}.{suggestion(self.task, ROBOTS)} "
                "Other environments are given by --env GYMNASIUM_ID."
            )

    @property
    def name(self) -> str:
        return self.task or self.env or ""

    def make_batch(self, num_envs: int, *, render: bool = False) -> Batch:
        """Environments of this task, stepped together."""
        if self.task is not None:
            require_pybullet()
            from rilco.tasks.bullet import BulletBatch

            return BulletBatch(ROBOTS[self.task], num_envs)
        from rilco.tasks.gym_batch import GymBatch

        return GymBatch(self.name, num_envs, **({"render_mode": "rgb_array"} if render else {}))

    def dimensions(self) -> tuple[int, int]:
        """obs_dim and action_dim; an environment of the user's is built to find them."""
        if self.task is not None:
            require_pybullet()
            return ROBOTS[self.task].obs_dim, ROBOTS[self.task].action_dim
        batch = self.make_batch(1)
        try:
            return batch.obs_dim, batch.action_dim
        finally:
            batch.close()


def require_pybullet() -> None:
    """Raises unless PyBullet is installed, without importing it."""
    if importlib.util.find_spec("pybullet") is None:
        raise TaskError(
            "The Bullet tasks need PyBullet, which is not installed here. Install it with "
            "`pip install 'rilco[bullet]'` (wheels exist for Python 3.11 and older), or use --env with an "
            "environment of your own."
        )
