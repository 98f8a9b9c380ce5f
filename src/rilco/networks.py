"""Multilayer perceptrons as plain tuples of arrays: tanh hidden layers and a linear head."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

Layer = dict[str, jax.Array]
"""One affine map: `{"w": [in, out], "b": [out]}`."""


def init_mlp(key: jax.Array, sizes: Sequence[int], *, head_gain: float = 1.0) -> tuple[Layer, ...]:
    """Orthogonal weights, of gain sqrt(2) below the head, and zero biases, as the policy and the critic start.

    `sizes` runs from the input to the output: `(obs_dim, 64, 64, action_dim)`.
    """
    keys = jax.random.split(key, len(sizes) - 1)
    gains = [math.sqrt(2.0)] * (len(sizes) - 2) + [head_gain]
    return tuple(
        {
            "w": jax.nn.initializers.orthogonal(gain)(layer_key, (fan_in, fan_out), jnp.float32),
            "b": jnp.zeros(fan_out, jnp.float32),
        }
        for layer_key, gain, fan_in, fan_out in zip(keys, gains, sizes[:-1], sizes[1:], strict=True)
    )


def init_mlp_uniform(key: jax.Array, sizes: Sequence[int]) -> tuple[Layer, ...]:
    """Weights and biases uniform in +-1/sqrt(fan_in), as the classifiers start."""
    keys = jax.random.split(key, len(sizes) - 1)
    return tuple(
        _uniform_layer(layer_key, fan_in, fan_out)
        for layer_key, fan_in, fan_out in zip(keys, sizes[:-1], sizes[1:], strict=True)
    )


def _uniform_layer(key: jax.Array, fan_in: int, fan_out: int) -> Layer:
    key_w, key_b = jax.random.split(key)
    bound = 1.0 / math.sqrt(fan_in)
    return {
        "w": jax.random.uniform(key_w, (fan_in, fan_out), jnp.float32, -bound, bound),
        "b": jax.random.uniform(key_b, (fan_out,), jnp.float32, -bound, bound),
    }


def apply_mlp(layers: Sequence[Layer], x: jax.Array) -> jax.Array:
    """Map x [..., in] to [..., out]."""
    return trace_mlp(layers, x)[0]


def trace_mlp(
    layers: Sequence[Layer], x: jax.Array, perturbations: Sequence[jax.Array] | None = None
) -> tuple[jax.Array, tuple[jax.Array, ...]]:
    """`apply_mlp` that also returns what entered each layer, and can shift what leaves it.

    `perturbations` holds one array [..., out] per layer, added to the layer's output before its tanh. The gradient with
    respect to a zero perturbation is that with respect to the output, sample by sample. K-FAC needs it and the inputs.
    """
    inputs = []
    for index, layer in enumerate(layers):
        inputs.append(x)
        x = x @ layer["w"]
        x = x + jnp.broadcast_to(layer["b"], x.shape)
        if perturbations is not None:
            x = x + perturbations[index]
        if index < len(layers) - 1:
            x = jnp.tanh(x)
    return x, tuple(inputs)


def count_nonfinite(tree: Any) -> jax.Array:
    """How many numbers in the arrays of a pytree are NaN or infinite, as a float32: 0 in a healthy run."""
    counts = [jnp.sum(~jnp.isfinite(leaf), dtype=jnp.float32) for leaf in jax.tree.leaves(tree)]
    return sum(counts, start=jnp.zeros((), jnp.float32))
