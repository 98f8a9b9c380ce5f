"""Practice: clones act from start states that no demonstration has, and what went well is imitated, too.

Ten demonstrations hold ten starts. From most others the clones' mean is the expert all the same. Where it is not, a single one of
them often is. So each clone tries those starts again. An attempt becomes a further demonstration, if it ends about as much
like the demonstrations as they are like each other: however it began, it found back to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rilco.clean.config import again
from rilco.clean.likeness import Neighbourhood, last_third, neighbourhood
from rilco.config import RunConfig
from rilco.data.formats import save_demonstrations
from rilco.data.record import Demonstrations
from rilco.policy.averaging import mean_policy
from rilco.policy.saved import Policy
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import RolloutPool, Transitions
from rilco.runs.how import How
from rilco.runs.interrupt import StopSignal

GOOD_ENOUGH = 0.9
"""Share of the demonstrations' own likeness that the last third of an attempt must have."""

STARTS = 1_000_000
"""Rounds have so many numbers of start states each, and training as many."""


class Practice(NamedTuple):
    """What is remembered of a round, once it is done."""

    starts: int
    good: int
    """From so many of them an attempt was good enough."""
    transitions: int
    seconds: float = 0.0

    @property
    def worth_imitating(self) -> bool:
        """Whether most starts went well; else it is not the expert that would be imitated."""
        return 2 * self.good > self.starts

    def sentence(self) -> str:
        return (
            f"From {self.good} of {self.starts} start states an attempt was as good as the demonstrations"
            f"{'.' if self.worth_imitating else ': too few to be imitated.'}"
        )


def practise(
    clones: Sequence[Policy],
    kept: Demonstrations,
    pool: RolloutPool,
    out: Path,
    *,
    practised: int,
    starts: int,
    how: How,
) -> Practice:
    """A round, after so many others (`practised`): the clones' mean tries at least so many start states, in each round new
    ones, and every clone those where it failed, as far as there are heats for them.

    The good attempts go to `out`; without any there is no such file afterwards.
    """
    envs, steps = pool.sizes.num_envs, pool.sizes.num_steps
    heats = -(-starts // envs)
    how.say(f"Practice: the mean of {len(clones)} clones, from {heats * envs} start states.")
    near = neighbourhood(kept, steps, clones[0].actions)
    first = (practised + 1) * STARTS
    good: list[Attempt] = []
    failed: list[list[int]] = [[] for _ in range(envs)]  # numbers of each environment's start states
    for number in range(first, first + heats):
        best = best_attempts([mean_policy(clones)], np.full(envs, number), near, pool, how.stop)
        good += [one for one in best if one is not None]
        for env in np.flatnonzero([one is None for one in best]):
            failed[env].append(number)
    alone = [mean_policy([clone] * len(clones)) for clone in clones]  # each as wide as their mean
    tried = min(max(map(len, failed)), again(heats))
    for heat in range(tried):
        numbers = np.array([own[heat] if heat < len(own) else first for own in failed])
        best = best_attempts(alone, numbers, near, pool, how.stop)
        good += [one for one, own in zip(best, failed, strict=True) if one is not None and heat < len(own)]
    out.unlink(missing_ok=True)
    if good:
        save_demonstrations(_as_demonstrations(good, discrete=kept.discrete), out)
    return Practice(heats * envs, len(good), (heats + tried * len(clones)) * envs * steps)


class Attempt(NamedTuple):
    obs: np.ndarray  # [steps, obs_dim]
    action: np.ndarray  # [steps, action_dim]
    likeness: float


def _as_demonstrations(attempts: Sequence[Attempt], *, discrete: bool) -> Demonstrations:
    return Demonstrations(
        np.concatenate([one.obs for one in attempts]),
        np.concatenate([one.action for one in attempts]),
        discrete=discrete,
        episode=np.repeat(np.arange(len(attempts)), [len(one.obs) for one in attempts]),
        demonstrator_names=("practice",),
    )


def best_attempts(
    policies: Sequence[Policy], numbers: np.ndarray, near: Neighbourhood, pool: RolloutPool, stop: StopSignal
) -> list[Attempt | None]:
    """From each environment's start of its number [B] the attempt that ends most like the demonstrations, if any is good enough.

    Of its steps the first two thirds: the last third has shown that they led to something good.
    """
    best: list[Attempt | None] = [None] * pool.sizes.num_envs
    most = -(-2 * pool.sizes.num_steps // 3)
    for policy in policies:
        made = attempt(policy, numbers, pool)
        score, (steps, _) = likeness(near, made), lived(made)
        for env in np.flatnonzero(score >= GOOD_ENOUGH * near.standard):
            before = best[env]
            if before is None or score[env] > before.likeness:
                taken = slice(min(most, int(steps[env])))
                obs, action = made.obs[taken, env].copy(), made.action[taken, env].copy()
                best[env] = Attempt(obs, action, float(score[env]))
        stop.raise_if_requested()
    return best


# -- attempts ---------------------------------------------------------------------------------------


def make_pool(config: RunConfig, policy: Policy, workers: int) -> RolloutPool:
    """Environments for attempts of means of policies of this shape."""
    steps = config.clean.practice_steps
    hidden = tuple(config.clean.clones * width for width in policy.hidden_sizes)
    sizes = Sizes(config.num_envs, steps, policy.obs_dim, policy.actions, hidden)
    return RolloutPool(config.task, sizes, seed=config.seed, num_workers=workers)


def attempt(policy: Policy, numbers: np.ndarray, pool: RolloutPool) -> Transitions:
    """The deterministic policy over the pool's `num_steps` steps, every environment from its start state of its number [B].

    The arrays are the pool's own, and good until its next attempt; the actions are the environment's.
    """
    none = np.zeros((0, policy.action_dim), np.float32)
    pool.replay(numbers, np.zeros(len(numbers), int), none)
    made = pool.collect(policy, 0, sampled=False)
    return made._replace(action=policy.actions.decode(made.action))


def likeness(near: Neighbourhood, transitions: Transitions) -> np.ndarray:
    """[B]: how much the last third of each environment's attempt is like the demonstrations, from 0 to 1.

    An attempt ends with its episode. Whoever falls gets nothing; a time limit is no fall.
    """
    pairs = near.likeness(transitions.obs[:-1], transitions.action)
    steps, fell = lived(transitions)
    counted = last_third(np.arange(len(pairs))[:, None], steps)
    return np.asarray(np.where(fell, 0.0, (pairs * counted).sum(axis=0) / counted.sum(axis=0)))


def lived(transitions: Transitions) -> tuple[np.ndarray, np.ndarray]:
    """Steps [B] of every environment's first episode, and whether it ended by a fall [B]."""
    ended = transitions.terminated | transitions.truncated
    last = np.where(ended.any(axis=0), ended.argmax(axis=0), len(ended) - 1)
    return last + 1, transitions.terminated[last, np.arange(ended.shape[1])]
