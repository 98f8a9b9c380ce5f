"""Practice: clones act from start states that no demonstration has, and what went well is imitated, too.

Ten demonstrations hold ten starts. From most others a clone is the expert all the same; where one falls, another one of the
same demonstrations often does not. So several of them try each start, and the most expert-like attempt becomes a further
demonstration if it is about as expert-like as the demonstrations themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rilco.clean.attempts import attempt, likeness, lived, pair_likeness
from rilco.data.formats import save_file
from rilco.data.record import Demonstrations
from rilco.learning import LearnerState
from rilco.policy.saved import Policy
from rilco.rollout.pool import RolloutPool
from rilco.runs.interrupt import StopSignal
from rilco.tasks.actions import AS_THEY_ARE, Actions

GOOD_ENOUGH = 0.9
"""Share of the demonstrations' own likeness that an attempt must have."""

MOST_PAIRS = 100_000
"""Of so many demonstrated pairs, evenly spread, their likeness is taken."""

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
        """Whether most starts went well; else it is not the expert that would be imitated, or the judges do not know it."""
        return 2 * self.good > self.starts

    def sentence(self) -> str:
        return (
            f"From {self.good} of {self.starts} start states an attempt was as good as the demonstrations"
            f"{'.' if self.worth_imitating else ': too few to be imitated.'}"
        )


def practise(
    policies: Sequence[Policy],
    kept: Demonstrations,
    judges: LearnerState,
    pool: RolloutPool,
    out: Path,
    *,
    practised: int,
    starts: int,
    say: Callable[[str], None],
    stop: StopSignal,
    actions: Actions = AS_THEY_ARE,
) -> Practice:
    """A round, after so many others (`practised`): all policies try at least so many start states, in each round new ones.

    The good attempts go to `out`; without any there is no such file afterwards. `actions` are of the judges' kind.
    """
    envs, steps = pool.sizes.num_envs, pool.sizes.num_steps
    heats = -(-starts // envs)
    say(f"Practice: {len(policies)} clones, each from the same {heats * envs} start states.")
    standard = GOOD_ENOUGH * standard_of(kept, judges, steps, actions)
    good = []
    for heat in range(heats):
        for best in best_attempts(policies, (practised + 1) * STARTS + heat, judges, pool, stop, actions):
            if best is not None and best.likeness >= standard:
                good.append(best)
    out.unlink(missing_ok=True)
    if good:
        save_file(as_demonstrations(good, discrete=kept.discrete), out)
    return Practice(heats * envs, len(good), len(policies) * heats * envs * steps)


def standard_of(
    kept: Demonstrations, judges: LearnerState, steps: int, actions: Actions = AS_THEY_ARE
) -> float:
    """How expert-like the demonstrations' first steps are, on average: of those that have so many, if there are any."""
    episodes = list(kept.episodes())
    whole = [demo for demo in episodes if len(demo) >= steps] or episodes
    obs = np.concatenate([demo.obs[:steps] for demo in whole])
    action = np.concatenate([demo.action[:steps] for demo in whole])
    some = slice(None, None, -(-len(obs) // MOST_PAIRS))
    return float(pair_likeness(judges, obs[some], actions.encode(action[some])).mean())


class Attempt(NamedTuple):
    obs: np.ndarray  # [steps, obs_dim]
    action: np.ndarray  # [steps, action_dim]
    likeness: float


def best_attempts(
    policies: Sequence[Policy],
    number: int,
    judges: LearnerState,
    pool: RolloutPool,
    stop: StopSignal,
    actions: Actions = AS_THEY_ARE,
) -> list[Attempt | None]:
    """From each environment's start of this number the most expert-like attempt that did not end in a fall, if any.

    Of its steps the first two thirds: the last third shows that they did not lead to one.
    """
    best: list[Attempt | None] = [None] * pool.sizes.num_envs
    most = -(-2 * pool.sizes.num_steps // 3)
    for policy in policies:
        made = attempt(policy, number, pool)
        score, (steps, fell) = likeness(judges, made, actions), lived(made)
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
