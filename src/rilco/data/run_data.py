"""The data that a run learns from."""

from __future__ import annotations

import warnings
from typing import NamedTuple

from rilco.config import RunConfig
from rilco.data.fitting import load_for
from rilco.data.record import Demonstrations, by_episode
from rilco.data.standard import Say, standard_files
from rilco.methods import check_actions, find


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
    demos = load_for(config.task, files, config.obs_keys, config.noise_rate, config.seed)
    return by_episode(demos) if config.episodes_as_demonstrators else demos


def read_known(config: RunConfig) -> Demonstrations | None:
    """Pairs that are known to be non-expert, if there are any."""
    if not config.nonexpert_demos:
        return None
    return load_for(config.task, config.nonexpert_demos, config.obs_keys)


def _warn_if_few(demos: Demonstrations, config: RunConfig) -> None:
    wanted, each = config.classifier.batch, len(demos) // find(config.method).classifiers
    if each < wanted:
        warnings.warn(
            f"Only {len(demos)} demonstration pairs, {each} for each classifier, fewer than one mini-batch of "
            f"{wanted}: they are drawn with replacement, and a classifier may learn them by heart.",
            stacklevel=3,
        )
