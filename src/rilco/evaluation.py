"""Running a finished policy: returns over episodes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rilco.errors import RunError, whole
from rilco.policy.saved import Policy, load_policy
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import Evaluation, RolloutPool, num_workers
from rilco.tasks.table import Task
from rilco.tasks.trust import trust


def evaluate(
    policy: Policy | str | os.PathLike[str],
    *,
    episodes: int = 10,
    seed: int = 0,
    task: Task | str | None = None,
    env: Any = None,
    env_kwargs: Mapping[str, Any] | None = None,
    workers: int | None = None,
    trust_env: bool = False,
) -> Evaluation:
    """Returns and lengths of whole episodes with the deterministic policy, as `rilco evaluate` gives them.

    `policy` may be anything that `load_policy` takes. The environment is the policy's own, unless `task` or `env` says
    otherwise; they are those of `train`. `trust_env` allows the policy's file to name a module that is imported.

        >>> rilco.evaluate("runs/mine", episodes=3).lengths.tolist()
        [200, 200, 200]
    """
    policy, episodes = load_policy(policy), whole("episodes", episodes)
    place = task_of(policy, task=task, env=env, env_kwargs=env_kwargs, trust_env=trust_env)
    check_fits(policy, place)
    workers = min(num_workers(workers), episodes)
    sizes = Sizes(workers, 1, policy.obs_dim, policy.actions, policy.hidden_sizes)
    with RolloutPool(place, sizes, seed=seed, num_workers=workers) as pool:
        return pool.evaluate(policy, episodes=episodes, seed=seed)


def task_of(
    policy: Policy,
    *,
    task: Task | str | None = None,
    env: Any = None,
    env_kwargs: Mapping[str, Any] | None = None,
    trust_env: bool = False,
) -> Task:
    """The environment that was given, else the one that a policy's card names; `trust_env` allows it to be any module's."""
    card = policy.card
    if task is not None or env is not None:
        made = Task.of(task, env, env_kwargs, card.get("obs_keys", ()))
    elif card.get("task") is None and card.get("env") is None:
        raise RunError(
            f"{policy}: this policy does not say what environment it is for. Name it: --env ID; from Python, env=..."
        )
    else:
        how = {name: card[name] for name in ("task", "env", "env_kwargs", "obs_keys") if name in card}
        how |= {} if env_kwargs is None else {"env_kwargs": env_kwargs}
        made = Task(named_by=policy.file, **how)
    if trust_env:
        trust(made.name)
    return made


def check_fits(policy: Policy, task: Task) -> None:
    """Raises unless the policy's observations and actions are those of the environment."""
    spaces = task.spaces()
    ours, theirs = (policy.obs_dim, policy.action_dim), (spaces.observations.width, spaces.actions.width)
    kinds = [
        "".join(
            f", a choice of {n} from {first:g} on"
            for n, first in zip(each.choices, each.origin, strict=False)
        )
        for each in (policy.actions, spaces.actions)
    ]
    if ours != theirs or kinds[0] != kinds[1]:
        raise RunError(
            f"{policy}: takes {ours[0]} numbers and gives {ours[1]}{kinds[0]}, but {task.name} shows "
            f"{theirs[0]} and takes {theirs[1]}{kinds[1]}. The policy was trained for another environment."
        )
