"""What every reward learner must do, whatever it is: one suite over all of them."""

from __future__ import annotations

import functools
import inspect

import jax
import numpy as np
import pytest

from rilco.losses import LOSSES
from rilco.rewards.classifier import score
from rilco.rewards.config import ClassifierConfig
from rilco.rewards.gail import gail
from rilco.rewards.learner import DemoArrays, RewardLearner
from rilco.rewards.ril import ril_co, ril_p

CONFIG = ClassifierConfig(batch=8, candidates=16, selected=4, minibatches=5, hidden=(8,))
LEARNERS = {
    "ril-co": ril_co(CONFIG, split_seed=1),
    "ril-p": ril_p(CONFIG),
    "gail-logistic": gail(CONFIG),
    "gail-ap": gail(CONFIG, loss="ap"),
    "gail-unhinged": gail(CONFIG, loss="unhinged", reward_of_score=lambda g: g),
}
OBS_DIM, ACTION_DIM = 3, 2

pytestmark = pytest.mark.parametrize("name", LEARNERS)


def pairs(count, mean=0.0, seed=0):
    generator = np.random.default_rng(seed)
    return DemoArrays(
        generator.normal(mean, size=(count, OBS_DIM)).astype(np.float32),
        generator.normal(mean, size=(count, ACTION_DIM)).astype(np.float32),
    )


# One compiled program for each learner and shape, shared by the tests.
@functools.cache
def compiled(name):
    learner = LEARNERS[name]
    return RewardLearner(
        init=jax.jit(learner.init, static_argnums=(1, 2)),
        sample=learner.sample,
        update=jax.jit(functools.partial(learner.update), static_argnums=4),
        reward=jax.jit(learner.reward),
    )


def halve(obs):
    return obs / 2


def iterate(name, demos, policy, *, seed=0, iterations=2):
    learner, generator = compiled(name), np.random.default_rng(seed)
    state = learner.init(jax.random.key(seed), OBS_DIM, ACTION_DIM)
    for iteration in range(iterations):
        key = jax.random.fold_in(jax.random.key(seed), iteration)
        draws = learner.sample(demos, generator)
        state, info = learner.update(state, draws, halve(policy.obs), policy.action, halve, key)
    return state, info


def leaves(tree):
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)]


def test_sample_gives_float32_arrays_of_shapes_that_do_not_depend_on_the_data(name):
    shapes = [
        [(leaf.shape, leaf.dtype) for leaf in jax.tree.leaves(LEARNERS[name].sample(pairs(count), rng))]
        for count, rng in ((100, np.random.default_rng(0)), (5, np.random.default_rng(1)))
    ]
    assert shapes[0] == shapes[1], "or the update would compile anew"
    assert all(dtype == np.float32 for _, dtype in shapes[0])


def test_learns_to_reward_what_the_demonstrations_do_and_reports_finite_scalars(name):
    demos, policy = pairs(100, mean=1.0), pairs(40, mean=-1.0)
    state, info = iterate(name, demos, policy, iterations=40)
    assert all(np.shape(value) == () and np.isfinite(value) for value in info.values())
    assert {"risk", "demo_risk", "policy_risk", "gradient_penalty", "demo_score", "policy_score"} <= set(info)
    reward = compiled(name).reward
    good, bad = reward(state, halve(demos.obs), demos.action), reward(state, halve(policy.obs), policy.action)
    assert good.shape == (100,)
    assert np.mean(good) > np.mean(bad) + 0.02
    assert info["demo_score"] > info["policy_score"]


def test_reward_keeps_any_leading_shape(name):
    learner = compiled(name)
    state = learner.init(jax.random.key(0), OBS_DIM, ACTION_DIM)
    batch = pairs(6)
    flat = learner.reward(state, batch.obs, batch.action)
    folded = learner.reward(state, batch.obs.reshape(2, 3, -1), batch.action.reshape(2, 3, -1))
    np.testing.assert_allclose(folded, flat.reshape(2, 3), rtol=1e-5)


def test_the_reward_is_the_methods_function_of_the_first_classifiers_score(name):
    learner, batch = compiled(name), pairs(6)
    state = learner.init(jax.random.key(0), OBS_DIM, ACTION_DIM)
    first = jax.tree.map(lambda leaf: leaf[0], state.params)
    g = score(first, batch.obs, batch.action)
    expected = {"gail-logistic": LOSSES["logistic"].fn(-g), "gail-unhinged": g}.get(name, LOSSES["ap"].fn(-g))
    np.testing.assert_allclose(learner.reward(state, batch.obs, batch.action), expected, rtol=1e-5)


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(name):
    demos, policy = pairs(100), pairs(40, seed=1)
    first = iterate(name, demos, policy)
    assert leaves(first) == leaves(iterate(name, demos, policy))
    assert leaves(first) != leaves(iterate(name, demos, policy, seed=1))


def test_who_demonstrated_is_never_looked_at(name):
    demos, policy = pairs(100), pairs(40, seed=1)
    labelled = demos._replace(demonstrator=np.arange(100, dtype=np.int32) % 6)
    assert leaves(iterate(name, demos, policy)) == leaves(iterate(name, labelled, policy))


def test_neither_rewards_nor_labels_are_inputs(name):
    learner = LEARNERS[name]
    assert list(inspect.signature(learner.sample).parameters) == ["demos", "rng"]
    assert list(inspect.signature(learner.update).parameters) == [
        "state",
        "batches",
        "policy_obs",
        "policy_action",
        "normalize",
        "key",
    ]


@pytest.mark.parametrize("count", [2, 3])
def test_a_handful_of_demonstrations_is_enough_to_run(name, count):
    _, info = iterate(name, pairs(count), pairs(40, seed=1))
    assert all(np.isfinite(value) for value in info.values())


def test_memory_maps_give_what_arrays_give(name, tmp_path):
    demos = pairs(100)
    for field, array in (("obs", demos.obs), ("action", demos.action)):
        np.save(tmp_path / f"{field}.npy", array)
    mapped = DemoArrays(*(np.load(tmp_path / f"{field}.npy", mmap_mode="r") for field in ("obs", "action")))
    sample = LEARNERS[name].sample
    expected = sample(demos, np.random.default_rng(0))
    assert leaves(sample(mapped, np.random.default_rng(0))) == leaves(expected)
