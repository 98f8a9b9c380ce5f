"""Running a finished policy: returns over episodes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rilco.errors import ConfigError, RunError
from rilco.policy.saved import Policy, load_policy
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import Evaluation, RolloutPool, default_workers
from rilco.tasks.table import Task
from rilco.tasks.trust import trust


def evaluate(
    policy: Policy | str | os.PathLike[str],
    *,
    episodes: int = 10,
    seed: int = 0,
    task: Task | None = None,
    env: Any = None,
    env_kwargs: Mapping[str, Any] | None = None,
    workers: int | None = None,
    trust_env: bool = False,
) -> Evaluation:
    """Returns and lengths of whole episodes with the deterministic policy, as `rilco evaluate` gives them.

    `policy` may be anything that `load_policy` takes. The environment is the policy's own, unless `env` or a `Task`
    says otherwise. `env` is an id, a class or function of a module with its `env_kwargs`, or an `EnvSpec`.
    `trust_env` allows the policy's file to name a module that is imported.

        >>> rilco.evaluate("runs/mine", episodes=3).lengths.tolist()
        [200, 200, 200]
    """
    if episodes < 1:
        raise ConfigError(f"--episodes {episodes}: expected at least 1.")
    if not isinstance(policy, Policy):
        policy = load_policy(policy)
    if env is not None:
        task = Task(env=env, env_kwargs=env_kwargs or {}, obs_keys=policy.card.get("obs_keys", ()))
    elif task is None:
        task = task_of(policy, trust_env=trust_env)
        task = task if env_kwargs is None else replace(task, env_kwargs=env_kwargs)
    check_fits(policy, task)
    workers = min(workers or default_workers(), episodes)
    sizes = Sizes(workers, 1, policy.obs_dim, policy.actions, policy.hidden_sizes)
    with RolloutPool(task, sizes, seed=seed, num_workers=workers) as pool:
        return pool.evaluate(policy, episodes=episodes, seed=seed)


def task_of(policy: Policy, *, trust_env: bool = False) -> Task:
    """The environment that a policy's card names; `trust_env` allows it to be any module's."""
    task, env = policy.card.get("task"), policy.card.get("env")
    if task is None and env is None:
        raise RunError(
            f"{policy}: this policy's file does not say what environment it is for. Evaluate it with --env ID; from "
            "Python, `rilco.evaluate(policy, env=...)`."
        )
    how = {name: policy.card[name] for name in ("env_kwargs", "obs_keys") if name in policy.card}
    made = Task(task=task, env=env, named_by=policy.file, **how)
    if trust_env:
        trust(made.name)
    return made


def check_fits(policy: Policy, task: Task) -> None:
    """Raises unless the policy's observations and actions are those of the environment."""
    spaces = task.spaces()
    ours, theirs = (policy.obs_dim, policy.action_dim), (spaces.observations.width, spaces.actions.width)
    if ours != theirs or policy.actions.choices != spaces.actions.choices:
        raise RunError(
            f"{policy}: takes {ours[0]} observation and gives {ours[1]} action dimensions, but {task.name} has "
            f"{theirs[0]} and {theirs[1]}{' choices' if spaces.actions.choices else ''}. The policy was trained for "
            "another environment."
        )
