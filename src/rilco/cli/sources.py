"""Policies and files that commands are given by name."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rilco.policy.saved import Policy
    from rilco.tasks.table import Task

# A policy that comes with rilco, for example ant#1: its task, and its place in the ladder from 1 (the expert) to 6.
SHIPPED = re.compile(r"(\w+)#(\d+)")


def open_policy(source: str) -> tuple[Policy, bool | None]:
    """A policy, and whether it is an expert's, which is known of those that come with rilco."""
    from rilco.policy.saved import load_policy

    shipped = SHIPPED.fullmatch(source)
    if shipped is None or Path(source).exists():
        return load_policy(source), None
    from rilco.data.ladder import shipped_rung

    rung = int(shipped[2])
    return shipped_rung(shipped[1], rung)[0], rung == 1


def environment(
    policy: Policy, task: str | None, env: str | None, env_kwargs: dict[str, Any] | None = None
) -> Task:
    """What was asked for, else what the policy was trained in."""
    from rilco.evaluation import task_of
    from rilco.tasks.table import Task

    if task is None and env is None:
        own = task_of(policy)
        return own if env_kwargs is None else dataclasses.replace(own, env_kwargs=env_kwargs)
    return Task(task=task, env=env, env_kwargs=env_kwargs or {}, obs_keys=policy.card.get("obs_keys", ()))


def demonstrator_names(sources: tuple[str, ...]) -> list[str]:
    """The last part of each path; all of it where two would be called the same."""
    names = [Path(source).name or source for source in sources]
    return [name if names.count(name) == 1 else source for name, source in zip(names, sources, strict=True)]
