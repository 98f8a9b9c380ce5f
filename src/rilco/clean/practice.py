"""Practice: clones act from start states that no demonstration has, and what went well is imitated, too.

Ten demonstrations hold ten starts. From most others a clone is the expert all the same. Where one clone falls, another clone
of the same demonstrations often does not. So several of them try each start. The attempt most like the demonstrations becomes
a further demonstration, if it is about as much like them as they are like each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rilco.clean.likeness import Neighbourhood, neighbourhood
from rilco.config import RunConfig
from rilco.data.formats import save_demonstrations
from rilco.data.record import Demonstrations
from rilco.policy.saved import Policy
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import RolloutPool, Transitions
from rilco.runs.how import How
from rilco.runs.interrupt import StopSignal

GOOD_ENOUGH = 0.8
"""Share of the demonstrations' own likeness that an attempt must have."""

STARTS = 1_000_000
"""Rounds have so many numbers of start states each, and training as many."""


class Practice(NamedTuple):
    """What is remembered of a round, once it is done."""

    starts: int
    good: int
    """From so many of them one of the attempts was good enough."""
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
    policies: Sequence[Policy],
    kept: Demonstrations,
    pool: RolloutPool,
    out: Path,
    *,
    practised: int,
    starts: int,
    how: How,
) -> Practice:
    """A round, after so many others (`practised`): all policies try at least so many start states, in each round new ones.

    The good attempts go to `out`; without any there is no such file afterwards.
    """
    envs, steps = pool.sizes.num_envs, pool.sizes.num_steps
    heats = -(-starts // envs)
    how.say(f"Practice: {len(policies)} clones, each from the same {heats * envs} start states.")
    near = neighbourhood(kept, steps, policies[0].actions)
    good = []
    for heat in range(heats):
        for best in best_attempts(policies, (practised + 1) * STARTS + heat, near, pool, how.stop):
            if best is not None and best.likeness >= GOOD_ENOUGH * near.standard:
                good.append(best)
    out.unlink(missing_ok=True)
    if good:
        save_demonstrations(as_demonstrations(good, discrete=kept.discrete), out)
    return Practice(heats * envs, len(good), len(policies) * heats * envs * steps)


class Attempt(NamedTuple):
    obs: np.ndarray  # [steps, obs_dim]
    action: np.ndarray  # [steps, action_dim]
    likeness: float


def best_attempts(
    policies: Sequence[Policy], number: int, near: Neighbourhood, pool: RolloutPool, stop: StopSignal
) -> list[Attempt | None]:
    """From each environment's start of this number the attempt most like the demonstrations that did not end in a fall, if any.

    Of its steps the first two thirds: the last third shows that they did not lead to one.
    """
    best: list[Attempt | None] = [None] * pool.sizes.num_envs
    most = -(-2 * pool.sizes.num_steps // 3)
    for policy in policies:
        made = attempt(policy, number, pool)
        score, (steps, fell) = likeness(near, made), lived(made)
        for env, before in enumerate(best):
            if not fell[env] and (before is None or score[env] > before.likeness):
                taken = slice(min(most, int(steps[env])))
                obs, action = made.obs[taken, env].copy(), made.action[taken, env].copy()
                best[env] = Attempt(obs, action, float(score[env]))
        stop.raise_if_requested()
    return best


def as_demonstrations(attempts: Sequence[Attempt], *, discrete: bool = False) -> Demonstrations:
    return Demonstrations(
        np.concatenate([one.obs for one in attempts]),
        np.concatenate([one.action for one in attempts]),
        discrete=discrete,
        episode=np.repeat(np.arange(len(attempts)), [len(one.obs) for one in attempts]),
        demonstrator_names=("practice",),
    )


# -- attempts ---------------------------------------------------------------------------------------


def make_pool(config: RunConfig, policy: Policy, workers: int) -> RolloutPool:
    """Environments for attempts of policies of this shape."""
    steps = config.clean.practice_steps
    sizes = Sizes(config.num_envs, steps, policy.obs_dim, policy.actions, policy.hidden_sizes)
    return RolloutPool(config.task, sizes, seed=config.seed, num_workers=workers)


def attempt(policy: Policy, number: int, pool: RolloutPool) -> Transitions:
    """The deterministic policy over the pool's `num_steps` steps, every environment from its start state of this number.

    The arrays are the pool's own, and good until its next attempt; the actions are the environment's.
    """
    envs = pool.sizes.num_envs
    pool.replay(np.full(envs, number), np.zeros(envs, int), np.zeros((0, policy.action_dim), np.float32))
    made = pool.collect(policy, 0, sampled=False)
    return made._replace(action=policy.actions.decode(made.action))


def likeness(near: Neighbourhood, transitions: Transitions) -> np.ndarray:
    """[B]: how much the pairs of each environment are like the demonstrations, from 0 to 1.

    An attempt ends with its episode. Whoever falls gets nothing for the rest of the time; a time limit is no fall.
    """
    pairs = near.likeness(transitions.obs[:-1], transitions.action)
    steps, fell = lived(transitions)
    total = np.where(np.arange(len(pairs))[:, None] < steps, pairs, 0.0).sum(axis=0)
    return np.asarray(total / np.where(fell, len(pairs), steps))


def lived(transitions: Transitions) -> tuple[np.ndarray, np.ndarray]:
    """Steps [B] of every environment's first episode, and whether it ended by a fall [B]."""
    ended = transitions.terminated | transitions.truncated
    last = np.where(ended.any(axis=0), ended.argmax(axis=0), len(ended) - 1)
    return last + 1, transitions.terminated[last, np.arange(ended.shape[1])]
