"""Policies and files that commands are given by name."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rilco.errors import DemonstrationError

if TYPE_CHECKING:
    from rilco.data.record import Demonstrations
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


def expert_and_others(
    sources: tuple[str, ...], obs_keys: tuple[str, ...]
) -> tuple[Demonstrations, list[Demonstrations]]:
    """The files by what they say of themselves, else the first as the expert's; never against it."""
    from rilco.data.formats import find_files, load_file

    files = find_files(sources)
    parts = [load_file(file, obs_keys=obs_keys) for file in files]
    truth = [part.noise_fraction for part in parts]
    first = truth.index(0.0) if truth.count(0.0) == 1 else 0
    expected = [(None, 0.0) if i == first else (None, 1.0) for i in range(len(parts))]
    for file, fraction, fitting in zip(files, truth, expected, strict=True):
        if fraction not in fitting:
            raise DemonstrationError(
                f"{file}: its ground truth says that {1 - (fraction or 0.0):.0%} of its pairs are an expert's; "
                f"expected {'all' if 0.0 in fitting else 'none'}, because a mixture takes one expert's file "
                "and non-experts' files. Give other files, or the expert's first."
            )
    return parts[first], [part for i, part in enumerate(parts) if i != first]
