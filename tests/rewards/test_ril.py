from __future__ import annotations

import dataclasses
import functools
import tracemalloc
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rilco.errors import DemonstrationError
from rilco.rewards.classifier import Params, init_classifier
from rilco.rewards.config import ClassifierConfig
from rilco.rewards.gail import gail
from rilco.rewards.learner import DemoArrays, Info, RewardLearner
from rilco.rewards.ril import (
    ClassifierState,
    MiniBatch,
    co_pseudo_labels,
    deal,
    minibatch_step,
    pseudo_labels,
    ril_co,
    ril_p,
    split,
)

CONFIG = ClassifierConfig(batch=4, candidates=12, selected=3, minibatches=5, hidden=(8, 6))
OBS_DIM, ACTION_DIM = 3, 2


# Jitted, because one program compiles faster than its operations one by one.
@functools.partial(jax.jit, static_argnums=0)
def stacked_params(num_classifiers: int) -> Params:
    keys = jax.random.split(jax.random.key(0), num_classifiers)
    return jax.vmap(lambda key: init_classifier(key, OBS_DIM, ACTION_DIM, CONFIG.hidden))(keys)


def one(stacked: Params, index: int) -> Params:
    return jax.tree.map(lambda leaf: leaf[index], stacked)


def linear(weight: float) -> Params:
    """The classifier g(x) = weight * x of a one-dimensional x, so that a test can choose its scores."""
    return ({"w": jnp.array([[weight]]), "b": jnp.zeros(1)},)


def numbered(count: int) -> DemoArrays:
    """Pairs that carry their own row number, so that a test sees which were drawn."""
    rows = np.arange(count, dtype=np.float32)[:, None]
    return DemoArrays(obs=rows, action=rows + 0.5)


# --- pseudo-labels

select = jax.jit(pseudo_labels, static_argnums=2)


def naive_selection(scores: list[float], selected: int) -> list[float]:
    kept: list[float] = []
    for value in sorted(scores):
        if value < 0 and len(kept) < selected:
            kept.append(value)
    return kept


def chosen(scores: list[float], selected: int) -> tuple[list[float], Info]:
    labels, info = select(linear(1.0), jnp.array(scores, jnp.float32)[:, None], selected)
    return np.asarray(labels.x)[np.asarray(labels.mask), 0].tolist(), info


@pytest.mark.parametrize(
    "scores",
    [
        [3.0, 1.0, 0.5, 2.0, 0.1, 4.0, 7.0, 0.25],
        [3.0, 1.0, -0.5, 2.0, 0.1, 4.0, 7.0, 0.25],
        [3.0, -1.0, -0.5, 2.0, 0.1, 4.0, 7.0, 0.25],
        [3.0, -1.0, -0.5, -2.0, -0.1, -4.0, 7.0, -0.25],
        [-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0],
        [0.0, -0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0],
    ],
    ids=["none", "one", "fewer than K", "more than K", "all", "zero is not negative"],
)
def test_the_lowest_negative_candidates_are_labelled(scores: list[float]) -> None:
    kept, info = chosen(scores, 3)
    assert sorted(kept) == naive_selection(scores, 3)
    assert info["selected"] == len(kept)
    assert info["called_nonexpert"] == sum(value < 0 for value in scores) / len(scores)


@given(st.lists(st.floats(-5, 5, width=16), min_size=8, max_size=8))
def test_the_lowest_negative_candidates_are_labelled_whatever_the_scores(scores: list[float]) -> None:
    kept, _ = chosen(scores, 3)
    assert sorted(kept) == naive_selection(scores, 3)


def test_fewer_candidates_than_may_be_selected() -> None:
    kept, _ = chosen([1.0, -1.0, -2.0], 5)
    assert sorted(kept) == [-2.0, -1.0]


def test_each_classifier_labels_for_the_other() -> None:
    params = jax.tree.map(lambda *leaves: jnp.stack(leaves), linear(1.0), linear(-1.0))
    candidates = jnp.array([[-1.0, 2.0, 3.0], [-10.0, 20.0, 30.0]])[:, :, None]
    labels, info = co_pseudo_labels(params, candidates, 2)
    kept = [np.asarray(x)[mask].ravel().tolist() for x, mask in zip(labels.x, labels.mask, strict=True)]
    assert kept == [[30.0, 20.0], [-1.0]], "P1 comes from part 2 by g2 = -x, P2 from part 1 by g1 = x"
    np.testing.assert_allclose(info["called_nonexpert"], [1 / 3, 2 / 3])


def test_a_single_classifier_labels_its_own() -> None:
    labels, _ = co_pseudo_labels(jax.tree.map(lambda leaf: leaf[None], linear(1.0)), -jnp.ones((1, 3, 1)), 2)
    np.testing.assert_array_equal(labels.x, -jnp.ones((1, 2, 1)))
    assert labels.mask.all()


# --- the mini-batch step

rng = np.random.default_rng(0)
X = rng.normal(size=(2, CONFIG.batch + CONFIG.candidates, OBS_DIM + ACTION_DIM)).astype(np.float32)
POLICY = rng.normal(size=(6, OBS_DIM + ACTION_DIM)).astype(np.float32)
MIXING = rng.uniform(size=(2, CONFIG.batch, 1)).astype(np.float32)


def forward(params: Params, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """g(x) and grad_x g(x) by the chain rule, in float64."""
    first, second, head = params
    h1 = np.tanh(x @ first["w"] + first["b"])
    h2 = np.tanh(h1 @ second["w"] + second["b"])
    slope = ((head["w"][:, 0] * (1 - h2**2)) @ second["w"].T * (1 - h1**2)) @ first["w"].T
    return (h2 @ head["w"] + head["b"])[:, 0], slope


def ap(z: np.ndarray) -> np.ndarray:
    negative, positive = np.logaddexp(0, -z), np.logaddexp(0, z)
    return 0.5 * negative / (negative + positive) + 0.5 / (1 + np.exp(z))


def naive_objective(
    params: Params, demo: np.ndarray, policy: np.ndarray, mixing: np.ndarray, labelled: np.ndarray
) -> float:
    """What one classifier minimises, from the equations."""
    weight = CONFIG.lam if len(labelled) else 0.0
    risk = ap(forward(params, demo)[0]).mean() + (1 - weight) * ap(-forward(params, policy)[0]).mean()
    if len(labelled):
        risk += weight * ap(-forward(params, labelled)[0]).mean()
    between = mixing * demo + (1 - mixing) * policy[: len(demo)]
    norms = np.sqrt((forward(params, between)[1] ** 2).sum(-1))
    return risk + CONFIG.gradient_penalty * ((norms - 1) ** 2).mean()


def naive_labelled(params: Params, candidates: np.ndarray) -> np.ndarray:
    scores = forward(params, candidates)[0]
    order = sorted(range(len(scores)), key=scores.__getitem__)
    return candidates[[k for k in order if scores[k] < 0][: CONFIG.selected]]


def biased(params: Params, shift: float) -> Params:
    """The same classifiers with all scores shifted: some, all or none of the candidates turn negative."""
    *layers, head = params
    return (*layers, head | {"b": head["b"] + shift})


def descend(
    config: ClassifierConfig, params: Params, x: np.ndarray, mixing: np.ndarray
) -> tuple[Params, Info]:
    """How far one step of plain descent moves each weight: the gradient, as the step computed it."""
    step = jitted_step(config, "sgd")
    state, info = step(
        ClassifierState(params, optax.sgd(1.0).init(params)), MiniBatch(x, None, POLICY, mixing)
    )
    return jax.tree.map(lambda before, after: np.asarray(before - after), params, state.params), info


@functools.cache
def jitted_step(
    config: ClassifierConfig, name: str
) -> Callable[[ClassifierState, MiniBatch], tuple[ClassifierState, Info]]:
    optimizer = optax.sgd(1.0) if name == "sgd" else optax.adam(config.learning_rate)
    return jax.jit(functools.partial(minibatch_step, config, optimizer))


@pytest.mark.parametrize("num_classifiers", [1, 2])
@pytest.mark.parametrize("shift", [0.0, -5.0, 5.0], ids=["some negative", "all negative", "none negative"])
def test_the_stacked_step_equals_classifiers_computed_apart(num_classifiers: int, shift: float) -> None:
    """Each classifier alone, its labels fixed and its slope from finite differences. That also shows that the
    labelled pairs do carry a gradient and that the scores which selected them carry none."""
    params = biased(stacked_params(num_classifiers), shift)
    x, mixing = X[:num_classifiers], MIXING[:num_classifiers]
    gradients, info = descend(CONFIG, params, x, mixing)
    params = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), params)
    for i in range(num_classifiers):
        j = num_classifiers - 1 - i
        labelled = naive_labelled(one(params, j), x[j, CONFIG.batch :])
        assert info["selected"][j] == len(labelled)
        for _ in range(4):
            direction = jax.tree.map(lambda leaf: rng.normal(size=leaf.shape), one(params, i))
            above, below = (
                naive_objective(
                    jax.tree.map(lambda p, d, e=epsilon: p + e * d, one(params, i), direction),
                    x[i, : CONFIG.batch],
                    POLICY,
                    mixing[i],
                    labelled,
                )
                for epsilon in (1e-5, -1e-5)
            )
            slope = jax.tree.map(lambda g, d: np.sum(g * d), one(gradients, i), direction)
            assert sum(jax.tree.leaves(slope)) == pytest.approx((above - below) / 2e-5, rel=1e-3, abs=1e-4)
    assert {-5.0: info["called_nonexpert"] == 1, 5.0: info["called_nonexpert"] == 0}.get(
        shift, np.True_
    ).all()


def test_with_no_negative_candidate_the_step_is_gails() -> None:
    params = biased(stacked_params(1), 5.0)
    labelled, info = descend(CONFIG, params, X[:1], MIXING[:1])
    without = dataclasses.replace(CONFIG, lam=0.0)
    plain, plain_info = descend(without, params, X[:1, : CONFIG.batch], MIXING[:1])
    jax.tree.map(functools.partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-6), labelled, plain)
    np.testing.assert_allclose(info["risk"], plain_info["risk"], rtol=1e-6)
    np.testing.assert_allclose(info["risk"], info["demo_risk"] + info["policy_risk"], rtol=1e-6)


def test_no_gradient_flows_through_the_scores_that_select() -> None:
    @jax.jit
    @jax.grad
    def slope(params: Params) -> jax.Array:
        labels, info = pseudo_labels(params, jnp.array([[-1.0], [2.0], [-3.0]]), 2)
        terms = jnp.sum(labels.x), jnp.sum(labels.mask), info["selected"], info["called_nonexpert"]
        return jnp.sum(jnp.stack([term.astype(jnp.float32) for term in terms]))

    assert all((leaf == 0).all() for leaf in jax.tree.leaves(slope(linear(1.0))))


# --- draws from the demonstrations


@pytest.mark.parametrize("count", [2, 7, 100])
def test_halves_are_disjoint_cover_all_and_the_first_takes_an_odd_pair(count: int) -> None:
    first, second = split(count, 2, seed=3)
    assert sorted([*first, *second]) == list(range(count))
    assert len(first) == (count + 1) // 2


def test_the_split_is_random_and_fixed_by_its_seed() -> None:
    first, _ = split(100, 2, seed=3)
    split.cache_clear()
    np.testing.assert_array_equal(first, split(100, 2, seed=3)[0])
    assert sorted(first) != sorted(split(100, 2, seed=4)[0])
    assert 10 < np.sum(first < 50) < 40, "not the first 50 pairs"


def test_one_pair_cannot_be_split() -> None:
    with pytest.raises(DemonstrationError, match="at least 2"):
        ril_co(CONFIG).sample(numbered(1), np.random.default_rng(0))


def test_draws_of_a_mini_batch_are_distinct_and_stay_in_their_half() -> None:
    learner, demos = ril_co(CONFIG, split_seed=5), numbered(80)
    halves = [set(half.tolist()) for half in split(80, 2, seed=5)]
    generator = np.random.default_rng(0)
    first_term: list[set[int]] = [set(), set()]
    candidates: list[set[int]] = [set(), set()]
    for _ in range(20):
        draws = learner.sample(demos, generator)
        assert draws.obs.shape == (5, 2, 16, 1)
        assert draws.obs.dtype == draws.action.dtype == np.float32
        np.testing.assert_array_equal(draws.action, draws.obs + 0.5)
        for part, rows in (
            (part, rows) for minibatch in draws.obs[..., 0] for part, rows in enumerate(minibatch)
        ):
            assert len(set(rows)) == len(rows), "candidates must be other pairs than the first term's"
            first_term[part].update(rows[: CONFIG.batch].astype(int).tolist())
            candidates[part].update(rows[CONFIG.batch :].astype(int).tolist())
    assert first_term == candidates == halves, "every pair of a half is drawn sooner or later, in both roles"


def test_a_single_classifier_draws_from_all_pairs() -> None:
    draws = ril_p(CONFIG).sample(numbered(16), np.random.default_rng(0))
    assert draws.obs.shape == (5, 1, 16, 1)
    assert all(sorted(rows) == list(range(16)) for rows in draws.obs[:, 0, :, 0])


def test_sampling_costs_the_batch_and_not_the_data() -> None:
    """Beyond the split, made once, nothing as long as the data may be allocated, contiguous or not."""
    count, learner = 1_000_000, ril_co(CONFIG)
    rows = np.zeros((count, 4), np.float32)
    for demos in (DemoArrays(rows, rows), DemoArrays(rows[:, :2], rows[:, 2:])):
        learner.sample(demos, np.random.default_rng(0))
        tracemalloc.start()
        learner.sample(demos, np.random.default_rng(0))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < count, "less than a byte a pair"


# --- the update


def demo_pairs(count: int, seed: int = 0) -> DemoArrays:
    generator = np.random.default_rng(seed)
    return DemoArrays(
        generator.normal(size=(count, OBS_DIM)).astype(np.float32),
        generator.normal(size=(count, ACTION_DIM)).astype(np.float32),
    )


def identity(obs: jax.Array) -> jax.Array:
    return obs


def test_an_update_is_five_steps_of_adam_on_the_draws_in_turn() -> None:
    """With equal policy pairs and no penalty, how the pairs are dealt and mixed does not matter."""
    config = dataclasses.replace(CONFIG, gradient_penalty=0.0)
    learner = ril_co(config)
    state = jax.jit(learner.init, static_argnums=(1, 2))(jax.random.key(0), OBS_DIM, ACTION_DIM)
    draws = learner.sample(demo_pairs(60), np.random.default_rng(0))
    obs, action = np.full((10, OBS_DIM), 0.3, np.float32), np.full((10, ACTION_DIM), -0.2, np.float32)
    update = jax.jit(learner.update, static_argnums=4)
    updated, info = update(state, draws, obs, action, identity, jax.random.key(1))

    infos = []
    for draw in np.concatenate([draws.obs, draws.action], axis=-1):
        step = jitted_step(config, "adam")
        policy = np.concatenate([obs, action], -1)[:2]
        state, step_info = step(state, MiniBatch(draw, None, policy, MIXING))
        infos.append(step_info)
    jax.tree.map(
        functools.partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-6), updated.params, state.params
    )
    assert info.pop("gradient_penalty") > 0, "logged, though it has no weight here"
    for name, value in info.items():
        np.testing.assert_allclose(value, np.mean([i[name] for i in infos]), rtol=1e-4, err_msg=name)


def test_the_update_normalises_what_it_draws_and_uses_all_policy_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Seen with a step that learns nothing and reports its batch."""

    def report(
        config: ClassifierConfig,
        optimizer: optax.GradientTransformation,
        state: ClassifierState,
        batch: MiniBatch,
    ) -> tuple[ClassifierState, Info]:
        demos, _, policy, mixing = batch
        return state, {"demos": demos, "policy": policy, "mixing": (mixing >= 0) & (mixing < 1)}

    monkeypatch.setattr("rilco.rewards.ril.minibatch_step", report)
    learner = ril_co(CONFIG)
    draws, policy = learner.sample(demo_pairs(60), np.random.default_rng(0)), demo_pairs(20, seed=1)
    _, means = learner.update(
        (), draws, policy.obs, policy.action, lambda obs: 2.0 * obs + 1.0, jax.random.key(0)
    )
    for name, obs, action in (
        ("demos", 2.0 * draws.obs + 1.0, draws.action),
        ("policy", policy.obs, policy.action),  # comes normalised
    ):
        expected = np.concatenate([obs, action], axis=-1).mean()
        np.testing.assert_allclose(means[name], expected, rtol=1e-5)
    assert means["mixing"] == 1


@pytest.mark.parametrize("count, size", [(640, 128), (23, 4), (5, 1), (3, 1)])
def test_policy_pairs_are_dealt_out_once(count: int, size: int) -> None:
    dealt = np.asarray(deal(jax.random.key(0), count, 5))
    assert dealt.shape == (5, size)
    assert len(set(dealt.ravel())) == min(5 * size, count), "none twice unless there are too few"
    assert dealt.ravel().tolist() != np.sort(dealt.ravel()).tolist(), "in a random order"


# --- what it is all for


def clusters(expert_share: float, count: int, seed: int) -> DemoArrays:
    """Pairs of which that share is from the expert, around (+1, +1), and the rest around (-1, -1)."""
    generator = np.random.default_rng(seed)
    side = np.where(np.arange(count) < expert_share * count, 1.0, -1.0)[:, None]
    return DemoArrays(*(np.float32(side + 0.3 * generator.normal(size=(count, 1))) for _ in range(2)))


def preference(learner: RewardLearner) -> float:
    """How much more reward expert pairs get than the others, once the policy has nearly become the expert."""
    demos, generator = clusters(0.7, 400, 0), np.random.default_rng(0)
    state = jax.jit(learner.init, static_argnums=(1, 2))(jax.random.key(0), 1, 1)
    update = jax.jit(learner.update, static_argnums=4)
    for iteration in range(180):
        # The policy starts bad and stays so for a while, as policies do. That matters: pseudo-labels confirm
        # whatever the classifiers believe, so these must have learnt who is bad before the policy is good.
        kappa = np.clip((iteration - 100) / 20, 0.0, 0.95)
        policy = clusters(kappa, 40, iteration)
        draws = learner.sample(demos, generator)
        state, _ = update(state, draws, policy.obs, policy.action, identity, jax.random.key(iteration))
    expert, other = clusters(1.0, 50, 1), clusters(0.0, 50, 2)
    return float(np.mean(learner.reward(state, *expert[:2])) - np.mean(learner.reward(state, *other[:2])))


def test_an_expert_like_policy_is_still_rewarded_for_being_so() -> None:
    """At kappa = 0.95 > alpha = 0.7 the noisy demonstrations hold more bad pairs than the policy makes: GAIL
    then rewards those (lambda = 0 breaks the inequality of Lemma 1), RIL-Co does not."""
    config = ClassifierConfig(batch=16, candidates=64, selected=16, learning_rate=3e-3, hidden=(8,))
    assert preference(ril_co(config)) > 0.3
    assert preference(gail(config)) < -0.3
