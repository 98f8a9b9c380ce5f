"""Trials: of several policies, the one that acts most like an expert, in the eyes of RIL-Co's classifiers.

Clones of the same demonstrations agree on them and differ beside them: from some start states one of them falls, from others
another. The simulator shows that, and the classifiers, who have learned what an expert's pairs look like, are the judges.
The true reward plays no part.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from rilco.interrupt import StopSignal
from rilco.learning import LearnerState
from rilco.normalizer import Normalizer, normalize
from rilco.policy.saved import Policy
from rilco.rewards.classifier import Params, score
from rilco.rollout.pool import RolloutPool, Transitions


class Trials(NamedTuple):
    scores: list[list[float]]
    """Of every policy in its heats: how expert-like its pairs were, from 0 to 1."""
    best: int
    """The policy that was left."""


def count_heats(policies: int) -> int:
    """That `hold_trials` will need, for all policies together."""
    return sum(standing * heats for standing, heats in _rounds(policies))


def hold_trials(
    policies: Sequence[Policy],
    judges: LearnerState,
    pool: RolloutPool,
    *,
    say: Callable[[str], None],
    stop: StopSignal,
) -> Trials:
    """Let all policies act from the same start states, and the better half from more, until one is left.

    Every round has twice the heats of the one before (sequential halving), so that most are spent on telling the best
    apart. In a heat each environment of the pool begins an episode.
    """
    scores: list[list[float]] = [[] for _ in policies]
    ranking = list(range(len(policies)))
    for standing, heats in _rounds(len(policies)):
        ranking = ranking[:standing]
        say(f"Trying out {standing} policies, each from {heats * pool.sizes.num_envs} start states.")
        for i in ranking:
            for _ in range(heats):
                scores[i].append(_heat(policies[i], len(scores[i]), judges, pool))
                stop.raise_if_requested()
        ranking.sort(key=lambda i: -np.mean(scores[i]))
    return Trials(scores, ranking[0])


def _rounds(policies: int) -> Iterator[tuple[int, int]]:
    """How many policies still stand in each round, and how many heats each of them has there."""
    heats = 1
    while policies > 1:
        yield policies, heats
        policies, heats = -(-policies // 2), 2 * heats


def _heat(policy: Policy, number: int, judges: LearnerState, pool: RolloutPool) -> float:
    """The deterministic policy's score over the pool's `num_steps` steps, from the start states of this number."""
    envs = pool.sizes.num_envs
    pool.replay(np.full(envs, number), np.zeros(envs, int), np.zeros((0, policy.action_dim), np.float32))
    certain = dataclasses.replace(policy, log_std=np.full_like(policy.log_std, -np.inf))
    return likeness(judges, pool.collect(certain, 0))


def likeness(judges: LearnerState, transitions: Transitions) -> float:
    """How expert-like the pairs of these transitions are, from 0 to 1, by both classifiers.

    Whoever falls gets nothing for the time after it.
    """
    arrays = (transitions.obs[:-1], transitions.action, transitions.terminated)
    return float(_likeness(judges.reward.params, judges.normalizer, *(jnp.asarray(a) for a in arrays)))


@jax.jit
def _likeness(
    params: Params, normalizer: Normalizer, obs: jax.Array, action: jax.Array, terminated: jax.Array
) -> jax.Array:
    normalized = normalize(normalizer, obs)
    scores = jax.vmap(lambda one: score(one, normalized, action))(params)  # [C, T, B]
    fallen = jnp.cumsum(terminated, axis=0) > terminated  # [T, B] before this step
    return jnp.mean(jnp.where(fallen, 0.0, jnp.mean(jax.nn.sigmoid(scores), axis=0)))
