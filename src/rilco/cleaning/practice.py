"""Practice: clones act from start states that no demonstration has, and what went well is imitated, too.

Ten demonstrations hold ten starts. From most others a clone is the expert all the same; where one falls, another one of the
same demonstrations often does not. So several of them try each start, and the most expert-like attempt becomes a further
demonstration if it is about as expert-like as the demonstrations themselves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rilco.cleaning.attempts import attempt, likeness, pair_likeness
from rilco.demonstrations import Demonstrations
from rilco.formats import save_file
from rilco.interrupt import StopSignal
from rilco.learning import LearnerState
from rilco.policy.saved import Policy
from rilco.rollout.pool import RolloutPool

GOOD_ENOUGH = 0.9
"""Share of the demonstrations' own likeness that an attempt must have."""

STARTS = 1_000_000
"""Numbers of start states are so far apart from round to round, and from those of training and trials."""


class Practice(NamedTuple):
    """What is remembered of a round, once it is done."""

    starts: int
    good: int
    """From so many of them one of the attempts was good enough."""
    transitions: int
    seconds: float

    def sentence(self) -> str:
        return f"From {self.good} of {self.starts} start states an attempt was as good as the demonstrations."


def practise(
    policies: Sequence[Policy],
    kept: Demonstrations,
    judges: LearnerState,
    pool: RolloutPool,
    out: Path,
    *,
    number: int,
    starts: int,
    say: Callable[[str], None],
    stop: StopSignal,
) -> Practice:
    """All policies try at least so many start states, in each round (`number`) others; the good attempts go to `out`.

    Without any, there is no such file afterwards.
    """
    begun = time.monotonic()
    envs, steps = pool.sizes.num_envs, pool.sizes.num_steps
    heats = count_heats(starts, envs)
    say(f"Practice: {len(policies)} clones, each from the same {heats * envs} start states.")
    standard = GOOD_ENOUGH * standard_of(kept, judges, steps)
    attempts = []
    for heat in range(heats):
        obs, action, score = best_attempts(policies, number * STARTS + heat, judges, pool, stop)
        good = score >= standard
        attempts += list(zip(obs[good], action[good], strict=True))
    out.unlink(missing_ok=True)
    if attempts:
        save_file(as_demonstrations(attempts), out)
    transitions = practice_transitions(len(policies), starts, envs, steps)
    return Practice(heats * envs, len(attempts), transitions, round(time.monotonic() - begun, 3))


def count_heats(starts: int, num_envs: int) -> int:
    return -(-starts // num_envs)


def practice_transitions(policies: int, starts: int, num_envs: int, steps: int) -> int:
    """That a round takes."""
    return policies * count_heats(starts, num_envs) * num_envs * steps


def standard_of(kept: Demonstrations, judges: LearnerState, steps: int) -> float:
    """How expert-like the demonstrations' first steps are, on average."""
    first = [(demo.obs[:steps], demo.action[:steps]) for demo in kept.episodes()]
    obs, action = (np.concatenate(arrays) for arrays in zip(*first, strict=True))
    return float(pair_likeness(judges, obs, action).mean())


def best_attempts(
    policies: Sequence[Policy], number: int, judges: LearnerState, pool: RolloutPool, stop: StopSignal
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observations [B, T, obs_dim], actions [B, T, action_dim] and likeness [B] of the best attempt from each start."""
    sizes = pool.sizes
    obs = np.zeros((sizes.num_envs, sizes.num_steps, sizes.obs_dim), np.float32)
    action = np.zeros((sizes.num_envs, sizes.num_steps, sizes.action_dim), np.float32)
    best = np.full(sizes.num_envs, -1.0)
    for policy in policies:
        made = attempt(policy, number, pool)
        score = likeness(judges, made)
        better = score > best
        obs[better] = made.obs[:-1, better].swapaxes(0, 1)
        action[better] = made.action[:, better].swapaxes(0, 1)
        best = np.maximum(best, score)
        stop.raise_if_requested()
    return obs, action, best


def as_demonstrations(attempts: Sequence[tuple[np.ndarray, np.ndarray]]) -> Demonstrations:
    """The first two thirds of each: the last one shows that they did not lead to a fall."""
    steps = -(-2 * len(attempts[0][0]) // 3)
    obs, action = (np.concatenate([one[i][:steps] for one in attempts]) for i in range(2))
    return Demonstrations(
        obs,
        action,
        episode=np.repeat(np.arange(len(attempts)), steps),
        demonstrator_names=("practice",),
    )
