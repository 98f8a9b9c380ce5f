"""The interface of reward learners: a NamedTuple of pure functions closing over their hyper-parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

Normalize = Callable[[jax.Array], jax.Array]
Info = dict[str, jax.Array]


class DemoArrays(NamedTuple):
    """Demonstrations as a reward learner sees them: N unlabelled pairs, in memory or memory-mapped."""

    obs: np.ndarray  # [N, obs_dim] float32, not normalised
    action: np.ndarray  # [N, action_dim] float32
    demonstrator: np.ndarray | None = None  # [N] int32: who made the pair; only VILD may look
    known_obs: np.ndarray | None = None  # [K, obs_dim] of pairs known to be non-expert, if there are any
    known_action: np.ndarray | None = None  # [K, action_dim]


class RewardLearner(NamedTuple):
    """One way to learn a reward. An iteration is `sample` on the host, then `update`, then `reward`."""

    init: Callable[[jax.Array, int, int], Any]
    """(key, obs_dim, action_dim) -> state, a pytree of arrays."""
    sample: Callable[[DemoArrays, np.random.Generator], Any]
    """(demos, rng) -> a pytree of NumPy arrays: all that one update draws from the demonstrations."""
    update: Callable[[Any, Any, jax.Array, jax.Array, Normalize, jax.Array], tuple[Any, Info]]
    """(state, batches, policy_obs [N, D], policy_action [N, A], normalize, key) -> (state, info).
    The policy's observations are normalised already, each as the policy saw it; `normalize` is for those of the
    demonstrations, which come raw. Can be jitted, `normalize` being static."""
    reward: Callable[[Any, jax.Array, jax.Array], jax.Array]
    """(state, normalised obs [..., D], action [..., A]) -> reward [...]."""
    prepare: Callable[[Any, DemoArrays, Normalize, jax.Array], Any] | None = None
    """(state, demos, normalize, key) -> state: once, outside the jitted update, when the observation statistics
    are final. None where a learner has nothing to prepare."""
