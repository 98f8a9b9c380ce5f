"""Multilayer perceptrons as plain tuples of arrays: tanh hidden layers and a linear head."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

Layer = dict[str, jax.Array]
"""One affine map: `{"w": [in, out], "b": [out]}`."""


def init_mlp(key: jax.Array, sizes: Sequence[int], *, head_gain: float = 1.0) -> tuple[Layer, ...]:
    """Orthogonal weights, of gain sqrt(2) below the head, and zero biases, as the policy and the critic start.

    `sizes` runs from the input to the output: `(obs_dim, 64, 64, action_dim)`. The numbers are those of
    `jax.nn.initializers.orthogonal`.
    """
    keys = jax.random.split(key, len(sizes) - 1)
    gains = [math.sqrt(2.0)] * (len(sizes) - 2) + [head_gain]
    draws = _draws(jax.random.normal, keys, sizes)
    return tuple(
        {"w": gain * _orthogonal(numbers, fan_in, fan_out), "b": jnp.zeros(fan_out, jnp.float32)}
        for numbers, gain, fan_in, fan_out in zip(draws, gains, sizes[:-1], sizes[1:], strict=True)
    )


def init_mlp_uniform(key: jax.Array, sizes: Sequence[int]) -> tuple[Layer, ...]:
    """Weights and biases uniform in +-1/sqrt(fan_in), as the classifiers start."""
    keys = jax.vmap(jax.random.split)(jax.random.split(key, len(sizes) - 1))
    draws = _draws(jax.random.uniform, keys.ravel(), sizes)
    layers = zip(draws[::2], draws[1::2], sizes[:-1], sizes[1:], strict=True)
    return tuple(
        {
            "w": _within(1.0 / math.sqrt(fan_in), w[: fan_in * fan_out].reshape(fan_in, fan_out)),
            "b": _within(1.0 / math.sqrt(fan_in), b[:fan_out]),
        }
        for w, b, fan_in, fan_out in layers
    )


def _draws(draw: Callable[..., jax.Array], keys: jax.Array, sizes: Sequence[int]) -> jax.Array:
    """As many numbers for each key as the largest layer has weights: one small program in place of one for each.

    A layer takes the first ones, which are the same however many are drawn.
    """
    count = max(fan_in * fan_out for fan_in, fan_out in itertools.pairwise(sizes))
    return jax.vmap(lambda key: draw(key, (count,), jnp.float32))(keys)


def _orthogonal(numbers: jax.Array, fan_in: int, fan_out: int) -> jax.Array:
    """The orthogonal factor of normal numbers, made unique by the signs of the other."""
    tall = max(fan_in, fan_out), min(fan_in, fan_out)
    q, r = jnp.linalg.qr(numbers[: fan_in * fan_out].reshape(tall))
    q = q * jnp.sign(jnp.diagonal(r))[None]
    return q if fan_in >= fan_out else q.T


def _within(bound: float, numbers: jax.Array) -> jax.Array:
    """From [0, 1) to +-bound, rounded as `jax.random.uniform` does."""
    low, high = jnp.float32(-bound), jnp.float32(bound)
    return jnp.maximum(low, numbers * (high - low) + low)


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
    # One sum over all of them: a sum for each would be a third of an iteration's program, and of its compilation.
    flat = [jnp.ravel(leaf) for leaf in jax.tree.leaves(tree) if jnp.issubdtype(leaf.dtype, jnp.floating)]
    return jnp.sum(~jnp.isfinite(jnp.concatenate([jnp.zeros(0, jnp.float32), *flat])), dtype=jnp.float32)
