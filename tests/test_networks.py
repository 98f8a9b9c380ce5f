from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rilco.networks import Layer, apply_mlp, init_mlp, init_mlp_uniform, trace_mlp

SIZES = (4, 6, 5, 2)


# Jitted, because one program compiles faster than its operations one by one.
COMPILED = {init: jax.jit(init, static_argnames="sizes") for init in (init_mlp, init_mlp_uniform)}


def build(init: Callable[..., Any], seed: int, sizes: tuple[int, ...] = SIZES) -> tuple[Layer, ...]:
    """Layers as NumPy arrays."""
    return jax.tree.map(np.asarray, COMPILED[init](jax.random.key(seed), sizes=sizes))


def test_orthogonal_layers_scale_every_direction_by_their_gain() -> None:
    wide, narrow, head = build(init_mlp, 0, (7, 16, 5, 3))
    # Rows are orthogonal where there are more outputs than inputs, columns otherwise.
    np.testing.assert_allclose(wide["w"] @ wide["w"].T, 2.0 * np.eye(7), atol=1e-5)
    np.testing.assert_allclose(narrow["w"].T @ narrow["w"], 2.0 * np.eye(5), atol=1e-5)
    np.testing.assert_allclose(head["w"].T @ head["w"], np.eye(3), atol=1e-5)
    assert all(np.all(layer["b"] == 0.0) for layer in (wide, narrow, head))


def test_uniform_layers_fill_their_bounds() -> None:
    layers = build(init_mlp_uniform, 0, (400, 100, 1))
    for layer, fan_in in zip(layers, (400, 100), strict=True):
        bound = 1.0 / math.sqrt(fan_in)
        assert np.max(np.abs(layer["w"])) <= bound
        assert np.max(np.abs(layer["b"])) <= bound
        assert np.std(layer["w"]) == pytest.approx(bound / math.sqrt(3.0), rel=0.2)
    assert np.std(layers[0]["b"]) > 0.0


def test_first_weights_are_those_that_jax_draws_layer_by_layer() -> None:
    """Drawn together they are the same numbers, whatever a layer's size beside the largest."""
    keys, shapes = jax.random.split(jax.random.key(4), 3), list(itertools.pairwise(SIZES))
    orthogonal = [jax.nn.initializers.orthogonal(gain) for gain in (math.sqrt(2.0), math.sqrt(2.0), 1.0)]
    for layer, initial, key, shape in zip(build(init_mlp, 4), orthogonal, keys, shapes, strict=True):
        np.testing.assert_allclose(layer["w"], initial(key, shape, jnp.float32), rtol=1e-6, atol=1e-7)
    for layer, key, (fan_in, _) in zip(build(init_mlp_uniform, 4), keys, shapes, strict=True):
        bound = 1.0 / math.sqrt(fan_in)
        for name, own in zip("wb", jax.random.split(key), strict=True):
            expected = jax.random.uniform(own, layer[name].shape, jnp.float32, -bound, bound)
            np.testing.assert_allclose(layer[name], expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("init", [init_mlp, init_mlp_uniform])
def test_keys_decide_weights(init: Callable[..., Any]) -> None:
    first, again, other = (build(init, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(a["w"], b["w"]) for a, b in zip(first, again, strict=True))
    assert not any(np.array_equal(a["w"], b["w"]) for a, b in zip(first, other, strict=True))


def test_apply_is_tanh_layers_and_a_linear_head() -> None:
    layers = build(init_mlp_uniform, 3)
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
    hidden = np.tanh(x @ layers[0]["w"] + layers[0]["b"])
    hidden = np.tanh(hidden @ layers[1]["w"] + layers[1]["b"])
    expected = hidden @ layers[2]["w"] + layers[2]["b"]
    y = jax.jit(apply_mlp)(layers, x)
    assert y.shape == (2, 3, 2)
    assert y.dtype == jnp.float32
    np.testing.assert_allclose(y, expected, atol=1e-6)


def test_trace_gives_layer_inputs_and_per_sample_output_gradients() -> None:
    layers = build(init_mlp_uniform, 4)
    x = np.random.default_rng(1).normal(size=(7, 4)).astype(np.float32)
    shifts = tuple(np.zeros((7, size), np.float32) for size in SIZES[1:])

    def loss(
        layers: tuple[Layer, ...], x: jax.Array, shifts: tuple[jax.Array, ...] | None = None
    ) -> tuple[jax.Array, tuple[jax.Array, ...]]:
        y, inputs = trace_mlp(layers, x, shifts)
        return jnp.sum(jnp.sin(y)), inputs

    output_grads, inputs = jax.jit(jax.grad(loss, argnums=2, has_aux=True))(layers, x, shifts)
    # For one sample, a layer's gradient is the outer product of its input and the gradient of its output.
    per_sample, _ = jax.jit(jax.vmap(jax.grad(loss, has_aux=True), in_axes=(None, 0)))(layers, x)
    for a, g, grad in zip(inputs, output_grads, per_sample, strict=True):
        np.testing.assert_allclose(np.einsum("ni,no->nio", a, g), grad["w"], atol=1e-6)
        np.testing.assert_allclose(g, grad["b"], atol=1e-6)
