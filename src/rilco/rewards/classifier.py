"""The classifier g(s, a) that tells expert pairs from the policy's, its empirical risk and its penalty.

Everything here is about *one* classifier; `ril.py` stacks as many as a method has and maps over them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from rilco.errors import ConfigError
from rilco.losses import get_loss
from rilco.networks import Layer, apply_mlp, init_mlp_uniform, trace_mlp

Params = tuple[Layer, ...]

SCHEDULES: dict[str, Callable[[jax.Array], jax.Array]] = {
    "constant": jnp.ones_like,
    "linear": lambda progress: progress,
    "cosine": lambda progress: 0.5 - 0.5 * jnp.cos(jnp.pi * progress),
    "warm-up": lambda progress: jnp.where(progress < 1.0, 0.0, 1.0),
}
"""Share of lambda that is in force, by progress from 0 to 1."""


@dataclasses.dataclass(frozen=True)
class ClassifierConfig:
    """Hyper-parameters shared by every method that trains classifiers; the defaults are the paper's."""

    loss: str = "ap"
    """Margin loss, a name in `rilco.losses.LOSSES`."""
    lam: float = 0.5
    """Weight of non-expert pairs, pseudo-labelled or known, against the policy's; 0 leaves them out."""
    lam_schedule: str = "constant"
    """How `lam` comes about: "constant", "linear" or "cosine" growth from 0, or 0 at first ("warm-up")."""
    lam_iterations: int = 0
    """Iterations until `lam` is reached; needed by every schedule but the constant one."""
    pseudo_labels: bool = True
    """Whether demonstrations are pseudo-labelled; without, only known non-expert pairs weigh `lam`."""
    as_published: bool = False
    """RIL-P as the authors' code has it: all candidates, with no gradient through the term's scores."""
    batch: int = 128
    """Demonstration pairs in a mini-batch (the first term of the risk)."""
    candidates: int = 640
    """Further demonstration pairs in a mini-batch that may be pseudo-labelled (U and V in Algorithm 1)."""
    selected: int = 128
    """At most so many of the candidates are pseudo-labelled as non-expert (K in Algorithm 1)."""
    minibatches: int = 5
    """Adam steps an iteration; the policy's pairs are dealt out among them."""
    learning_rate: float = 1e-3
    """Adam's step size."""
    gradient_penalty: float = 10.0
    """Weight of the penalty on input gradients whose norm is not 1."""
    hidden: tuple[int, ...] = (100, 100)
    """Widths of the tanh layers."""

    def __post_init__(self) -> None:
        get_loss(self.loss)
        _require("lam", self.lam, "between 0 and 1", 0.0 <= self.lam <= 1.0)
        for name in ("batch", "selected", "minibatches"):
            _require(name, getattr(self, name), "at least 1", getattr(self, name) >= 1)
        _require(
            "lam_schedule",
            self.lam_schedule,
            f"one of {', '.join(SCHEDULES)}",
            self.lam_schedule in SCHEDULES,
        )
        _require("lam_iterations", self.lam_iterations, "0 or more", self.lam_iterations >= 0)
        if self.lam_schedule != "constant":
            _require(
                "lam_iterations", self.lam_iterations, "1 or more with a schedule", self.lam_iterations > 0
            )
        _require("candidates", self.candidates, "0 or more", self.candidates >= 0)
        _require("learning_rate", self.learning_rate, "positive", self.learning_rate > 0)
        _require("gradient_penalty", self.gradient_penalty, "0 or more", self.gradient_penalty >= 0)
        _require("hidden", self.hidden, "positive widths", all(width >= 1 for width in self.hidden))

    @property
    def uses_pseudo_labels(self) -> bool:
        """Whether any candidate can enter the risk; without them the method is GAIL with this loss."""
        return self.pseudo_labels and self.lam > 0 and self.candidates > 0


def lam_at(config: ClassifierConfig, iteration: jax.Array) -> jax.Array:
    """Lambda in an iteration, counted from 0, of a schedule that is not constant."""
    progress = jnp.minimum(iteration.astype(jnp.float32) / config.lam_iterations, 1.0)
    return config.lam * SCHEDULES[config.lam_schedule](progress)


def _require(field: str, value: object, expected: str, holds: bool) -> None:
    if not holds:
        raise ConfigError(f"ClassifierConfig.{field}: expected {expected}; got {value!r}. Change it.")


def init_classifier(key: jax.Array, obs_dim: int, action_dim: int, hidden: tuple[int, ...]) -> Params:
    """Random weights of a classifier of pairs (s, a)."""
    return init_mlp_uniform(key, (obs_dim + action_dim, *hidden, 1))


def join(obs: jax.Array, action: jax.Array) -> jax.Array:
    """x = (s, a) as one vector: normalised obs [..., D], action [..., A] -> [..., D + A]."""
    return jnp.concatenate([obs, action], axis=-1)


def score_joined(params: Params, x: jax.Array) -> jax.Array:
    """g(x) for x [..., D + A]: high means expert."""
    return apply_mlp(params, x)[..., 0]


def score(params: Params, obs: jax.Array, action: jax.Array) -> jax.Array:
    """g(s, a) for normalised obs [..., D] and action [..., A]: high means expert."""
    return score_joined(params, join(obs, action))


def input_gradient(params: Params, x: jax.Array) -> jax.Array:
    """grad_x g(x) of a tanh network in closed form, [n, D + A]: W1 diag(1-h1^2) W2 diag(1-h2^2) w3.

    The penalty on it is itself differentiated; one autodiff over this took 4 to 6% less of the whole update
    than two nested ones.
    """
    *layers, head = params
    _, (_, *activations) = trace_mlp(params, x)
    gradient = jnp.broadcast_to(head["w"][:, 0], activations[-1].shape)
    for layer, activation in zip(reversed(layers), reversed(activations), strict=True):
        gradient = (gradient * (1.0 - activation**2)) @ layer["w"].T
    return gradient


def gradient_penalty(params: Params, x: jax.Array) -> jax.Array:
    """mean((|grad_x g| - 1)^2) over the points x [n, D + A]."""
    squared_norm = jnp.sum(input_gradient(params, x) ** 2, axis=-1)
    norm = jnp.sqrt(squared_norm + 1e-12)  # a norm of exactly 0 would have an infinite slope
    return jnp.mean((norm - 1.0) ** 2)


def interpolate(demo: jax.Array, policy: jax.Array, mixing: jax.Array) -> jax.Array:
    """Points between demonstration pairs [n, D + A] and policy pairs [m, D + A], mixing [n, 1] in [0, 1).

    There are n points whatever m is: policy pairs are reused in turn where m < n, left over where m > n.
    """
    if len(policy) != len(demo):
        policy = jnp.take(policy, jnp.arange(len(demo)) % len(policy), axis=0)
    return mixing * demo + (1.0 - mixing) * policy


class NonExperts(NamedTuple):
    """Pairs taken for non-expert, pseudo-labelled or known: K rows, of which those under the mask count."""

    x: jax.Array  # [K, D + A]
    mask: jax.Array  # [K] bool


class RiskTerms(NamedTuple):
    """The empirical risk and the averages it is made of."""

    risk: jax.Array
    demo_risk: jax.Array
    nonexpert_risk: jax.Array
    policy_risk: jax.Array


def empirical_risk(
    loss: Callable[[jax.Array], jax.Array],
    lam: jax.Array | float,
    demo_score: jax.Array,
    policy_score: jax.Array,
    nonexpert_score: jax.Array,
    nonexpert_mask: jax.Array,
) -> RiskTerms:
    """Twice eq. (r_1): mean_D l(g) + lam mean_P l(-g) + (1 - lam) mean_B l(-g), P being what the mask leaves.

    With P empty its term drops out and the policy's keeps the full weight 1: the risk stays balanced, and
    is GAIL's.
    """
    demo_risk = jnp.mean(loss(demo_score))
    policy_risk = jnp.mean(loss(-policy_score))
    count = jnp.sum(nonexpert_mask, dtype=demo_score.dtype)
    nonexpert_risk = jnp.sum(jnp.where(nonexpert_mask, loss(-nonexpert_score), 0.0)) / jnp.maximum(count, 1.0)
    weight = jnp.where(count > 0, lam, 0.0)
    risk = demo_risk + weight * nonexpert_risk + (1.0 - weight) * policy_risk
    return RiskTerms(risk, demo_risk, nonexpert_risk, policy_risk)
