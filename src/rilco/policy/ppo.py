"""PPO (Schulman et al. 2017): several epochs of clipped policy-gradient steps on each rollout.

Logged by `update`: `policy_loss` (clipped surrogate on standardised advantages) and `value_loss` (before their
coefficients), `entropy` (mean over action dimensions), `log_std` (mean), `clip_fraction` (share of steps whose
probability ratio left the clip range), `approx_kl` (of the old policy from the new): all means over the last
epoch, or of the minibatch at which `target_kl` ended it. `explained_variance` is that of the returns by the
critic before the update (1 is perfect, 0 no better than a constant, negative worse).
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax

from rilco.networks import apply_mlp, init_mlp
from rilco.policy.config import PpoConfig
from rilco.policy.heads import GAUSSIAN, Head
from rilco.policy.learner import Actor, Params, PolicyLearner, Rollout, explained_variance, linear_decay
from rilco.policy.returns import generalized_advantages, values

Info = dict[str, jax.Array]

ADAM_EPSILON = 1e-5  # larger than Adam's usual 1e-8: gradients of a nearly solved task are mostly noise
ACTOR_HEAD_GAIN = 0.01  # the first policy is nearly the same in every state, so its mean starts near zero
LOSS_INFO = ("policy_loss", "value_loss", "entropy", "clip_fraction", "approx_kl")
LOG_RATIO_LIMIT = 20.0  # far outside any clip range, and its exponential is finite


class PpoState(NamedTuple):
    """Everything that `update` carries forward."""

    params: Params
    adam: optax.OptState
    updates: jax.Array  # [] int32


class Batch(NamedTuple):
    """Steps in one axis, with what the old policy and the old critic made of them."""

    obs: jax.Array  # [N, obs_dim]
    action: jax.Array  # [N, action_dim]
    log_prob: jax.Array  # [N] by the policy that acted
    advantage: jax.Array  # [N]
    returns: jax.Array  # [N]
    counted: jax.Array  # [N] 0 where a time limit left the return unknown, else 1


class _Progress(NamedTuple):
    """State of the scan over minibatches."""

    params: Params
    adam: optax.OptState
    stopped: jax.Array  # [] bool
    info: Info


@functools.lru_cache(maxsize=16)
def ppo(config: PpoConfig = PpoConfig(), head: Head = GAUSSIAN) -> PolicyLearner:
    """Build the learner for a setting and a kind of actions; the same one every time."""
    optimiser = optax.chain(
        optax.clip_by_global_norm(config.max_grad_norm), optax.scale_by_adam(eps=ADAM_EPSILON)
    )

    def init(key: jax.Array, obs_dim: int, action_dim: int) -> PpoState:
        key_actor, key_critic = jax.random.split(key)
        actor = init_mlp(key_actor, (obs_dim, *config.hidden_sizes, action_dim), head_gain=ACTOR_HEAD_GAIN)
        critic = init_mlp(key_critic, (obs_dim, *config.hidden_sizes, 1))
        params = Params(Actor(actor, head.init_log_std(action_dim, config.log_std_init)), critic)
        return PpoState(params, optimiser.init(params), jnp.zeros((), jnp.int32))

    def update(state: PpoState, rollout: Rollout, key: jax.Array) -> tuple[PpoState, Info]:
        batch = _make_batch(state.params, rollout, config, head)
        params, adam, info = _run_epochs(config, head, optimiser, state, batch, key)
        params = _schedule_log_std(params, state.updates + 1, config)
        info["explained_variance"] = explained_variance(batch.advantage, batch.returns)
        return PpoState(params, adam, state.updates + 1), info

    return PolicyLearner(init, update)


def _run_epochs(
    config: PpoConfig,
    head: Head,
    optimiser: optax.GradientTransformation,
    state: PpoState,
    batch: Batch,
    key: jax.Array,
) -> tuple[Params, optax.OptState, Info]:
    """Take one gradient step a minibatch, over all epochs in one scan."""
    rate = jnp.asarray(config.learning_rate, jnp.float32)
    if config.learning_rate_decay:
        rate = rate * linear_decay(state.updates, config.total_updates)

    def learn(carried: _Progress, indices: jax.Array) -> _Progress:
        minibatch = jax.tree.map(lambda array: array[indices], batch)
        grads, info = jax.grad(_loss, has_aux=True)(carried.params, minibatch, config, head)
        stopped = carried.stopped if config.target_kl is None else info["approx_kl"] > config.target_kl
        directions, adam = optimiser.update(grads, carried.adam)
        # The step that finds the policy too far already is not taken; only Adam's averages have seen it.
        length = jnp.where(stopped, 0.0, rate)
        params = jax.tree.map(lambda x, direction: x - length * direction, carried.params, directions)
        return _Progress(params, adam, stopped, info)

    def step(carried: _Progress, indices: jax.Array) -> tuple[_Progress, Info]:
        if config.target_kl is None:
            after = learn(carried, indices)
        else:
            after = jax.lax.cond(carried.stopped, lambda: carried, lambda: learn(carried, indices))
        return after, after.info

    transitions = batch.counted.shape[0]
    count, size = minibatch_shape(transitions, config.minibatch_size)
    indices = _shuffles(key, transitions, config.epochs)[:, : count * size]
    logged = (*LOSS_INFO, *head.info(state.params.actor.log_std))
    no_info = dict.fromkeys(logged, jnp.zeros((), jnp.float32))
    start = _Progress(state.params, state.adam, jnp.zeros((), bool), no_info)
    end, infos = jax.lax.scan(step, start, indices.reshape(config.epochs * count, size))
    return end.params, end.adam, {name: jnp.mean(values[-count:]) for name, values in infos.items()}


def _schedule_log_std(params: Params, updates: jax.Array, config: PpoConfig) -> Params:
    """Where the spread is not learned, give the next rollout's."""
    if config.log_std_final is None:
        return params
    left = linear_decay(updates, config.total_updates)
    log_std = config.log_std_final + (config.log_std_init - config.log_std_final) * left
    return params._replace(actor=params.actor._replace(log_std=jnp.full_like(params.actor.log_std, log_std)))


def minibatch_shape(transitions: int, largest: int) -> tuple[int, int]:
    """Count and size of an epoch's minibatches: equal, as few and as large as `largest` allows.

    Fewer transitions than there are minibatches may be left over; the shuffle leaves out others every epoch.
    """
    count = -(-transitions // largest)
    return count, transitions // count


def _shuffles(key: jax.Array, transitions: int, epochs: int) -> jax.Array:
    """One random order of all transitions for each epoch: [epochs, transitions]."""
    keys = jax.random.split(key, epochs)
    return jax.vmap(lambda epoch_key: jax.random.permutation(epoch_key, transitions))(keys)


def _make_batch(params: Params, rollout: Rollout, config: PpoConfig, head: Head) -> Batch:
    """Work out the advantages and what the acting policy thought of its actions; flatten [T, B] into [N]."""
    value, last_value = values(params.critic, rollout)
    advantage = generalized_advantages(rollout, value, last_value, config.discount, config.gae_lambda)
    output = apply_mlp(params.actor.layers, rollout.obs)
    return Batch(
        obs=rollout.obs.reshape(-1, rollout.obs.shape[-1]),
        action=rollout.action.reshape(-1, rollout.action.shape[-1]),
        log_prob=head.log_prob(output, params.actor.log_std, rollout.action).reshape(-1),
        advantage=advantage.reshape(-1),
        returns=(advantage + value).reshape(-1),
        counted=(rollout.terminated | ~rollout.truncated).astype(jnp.float32).reshape(-1),
    )


def _loss(params: Params, batch: Batch, config: PpoConfig, head: Head) -> tuple[jax.Array, Info]:
    """value_coef * error^2 - clipped surrogate - entropy_coef * entropy, means over the steps that count."""
    log_std = params.actor.log_std
    if config.log_std_final is not None:
        log_std = jax.lax.stop_gradient(log_std)
    output = apply_mlp(params.actor.layers, batch.obs)
    new_log_prob = head.log_prob(output, log_std, batch.action)
    value = apply_mlp(params.critic, batch.obs)[..., 0]
    weight = batch.counted / jnp.maximum(jnp.sum(batch.counted), 1.0)
    log_ratio = jnp.clip(new_log_prob - batch.log_prob, -LOG_RATIO_LIMIT, LOG_RATIO_LIMIT)
    ratio = jnp.exp(log_ratio)
    surrogate = clipped_surrogate(ratio, standardise(batch.advantage, weight), config.clip_range)
    policy_loss = -jnp.sum(weight * surrogate)
    value_loss = jnp.sum(weight * jnp.square(batch.returns - value))
    entropy = head.entropy(output, log_std)
    outside = (jnp.abs(ratio - 1.0) > config.clip_range).astype(jnp.float32)
    info = {
        "policy_loss": policy_loss,
        "value_loss": value_loss,
        "entropy": entropy,
        "clip_fraction": jnp.sum(weight * outside),
        # An estimate of KL(old || new) that no sample makes negative: E[ratio - 1 - log ratio].
        "approx_kl": jnp.sum(weight * (ratio - 1.0 - log_ratio)),
        **head.info(log_std),
    }
    return config.value_coef * value_loss + policy_loss - config.entropy_coef * entropy, info


def clipped_surrogate(ratio: jax.Array, advantage: jax.Array, clip_range: float) -> jax.Array:
    """min(ratio * A, clip(ratio, 1 - c, 1 + c) * A), equation 7 of the paper, for each step: [N]."""
    clipped = jnp.clip(ratio, 1.0 - clip_range, 1.0 + clip_range)
    return jnp.minimum(ratio * advantage, clipped * advantage)


def standardise(advantage: jax.Array, weight: jax.Array) -> jax.Array:
    """Shift and scale to zero mean and unit variance under weights that sum to one: [N]."""
    # Divided by the largest, the squares cannot overflow, and what is below 1e-6 of it is rounding.
    scaled = advantage / jnp.maximum(jnp.max(jnp.abs(advantage)), jnp.finfo(jnp.float32).tiny)
    centred = scaled - jnp.sum(weight * scaled)
    return centred / (jnp.sqrt(jnp.sum(weight * jnp.square(centred))) + 1e-6)
