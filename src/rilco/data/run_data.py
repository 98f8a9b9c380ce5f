"""The data that a run learns from."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

from rilco.config import RunConfig
from rilco.data.fitting import check_observations, fit
from rilco.data.loading import load_demonstrations
from rilco.data.record import Demonstrations, by_episode, source_names
from rilco.data.standard import Say, standard_files
from rilco.errors import TaskError
from rilco.methods import check_actions, find
from rilco.tasks.table import Task


class Data(NamedTuple):
    """The demonstrations of a run; None on the true reward."""

    demos: Demonstrations | None
    known: Demonstrations | None = None  # pairs that are known to be non-expert, if there are any

    def fingerprint(self) -> str | None:
        """Digest of all that training reads of it."""
        if self.demos is None:
            return None
        return "".join(part.fingerprint() for part in self if part is not None)


def read_data(config: RunConfig, say: Say) -> Data:
    """Read a run's data, and check that it fits its environment."""
    if config.task.name:
        check_actions(config.method, config.task.spaces().actions)
    data = Data(read_demonstrations(config, say), read_known(config))
    method = find(config.method)
    if data.demos is not None and method.make_reward is not None and "classifier." in method.reads:
        _warn_if_few(data.demos, config)
    return data


def read_demonstrations(config: RunConfig, say: Say = lambda line: None) -> Demonstrations | None:
    """The demonstrations that a run learns from, as its environment would show them: its files, or the task's
    standard dataset."""
    if not find(config.method).imitates:
        return None
    files = config.demos or standard_files(config.task, config.demo_kind, say=say)
    demos = _load(config, files, config.noise_rate)
    return by_episode(demos) if config.episodes_as_demonstrators else demos


def read_known(config: RunConfig) -> Demonstrations | None:
    """Pairs that are known to be non-expert, if there are any."""
    if not config.nonexpert_demos:
        return None
    return _load(config, config.nonexpert_demos)


def _load(config: RunConfig, files: Sequence[str], noise_rate: float | None = None) -> Demonstrations:
    """Files, of whose named parts of observations those are used that the environment shows, if there is one."""
    if not config.task.name:
        demos = load_demonstrations(files, noise_rate, seed=config.seed, obs_keys=config.obs_keys)
        check_observations(demos)
        return demos
    spaces = config.task.spaces()
    names = spaces.observations.names
    keys: dict[str, Any] = {"obs_keys": names, "flat_too": True} if names else {"obs_keys": config.obs_keys}
    demos = load_demonstrations(files, noise_rate, seed=config.seed, **keys)
    return fit(chosen(demos, config.task), spaces, config.task.name)


def chosen(demos: Demonstrations, task: Task) -> Demonstrations:
    """Flat observations of all that the environment shows, cut to the chosen parts."""
    if not task.obs_keys or demos.obs_dim == task.spaces().observations.width:
        return demos
    try:
        whole = dataclasses.replace(task, obs_keys=()).spaces().observations
    except TaskError:  # such as an image: no file holds that in a flat vector
        return demos
    obs = whole.encode(demos.obs, source_names(demos))
    return (
        dataclasses.replace(demos, obs=whole.choose(obs, task.obs_keys))
        if obs.shape[1] == whole.width
        else demos
    )


def _warn_if_few(demos: Demonstrations, config: RunConfig) -> None:
    wanted, each = config.classifier.batch, len(demos) // find(config.method).classifiers
    if each < wanted:
        warnings.warn(
            f"Only {len(demos)} demonstration pairs, {each} for each classifier, fewer than one mini-batch of "
            f"{wanted}: they are drawn with replacement, and a classifier may learn them by heart.",
            stacklevel=3,
        )
