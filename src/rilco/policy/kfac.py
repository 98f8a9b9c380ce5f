"""Natural gradient by Kronecker-factored curvature (K-FAC; Martens & Grosse 2015), with a trust region.

For a layer with inputs a and output gradients g, the Fisher matrix of its weight is taken to be the Kronecker
product of A = E[a a^T] and G = E[g g^T]. A bias is a block of its own: its input is the constant 1, so its
Fisher is the G of its weight. A layer without a weight, such as a log standard deviation, is a bias with its
own G.

Everything here works on a tuple of layers, `{"w": [in, out], "b": [out]}` or `{"b": [out]}`, and matching
tuples of layer inputs [N, in] (None without a weight) and output gradients [N, out].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp

from rilco.networks import Layer
from rilco.policy.config import AcktrConfig

EIGEN_FLOOR = 1e-6  # eigenvalues not above it count as 0: in float32 they are rounding, and may be negative


class Factors(NamedTuple):
    """A and G of one layer."""

    inputs: jax.Array | None  # [in, in]; None for a layer without a weight
    outputs: jax.Array  # [out, out]


class Eigen(NamedTuple):
    """Eigenvalues and, in columns, eigenvectors of a factor."""

    values: jax.Array  # [n]
    vectors: jax.Array  # [n, n]


class Basis(NamedTuple):
    """`Factors`, decomposed."""

    inputs: Eigen | None
    outputs: Eigen


class KfacState(NamedTuple):
    """State that the optimiser carries from one update to the next."""

    step: jax.Array  # [] int32
    factors: tuple[Factors, ...]
    bases: tuple[Basis, ...]
    velocity: tuple[Layer, ...]


def init_kfac(layers: Sequence[Layer]) -> KfacState:
    """Start from rest, with factors and bases that the first update replaces."""
    sizes = [(layer["w"].shape[0] if "w" in layer else None, layer["b"].shape[0]) for layer in layers]
    return KfacState(
        step=jnp.zeros((), jnp.int32),
        factors=tuple(
            Factors(None if rows is None else _zeros(rows, rows), _zeros(n, n)) for rows, n in sizes
        ),
        bases=tuple(Basis(None if rows is None else _blank(rows), _blank(n)) for rows, n in sizes),
        velocity=tuple({name: jnp.zeros_like(array) for name, array in layer.items()} for layer in layers),
    )


def update_kfac(
    config: AcktrConfig,
    state: KfacState,
    grads: Sequence[Layer],
    inputs: Sequence[jax.Array | None],
    output_grads: Sequence[jax.Array],
    rate_scale: jax.Array | float = 1.0,
) -> tuple[KfacState, tuple[Layer, ...], jax.Array]:
    """Return the new state, what to add to the layers, and the trust region's scale (1 if it does not bind).

    `grads` are of the loss to minimise; `inputs` and `output_grads` [N, ...] of each sample's Fisher loss.
    `rate_scale` shrinks the step but not the trust region, which would otherwise grow to make up for it.
    """
    factors = _update_factors(state, batch_factors(inputs, output_grads), config.stat_decay)
    bases = jax.lax.cond(
        state.step % config.eigen_interval == 0,
        lambda: tuple(decompose(factor) for factor in factors),
        lambda: state.bases,
    )
    directions, scale = _natural_gradient(config, bases, grads)
    velocity = jax.tree.map(lambda old, new: config.momentum * old + new, state.velocity, directions)
    rate = config.learning_rate * (1.0 - config.momentum) * rate_scale
    updates = jax.tree.map(lambda array: -rate * array, velocity)
    return KfacState(state.step + 1, factors, bases, velocity), updates, scale


def batch_factors(
    inputs: Sequence[jax.Array | None], output_grads: Sequence[jax.Array]
) -> tuple[Factors, ...]:
    """Compute A = a^T a / N and G = g^T g / N over one batch."""
    return tuple(
        Factors(inputs=None if a is None else _second_moment(a), outputs=_second_moment(g))
        for a, g in zip(inputs, output_grads, strict=True)
    )


def decompose(factors: Factors) -> Basis:
    """Eigendecompose both factors."""
    inputs = None if factors.inputs is None else _eigen(factors.inputs)
    return Basis(inputs, _eigen(factors.outputs))


def precondition(basis: Basis, grad: Layer, damping: float) -> tuple[Layer, jax.Array]:
    """Solve (A (x) G + damping) v = grad for a layer's weight and bias; also return v.grad."""
    values, vectors = basis.outputs
    rotated = grad["b"] @ vectors
    solved = rotated / (values + damping)
    direction = {"b": solved @ vectors.T}
    # In the eigenbasis v.grad is a sum of squares over positive numbers: rounding cannot make it negative.
    product = jnp.sum(rotated * solved)
    if basis.inputs is not None:
        in_values, in_vectors = basis.inputs
        rotated = in_vectors.T @ grad["w"] @ vectors
        solved = rotated / (jnp.outer(in_values, values) + damping)
        direction["w"] = in_vectors @ solved @ vectors.T
        product = product + jnp.sum(rotated * solved)
    return direction, product


def _natural_gradient(
    config: AcktrConfig, bases: Sequence[Basis], grads: Sequence[Layer]
) -> tuple[tuple[Layer, ...], jax.Array]:
    """Return nu * v over all layers, and nu = min(1, sqrt(kl_clip / (learning_rate^2 * v.grad)))."""
    # v.grad is quadratic in the gradient and overflows long before it, so it is computed for the gradient
    # divided by its largest entry: v = largest * unit_v, and nu * v = min(largest, radius) * unit_v.
    largest = jnp.max(jnp.stack([jnp.max(jnp.abs(array)) for array in jax.tree.leaves(grads)]))
    largest = jnp.maximum(largest, jnp.finfo(jnp.float32).tiny)  # all zero: 0 / tiny is 0
    directions, products = zip(
        *(
            precondition(basis, jax.tree.map(lambda array: array / largest, grad), config.damping)
            for basis, grad in zip(bases, grads, strict=True)
        ),
        strict=True,
    )
    product = jnp.maximum(jnp.sum(jnp.stack(products)), jnp.finfo(jnp.float32).tiny)
    radius = jnp.sqrt(config.kl_clip / product) / config.learning_rate
    length = jnp.minimum(largest, radius)
    return jax.tree.map(lambda array: length * array, directions), length / largest


def _update_factors(state: KfacState, new: tuple[Factors, ...], decay: float) -> tuple[Factors, ...]:
    """Average over the past, starting at the first batch."""
    keep = jnp.where(state.step == 0, 0.0, decay)
    return jax.tree.map(lambda old, batch: keep * old + (1.0 - keep) * batch, state.factors, new)


def _second_moment(x: jax.Array) -> jax.Array:
    return x.T @ x / x.shape[0]


def _eigen(matrix: jax.Array) -> Eigen:
    values, vectors = jnp.linalg.eigh(matrix)
    return Eigen(jnp.where(values > EIGEN_FLOOR, values, 0.0), vectors)


def _blank(size: int) -> Eigen:
    return Eigen(_zeros(size), _zeros(size, size))


def _zeros(*shape: int) -> jax.Array:
    return jnp.zeros(shape, jnp.float32)
