"""VILD: an estimate of every demonstrator's action noise, and GAIL on the actions inferred from noisy ones."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from rilco.errors import ConfigError, DemonstrationError
from rilco.losses import get_loss
from rilco.rewards.classifier import (
    ClassifierConfig,
    Params,
    gradient_penalty,
    init_classifier,
    interpolate,
    join,
    score_joined,
)
from rilco.rewards.learner import DemoArrays, Info, Normalize, RewardLearner
from rilco.rewards.ril import deal
from rilco.rewards.vild_networks import (
    Bound,
    DemonstratorModel,
    choose_demonstrators,
    entropy,
    expected_log_likelihood,
    infer,
    init_model,
    sampling_probabilities,
    within_range,
)

LOGGED_DEMONSTRATORS = 20
"""Up to so many demonstrators have their noise logged one by one."""

_logistic = get_loss("logistic").fn


@dataclasses.dataclass(frozen=True)
class VildConfig:
    """Hyper-parameters of the noise model and the inference net; the classifier has its own."""

    learning_rate: float = 3e-4
    """Adam's step size for noise and inference."""
    cloning_steps: int = 1000
    """Steps of behaviour cloning that the inference net starts with."""
    hidden: tuple[int, ...] = (100, 100)
    """Widths of the inference net's tanh layers."""
    log_variance: float = -1.0
    """Where the log-variance of every demonstrator's noise starts."""
    log_std: float = -1.0
    """Where the log standard deviation of inferred actions starts."""
    temperature: float = 1.0
    """The expert is taken to act with density exp(reward / temperature)."""

    def __post_init__(self) -> None:
        _require("learning_rate", self.learning_rate, "positive", self.learning_rate > 0)
        _require("cloning_steps", self.cloning_steps, "0 or more", self.cloning_steps >= 0)
        widths = len(self.hidden) > 0 and all(width >= 1 for width in self.hidden)
        _require("hidden", self.hidden, "at least one layer, of positive widths", widths)
        _require("temperature", self.temperature, "positive", self.temperature > 0)


def _require(field: str, value: object, expected: str, holds: bool) -> None:
    if not holds:
        raise ConfigError(f"VildConfig.{field}: expected {expected}; got {value!r}. Change it.")


class VildState(NamedTuple):
    """Classifier, model of the demonstrators, and Adam's moments of both."""

    params: Params
    opt_state: Any
    model: DemonstratorModel
    model_opt_state: Any
    action_scale: jax.Array  # [A] the range of the inferred actions' means


class Pool(NamedTuple):
    """Demonstration pairs of one iteration: P of each of K demonstrators, for the update to choose among."""

    obs: np.ndarray  # [K, P, D]
    action: np.ndarray  # [K, P, A]
    share: np.ndarray  # [K] of all pairs, each demonstrator's
    turn: np.ndarray  # [M, n] whose pairs the inference step takes: each demonstrator's in turn


class Learning(NamedTuple):
    """What the functions below share."""

    config: ClassifierConfig
    vild: VildConfig
    optimizer: optax.GradientTransformation
    model_optimizer: optax.GradientTransformation


def vild(
    config: ClassifierConfig = ClassifierConfig(),
    vild_config: VildConfig = VildConfig(),
    *,
    num_demonstrators: int,
) -> RewardLearner:
    """VILD for demonstrators 0 ... num_demonstrators - 1; of the config, loss and pseudo-labels have no effect."""
    learning = Learning(
        config, vild_config, optax.adam(config.learning_rate), optax.adam(vild_config.learning_rate)
    )

    def init(key: jax.Array, obs_dim: int, action_dim: int) -> VildState:
        classifier_key, model_key = jax.random.split(key)
        params = init_classifier(classifier_key, obs_dim, action_dim, config.hidden)
        start = vild_config.log_std, vild_config.log_variance
        model = init_model(model_key, obs_dim, action_dim, num_demonstrators, vild_config.hidden, *start)
        scale = jnp.ones(action_dim, jnp.float32)
        opt_states = learning.optimizer.init(params), learning.model_optimizer.init(model)
        return VildState(params, opt_states[0], model, opt_states[1], scale)

    groups = _Groups(num_demonstrators)

    def sample(demos: DemoArrays, rng: np.random.Generator) -> Pool:
        return _sample(config, groups.of(demos), demos, rng)

    def update(
        state: VildState,
        batches: Pool,
        policy_obs: jax.Array,
        policy_action: jax.Array,
        normalize: Normalize,
        key: jax.Array,
    ) -> tuple[VildState, Info]:
        deal_key, mixing_key, step_key = jax.random.split(key, 3)
        pool = batches._replace(obs=normalize(jnp.asarray(batches.obs)))
        policy = join(normalize(policy_obs), policy_action)  # [N, D + A]
        policy = policy[deal(deal_key, len(policy), config.minibatches)]  # [M, m, D + A]
        mixing = jax.random.uniform(mixing_key, (config.minibatches, config.batch, 1))
        keys = jax.random.split(step_key, config.minibatches)
        step = functools.partial(_minibatch_step, learning, pool)
        state, infos = jax.lax.scan(step, state, (jnp.arange(config.minibatches), policy, mixing, keys))
        info = {name: jnp.mean(values) for name, values in infos.items()}
        return state, info | _noise_info(state.model.log_variance)

    def reward(state: VildState, obs: jax.Array, action: jax.Array) -> jax.Array:
        return _logistic(-score_joined(state.params, join(obs, action)))  # softplus(g)

    def prepare(state: VildState, demos: DemoArrays, normalize: Normalize, key: jax.Array) -> VildState:
        return _clone(learning, groups.of(demos), state, demos, normalize, key)

    return RewardLearner(init, sample, update, reward, prepare)


def _minibatch_step(
    learning: Learning, pool: Pool, state: VildState, batch: tuple[jax.Array, ...]
) -> tuple[VildState, Info]:
    """One mini-batch: a step for the classifier on inferred actions, then one for the demonstrators' model."""
    minibatch, policy, mixing, key = batch
    choice_key, action_key, bound_key = jax.random.split(key, 3)
    count = learning.config.batch
    slot = (minibatch * count + jnp.arange(count)) % pool.obs.shape[1]

    probability = sampling_probabilities(state.model.log_variance, pool.share)
    who = choose_demonstrators(choice_key, probability, count)
    weight = jnp.minimum(pool.share[who] / probability[who], 1.0)
    obs, action = pool.obs[who, slot], pool.action[who, slot]
    inferred = infer(state.model, state.action_scale, obs, action, who)
    noise = jax.random.normal(action_key, action.shape)
    demo = join(obs, inferred.mean + jnp.exp(inferred.log_std) * noise)
    gradient_fn = jax.grad(_classifier_loss, argnums=1, has_aux=True)
    gradients, info = gradient_fn(learning.config, state.params, demo, weight, policy, mixing)
    updates, opt_state = learning.optimizer.update(gradients, state.opt_state)
    params = optax.apply_updates(state.params, updates)

    who = pool.turn[minibatch]
    obs, action = pool.obs[who, slot], pool.action[who, slot]
    noise = jax.random.normal(bound_key, action.shape)
    bound_fn = jax.grad(_negative_bound, argnums=1, has_aux=True)
    gradients, bound_info = bound_fn(
        learning.vild, state.model, state.action_scale, params, obs, action, who, noise
    )
    updates, model_opt_state = learning.model_optimizer.update(gradients, state.model_opt_state)
    model = within_range(optax.apply_updates(state.model, updates))
    info = info | bound_info | {"vild_weight": jnp.mean(weight)}
    return VildState(params, opt_state, model, model_opt_state, state.action_scale), info


def _classifier_loss(
    config: ClassifierConfig,
    params: Params,
    demo: jax.Array,
    weight: jax.Array,
    policy: jax.Array,
    mixing: jax.Array,
) -> tuple[jax.Array, Info]:
    demo_score, policy_score = score_joined(params, demo), score_joined(params, policy)
    demo_risk = jnp.mean(weight * _logistic(demo_score))
    policy_risk = jnp.mean(_logistic(-policy_score))
    penalty = gradient_penalty(params, interpolate(demo, policy, mixing))
    info = {
        "risk": demo_risk + policy_risk,
        "demo_risk": demo_risk,
        "policy_risk": policy_risk,
        "gradient_penalty": penalty,
        "demo_score": jnp.mean(demo_score),
        "policy_score": jnp.mean(policy_score),
    }
    return demo_risk + policy_risk + config.gradient_penalty * penalty, info


def _negative_bound(
    config: VildConfig,
    model: DemonstratorModel,
    scale: jax.Array,
    params: Params,
    obs: jax.Array,
    action: jax.Array,
    who: jax.Array,
    noise: jax.Array,
) -> tuple[jax.Array, Info]:
    inferred = infer(model, scale, obs, action, who)
    guess = inferred.mean + jnp.exp(inferred.log_std) * noise
    reward = -_logistic(score_joined(params, join(obs, guess)))
    terms = Bound(
        jnp.mean(reward) / config.temperature,
        jnp.mean(expected_log_likelihood(inferred, action, model.log_variance[who])),
        jnp.mean(entropy(inferred)),
    )
    info = {f"vild_{name}": value for name, value in terms._asdict().items()}
    info["vild_shift"] = jnp.sqrt(jnp.mean((action - inferred.mean) ** 2))
    return -sum(terms), info


def _noise_info(log_variance: jax.Array) -> Info:
    std = jnp.sqrt(jnp.mean(jnp.exp(log_variance), axis=-1))
    if len(std) > LOGGED_DEMONSTRATORS:
        return {"noise_std_min": jnp.min(std), "noise_std_max": jnp.max(std)}
    return {f"noise_std_{k}": value for k, value in enumerate(std)}


class _Groups:
    def __init__(self, num: int) -> None:
        self.num = num
        self.key: Any = None

    def of(self, demos: DemoArrays):
        if demos.demonstrator is None:
            raise DemonstrationError("--episodes-as-demonstrators")
        if self.key is not demos.demonstrator:
            ids = np.asarray(demos.demonstrator)
            order = np.argsort(ids, kind="stable")
            self.groups = np.split(order, np.searchsorted(ids[order], np.arange(1, self.num)))
            self.key = demos.demonstrator
        return self.groups


def _draw_each(groups, size, rng):
    index = np.zeros((len(groups), size), np.int64)
    for row, group in zip(index, groups):
        if len(group):
            row[:] = rng.choice(group, size, replace=len(group) < size)
    return index


def _turns(groups, shape, rng):
    present = np.flatnonzero([len(g) for g in groups])
    return present[(rng.integers(len(present)) + np.arange(np.prod(shape))) % len(present)].reshape(shape).astype(np.int32)


def _sample(config, groups, demos, rng):
    size = config.minibatches * config.batch
    index = _draw_each(groups, size, rng)
    share = np.array([len(g) for g in groups], np.float32)
    return Pool(np.asarray(demos.obs).take(index, 0), np.asarray(demos.action).take(index, 0), share / share.sum(),
        _turns(groups, (config.minibatches, config.batch), rng))


def _clone(learning, groups, state, demos, normalize, key):
    rng = np.random.default_rng(np.asarray(jax.random.key_data(key)).tolist())
    steps, n = learning.vild.cloning_steps, learning.config.batch
    who = _turns(groups, (steps, n), rng)
    index = np.empty((steps, n), np.int64)
    for k, g in enumerate(groups):
        mask = who == k
        if len(g):
            index[mask] = rng.choice(g, mask.sum())
    obs = normalize(np.asarray(demos.obs)[index]); action = np.asarray(demos.action)[index]
    scale = jnp.asarray(np.maximum(1.0, np.maximum(demos.action.max(0), -demos.action.min(0))))
    model = _clone_scan(learning, state.model, scale, obs, action, who)
    return state._replace(model=model, model_opt_state=learning.model_optimizer.init(model), action_scale=scale)


@functools.partial(jax.jit, static_argnums=0)
def _clone_scan(learning, model, scale, obs, action, who):
    opt = learning.model_optimizer
    def loss(model, obs, action, who):
        return jnp.mean((infer(model, scale, obs, action, who).mean - action) ** 2)
    def step(carry, b):
        model, o = carry
        g = jax.grad(loss)(model, *b)
        u, o = opt.update(g, o)
        return (optax.apply_updates(model, u), o), None
    return jax.lax.scan(step, (model, opt.init(model)), (obs, action, who))[0][0]
