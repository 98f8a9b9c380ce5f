"""Behaviour cloning: a network fitted to the demonstrated actions by mean squared error, or to choices by cross-entropy.

Pure functions; `training.py` goes from demonstrations to a policy with them.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from rilco.bc.config import BcConfig
from rilco.bc.data import CloningData
from rilco.networks import Layer, apply_mlp, count_nonfinite, init_mlp
from rilco.normalizer import normalize
from rilco.policy.heads import GAUSSIAN, Head
from rilco.policy.saved import Policy
from rilco.tasks.actions import AS_THEY_ARE, Actions

Params = tuple[Layer, ...]

INTERVAL = 100
"""Iterations between validations, and in one call of the compiled loop unless something else is due earlier."""

LEAST_STD = 1e-3
"""A policy's spread is never less, so that its log-density exists even where the actions are fitted exactly."""


class BcState(NamedTuple):
    """All that cloning carries forward; a checkpoint holds it whole."""

    params: Params
    adam: Any
    average: Params  # the same as `params` where nothing is averaged
    loss_sum: jax.Array  # [] of the mini-batches since the last line of metrics
    loss_count: jax.Array  # [] int32
    best: Params  # with the lowest validation loss so far
    best_loss: jax.Array  # [] infinite before the first validation
    waited: jax.Array  # [] int32: validations since `best`


@dataclass(frozen=True)
class BcLearner:
    """Pure functions over `BcState`, for a setting and a kind of actions. Equal ones share what is compiled."""

    config: BcConfig
    head: Head = GAUSSIAN

    @functools.partial(jax.jit, static_argnums=(0, 2, 3))
    def init(self, key: jax.Array, obs_dim: int, action_dim: int) -> BcState:
        params = init_mlp(jax.random.split(key)[0], (obs_dim, *self.config.hidden_sizes, action_dim))
        adam = _optimizer(self.config).init(params)
        zero, none = jnp.zeros((), jnp.float32), jnp.zeros((), jnp.int32)
        return BcState(params, adam, params, zero, none, params, jnp.inf + zero, none)

    @functools.partial(jax.jit, static_argnums=0)
    def train(
        self, state: BcState, data: CloningData, first: int, last: int, key: jax.Array
    ) -> tuple[BcState, jax.Array]:
        """Iterations first to last - 1, and how many weights are not finite after them. `key` is the run's, the same every
        time: how a run is cut into calls changes no bit of it."""
        draw_key = jax.random.split(key)[1]
        steps, batch = self.config.steps_per_iteration, self.config.batch

        def iterate(iteration: jax.Array, state: BcState) -> BcState:
            own_key = jax.random.fold_in(draw_key, iteration)
            draws = jax.random.randint(own_key, (steps, batch), 0, len(data.trained_rows))
            numbers = iteration * steps + jnp.arange(1, steps + 1)
            inputs = (data.trained_rows[draws], numbers)
            return jax.lax.scan(lambda state, x: (self._step(state, data, *x), None), state, inputs)[0]

        # The bounds are values, not shapes: the loop is compiled once, and every cut of a run executes the same code.
        state = jax.lax.fori_loop(first, last, iterate, state)
        return state, count_nonfinite(state.params)

    def _step(self, state: BcState, data: CloningData, rows: jax.Array, number: jax.Array) -> BcState:
        """One gradient step on a mini-batch."""
        loss, gradient = jax.value_and_grad(cloning_loss)(state.params, data, rows, self.head)
        updates, adam = _optimizer(self.config).update(gradient, state.adam, state.params)
        params = optax.apply_updates(state.params, updates)
        average = _moved(state.average, params, number, self.config.average_over)
        total, count = state.loss_sum + loss, state.loss_count + 1
        return state._replace(params=params, adam=adam, average=average, loss_sum=total, loss_count=count)

    @functools.partial(jax.jit, static_argnums=0)
    def loss(self, state: BcState, data: CloningData) -> jax.Array:
        """On the checked pairs."""
        return cloning_loss(state.average, data, data.checked_rows, self.head)

    def stopped(self, state: BcState) -> bool:
        """Whether patience has run out."""
        return self.config.patience > 0 and int(state.waited) >= self.config.patience

    def policy(self, state: BcState, data: CloningData, actions: Actions = AS_THEY_ARE) -> Policy:
        """The one to act with, as NumPy arrays; its spread is that of the errors on the checked pairs."""
        judged = self.config.patience > 0 and math.isfinite(state.best_loss)
        params = state.best if judged else state.average
        log_std = _log_std(params, data) if self.head.has_spread else np.zeros(0, np.float32)
        layers = [(np.asarray(layer["w"]), np.asarray(layer["b"])) for layer in params]
        mean, var = np.asarray(data.normalizer.mean), np.asarray(data.normalizer.var)
        return Policy(mean, var, layers, np.asarray(log_std), actions=actions)


@jax.jit
def judge(state: BcState, loss: jax.Array) -> BcState:
    """Take in a validation's loss: `best` and `waited`."""
    better = loss < state.best_loss
    best = jax.tree.map(functools.partial(jnp.where, better), state.average, state.best)
    return state._replace(
        best=best,
        best_loss=jnp.where(better, loss, state.best_loss),
        waited=jnp.where(better, 0, state.waited + 1),
    )


def _optimizer(config: BcConfig) -> optax.GradientTransformation:
    rate: optax.ScalarOrSchedule = config.learning_rate
    if config.decay_steps:
        rate = functools.partial(_falling_rate, config)
    return optax.adamw(rate, weight_decay=config.weight_decay) if config.weight_decay else optax.adam(rate)


def cloning_loss(params: Params, data: CloningData, rows: jax.Array, head: Head = GAUSSIAN) -> jax.Array:
    """Mean over the pairs of `rows` and over numbers or choices; pairs count by their weights, if they have any."""
    each = head.loss(_outputs(params, data, rows), data.action[rows])
    if data.weight is None:
        return jnp.mean(each)
    return jnp.mean(jnp.mean(each, axis=-1) * data.weight[rows])


def _outputs(params: Params, data: CloningData, rows: jax.Array) -> jax.Array:
    """[n, action_dim]"""
    return apply_mlp(params, normalize(data.normalizer, data.obs[rows]))


def _falling_rate(config: BcConfig, count: jax.Array) -> jax.Array:
    """The step size after so many gradient steps."""
    share = jnp.minimum(count, config.decay_steps).astype(jnp.float32) / config.decay_steps
    return 0.5 * config.learning_rate * (1.0 + jnp.cos(jnp.pi * share))


def _moved(average: Params, params: Params, number: jax.Array, over: int) -> Params:
    """The moving average after gradient step `number`: the plain mean at first, exponential from step `over` on."""
    if over <= 1:
        return params
    share = 1.0 / jnp.minimum(number, over).astype(jnp.float32)
    return jax.tree.map(lambda old, new: old + share * (new - old), average, params)


@jax.jit
def _log_std(params: Params, data: CloningData) -> jax.Array:
    """Log of the root mean squared error on the checked pairs, per action dimension."""
    error = _outputs(params, data, data.checked_rows) - data.action[data.checked_rows]
    std = jnp.sqrt(jnp.mean(jnp.square(error), axis=0))
    return jnp.log(jnp.maximum(std, LEAST_STD))
