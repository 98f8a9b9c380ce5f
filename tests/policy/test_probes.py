"""Both policy learners climb the ladder of `tests/probes.py`. Tolerances are several times the spread over seeds."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np
import pytest
from tests import probes

from rilco.networks import apply_mlp
from rilco.policy.acktr import acktr
from rilco.policy.config import AcktrConfig, PpoConfig
from rilco.policy.learner import Actor, PolicyLearner
from rilco.policy.ppo import ppo

DISCOUNT = 0.8
ACKTR = AcktrConfig(hidden_sizes=(16, 16), discount=DISCOUNT)
PPO = PpoConfig(
    hidden_sizes=(16, 16),
    discount=DISCOUNT,
    learning_rate=3e-3,
    minibatch_size=64,
    epochs=4,
    log_std_init=0.0,
    target_kl=0.2,  # seldom reached; the program that can stop must learn as well
)

forward = jax.jit(apply_mlp)  # one program compiles faster than its operations one by one


@dataclasses.dataclass(frozen=True)
class Climber:
    """A learner, and how many of ACKTR's iterations one of its own is worth."""

    learner: PolicyLearner
    worth: int

    def climb(self, probe: probes.Probe, iterations: int) -> Any:
        state = self.learner.init(jax.random.key(0), 1, 1)
        iterations //= self.worth
        return probes.train_on(probe, self.learner, state, jax.random.key, iterations=iterations)

    def values(self, probe: probes.Probe, iterations: int, *obs: float) -> np.ndarray:
        critic = self.climb(probe, iterations).params.critic
        return np.asarray(forward(critic, np.float32(obs)[:, None]))[:, 0]

    def actor(self, probe: probes.Probe, iterations: int) -> Actor:
        return self.climb(probe, iterations).params.actor


@pytest.fixture(scope="module", params=["acktr", "ppo"])
def climber(request: pytest.FixtureRequest) -> Climber:
    learner, worth = (acktr(ACKTR), 1) if request.param == "acktr" else (ppo(PPO), 2)
    init, update = jax.jit(learner.init, static_argnums=(1, 2)), jax.jit(learner.update)
    return Climber(learner._replace(init=init, update=update), worth)


def test_constant(climber: Climber) -> None:
    assert climber.values(probes.CONSTANT, 200, 0.0) == pytest.approx([1.0], abs=0.02)


def test_value_by_obs(climber: Climber) -> None:
    assert climber.values(probes.VALUE_BY_OBS, 200, -1.0, 1.0) == pytest.approx([-1.0, 1.0], abs=0.02)


def test_discount(climber: Climber) -> None:
    assert climber.values(probes.DISCOUNT, 300, 0.0, 1.0) == pytest.approx([DISCOUNT, 1.0], abs=0.02)


def test_action(climber: Climber) -> None:
    actor = climber.actor(probes.ACTION, 300)
    assert probes.act(actor, np.zeros(1)) == pytest.approx([0.5], abs=0.05)
    assert actor.log_std[0] < -1.5  # noise costs reward


def test_action_by_obs(climber: Climber) -> None:
    actor = climber.actor(probes.ACTION_BY_OBS, 300)
    assert probes.act(actor, np.array([-1.0, 1.0])) == pytest.approx([-0.5, 0.5], abs=0.05)


def test_time_limit(climber: Climber) -> None:
    assert climber.values(probes.TIME_LIMIT, 400, 0.0) == pytest.approx([0.2 / (1 - DISCOUNT)], abs=0.05)


def test_time_limit_catches_truncation_taken_for_an_end(climber: Climber) -> None:
    mistaken = dataclasses.replace(probes.TIME_LIMIT, time_limit=False)
    # 0.2, 0.36 and 0.488 to go, with one, two and three steps left, in equal numbers
    expected = [np.mean([0.2, 0.36, 0.488])]
    assert climber.values(mistaken, 400, 0.0) == pytest.approx(expected, abs=0.05)
