"""Robust imitation with pseudo-labels: RIL-Co (Algorithm 1) and its ablation RIL-P.

Two extensions that the paper proposes are here, too. Lambda may grow (`ClassifierConfig.lam_schedule`). Known non-expert
pairs may enter the second term of the risk, beside pseudo-labels or in their place.

The classifiers are stacked on a leading axis C and mapped over. RIL-Co has two, each labelling candidates for the
other. RIL-P has one, labelling its own. GAIL has one and no candidates (`gail.py`).
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from rilco.errors import DemonstrationError
from rilco.losses import LOSSES
from rilco.rewards.classifier import (
    NonExperts,
    Params,
    empirical_risk,
    gradient_penalty,
    init_classifier,
    interpolate,
    join,
    lam_at,
    score_joined,
)
from rilco.rewards.config import ClassifierConfig
from rilco.rewards.learner import DemoArrays, Info, Normalize, RewardLearner


class ClassifierState(NamedTuple):
    """Weights and Adam moments of the stacked classifiers; every array leads with axis C."""

    params: Params
    opt_state: Any


class Draws(NamedTuple):
    """Demonstration pairs of one iteration: M mini-batches from each of C disjoint parts.

    Of the n rows of a mini-batch the first `config.batch` are for the first term of the risk. The rest, all other pairs,
    are the candidates for pseudo-labels.
    """

    obs: np.ndarray  # [M, C, n, D]
    action: np.ndarray  # [M, C, n, A]
    known_obs: np.ndarray | None = None  # [M, C, K, D] of pairs that are known to be non-expert
    known_action: np.ndarray | None = None  # [M, C, K, A]


def ril_co(config: ClassifierConfig = ClassifierConfig(), *, split_seed: int = 0) -> RewardLearner:
    """RIL-Co: two classifiers on disjoint halves of the demonstrations, each labelling for the other."""
    return classifier_learner(config, num_classifiers=2, split_seed=split_seed)


def ril_p(config: ClassifierConfig = ClassifierConfig()) -> RewardLearner:
    """RIL-P: one classifier on all demonstrations, labelling its own candidates (eq. p_risk)."""
    if config.as_published:
        config = dataclasses.replace(config, candidates=4 * config.batch)  # 128 + 512 pairs a mini-batch
    return classifier_learner(config, num_classifiers=1)


def classifier_learner(
    config: ClassifierConfig,
    num_classifiers: int,
    *,
    split_seed: int = 0,
    reward_of_score: Callable[[jax.Array], jax.Array] | None = None,
) -> RewardLearner:
    """The learner behind RIL-Co, RIL-P and GAIL.

    The reward is l(-g1), as the paper has it, unless another function of the score g1 is given.
    """
    init, update, reward = _functions(config, num_classifiers, reward_of_score)

    def sample(demos: DemoArrays, rng: np.random.Generator) -> Draws:
        return _sample(config, split(len(demos.obs), num_classifiers, split_seed), demos, rng)

    return RewardLearner(init, sample, update, reward)


@functools.lru_cache(maxsize=16)
def _functions(
    config: ClassifierConfig, num_classifiers: int, reward_of_score: Callable[[jax.Array], jax.Array] | None
) -> tuple[Callable[..., Any], ...]:
    """`init`, `update` and `reward`; the same ones for the same settings, so that a process compiles them once."""
    loss = LOSSES[config.loss].fn
    optimizer = optax.adam(config.learning_rate)

    def init(key: jax.Array, obs_dim: int, action_dim: int) -> ClassifierState:
        def init_one(key: jax.Array) -> Params:
            return init_classifier(key, obs_dim, action_dim, config.hidden)

        params = jax.vmap(init_one)(jax.random.split(key, num_classifiers))
        return ClassifierState(params, optimizer.init(params))

    def update(
        state: ClassifierState,
        batches: Draws,
        policy_obs: jax.Array,
        policy_action: jax.Array,
        normalize: Normalize,
        key: jax.Array,
    ) -> tuple[ClassifierState, Info]:
        deal_key, mixing_key = jax.random.split(key)
        demos = join(normalize(jnp.asarray(batches.obs)), jnp.asarray(batches.action))  # [M, C, n, D + A]
        known = None
        if batches.known_obs is not None:
            known = join(normalize(jnp.asarray(batches.known_obs)), jnp.asarray(batches.known_action))
        policy = join(policy_obs, policy_action)  # [N, D + A]
        policy = policy[deal(deal_key, len(policy), config.minibatches)]  # [M, m, D + A]
        shape = (*demos.shape[:2], config.batch, 1)
        mixing = jax.random.uniform(mixing_key, (math.prod(shape),)).reshape(shape)  # flat: compiled faster
        step = functools.partial(minibatch_step, config, optimizer)
        state, infos = jax.lax.scan(step, state, MiniBatch(demos, known, policy, mixing))
        return state, {name: jnp.mean(values) for name, values in infos.items()}

    def reward(state: ClassifierState, obs: jax.Array, action: jax.Array) -> jax.Array:
        g1 = score_joined(jax.tree.map(lambda stacked: stacked[0], state.params), join(obs, action))
        return loss(-g1) if reward_of_score is None else reward_of_score(g1)

    return init, update, reward


class MiniBatch(NamedTuple):
    """Inputs of one Adam step; pairs are normalised and joined."""

    demos: jax.Array  # [C, n, D + A]
    known: jax.Array | None  # [C, K, D + A]
    policy: jax.Array  # [m, D + A]
    mixing: jax.Array  # [C, batch, 1]


def minibatch_step(
    config: ClassifierConfig,
    optimizer: optax.GradientTransformation,
    state: ClassifierState,
    minibatch: MiniBatch,
) -> tuple[ClassifierState, Info]:
    """One mini-batch: label candidates, then one Adam step for every classifier."""
    demo = minibatch.demos[:, : config.batch]
    nonexperts, info = find_nonexperts(config, state.params, minibatch)
    lam: jax.Array | float = config.lam
    if config.lam_schedule != "constant":
        steps_done = optax.tree_utils.tree_get(state.opt_state, "count")  # Adam counts them anyway
        lam = lam_at(config, steps_done // config.minibatches)
        info = info | {"lam": lam}
    gradient_fn = jax.grad(functools.partial(classifier_loss, config, lam), has_aux=True)
    each = jax.vmap(gradient_fn, in_axes=(0, 0, None, 0, 0))
    gradients, terms = each(state.params, demo, minibatch.policy, minibatch.mixing, nonexperts)
    updates, opt_state = optimizer.update(gradients, state.opt_state)
    return ClassifierState(optax.apply_updates(state.params, updates), opt_state), terms | info


def classifier_loss(
    config: ClassifierConfig,
    lam: jax.Array | float,
    params: Params,
    demo: jax.Array,
    policy: jax.Array,
    mixing: jax.Array,
    nonexperts: NonExperts,
) -> tuple[jax.Array, Info]:
    """Loss of one classifier: its empirical risk plus the weighted gradient penalty."""
    # Three passes, not one over the concatenated rows: that was measured to be no faster.
    demo_score, policy_score, nonexpert_score = (
        score_joined(params, x) for x in (demo, policy, nonexperts.x)
    )
    if config.as_published:
        nonexpert_score = jax.lax.stop_gradient(nonexpert_score)
    loss = LOSSES[config.loss].fn
    terms = empirical_risk(loss, lam, demo_score, policy_score, nonexpert_score, nonexperts.mask)
    penalty = gradient_penalty(params, interpolate(demo, policy, mixing))
    info = terms._asdict() | {
        "gradient_penalty": penalty,
        "demo_score": jnp.mean(demo_score),
        "policy_score": jnp.mean(policy_score),
    }
    return terms.risk + config.gradient_penalty * penalty, info


def find_nonexperts(
    config: ClassifierConfig, params: Params, minibatch: MiniBatch
) -> tuple[NonExperts, Info]:
    """The pairs of the risk's second term, for every classifier: pseudo-labelled, known, both or none."""
    candidates, known = minibatch.demos[:, config.batch :], minibatch.known
    found, info = _all_of(minibatch.demos[:, :0]), Info()  # none, in the shapes of pseudo-labels
    if config.uses_pseudo_labels and config.as_published:
        found = _as_published(params, candidates)
    elif config.uses_pseudo_labels:
        found, info = co_pseudo_labels(params, candidates, config.selected)
    if known is not None:
        parts = found, _all_of(known)
        found = NonExperts(*(jnp.concatenate(pair, axis=1) for pair in zip(*parts, strict=True)))
    return found, info


def pseudo_labels(params: Params, candidates: jax.Array, selected: int) -> tuple[NonExperts, Info]:
    """Pick the `selected` lowest candidates [U, D + A] with g(x) < 0; fewer where fewer are negative."""
    scores = jax.lax.stop_gradient(score_joined(params, candidates))
    negated, index = jax.lax.top_k(-scores, min(selected, len(candidates)))
    labels = NonExperts(candidates[index], negated > 0)
    info = {"called_nonexpert": jnp.mean(scores < 0), "selected": jnp.sum(labels.mask, dtype=jnp.float32)}
    return labels, info


def co_pseudo_labels(params: Params, candidates: jax.Array, selected: int) -> tuple[NonExperts, Info]:
    """P_i for every classifier i: what the *other* one picks among candidates from its own part.

    Candidates are [C, U, D + A], each row of axis C scored by the classifier of that part. Reversing axis C
    then swaps two classifiers' labels and leaves a single one its own: RIL-Co and RIL-P.
    """
    labels, info = jax.vmap(pseudo_labels, in_axes=(0, 0, None))(params, candidates, selected)
    return jax.tree.map(lambda stacked: jnp.flip(stacked, axis=0), labels), info


def _as_published(params: Params, candidates: jax.Array) -> NonExperts:
    """All candidates [C, U, D + A] of a part where its classifier finds more than one negative, else none."""
    scores = jax.lax.stop_gradient(jax.vmap(score_joined)(params, candidates))
    several = jnp.sum(scores < 0, axis=1, keepdims=True) > 1
    return NonExperts(candidates, jnp.broadcast_to(several, scores.shape))


def _all_of(x: jax.Array) -> NonExperts:
    """Every row of x [C, K, D + A] counts."""
    return NonExperts(x, jnp.ones(x.shape[:2], bool))


def deal(key: jax.Array, count: int, minibatches: int) -> jax.Array:
    """Indices [M, count // M] that deal `count` policy pairs out at random, none twice unless count < M."""
    size = max(1, count // minibatches)
    return jnp.resize(jax.random.permutation(key, count), (minibatches, size))


@functools.lru_cache(maxsize=4)
def split(count: int, parts: int, seed: int) -> tuple[np.ndarray, ...]:
    """Disjoint random index sets that cover `count` pairs; sizes differ by one at most, larger ones first.

    Cached because it is fixed for a run and takes time in the number of pairs, where a draw must not.
    """
    if count < parts:
        raise DemonstrationError(
            f"demonstrations: expected at least {parts} pairs, one for each classifier; got {count}. "
            "Give more demonstrations."
        )
    order = np.random.default_rng(seed).permutation(count) if parts > 1 else np.arange(count)
    halves = tuple(np.array_split(order, parts))
    for half in halves:
        half.flags.writeable = False  # the cache hands out the same arrays every time
    return halves


def _sample(
    config: ClassifierConfig, halves: tuple[np.ndarray, ...], demos: DemoArrays, rng: np.random.Generator
) -> Draws:
    """All draws of an iteration, gathered from the demonstrations in one go."""
    size = config.batch + (config.candidates if config.uses_pseudo_labels else 0)
    drawn = [half[_draw_minibatches(config, rng, len(half), size)] for half in halves]
    index = np.stack(drawn, axis=1)  # [M, C, n]
    draws = Draws(_gather(demos.obs, index), _gather(demos.action, index))
    if demos.known_obs is None or demos.known_action is None:
        return draws
    known = rng.integers(len(demos.known_obs), size=(*index.shape[:2], config.selected))
    return draws._replace(
        known_obs=_gather(demos.known_obs, known), known_action=_gather(demos.known_action, known)
    )


def _draw_minibatches(
    config: ClassifierConfig, rng: np.random.Generator, count: int, size: int
) -> np.ndarray:
    """Rows [M, size] of one half: parts of one shuffle, so that no pair comes twice, where there are enough."""
    shape = (config.minibatches, size)
    if count >= math.prod(shape):
        # Costs O(size) in NumPy, however large the count.
        return rng.choice(count, math.prod(shape), replace=False).reshape(shape)
    return np.stack([_draw(rng, count, config.batch, size) for _ in range(config.minibatches)])


def _draw(rng: np.random.Generator, count: int, batch: int, size: int) -> np.ndarray:
    """`size` of `count` pairs, the first `batch` for the risk's first term and the others apart from them.

    All are distinct where there are enough; where there are not, the candidates repeat among themselves first,
    and everything does below `batch`.
    """
    if count >= size:
        return rng.choice(count, size, replace=False)
    if count <= batch:
        return rng.choice(count, size, replace=True)
    order = rng.permutation(count)
    return np.concatenate([order[:batch], rng.choice(order[batch:], size - batch, replace=True)])


def _gather(array: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Rows of an array, at the cost of those rows alone."""
    array = np.asarray(array)  # a memory map becomes a plain view of the file
    # `take` was measured four times as fast as indexing, but it first copies an array that is not contiguous.
    return array.take(index, axis=0) if array.flags.c_contiguous else array[index]
