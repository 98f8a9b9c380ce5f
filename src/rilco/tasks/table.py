"""Names to environments: `--task NAME` for the Bullet tasks, `--env ID` for any Gymnasium environment."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rilco.errors import ConfigError, TaskError, suggestion
from rilco.tasks.actions import Actions
from rilco.tasks.batch import Batch, Spaces
from rilco.tasks.observations import Observations, Part
from rilco.tasks.robots import ROBOTS
from rilco.tasks.trust import require_trust


@dataclass(frozen=True)
class Task:
    """The environment of a run: a Bullet task, or any other. Cloning needs none: `Task()`.

    >>> rilco.Task(env="Pendulum-v1", env_kwargs={"g": 3.7}).dimensions()
    (3, 1)
    """

    task: str | None = None
    """A Bullet task: halfcheetah, hopper, walker2d or ant."""
    env: str | None = None
    """A Gymnasium id, optionally with the module that registers it (`module:Id-v0`), or `module:factory`. A class, a
    function or an `EnvSpec` becomes its name here."""
    env_kwargs: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Keyword arguments of the environment, such as JSON can hold."""
    obs_keys: tuple[str, ...] = ()
    """Parts of a dictionary of observations to use, in order. Empty: all, sorted by name."""
    named_by: str = field(default="", compare=False, repr=False)
    """The file that names it; empty where the user does (see `rilco.tasks.trust`)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "obs_keys", tuple(self.obs_keys))
        if self.task is not None and self.env is not None:
            raise ConfigError(
                f"Choose one environment: --task NAME ({', '.join(ROBOTS)}) or --env GYMNASIUM_ID; "
                f"got --task {self.task}, --env {self.env}."
            )
        if self.task is not None and self.task not in ROBOTS:
            raise ConfigError(
                f"--task {self.task}: unknown task; known are {', '.join(ROBOTS)}.{suggestion(self.task, ROBOTS)} "
                "Other environments are given by --env GYMNASIUM_ID."
            )
        if self.env is None:
            if self.env_kwargs:
                raise ConfigError(f"--env-kwargs: --task {self.task} takes none. They go with --env.")
        elif not isinstance(self.env, str) or self.env_kwargs or ":" not in self.env:
            from rilco.tasks.factory import name_environment

            env, kwargs = name_environment(self.env, self.env_kwargs)
            object.__setattr__(self, "env", env)
            object.__setattr__(self, "env_kwargs", kwargs)

    @classmethod
    def of(
        cls,
        task: Task | str | None = None,
        env: Any = None,
        env_kwargs: Mapping[str, Any] | None = None,
        obs_keys: Sequence[str] = (),
    ) -> Task:
        """The environment that a user names; either name may be a `Task` already, to which the rest is added."""
        given = env if task is None else task
        if isinstance(given, Task) and None in (task, env):
            kwargs = {**given.env_kwargs, **(env_kwargs or {})}
            return replace(given, env_kwargs=kwargs, obs_keys=given.obs_keys or tuple(obs_keys))
        return cls(task, env, env_kwargs or {}, tuple(obs_keys))  # type: ignore[arg-type]

    @property
    def name(self) -> str:
        return self.task or self.env or ""

    def card(self) -> dict[str, Any]:
        """Entries of a policy's card: how its environment is made, and what it shows where that is no plain array."""
        shown = self.spaces().observations.described() if self.env else []
        details = {
            "env_kwargs": dict(self.env_kwargs),
            "obs_keys": list(self.obs_keys),
            "observations": shown,
        }
        own = {name: value for name, value in details.items() if value}
        return {"task": self.task, "env": self.env, **own}

    def make_batch(self, num_envs: int, *, render: bool = False) -> Batch:
        """Environments of this task, stepped together."""
        self._require()
        if self.task is not None:
            from rilco.tasks.bullet import BulletBatch

            return BulletBatch(ROBOTS[self.task], num_envs)
        from rilco.tasks.gym_batch import GymBatch

        return GymBatch(self.name, num_envs, self.env_kwargs, self.obs_keys, render=render)

    def spaces(self) -> Spaces:
        """Observations and actions of the environment; one of the user's is built to find out."""
        self._require()
        if self.task is not None:
            robot = ROBOTS[self.task]
            # Actions as they are, since motors take +-1: the published numbers depend on it.
            return Spaces(Observations((Part("", robot.obs_dim),)), Actions((robot.action_dim,)))
        return _gym_spaces(self)

    def _require(self) -> None:
        """Raises unless there is an environment that may be made."""
        if not self.name:
            raise ConfigError("Choose an environment: --task NAME, or --env GYMNASIUM_ID.")
        if self.task is not None and importlib.util.find_spec("pybullet") is None:
            raise TaskError(
                "The Bullet tasks need PyBullet, which is not installed here. Install it with "
                "`pip install '.[bullet]'` in rilco's folder (wheels exist for Python 3.11 and older), or use "
                "--env with an environment of your own."
            )
        require_trust(self.name, self.named_by)

    def shown(self) -> tuple[str, ...]:
        """Names of the parts of an observation, to be looked for in demonstrations; empty where it is an array."""
        return self.spaces().observations.names if self.env else ()

    def flatten(self, obs: Any) -> np.ndarray:
        """An observation of the environment, such as a dictionary, as the vector that `Policy.predict` takes."""
        return self.spaces().observations.flatten(obs, self.name)

    def dimensions(self) -> tuple[int, int]:
        """Inputs and outputs of a policy."""
        spaces = self.spaces()
        return spaces.observations.width, spaces.actions.width


@functools.lru_cache(maxsize=32)
def _gym_spaces(task: Task) -> Spaces:
    from rilco.tasks.gym_batch import find_spaces

    return find_spaces(task.name, task.env_kwargs, task.obs_keys)
