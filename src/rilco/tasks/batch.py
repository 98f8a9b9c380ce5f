"""The interface of environments to workers, whatever simulates them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from rilco.tasks.actions import Actions
from rilco.tasks.observations import Observations


class Step(NamedTuple):
    """The outcome of one control step, a line for each environment that was stepped."""

    obs: np.ndarray  # [n, obs_dim] float32
    reward: np.ndarray  # [n]
    terminated: np.ndarray  # [n] bool
    truncated: np.ndarray  # [n] bool


class Spaces(NamedTuple):
    """Observations and actions of an environment."""

    observations: Observations
    actions: Actions


class Batch(Protocol):
    """Environments stepped together; a row is one environment.

    Episodes are a function of the generator given to `reset` and of the actions, so that a checkpoint
    can restore an environment by replaying them. A generator may be the same object as the one before,
    repositioned: it is used up before the next is taken.
    """

    num_envs: int
    obs_dim: int
    action_dim: int  # as the environment has it; `step` takes [n, action_dim]

    def reset(
        self, rows: Sequence[int], rngs: Iterable[np.random.Generator], first: bool = False
    ) -> np.ndarray: ...

    def step(self, action: np.ndarray, rows: Sequence[int] | None = None) -> Step: ...

    def render(self, row: int) -> np.ndarray: ...

    def close(self) -> None: ...
