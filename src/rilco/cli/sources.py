"""Policies and files that commands are given by name."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rilco.policy.saved import Policy
    from rilco.tasks.table import Task


trust_option = click.option(
    "--trust-env",
    is_flag=True,
    help="Import the module of an environment that only a file names. It runs that module's code.",
)


def environment(
    policy: Policy,
    task: str | None,
    env: str | None,
    env_kwargs: dict[str, Any] | None = None,
    *,
    trust_env: bool,
) -> Task:
    """What was asked for, else what the policy was trained in."""
    from rilco.evaluation import task_of
    from rilco.tasks.table import Task

    if task is None and env is None:
        own = task_of(policy, trust_env=trust_env)
        return own if env_kwargs is None else dataclasses.replace(own, env_kwargs=env_kwargs)
    return Task(task=task, env=env, env_kwargs=env_kwargs or {}, obs_keys=policy.card.get("obs_keys", ()))


def demonstrator_names(sources: tuple[str, ...]) -> list[str]:
    """The last part of each path; all of it where two would be called the same."""
    names = [Path(source).name or source for source in sources]
    return [name if names.count(name) == 1 else source for name, source in zip(names, sources, strict=True)]
