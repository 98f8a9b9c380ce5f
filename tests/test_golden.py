"""The learners against numbers of the published implementation, which are beside the project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from rilco.losses import LOSSES
from rilco.networks import Layer
from rilco.normalizer import standardize
from rilco.policy.acktr import AcktrState, acktr_step
from rilco.policy.config import AcktrConfig
from rilco.policy.kfac import init_kfac
from rilco.policy.learner import Actor, Params, Rollout
from rilco.policy.returns import n_step_returns
from rilco.rewards.classifier import join, score_joined
from rilco.rewards.config import ClassifierConfig
from rilco.rewards.ril import ClassifierState, MiniBatch, minibatch_step

Golden = dict[str, np.ndarray]


def read(shared_dir: Path, name: str) -> Golden:
    with np.load(shared_dir / "golden" / f"{name}.npz") as file:
        return {key: np.asarray(file[key]) for key in file.files}


def layers(golden: Golden, prefix: str, when: str = "") -> tuple[Layer, ...]:
    return tuple(
        {kind: jnp.asarray(golden[f"{prefix}_{kind}{layer}{when}"]) for kind in ("w", "b")}
        for layer in range(3)
    )


@pytest.mark.parametrize(
    ("name", "classifiers", "lam"),
    [("classifier_step_rilco_apl", 2, 0.5), ("classifier_step_gail_apl", 1, 0.0)],
)
def test_a_mini_batch_step_of_the_classifiers(
    shared_dir: Path, name: str, classifiers: int, lam: float
) -> None:
    golden = read(shared_dir, name)
    config = ClassifierConfig(lam=lam)
    numbers = range(1, classifiers + 1)
    stacked = {
        when: jax.tree.map(lambda *each: jnp.stack(each), *(layers(golden, f"g{i}", when) for i in numbers))
        for when in ("_before", "_after")
    }
    mean, var = (jnp.asarray(golden[f"obs_{what}"], jnp.float32) for what in ("mean", "var"))
    demos = [
        join(standardize(golden[f"demo_obs_raw_{i}"], mean, var), jnp.asarray(golden[f"demo_action_{i}"]))
        for i in numbers
    ]
    policy = join(jnp.asarray(golden["policy_obs_normalised"]), jnp.asarray(golden["policy_action"]))
    mixing = jnp.stack([jnp.asarray(golden[f"mixing_{i}"]) for i in numbers])
    optimizer = optax.adam(config.learning_rate)
    state = ClassifierState(stacked["_before"], optimizer.init(stacked["_before"]))
    state, _ = minibatch_step(config, optimizer, state, MiniBatch(jnp.stack(demos), None, policy, mixing))
    for ours, theirs in zip(jax.tree.leaves(state.params), jax.tree.leaves(stacked["_after"]), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-6)
    first = jax.tree.map(lambda each: each[0], state.params)
    reward = LOSSES["ap"].fn(-score_joined(first, policy))
    np.testing.assert_allclose(reward, golden["reward_after"][:, 0], atol=2e-6)


def test_the_first_update_of_acktr(shared_dir: Path) -> None:
    golden = read(shared_dir, "kfac_step")

    def params(when: str) -> Params:
        actor = Actor(layers(golden, "actor", when), jnp.asarray(golden[f"log_std{when}"].reshape(-1)))
        return Params(actor, layers(golden, "critic", when))

    before = params("_before")
    lined_up = (*before.actor.layers, {"b": before.actor.log_std}, *before.critic)
    table = {
        name: jnp.asarray(golden[name]) for name in ("obs", "action", "reward", "terminated", "truncated")
    }
    obs = table.pop("obs")
    flags = {name: table.pop(name).astype(bool) for name in ("terminated", "truncated")}
    rollout = Rollout(obs[:-1], table["action"], table["reward"], **flags, last_obs=obs[-1])
    noise = jnp.asarray(golden["value_noise"]).reshape(rollout.reward.shape)
    state, info = acktr_step(AcktrConfig(), AcktrState(before, init_kfac(lined_up)), rollout, noise)
    for ours, theirs in zip(jax.tree.leaves(state.params), jax.tree.leaves(params("_after")), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-6)
    for ours, theirs in (
        ("trust_scale", "trust_scale"),
        ("policy_loss", "action_loss"),
        ("value_loss", "value_loss"),
    ):
        np.testing.assert_allclose(info[ours], golden[theirs], rtol=2e-5)


def test_returns(shared_dir: Path) -> None:
    golden = read(shared_dir, "returns")
    given = {name: jnp.asarray(golden[name]) for name in ("reward", "terminated", "truncated")}
    nothing: Any = None
    rollout = Rollout(nothing, nothing, **given, last_obs=nothing)
    value, last_value = (jnp.asarray(golden[name]) for name in ("value", "last_value"))
    ours = n_step_returns(rollout, value, last_value, 0.99)
    np.testing.assert_allclose(ours, golden["returns"], atol=1e-5)
