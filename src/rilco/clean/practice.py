"""Practice: clones act from start states that no demonstration has, and what went well is imitated, too.

Ten demonstrations hold ten starts. From most others a clone is the expert all the same; where one falls, another one of the
same demonstrations often does not. So several of them try each start, and the most expert-like attempt becomes a further
demonstration if it is about as expert-like as the demonstrations themselves.

RIL-Co's classifiers say how expert-like something is. They have learned what an expert's pairs look like; the true reward plays
no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from rilco.config import RunConfig
from rilco.data.formats import save_file
from rilco.data.record import Demonstrations
from rilco.learning import LearnerState
from rilco.normalizer import Normalizer, normalize
from rilco.policy.saved import Policy
from rilco.rewards.classifier import Params, score
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import RolloutPool, Transitions
from rilco.runs.how import How
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
    how: How,
    actions: Actions = AS_THEY_ARE,
) -> Practice:
    """A round, after so many others (`practised`): all policies try at least so many start states, in each round new ones.

    The good attempts go to `out`; without any there is no such file afterwards. `actions` are of the judges' kind.
    """
    envs, steps = pool.sizes.num_envs, pool.sizes.num_steps
    heats = -(-starts // envs)
    how.say(f"Practice: {len(policies)} clones, each from the same {heats * envs} start states.")
    standard = GOOD_ENOUGH * standard_of(kept, judges, steps, actions)
    good = []
    for heat in range(heats):
        for best in best_attempts(policies, (practised + 1) * STARTS + heat, judges, pool, how.stop, actions):
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


def likeness(judges: LearnerState, transitions: Transitions, actions: Actions = AS_THEY_ARE) -> np.ndarray:
    """[B]: how expert-like the pairs of each environment are, from 0 to 1, by both classifiers of these `actions`.

    An attempt ends with its episode. Whoever falls gets nothing for the rest of the time; a time limit is no fall.
    """
    pairs = pair_likeness(judges, transitions.obs[:-1], actions.encode(transitions.action))
    steps, fell = lived(transitions)
    total = np.where(np.arange(len(pairs))[:, None] < steps, pairs, 0.0).sum(axis=0)
    return total / np.where(fell, len(pairs), steps)


def lived(transitions: Transitions) -> tuple[np.ndarray, np.ndarray]:
    """Steps [B] of every environment's first episode, and whether it ended by a fall [B]."""
    ended = transitions.terminated | transitions.truncated
    last = np.where(ended.any(axis=0), ended.argmax(axis=0), len(ended) - 1)
    return last + 1, transitions.terminated[last, np.arange(ended.shape[1])]


def pair_likeness(judges: LearnerState, obs: np.ndarray, action: np.ndarray) -> np.ndarray:
    """Of every pair, whatever shape they come in; actions are written as the judges learned them."""
    return np.asarray(
        _pair_likeness(judges.reward.params, judges.normalizer, jnp.asarray(obs), jnp.asarray(action))
    )


@jax.jit
def _pair_likeness(params: Params, normalizer: Normalizer, obs: jax.Array, action: jax.Array) -> jax.Array:
    normalized = normalize(normalizer, obs)
    scores = jax.vmap(lambda one: score(one, normalized, action))(params)  # [C, ...]
    return jnp.mean(jax.nn.sigmoid(scores), axis=0)
