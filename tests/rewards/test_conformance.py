"""What every reward learner must do, whatever its method: one suite over all of them."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest

from rilco.config import RunConfig
from rilco.losses import LOSSES
from rilco.methods import METHODS, find, make_reward_learner
from rilco.rewards.classifier import score
from rilco.rewards.config import ClassifierConfig, VildConfig
from rilco.rewards.learner import DemoArrays, RewardLearner
from rilco.runs.checkpoint import Checkpoint, flatten, load_checkpoint, save_checkpoint, unflatten

CONFIG = ClassifierConfig(batch=8, candidates=16, selected=4, minibatches=3, hidden=(8,), learning_rate=5e-3)
VILD = VildConfig(hidden=(8,), cloning_steps=20)
OBS_DIM, ACTION_DIM, DEMONSTRATORS = 3, 2, 3
# Compiling is nearly all that this suite takes: no effort on programs that run for milliseconds.
QUICK = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}

WITH_REWARD = [name for name, method in METHODS.items() if method.make_reward]
# Of the families that take any loss, those that are not methods of their own: "ril-co" is RIL-Co with the AP loss.
ANY_LOSS = [
    f"{family} {loss}"
    for family in ("gail", "ril-p", "ril-co")
    for loss in LOSSES
    if loss not in ("ap", "logistic")
]
LEARNERS = [
    *WITH_REWARD,
    *(pytest.param(name, marks=pytest.mark.slow) for name in ANY_LOSS),
]  # slow: all together

pytestmark = pytest.mark.parametrize("name", LEARNERS)


@functools.cache
def make(name: str) -> RewardLearner:
    """The learner of a method, or of a method and a loss."""
    method, _, loss = name.partition(" ")
    classifier = dataclasses.replace(CONFIG, loss=loss or CONFIG.loss)
    config = RunConfig(method=method, demos=("any.npz",), classifier=classifier, vild=VILD)
    learner = make_reward_learner(config, num_demonstrators=DEMONSTRATORS)
    assert learner is not None
    return learner


class Iteration(NamedTuple):
    """What one iteration leaves behind."""

    state: Any
    info: dict[str, jax.Array]
    demo_reward: jax.Array
    policy_reward: jax.Array


def halve(obs: jax.Array) -> jax.Array:
    return obs / 2


@functools.cache
def compiled(name: str) -> tuple[Callable[..., Any], Callable[..., Iteration]]:
    """One program for each learner, shared by the tests: an update and the rewards after it."""
    learner = make(name)

    def iterate(state: Any, batches: Any, demos: DemoArrays, policy: DemoArrays, key: jax.Array) -> Iteration:
        compiled_for.append(name)  # runs when JAX traces, and only then
        state, info = learner.update(state, batches, halve(policy.obs), policy.action, halve, key)
        rewards = (learner.reward(state, halve(pairs.obs), pairs.action) for pairs in (demos, policy))
        return Iteration(state, info, *rewards)

    return jax.jit(learner.init, static_argnums=(1, 2)), jax.jit(iterate, compiler_options=QUICK)


compiled_for: list[str] = []


def pairs(count: int = 40, mean: float = 0.0, seed: int = 0) -> DemoArrays:
    rng = np.random.default_rng(seed)
    obs, action = (rng.normal(mean, size=(count, dim)).astype(np.float32) for dim in (OBS_DIM, ACTION_DIM))
    return DemoArrays(obs, action, np.arange(count, dtype=np.int32) % DEMONSTRATORS)


def unlabelled(demos: DemoArrays) -> DemoArrays:
    return demos._replace(demonstrator=None)


def begin(name: str, demos: DemoArrays, seed: int = 0) -> Any:
    learner, (init, _) = make(name), compiled(name)
    key = jax.random.key(seed)
    state = init(key, OBS_DIM, ACTION_DIM)
    return state if learner.prepare is None else learner.prepare(state, demos, halve, key)


def proceed(
    name: str,
    state: Any,
    demos: DemoArrays,
    policy: DemoArrays,
    *,
    iterations: int = 2,
    first: int = 0,
    seed: int = 0,
    draws_seed: int = 0,
) -> Iteration:
    """Iterations `first`, first + 1, ...: each with draws and a key of its own."""
    learner, (_, iterate) = make(name), compiled(name)
    shown = DemoArrays(*(np.resize(array, (40, array.shape[1])) for array in demos[:2]))
    for i in range(first, first + iterations):
        batches = learner.sample(demos, np.random.default_rng([draws_seed, i]))
        key = jax.random.fold_in(jax.random.key(seed), i)
        done = iterate(state, batches, shown, unlabelled(policy), key)
        state = done.state
    return done


def leaves(tree: object) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]


def same(left: object, right: object) -> bool:
    """Whether two trees hold the same bytes."""
    both = [[leaf.tobytes() for leaf in leaves(tree)] for tree in (left, right)]
    return both[0] == both[1]


def assert_finite(done: Iteration) -> None:
    for what, tree in done._asdict().items():
        assert all(np.isfinite(leaf).all() for leaf in leaves(tree)), what


# --- shapes


def test_draws_have_shapes_that_do_not_depend_on_the_data(name: str) -> None:
    shapes = [
        [(leaf.shape, leaf.dtype) for leaf in leaves(make(name).sample(pairs(count), rng))]
        for count, rng in ((100, np.random.default_rng(0)), (5, np.random.default_rng(1)))
    ]
    assert shapes[0] == shapes[1], "or the update would compile anew"
    assert {dtype for _, dtype in shapes[0]} <= {np.dtype(np.float32), np.dtype(np.int32)}


def test_an_update_keeps_the_states_shapes_and_reports_scalars(name: str) -> None:
    demos = pairs()
    state = begin(name, demos)
    done = proceed(name, state, demos, pairs(seed=1))
    before, after = ([(leaf.shape, leaf.dtype) for leaf in leaves(tree)] for tree in (state, done.state))
    assert before == after
    assert all(np.shape(value) == () for value in done.info.values())
    assert {"risk", "demo_risk", "policy_risk", "gradient_penalty", "demo_score", "policy_score"} <= set(
        done.info
    )
    assert done.demo_reward.shape == done.policy_reward.shape == (40,)


def test_a_reward_belongs_to_a_pair_whatever_the_leading_shape(name: str) -> None:
    batch = pairs(6)
    state = begin(name, batch)
    reward = make(name).reward
    flat = reward(state, batch.obs, batch.action)
    folded = reward(state, batch.obs.reshape(2, 3, -1), batch.action.reshape(2, 3, -1))
    assert flat.dtype == np.float32
    np.testing.assert_allclose(folded, flat.reshape(2, 3), rtol=1e-5, atol=1e-6)
    assert len(np.unique(np.asarray(flat))) == 6


def test_the_reward_is_the_methods_function_of_the_first_classifiers_score(name: str) -> None:
    learner, batch = make(name), pairs(6)
    state = learner.init(jax.random.key(0), OBS_DIM, ACTION_DIM)
    stacked = state.params[0]["w"].ndim == 3  # RIL-Co, RIL-P and GAIL have theirs on top of each other
    first = jax.tree.map(lambda leaf: leaf[0], state.params) if stacked else state.params
    g = score(first, batch.obs, batch.action)
    own = {"gail-unhinged": g, "fairl": -g * np.exp(g), "vild": LOSSES["logistic"].fn(-g)}
    method, _, loss = name.partition(" ")
    loss = loss or ("logistic" if method.endswith("logistic") else "ap")
    expected = own.get(name, LOSSES[loss].fn(-g))
    np.testing.assert_allclose(learner.reward(state, batch.obs, batch.action), expected, rtol=1e-5, atol=1e-7)


# --- determinism and compilation


def test_the_same_keys_and_draws_give_the_same_bytes_and_others_do_not(name: str) -> None:
    demos, policy = pairs(), pairs(seed=1)
    start = begin(name, demos)
    assert same(start, begin(name, demos))
    assert not same(start, begin(name, demos, seed=1))
    done = proceed(name, start, demos, policy)
    assert same(done, proceed(name, start, demos, policy))
    assert not same(done.state, proceed(name, start, demos, policy, seed=1).state)
    assert not same(done.state, proceed(name, start, demos, policy, draws_seed=1).state)


def test_it_compiles_once(name: str) -> None:
    demos = pairs()
    done = proceed(name, begin(name, demos), demos, pairs(seed=1), iterations=4)
    proceed(name, done.state, pairs(70, seed=2), pairs(seed=3), iterations=2)
    assert compiled_for.count(name) == 1


# --- extreme inputs

EXTREMES = {
    "huge": lambda demos: demos._replace(obs=1e4 * np.sign(demos.obs), action=1e4 * np.sign(demos.action)),
    "constant": lambda demos: demos._replace(obs=np.ones_like(demos.obs), action=np.ones_like(demos.action)),
    "zero": lambda demos: demos._replace(obs=0 * demos.obs, action=0 * demos.action),
}


@pytest.mark.parametrize("extreme", EXTREMES)
def test_it_stays_finite(name: str, extreme: str) -> None:
    change = EXTREMES[extreme]
    demos, policy = pairs(), pairs(seed=1)
    assert_finite(proceed(name, begin(name, change(demos)), change(demos), change(policy), iterations=3))
    assert_finite(proceed(name, begin(name, demos), demos, change(policy), iterations=3))
    assert_finite(proceed(name, begin(name, change(demos)), change(demos), policy, iterations=3))


@pytest.mark.parametrize("score", [1e4, -1e4])
def test_it_stays_finite_with_huge_scores(name: str, score: float) -> None:
    demos, policy = pairs(), pairs(seed=1)
    state = begin(name, demos)
    *hidden, head = state.params
    biased = state._replace(params=(*hidden, {"w": head["w"], "b": np.full_like(head["b"], score)}))
    done = proceed(name, biased, demos, policy, iterations=1)
    np.testing.assert_allclose(done.info["demo_score"], score, rtol=0.01)
    assert_finite(done)


def test_a_single_demonstration_pair_is_enough_to_run(name: str) -> None:
    demos = pairs(find(name.partition(" ")[0]).classifiers)  # one for each
    assert_finite(proceed(name, begin(name, demos), demos, pairs(seed=1), iterations=3))


def test_a_single_policy_pair_is_enough_to_run(name: str) -> None:
    learner, demos, policy = make(name), pairs(), pairs(1, seed=1)
    key = jax.random.key(0)
    _, info = jax.eval_shape(
        lambda state: learner.update(
            state,
            learner.sample(demos, np.random.default_rng(0)),
            halve(policy.obs),
            policy.action,
            halve,
            key,
        ),
        begin(name, demos),
    )
    assert "risk" in info


# --- no ground truth


def test_neither_rewards_nor_labels_are_inputs(name: str) -> None:
    assert DemoArrays._fields == ("obs", "action", "demonstrator", "known_obs", "known_action")
    learner = make(name)
    assert list(inspect.signature(learner.sample).parameters) == ["demos", "rng"]
    assert list(inspect.signature(learner.update).parameters) == [
        "state",
        "batches",
        "policy_obs",
        "policy_action",
        "normalize",
        "key",
    ]


def test_only_vild_looks_at_who_demonstrated(name: str) -> None:
    demos, policy = pairs(), pairs(seed=1)
    others = demos._replace(demonstrator=demos.demonstrator[::-1].copy())
    first, second = (proceed(name, begin(name, given), given, policy) for given in (demos, others))
    assert same(first, second) == (name != "vild")


# --- stop and go on


def test_a_saved_state_is_the_same_to_the_byte_and_goes_on_the_same(name: str, tmp_path: Path) -> None:
    demos, policy = pairs(), pairs(seed=1)
    state = proceed(name, begin(name, demos), demos, policy).state
    save_checkpoint(tmp_path, Checkpoint(2, flatten(state), {}))
    checkpoint, complaints = load_checkpoint(tmp_path)
    assert not complaints
    restored = unflatten(begin(name, demos, seed=1), checkpoint.arrays)
    assert same(restored, state)
    went_on = (proceed(name, each, demos, policy, first=2) for each in (state, restored))
    assert same(*went_on)


def test_memory_maps_give_what_arrays_give(name: str, tmp_path: Path) -> None:
    demos = pairs()
    for field, array in zip(demos._fields, demos[:3], strict=False):
        np.save(tmp_path / f"{field}.npy", array)
    mapped = DemoArrays(*(np.load(tmp_path / f"{field}.npy", mmap_mode="r") for field in demos._fields[:3]))
    draws = (make(name).sample(given, np.random.default_rng(0)) for given in (demos, mapped))
    assert same(*draws)


# --- learning


def test_it_learns_to_reward_what_the_demonstrations_do(name: str) -> None:
    demos, policy = pairs(mean=1.0), pairs(mean=-1.0, seed=1)
    done = proceed(name, begin(name, demos), demos, policy, iterations=60)
    assert done.info["demo_score"] > done.info["policy_score"] + 0.1
    difference = np.mean(done.demo_reward) - np.mean(done.policy_reward)
    if name == "fairl":  # -u log u of the density ratio u is not monotone: see test_gail.py
        assert difference < 0
    else:
        assert difference > 0.02
