"""VILD: a model of every demonstrator's action noise, and GAIL on the actions inferred from the noisy ones.

After V. Tangkaratt, B. Han, M. E. Khan and M. Sugiyama, "Variational Imitation Learning with Diverse-quality
Demonstrations" (ICML 2020). The only method here that looks at who made a pair.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from rilco.losses import LOSSES
from rilco.rewards.classifier import (
    Params,
    gradient_penalty,
    init_classifier,
    interpolate,
    join,
    score_joined,
)
from rilco.rewards.config import ClassifierConfig, VildConfig
from rilco.rewards.learner import DemoArrays, Info, Normalize, RewardLearner
from rilco.rewards.ril import deal
from rilco.rewards.vild_networks import (
    DemonstratorModel,
    choose_demonstrators,
    draw,
    entropy,
    expected_log_likelihood,
    infer,
    init_model,
    noise_std,
    sampling_probabilities,
    within_range,
)
from rilco.rewards.vild_sampling import (
    Pool,
    Roster,
    draw_pool,
    draw_rows,
    in_turn,
    make_roster,
    remember_last,
)

LOGGED_DEMONSTRATORS = 20
"""Most demonstrators whose noise is logged one by one."""

_logistic = LOSSES["logistic"].fn


class VildState(NamedTuple):
    """The classifier and the model of the demonstrators, each with Adam's moments."""

    params: Params
    opt_state: Any
    model: DemonstratorModel
    model_opt_state: Any
    scale: jax.Array  # [A] the range of the means of inferred actions: 1 until `prepare` has seen the data


class MiniBatch(NamedTuple):
    """Inputs of one mini-batch beside the pool; pairs are normalised and joined."""

    number: jax.Array  # [] which of the M this is
    policy: jax.Array  # [m, D + A]
    mixing: jax.Array  # [n, 1]
    key: jax.Array


class Setting(NamedTuple):
    """Constants of a run."""

    config: ClassifierConfig
    vild: VildConfig
    optimizer: optax.GradientTransformation
    model_optimizer: optax.GradientTransformation


@functools.lru_cache(maxsize=4)
def vild(
    config: ClassifierConfig = ClassifierConfig(),
    vild_config: VildConfig = VildConfig(),
    *,
    num_demonstrators: int,
) -> RewardLearner:
    """VILD for demonstrators 0 ... num_demonstrators - 1. The config's loss and pseudo-labels have no part in it."""
    optimizers = optax.adam(config.learning_rate), optax.adam(vild_config.learning_rate)
    setting = Setting(config, vild_config, *optimizers)
    roster_of = remember_last(functools.partial(make_roster, num_demonstrators))

    def sample(demos: DemoArrays, rng: np.random.Generator) -> Pool:
        return draw_pool(config, roster_of(demos.demonstrator), demos, rng)

    def prepare(state: VildState, demos: DemoArrays, normalize: Normalize, key: jax.Array) -> VildState:
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)).tolist())
        return _start_by_cloning(setting, roster_of(demos.demonstrator), state, demos, normalize, rng)

    init = functools.partial(_init, setting, num_demonstrators)
    return RewardLearner(init, sample, functools.partial(_update, setting), _reward, prepare)


def _init(
    setting: Setting, num_demonstrators: int, key: jax.Array, obs_dim: int, action_dim: int
) -> VildState:
    key, model_key = jax.random.split(key)
    params = init_classifier(key, obs_dim, action_dim, setting.config.hidden)
    model = init_model(model_key, obs_dim, action_dim, num_demonstrators, setting.vild)
    opt_states = setting.optimizer.init(params), setting.model_optimizer.init(model)
    return VildState(params, opt_states[0], model, opt_states[1], jnp.ones(action_dim, jnp.float32))


def _reward(state: VildState, obs: jax.Array, action: jax.Array) -> jax.Array:
    return _logistic(-score_joined(state.params, join(obs, action)))  # softplus(g)


# --- learning


def _update(
    setting: Setting,
    state: VildState,
    batches: Pool,
    policy_obs: jax.Array,
    policy_action: jax.Array,
    normalize: Normalize,
    key: jax.Array,
) -> tuple[VildState, Info]:
    deal_key, mixing_key, step_key = jax.random.split(key, 3)
    count, batch = setting.config.minibatches, setting.config.batch
    pool = jax.tree.map(jnp.asarray, batches)
    pool = pool._replace(obs=normalize(pool.obs))
    policy = join(policy_obs, policy_action)  # [N, D + A]
    minibatches = MiniBatch(
        number=jnp.arange(count),
        policy=policy[deal(deal_key, len(policy), count)],  # [M, m, D + A]
        mixing=jax.random.uniform(mixing_key, (count, batch, 1)),
        key=jax.random.split(step_key, count),
    )
    state, infos = jax.lax.scan(functools.partial(minibatch_step, setting, pool), state, minibatches)
    info = {name: jnp.mean(values) for name, values in infos.items()}
    return state, info | _noise_info(state.model.log_variance)


def minibatch_step(
    setting: Setting, pool: Pool, state: VildState, minibatch: MiniBatch
) -> tuple[VildState, Info]:
    """One Adam step for the classifier, on inferred actions, and then one for the model of the demonstrators."""
    choice_key, action_key, bound_key = jax.random.split(minibatch.key, 3)
    count = setting.config.batch
    # Row i of mini-batch m reads the same place of the pool whoever's pair it takes, and, unless there are very
    # many demonstrators, no other row of the iteration does.
    place = (minibatch.number * count + jnp.arange(count)) % pool.obs.shape[1]

    share = jnp.asarray(pool.share)
    probability = sampling_probabilities(state.model.log_variance, share)
    who = choose_demonstrators(choice_key, probability, count)
    weight = jnp.minimum(share[who] / probability[who], 1.0)
    obs, action = pool.obs[who, place], pool.action[who, place]
    inferred = infer(state.model, state.scale, obs, action, who)
    demo = join(obs, draw(inferred, jax.random.normal(action_key, action.shape)))
    loss_fn = functools.partial(classifier_loss, setting.config)
    gradients, info = jax.grad(loss_fn, has_aux=True)(
        state.params, demo, weight, minibatch.policy, minibatch.mixing
    )
    updates, opt_state = setting.optimizer.update(gradients, state.opt_state)
    params = optax.apply_updates(state.params, updates)

    who = pool.turn[minibatch.number]
    obs, action = pool.obs[who, place], pool.action[who, place]
    noise = jax.random.normal(bound_key, action.shape)
    bound_fn = functools.partial(negative_bound, setting.vild)
    gradients, bound_info = jax.grad(bound_fn, has_aux=True)(
        state.model, params, state.scale, obs, action, who, noise
    )
    updates, model_opt_state = setting.model_optimizer.update(gradients, state.model_opt_state)
    model = within_range(optax.apply_updates(state.model, updates))
    return VildState(params, opt_state, model, model_opt_state, state.scale), info | bound_info


def classifier_loss(
    config: ClassifierConfig,
    params: Params,
    demo: jax.Array,
    weight: jax.Array,
    policy: jax.Array,
    mixing: jax.Array,
) -> tuple[jax.Array, Info]:
    """Loss of the classifier: GAIL's logistic risk, demonstrations weighted [n], plus the penalty."""
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
        "vild_weight": jnp.mean(weight),
    }
    return demo_risk + policy_risk + config.gradient_penalty * penalty, info


def negative_bound(
    config: VildConfig,
    model: DemonstratorModel,
    params: Params,
    scale: jax.Array,
    obs: jax.Array,
    action: jax.Array,
    who: jax.Array,
    noise: jax.Array,
) -> tuple[jax.Array, Info]:
    """Loss of the model: -E_q[log sigmoid(g(s, a)) / temperature + log N(u; a, C_k)] - entropy of q."""
    inferred = infer(model, scale, obs, action, who)
    score = score_joined(params, join(obs, draw(inferred, noise)))
    reward = -jnp.mean(_logistic(score)) / config.temperature
    log_likelihood = jnp.mean(expected_log_likelihood(inferred, action, model.log_variance[who]))
    spread = jnp.mean(entropy(inferred))
    info = {
        "vild_reward": reward,
        "vild_log_likelihood": log_likelihood,
        "vild_entropy": spread,
        "vild_shift": jnp.sqrt(jnp.mean((action - inferred.mean) ** 2)),
    }
    return -(reward + log_likelihood + spread), info


def _noise_info(log_variance: jax.Array) -> Info:
    std = noise_std(log_variance)
    if len(std) > LOGGED_DEMONSTRATORS:
        return {"noise_std_min": jnp.min(std), "noise_std_max": jnp.max(std)}
    return {f"noise_std_{k}": std[k] for k in range(len(std))}


# --- the start of the inference net


def _start_by_cloning(
    setting: Setting,
    roster: Roster,
    state: VildState,
    demos: DemoArrays,
    normalize: Normalize,
    rng: np.random.Generator,
) -> VildState:
    """Make q's mean the action that was seen, within the range of the data, and forget Adam's moments."""
    who = in_turn(roster, (setting.vild.cloning_steps, setting.config.batch), rng)
    index = draw_rows(roster, who, rng)
    obs = normalize(jnp.asarray(np.asarray(demos.obs)[index]))
    action = np.asarray(demos.action)[index]
    largest = np.maximum(np.max(demos.action, axis=0), -np.min(demos.action, axis=0))
    scale = jnp.asarray(np.maximum(largest, 1.0), jnp.float32)
    model = _clone(setting, state.model, scale, obs, jnp.asarray(action), jnp.asarray(who))
    return state._replace(model=model, model_opt_state=setting.model_optimizer.init(model), scale=scale)


@functools.partial(jax.jit, static_argnums=0)
def _clone(
    setting: Setting,
    model: DemonstratorModel,
    scale: jax.Array,
    obs: jax.Array,  # [steps, n, D]
    action: jax.Array,  # [steps, n, A]
    who: jax.Array,  # [steps, n]
) -> DemonstratorModel:
    def loss_fn(model: DemonstratorModel, *batch: jax.Array) -> jax.Array:
        return jnp.mean((infer(model, scale, *batch).mean - batch[1]) ** 2)

    def step(carried: tuple[DemonstratorModel, Any], batch: tuple[jax.Array, ...]) -> tuple[Any, None]:
        model, opt_state = carried
        updates, opt_state = setting.model_optimizer.update(jax.grad(loss_fn)(model, *batch), opt_state)
        return (optax.apply_updates(model, updates), opt_state), None

    (model, _), _ = jax.lax.scan(step, (model, setting.model_optimizer.init(model)), (obs, action, who))
    return model
