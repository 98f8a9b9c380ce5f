"""Whether demonstrations fit an environment, told before anything is learned."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Sequence

import numpy as np

from rilco.data.loading import Given, load_demonstrations
from rilco.data.record import Demonstrations, source_names
from rilco.errors import DemonstrationError, TaskError
from rilco.tasks.actions import Actions
from rilco.tasks.observations import LARGEST_OBS
from rilco.tasks.table import Task

FAR_OUT = 100.0  # units; a typical action is of size 1
TYPICAL = 30.0  # units; a median action beyond it means that the units differ


def load_for(
    task: Task,
    given: Given,
    obs_keys: Sequence[str] = (),
    noise_rate: float | None = None,
    seed: int | None = None,
) -> Demonstrations:
    """Load demonstrations that fit an environment. Of named parts of observations those are used that it shows."""
    names = task.shown()
    keys, flat_too = names or obs_keys, bool(names)
    return fit(load_demonstrations(given, noise_rate, seed=seed, obs_keys=keys, flat_too=flat_too), task)


def fit(demos: Demonstrations, task: Task) -> Demonstrations:
    """The demonstrations as the environment would show them, where there is one.

    Raises DemonstrationError where they are another environment's, and warns of actions that are far out.
    """
    if not task.name:
        check_observations(demos)
        return demos
    where, spaces = source_names(demos), task.spaces()
    _check_kind(demos, spaces.actions, where, task.name)
    demos = as_shown(demos, task)
    demos.check_dimensions(spaces.observations.width, spaces.actions.size, task.name)
    check_observations(demos)
    if spaces.actions.choices:
        _check_choices(demos.action, spaces.actions, where, task.name)
    else:
        _check_sizes(demos.action, spaces.actions, where, task.name)
    return demos


def as_shown(demos: Demonstrations, task: Task) -> Demonstrations:
    """Discrete observations become one-hot; flat ones of all that the environment shows are cut to the chosen parts."""
    shown, where, obs = task.spaces().observations, source_names(demos), demos.obs
    if task.obs_keys and demos.obs_dim != shown.width:
        with contextlib.suppress(TaskError):  # such as an image: no file holds that in a flat vector
            whole = dataclasses.replace(task, obs_keys=()).spaces().observations
            obs = whole.encode(obs, where)
            obs = whole.choose(obs, task.obs_keys) if obs.shape[1] == whole.width else demos.obs
    obs = shown.encode(obs, where)
    return demos if obs is demos.obs else dataclasses.replace(demos, obs=obs)


def _check_kind(demos: Demonstrations, actions: Actions, where: str, env_name: str) -> None:
    if demos.discrete and not actions.choices:
        raise DemonstrationError(
            f"{where}: the actions are whole numbers, so they are choices, but {env_name} takes quantities. Choose the "
            "environment that they come from. If they are quantities, store them as floating-point numbers."
        )
    if actions.choices and not demos.discrete and not np.array_equal(demos.action, np.rint(demos.action)):
        raise DemonstrationError(
            f"{where}: the actions are quantities, such as {_example(demos.action)}, but {env_name} takes choices, "
            f"{_ranges(actions)}. These demonstrations come from another environment."
        )


def check_observations(demos: Demonstrations) -> None:
    """Raises DemonstrationError where observations are too large to compute with."""
    largest = np.maximum(demos.obs.max(axis=0), -demos.obs.min(axis=0))
    if largest.max() >= LARGEST_OBS:
        dimension = int(largest.argmax())
        raise DemonstrationError(
            f"{source_names(demos)}: observations reach {largest[dimension]:g} in dimension {dimension}; expected less than "
            f"{LARGEST_OBS:g}, since squares of larger numbers overflow. Fix or leave out these pairs: `rilco demos "
            "inspect` shows every dimension."
        )


def _check_choices(action: np.ndarray, actions: Actions, where: str, env_name: str) -> None:
    index = action - np.asarray(actions.origin)
    bad = (index < 0) | (index >= np.asarray(actions.choices))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        raise DemonstrationError(
            f"{where}: {int(bad.any(axis=1).sum())} pairs have an action that {env_name} does not know; the first is "
            f"{action[row, column]:g} in row {row}. Expected {_ranges(actions)}. Leave these pairs out, or choose the "
            "environment that they come from."
        )


def _check_sizes(action: np.ndarray, actions: Actions, where: str, env_name: str) -> None:
    """Compare sizes with the environment's units. Where it has none, with the median action, or the usual distance from it."""
    usual, median = np.array(actions.scale or (1.0,) * actions.size), np.median(action, axis=0)
    distance = np.abs(action - np.where(usual > 0, actions.origin or 0.0, median))
    usual = np.where(usual > 0, usual, np.maximum(np.abs(median), np.median(distance, axis=0)))
    written = np.divide(distance, usual, out=np.zeros_like(distance), where=usual > 0)
    typical, largest = np.median(written.max(axis=1)), float(written.max())
    if typical > TYPICAL:
        raise DemonstrationError(
            f"{where}: a typical action is {typical:,.0f} times as large as what {env_name} takes, such as "
            f"{_example(action)}. The demonstrations are in other units: scale their actions."
        )
    if largest > FAR_OUT:
        count = int((written > FAR_OUT).any(axis=1).sum())
        warnings.warn(
            f"{where}: {count:,} of {len(action):,} pairs have an action more than {FAR_OUT:g} times as large as usual in "
            f"{env_name}, up to {np.abs(action).max():g}. They will weigh much: leave them out if they are mistakes.",
            stacklevel=4,
        )


def _example(action: np.ndarray) -> str:
    row = action[int(np.abs(action).max(axis=1).argmax())]
    return f"[{', '.join(f'{value:g}' for value in row[:4])}{', ...' if len(row) > 4 else ''}]"


def _ranges(actions: Actions) -> str:
    shown = [
        f"{first:g} to {first + n - 1:g}" for first, n in zip(actions.origin, actions.choices, strict=True)
    ]
    return "whole numbers from " + (shown[0] if len(set(shown)) == 1 else ", ".join(shown))
