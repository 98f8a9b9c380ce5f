"""Attempts: a policy acts from given start states, and RIL-Co's classifiers say how expert-like that was.

The classifiers have learned what an expert's pairs look like; the true reward plays no part.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from rilco.config import RunConfig
from rilco.learning import LearnerState
from rilco.normalizer import Normalizer, normalize
from rilco.policy.saved import Policy
from rilco.rewards.classifier import Params, score
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import RolloutPool, Transitions
from rilco.tasks.actions import AS_THEY_ARE, Actions


def make_pool(config: RunConfig, policy: Policy, steps: int, workers: int) -> RolloutPool:
    """Environments for attempts of so many steps, of policies of this shape."""
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
