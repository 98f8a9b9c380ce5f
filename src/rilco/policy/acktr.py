"""ACKTR (Wu et al. 2017): advantage actor-critic whose steps are K-FAC natural gradients in a trust region.

Logged by `update`: `policy_loss` and `value_loss` (before their coefficients), `entropy` (mean over action
dimensions), `trust_scale` (by how much the trust region shortened the step; 1 where it did not bind),
`log_std` (mean), and `explained_variance` of the returns by the critic (1 is perfect, 0 no better than a
constant, negative worse).
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from rilco.networks import Layer, apply_mlp, init_mlp, trace_mlp
from rilco.policy.config import AcktrConfig
from rilco.policy.heads import GAUSSIAN, Head
from rilco.policy.kfac import KfacState, init_kfac, update_kfac
from rilco.policy.learner import Actor, Params, PolicyLearner, Rollout, explained_variance, linear_decay
from rilco.policy.returns import n_step_returns, values

Info = dict[str, jax.Array]


class AcktrState(NamedTuple):
    """Everything that `update` carries forward."""

    params: Params
    kfac: KfacState


class Batch(NamedTuple):
    """A rollout with time and environments in one axis, and what each step turned out to be worth."""

    obs: jax.Array  # [N, obs_dim]
    action: jax.Array  # [N, action_dim]
    returns: jax.Array  # [N]


@functools.lru_cache(maxsize=16)
def acktr(config: AcktrConfig = AcktrConfig(), head: Head = GAUSSIAN) -> PolicyLearner:
    """Build the learner for a setting and a kind of actions; the same one every time."""

    def init(key: jax.Array, obs_dim: int, action_dim: int) -> AcktrState:
        key_actor, key_critic = jax.random.split(key)
        actor = init_mlp(key_actor, (obs_dim, *config.hidden_sizes, action_dim), head_gain=head.gain)
        critic = init_mlp(key_critic, (obs_dim, *config.hidden_sizes, 1), head_gain=math.sqrt(2.0))
        params = Params(Actor(actor, head.init_log_std(action_dim, 0.0)), critic)
        return AcktrState(params, init_kfac(_to_layers(params)))

    def update(state: AcktrState, rollout: Rollout, key: jax.Array) -> tuple[AcktrState, Info]:
        noise = jax.random.normal(key, (rollout.reward.size,), jnp.float32)  # flat: compiled faster
        return acktr_step(config, state, rollout, noise.reshape(rollout.reward.shape), head)

    return PolicyLearner(init, update)


def acktr_step(
    config: AcktrConfig, state: AcktrState, rollout: Rollout, noise: jax.Array, head: Head = GAUSSIAN
) -> tuple[AcktrState, Info]:
    """One update. The noise [T, B] is that of the value targets in the Fisher loss."""
    params = state.params
    batch = _make_batch(params.critic, rollout, config.discount)
    grads, info = jax.grad(_loss, has_aux=True)(params, batch, config, head)
    inputs, output_grads = _fisher_statistics(params, batch, head, noise.reshape(-1))
    rate_scale = linear_decay(state.kfac.step, config.total_updates) if config.learning_rate_decay else 1.0
    kfac_state, updates, scale = update_kfac(
        config, state.kfac, _to_layers(grads), inputs, output_grads, rate_scale
    )
    layers = jax.tree.map(jnp.add, _to_layers(params), updates)
    return AcktrState(_to_params(layers), kfac_state), info | {"trust_scale": scale}


def _make_batch(critic: tuple[Layer, ...], rollout: Rollout, discount: float) -> Batch:
    """Work out the returns, and flatten [T, B] into [N]."""
    returns = n_step_returns(rollout, *values(critic, rollout), discount)
    return Batch(
        obs=rollout.obs.reshape(-1, rollout.obs.shape[-1]),
        action=rollout.action.reshape(-1, rollout.action.shape[-1]),
        returns=returns.reshape(-1),
    )


def _loss(params: Params, batch: Batch, config: AcktrConfig, head: Head) -> tuple[jax.Array, Info]:
    """value_coef * error^2 - advantage * log-prob - entropy_coef * entropy, each a mean over the batch."""
    output = apply_mlp(params.actor.layers, batch.obs)
    value = apply_mlp(params.critic, batch.obs)[..., 0]
    log_std = params.actor.log_std
    error = batch.returns - value
    advantage = jax.lax.stop_gradient(error)
    value_loss = jnp.mean(jnp.square(error))
    policy_loss = -jnp.mean(advantage * head.log_prob(output, log_std, batch.action))
    entropy = head.entropy(output, log_std)
    info = {
        "policy_loss": policy_loss,
        "value_loss": value_loss,
        "entropy": entropy,
        "explained_variance": explained_variance(advantage, batch.returns),
        **head.info(log_std),
    }
    return config.value_coef * value_loss + policy_loss - config.entropy_coef * entropy, info


def _fisher_statistics(
    params: Params, batch: Batch, head: Head, noise: jax.Array
) -> tuple[tuple[jax.Array | None, ...], tuple[jax.Array, ...]]:
    """Return the inputs [N, in] and Fisher-loss output gradients [N, out] of the layers of `_to_layers`.

    The Fisher loss is the negative log-likelihood of the actions taken and, for the critic, the squared
    distance to its own prediction plus unit noise [N]. The gradient of that square has variance 4, not 1: the
    published setting's learning rate and damping go with this scale.
    """
    layers = _to_layers(params)
    middle, no_spread = len(layers) // 2, params.actor.log_std

    def fisher_loss(shifts: tuple[jax.Array, ...]) -> tuple[jax.Array, tuple[jax.Array | None, ...]]:
        output, actor_inputs = trace_mlp(params.actor.layers, batch.obs, shifts[:middle])
        spread = shifts[middle:-middle]  # none where actions are choices
        log_std = spread[0] + jnp.broadcast_to(params.actor.log_std, output.shape) if spread else no_spread
        value, critic_inputs = trace_mlp(params.critic, batch.obs, shifts[-middle:])
        value = value[..., 0]
        target = jax.lax.stop_gradient(value + noise)
        # A sum where the loss takes a mean: each sample's gradient is of its own term, without the 1/N.
        loss = jnp.sum(jnp.square(value - target)) - jnp.sum(head.log_prob(output, log_std, batch.action))
        return loss, (*actor_inputs, *(None for _ in spread), *critic_inputs)

    shifts = tuple(jnp.zeros((batch.obs.shape[0], *layer["b"].shape), jnp.float32) for layer in layers)
    output_grads, inputs = jax.grad(fisher_loss, has_aux=True)(shifts)
    return inputs, output_grads


def _to_layers(params: Params) -> tuple[Layer, ...]:
    """Line the networks up for K-FAC, to which the log-std, where there is one, is a layer that has only a bias."""
    spread = ({"b": params.actor.log_std},) if params.actor.log_std.size else ()
    return (*params.actor.layers, *spread, *params.critic)


def _to_params(layers: tuple[Layer, ...]) -> Params:
    """Inverse of `_to_layers`: actor and critic have equally many layers."""
    middle = len(layers) // 2
    spread = layers[middle:-middle]
    log_std = spread[0]["b"] if spread else jnp.zeros(0, jnp.float32)
    return Params(Actor(layers[:middle], log_std), layers[-middle:])
