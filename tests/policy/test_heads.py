"""Heads: distributions of choices, their Fisher matrix, and learners that find the best choice."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.probes import CHOICE, CHOICE_BY_OBS, CHOICES, Probe, outputs, train_on

from rilco.policy.acktr import _fisher_statistics, _make_batch, _to_layers, _to_params, acktr
from rilco.policy.config import AcktrConfig, PpoConfig
from rilco.policy.heads import GAUSSIAN, Head, make_head
from rilco.policy.learner import PolicyLearner, Rollout
from rilco.policy.ppo import ppo
from rilco.tasks.actions import Actions

TWO = Actions((2,), (3, 2), (0.0, 0.0))
LOGITS = np.array([[0.0, 1.0, 2.0, -1.0, 0.5], [3.0, 0.0, 0.0, 0.0, 0.0]], np.float32)
NO_SPREAD = np.zeros(0, np.float32)


def every_action() -> np.ndarray:
    """The six pairs of choices, one-hot."""
    return TWO.encode(np.array([[a, b] for a in range(3) for b in range(2)]))


def test_probabilities_of_all_actions_sum_to_one() -> None:
    head = make_head(TWO)
    for logits in LOGITS:
        of_all = head.log_prob(jnp.broadcast_to(logits, (6, 5)), NO_SPREAD, every_action())
        probabilities = np.exp(np.asarray(of_all))
        assert probabilities.sum() == pytest.approx(1.0, rel=1e-6)
        first, second = (np.exp(part) / np.exp(part).sum() for part in TWO.split(logits))
        np.testing.assert_allclose(probabilities, np.outer(first, second).reshape(-1), rtol=1e-5)


def test_entropy_is_the_mean_over_states_and_choices() -> None:
    head = make_head(TWO)
    expected = []
    for logits in LOGITS:
        for part in TWO.split(logits):
            p = np.exp(part) / np.exp(part).sum()
            expected.append(-(p * np.log(p)).sum())
    assert float(head.entropy(jnp.asarray(LOGITS), NO_SPREAD)) == pytest.approx(np.mean(expected), rel=1e-5)


def test_cloning_loss_is_the_cross_entropy_of_each_choice() -> None:
    head, action = make_head(TWO), TWO.encode(np.array([[2, 0], [0, 1]]))
    losses = np.asarray(head.loss(jnp.asarray(LOGITS), action))
    assert losses.shape == (2, 2)
    np.testing.assert_allclose(
        losses.sum(axis=1), -np.asarray(head.log_prob(jnp.asarray(LOGITS), NO_SPREAD, action)), rtol=1e-6
    )
    assert losses[0, 0] == pytest.approx(-np.log(np.exp(2) / np.exp([0, 1, 2]).sum()), rel=1e-5)


def test_extreme_logits_stay_finite() -> None:
    head, logits = make_head(TWO), jnp.asarray(LOGITS) * 1e4
    for one in every_action():
        action = np.broadcast_to(one, logits.shape)
        gradient = jax.grad(lambda x, a=action: jnp.sum(head.log_prob(x, NO_SPREAD, a)))(logits)
        assert np.isfinite(np.asarray(gradient)).all()
    assert np.isfinite(float(head.entropy(logits, NO_SPREAD)))


def test_output_factor_is_the_categorical_fisher() -> None:
    """The second moment of the head's gradients at sampled actions tends to diag(p) - p p^T."""
    head, learner = make_head(CHOICES), acktr(AcktrConfig(hidden_sizes=(4,)), make_head(CHOICES))
    state = learner.init(jax.random.key(0), 1, 3)
    logits = np.float32([0.5, -1.0, 1.0])
    last = {"w": jnp.zeros((4, 3)), "b": jnp.asarray(logits)}  # the same in every state
    actor = state.params.actor._replace(layers=(state.params.actor.layers[0], last))
    noise = CHOICES.noise(np.random.default_rng(0), 200, 100)
    action = CHOICES.act(np.broadcast_to(logits, noise.shape), noise)
    none = np.zeros((200, 100), bool)
    rollout = Rollout(
        np.zeros((200, 100, 1), np.float32),
        action,
        np.zeros((200, 100), np.float32),
        none,
        none,
        np.zeros((100, 1)),
    )
    params = state.params._replace(actor=actor)
    batch = _make_batch(params.critic, rollout, 0.99)
    _, gradients = _fisher_statistics(params, batch, head, np.zeros(20_000, np.float32))
    assert len(gradients) == 4  # two layers each, and no log-std between them
    of_logits = np.asarray(gradients[1])
    p = np.exp(logits) / np.exp(logits).sum()
    np.testing.assert_allclose(
        of_logits.T @ of_logits / len(of_logits), np.diag(p) - np.outer(p, p), atol=0.01
    )


@pytest.mark.parametrize("head", [GAUSSIAN, make_head(CHOICES)], ids=["gaussian", "categorical"])
def test_layers_for_kfac_and_back(head: Head) -> None:
    params = acktr(AcktrConfig(hidden_sizes=(4, 4)), head).init(jax.random.key(0), 2, 3).params
    layers = _to_layers(params)
    assert len(layers) == 6 + head.has_spread
    back = _to_params(layers)
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()) and a.shape == b.shape, back, params))


LEARNERS: dict[str, tuple[PolicyLearner, int]] = {
    "acktr": (acktr(AcktrConfig(hidden_sizes=(16, 16), kl_clip=0.01), make_head(CHOICES)), 150),
    "ppo": (ppo(PpoConfig(hidden_sizes=(16, 16), learning_rate=3e-3), make_head(CHOICES)), 60),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(
    ("probe", "best"), [(CHOICE, {0.0: 1}), (CHOICE_BY_OBS, {-1.0: 0, 1.0: 2})], ids=["blind", "seeing"]
)
def test_best_choice_is_found(name: str, probe: Probe, best: dict[float, int]) -> None:
    learner, iterations = LEARNERS[name]
    learner = learner._replace(update=jax.jit(learner.update))
    state = learner.init(jax.random.key(1), 1, CHOICES.width)
    state = train_on(probe, learner, state, jax.random.key, iterations=iterations, actions=CHOICES)
    logits = outputs(state.params.actor, np.array(list(best)))
    probability = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert probability.argmax(axis=1).tolist() == list(best.values())
    assert probability.max(axis=1).min() > 0.8
