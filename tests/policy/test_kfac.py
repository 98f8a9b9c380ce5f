from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import numpy as np
import pytest

from rilco.networks import Layer, init_mlp_uniform, trace_mlp
from rilco.policy.config import AcktrConfig
from rilco.policy.kfac import (
    Factors,
    batch_factors,
    decompose,
    init_kfac,
    precondition,
    update_kfac,
)

Layers = tuple[Layer, ...]
Statistics = tuple[np.ndarray | None, ...]
"""Of each layer; biases that stand alone have no input."""

SIZES = (3, 4, 2)
DAMPING = 0.01


@pytest.fixture(scope="module")
def layers() -> Layers:
    net = jax.jit(partial(init_mlp_uniform, sizes=SIZES))(jax.random.key(0))
    return (*jax.tree.map(np.asarray, net), {"b": np.zeros(2, np.float32)})


def random_layers(rng: np.random.Generator, scale: float = 1.0) -> Layers:
    """Something shaped like the gradients of `layers`."""
    weights = [
        {"w": scale * rng.normal(size=(rows, n)), "b": scale * rng.normal(size=n)}
        for rows, n in itertools.pairwise(SIZES)
    ]
    return jax.tree.map(np.float32, (*weights, {"b": scale * rng.normal(size=2)}))


def random_statistics(rng: np.random.Generator, rows: int = 50) -> tuple[Statistics, Statistics]:
    """Layer inputs and output gradients, correlated so that the factors are far from diagonal."""
    draw = lambda n: (rng.normal(size=(rows, n)) @ rng.normal(size=(n, n))).astype(np.float32)  # noqa: E731
    return (draw(3), draw(4), None), (draw(4), draw(2), draw(2))


def flat(layers: Sequence[Layer]) -> np.ndarray:
    return np.concatenate([np.ravel(layer[name]) for layer in layers for name in sorted(layer)])


def dense_fisher(inputs: Statistics, output_grads: Statistics) -> np.ndarray:
    """The damped Fisher of every block as K-FAC approximates it, built out in full: biases, then weights."""
    blocks = []
    for a, g in zip(inputs, output_grads, strict=True):
        outputs = np.float64(g).T @ np.float64(g) / len(g)
        blocks.append(outputs)
        if a is not None:
            blocks.append(np.kron(np.float64(a).T @ np.float64(a) / len(a), outputs))
    full = np.zeros([sum(len(block) for block in blocks)] * 2)
    corner = 0
    for block in blocks:
        full[corner : corner + len(block), corner : corner + len(block)] = block
        corner += len(block)
    return full


def test_for_one_sample_the_factors_are_the_exact_fisher(layers: Layers) -> None:
    x = np.float32([[0.3, -1.2, 0.7]])
    target = np.float32([[1.0, -0.5]])

    def loss(net: Layers, shifts: tuple[jax.Array, ...]) -> tuple[jax.Array, tuple[jax.Array, ...]]:
        y, inputs = trace_mlp(net, x, shifts)
        return 0.5 * ((y - target) ** 2).sum(), inputs

    shifts = tuple(np.zeros((1, size), np.float32) for size in SIZES[1:])
    (grads, output_grads), inputs = jax.jit(jax.grad(loss, argnums=(0, 1), has_aux=True))(layers[:2], shifts)
    for factors, grad in zip(batch_factors(inputs, output_grads), grads, strict=True):
        score = np.ravel(grad["w"])
        np.testing.assert_allclose(
            np.kron(factors.inputs, factors.outputs), np.outer(score, score), atol=1e-6
        )
        np.testing.assert_allclose(factors.outputs, np.outer(grad["b"], grad["b"]), atol=1e-6)


def test_for_a_linear_gaussian_network_the_factors_are_the_exact_fisher() -> None:
    # Where every input meets every noise, the two are independent and K-FAC's one assumption holds:
    # E[(a x g)(a x g)^T] = E[a a^T] x E[g g^T], in each layer of y = x W1 W2 with unit noise.
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(3, 4)), rng.normal(size=(4, 2))
    pairs = itertools.product(rng.normal(size=(5, 3)), itertools.product([-1.0, 1.0], repeat=2))
    x, noise = (np.stack(column) for column in zip(*pairs, strict=True))
    factors = batch_factors((x, x @ first), (noise @ second.T, noise))

    fisher_first, fisher_second = np.zeros((12, 12)), np.zeros((8, 8))
    for row, error in zip(x, noise, strict=True):  # scores of log N(y; x W1 W2, I), differentiated by hand
        score_first = np.ravel(np.outer(row, second @ error))
        score_second = np.ravel(np.outer(first.T @ row, error))
        fisher_first += np.outer(score_first, score_first) / len(x)
        fisher_second += np.outer(score_second, score_second) / len(x)
    np.testing.assert_allclose(np.kron(factors[0].inputs, factors[0].outputs), fisher_first, atol=1e-5)
    np.testing.assert_allclose(np.kron(factors[1].inputs, factors[1].outputs), fisher_second, atol=1e-5)


def test_preconditioning_solves_the_dense_system() -> None:
    rng = np.random.default_rng(1)
    (inputs, *_), (output_grads, *_) = random_statistics(rng)
    grad = random_layers(rng)[0]
    (factors,) = batch_factors((inputs,), (output_grads,))
    direction, product = precondition(decompose(factors), grad, DAMPING)

    fisher = dense_fisher((inputs,), (output_grads,))
    expected = np.linalg.solve(fisher + DAMPING * np.eye(len(fisher)), flat([grad]))
    np.testing.assert_allclose(flat([direction]), expected, rtol=1e-3, atol=1e-4)
    assert float(product) == pytest.approx(expected @ flat([grad]), rel=1e-3)


def test_small_and_negative_eigenvalues_count_as_zero() -> None:
    matrix = np.float32(np.diag([4.0, 1e-7, -1e-3, 2e-6]))
    basis = decompose(Factors(None, matrix))
    np.testing.assert_allclose(np.sort(basis.outputs.values), [0.0, 0.0, 2e-6, 4.0], rtol=1e-4)
    direction, product = precondition(basis, {"b": jax.numpy.ones(4)}, DAMPING)
    np.testing.assert_allclose(direction["b"], 1.0 / np.array([4.01, 0.01, 0.01, 0.010002]), rtol=1e-4)
    assert product > 0.0


@pytest.mark.parametrize("scale, binds", [(1.0, True), (1e-4, False)])
def test_trust_region_bounds_the_quadratic_model(layers: Layers, scale: float, binds: bool) -> None:
    rng = np.random.default_rng(2)
    config = AcktrConfig(damping=DAMPING)
    statistics = random_statistics(rng)
    grads = random_layers(rng, scale)
    _, updates, trust_scale = jitted(config)(init_kfac(layers), grads, *statistics)

    fisher = dense_fisher(*statistics)
    fisher += DAMPING * np.eye(len(fisher))
    natural = np.linalg.solve(fisher, flat(grads))
    full_step = flat(updates) / (1.0 - config.momentum)
    length = full_step @ fisher @ full_step
    if binds:
        assert trust_scale < 1.0
        assert length == pytest.approx(config.kl_clip, rel=1e-3)
    else:
        assert trust_scale == 1.0
        assert length < config.kl_clip
    np.testing.assert_allclose(
        full_step, -config.learning_rate * float(trust_scale) * natural, rtol=2e-3, atol=1e-5
    )


def test_many_updates_match_a_dense_implementation(layers: Layers) -> None:
    """Running factors, stale decompositions, trust region and momentum, against float64 and matrix solves."""
    rng = np.random.default_rng(3)
    config = AcktrConfig(eigen_interval=4, stat_decay=0.7, damping=DAMPING)
    update = jitted(config)
    state = init_kfac(layers)
    running: list[Any] = []
    stale, velocity = None, 0.0
    for step in range(10):
        inputs, output_grads = random_statistics(rng)
        grads = random_layers(rng, scale=10.0 ** rng.uniform(-4.0, 2.0))
        state, updates, trust_scale = update(state, grads, inputs, output_grads)

        new = [
            [None if x is None else np.float64(x).T @ x / len(x) for x in pair]
            for pair in zip(inputs, output_grads, strict=True)
        ]
        running = (
            new if step == 0 else [_mix(old, batch, 0.7) for old, batch in zip(running, new, strict=True)]
        )
        if step % 4 == 0:
            stale = running
        blocks = []
        for (a, g), grad in zip(stale, grads, strict=True):
            blocks.append(np.linalg.solve(g + DAMPING * np.eye(len(g)), np.ravel(grad["b"])))
            if a is not None:
                kron = np.kron(a, g)
                blocks.append(np.linalg.solve(kron + DAMPING * np.eye(len(kron)), np.ravel(grad["w"])))
        natural = np.concatenate(blocks)
        nu = min(1.0, np.sqrt(config.kl_clip / (config.learning_rate**2 * natural @ flat(grads))))
        velocity = config.momentum * velocity + nu * natural
        expected = -config.learning_rate * (1.0 - config.momentum) * velocity
        assert float(trust_scale) == pytest.approx(nu, rel=2e-3)
        np.testing.assert_allclose(flat(updates), expected, rtol=1e-2, atol=2e-3 * np.max(np.abs(expected)))


def test_the_rate_scale_shortens_the_step_alone(layers: Layers) -> None:
    rng = np.random.default_rng(4)
    arguments = (init_kfac(layers), random_layers(rng), *random_statistics(rng))
    update = jitted(AcktrConfig())
    whole_state, whole, whole_trust = update(*arguments)
    half_state, half, half_trust = update(*arguments, rate_scale=0.5)
    np.testing.assert_allclose(flat(half), 0.5 * flat(whole), rtol=1e-6)
    assert half_trust == whole_trust
    np.testing.assert_array_equal(flat(half_state.velocity), flat(whole_state.velocity))


@pytest.mark.parametrize("scale", [0.0, 1e-20, 1e20, 1e30])
def test_any_size_of_gradient_gives_a_finite_step(layers: Layers, scale: float) -> None:
    rng = np.random.default_rng(5)
    config = AcktrConfig()
    state, updates, trust_scale = jitted(config)(
        init_kfac(layers), random_layers(rng, scale), *random_statistics(rng)
    )
    assert all(np.all(np.isfinite(array)) for array in jax.tree.leaves((state, updates, trust_scale)))
    assert np.linalg.norm(flat(updates)) <= np.sqrt(config.kl_clip / config.damping)
    assert np.any(flat(updates) != 0.0) == (scale > 0.0)


def test_samples_without_any_curvature_leave_the_gradient_over_the_damping(layers: Layers) -> None:
    nothing = [np.zeros((5, n), np.float32) for n in (3, 4, 2)]
    grads = random_layers(np.random.default_rng(6), scale=1e-6)  # too small for the trust region to bind
    _, updates, _ = jitted(AcktrConfig(damping=DAMPING))(
        init_kfac(layers), grads, (nothing[0], nothing[1], None), (nothing[1], nothing[2], nothing[2])
    )
    np.testing.assert_allclose(flat(updates), -0.25 * 0.1 * flat(grads) / DAMPING, rtol=1e-4, atol=1e-12)


def jitted(config: AcktrConfig) -> Callable[..., Any]:
    """`update_kfac` for a setting, compiled once per setting in this module."""
    compiled = _COMPILED.setdefault(config, jax.jit(partial(update_kfac, config)))
    return lambda *arguments, rate_scale=1.0: compiled(*arguments, rate_scale)


_COMPILED: dict[AcktrConfig, object] = {}


def _mix(old: list[np.ndarray | None], new: list[np.ndarray | None], decay: float) -> list[np.ndarray | None]:
    return [None if x is None else decay * x + (1.0 - decay) * y for x, y in zip(old, new, strict=True)]
