"""The paper's claim in small: with 40% noise RIL-Co recovers the expert, and GAIL does not.

A vehicle on a plane has a throttle for each direction and drag, so that it is as fast as the throttle it is
given. The expert drives at full throttle; five worse drivers, like snapshots of a policy that is still
learning, give little of it or none, which is also how the policy begins. All start at any velocity, and soon
each is at its own. A policy that matches the mixture of them is slower than the expert.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rilco.config import RunConfig
from rilco.learning import Learner, to_experience
from rilco.methods import make_reward_learner
from rilco.normalizer import on_device, on_host, update_normalizer
from rilco.policy.acktr import acktr
from rilco.policy.config import AcktrConfig
from rilco.policy.saved import Policy
from rilco.rewards.learner import DemoArrays
from rilco.rollout.pool import Transitions

pytestmark = pytest.mark.slow

FULL_THROTTLE = np.array([2.0, 2.0])
WORSE_DRIVERS = (0.3, 0.2, 0.1, 0.0, -0.1)  # their throttle, as a share of the expert's
EPISODE = 60  # steps
T, B = 20, 32
MEASURED = 100  # results are means over so many last iterations, as the paper's are


def start(rng: np.random.Generator, count: int) -> np.ndarray:
    """Velocities to start from [count, 2]."""
    return 1.5 * rng.normal(size=(count, 2))


def drive(velocity: np.ndarray, throttle: np.ndarray) -> np.ndarray:
    """One step: the engine takes no more than full throttle, the drag is the velocity."""
    return velocity + 0.2 * (np.clip(throttle, -FULL_THROTTLE, FULL_THROTTLE) - velocity)


def demonstrate(rng: np.random.Generator, share: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """So many pairs of a driver who gives this share of full throttle."""
    velocities = [start(rng, -(-count // EPISODE))]
    for _ in range(EPISODE - 1):
        velocities.append(drive(velocities[-1], share * FULL_THROTTLE))
    obs = np.stack(velocities, axis=1).reshape(-1, 2)[:count]
    return obs, np.broadcast_to(share * FULL_THROTTLE, obs.shape)


def demonstrations(rng: np.random.Generator, noise_rate: float) -> DemoArrays:
    """10000 pairs of the expert and, at 40% noise, 1500 of each other driver: 3/7 of all."""
    each = {0.0: 0, 0.4: 1500}[noise_rate]
    parts = [demonstrate(rng, 1.0, 10_000), *(demonstrate(rng, share, each) for share in WORSE_DRIVERS)]
    obs, action = (np.concatenate(arrays).astype(np.float32) for arrays in zip(*parts, strict=True))
    return DemoArrays(obs, action)


class Vehicles:
    """A batch of them, which drives on from one iteration to the next."""

    def __init__(self, rng: np.random.Generator):
        self.rng = rng
        self.velocity = start(rng, B)
        self.age = np.arange(B) * EPISODE // B  # apart, or all episodes would end at once

    def collect(self, policy: Policy) -> Transitions:
        steps = [self._step(policy) for _ in range(T)]
        obs, action, reward, truncated = (np.stack(column) for column in zip(*steps, strict=True))
        obs = np.concatenate([obs, np.float32(self.velocity)[None]])
        return Transitions(
            obs,
            np.tile(policy.obs_mean, (T + 1, 1)),
            np.tile(policy.obs_var, (T + 1, 1)),
            action,
            reward,
            np.zeros_like(truncated),
            truncated,
            np.empty(0),
        )

    def _step(self, policy: Policy) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        obs = self.velocity.astype(np.float32)
        action = policy.predict(obs, deterministic=False, rng=self.rng)
        self.velocity = drive(self.velocity, action)
        reward = self.velocity.mean(axis=1)
        self.age += 1
        ended = self.age == EPISODE
        self.age[ended] = 0
        self.velocity = np.where(ended[:, None], start(self.rng, B), self.velocity)
        return obs, action, reward, ended


def shortfall(policy: Policy) -> float:
    """How far the deterministic policy's throttle is from the expert's: 0 is the expert, 1 is standing still."""
    velocity, errors = start(np.random.default_rng(0), 64), []
    for _ in range(EPISODE):
        action = policy.predict(velocity)
        throttle = np.clip(action, -FULL_THROTTLE, FULL_THROTTLE)
        errors.append(np.linalg.norm(throttle - FULL_THROTTLE, axis=1))
        velocity = drive(velocity, action)
    return float(np.mean(errors) / np.linalg.norm(FULL_THROTTLE))


def config_of(method: str, seed: int) -> RunConfig:
    return RunConfig(method=method, demos=("given below",), seed=seed)


@functools.cache
def learner_of(method: str) -> Learner:
    """Compiled once for all seeds: the seed only decides what a reward learner samples."""
    reward_learner = make_reward_learner(config_of(method, seed=0))
    config = AcktrConfig(hidden_sizes=(16,))  # the published 64 x 64 take longer to learn so simple a task
    return Learner(reward_learner, acktr(config), config.discount, moving_iterations=10)


def imitate(method: str, *, noise_rate: float, seed: int, iterations: int = 400) -> float:
    """Train, and return the mean shortfall over the last iterations."""
    learner, sample = learner_of(method), make_reward_learner(config_of(method, seed)).sample
    demos_rng, sample_rng, env_rng = (np.random.default_rng([seed, i]) for i in range(3))
    demos, vehicles = demonstrations(demos_rng, noise_rate), Vehicles(env_rng)
    key = jax.random.key(seed)
    state = learner.init(key, 2, 2, B)
    errors = []
    for i in range(iterations):
        transitions = vehicles.collect(learner.policy(state))
        if i < learner.moving_iterations:
            statistics = update_normalizer(on_host(state.normalizer), transitions.obs[1:].reshape(-1, 2))
            state = state._replace(normalizer=on_device(statistics))
        experience = to_experience(transitions)
        batches = sample(demos, sample_rng)
        state, _ = learner.learn(state, experience, batches, jnp.int32(i), jax.random.fold_in(key, i))
        if i >= iterations - MEASURED and i % 10 == 9:
            errors.append(shortfall(learner.policy(state)))
    return float(np.mean(errors))


# Over twelve seeds RIL-Co's shortfall was 0.04 to 0.18 and GAIL's 0.57 to 0.89.


@pytest.mark.parametrize("seed", [0, 1])
def test_ril_co_recovers_the_expert_from_noisy_demonstrations(seed: int) -> None:
    assert imitate("ril-co", noise_rate=0.4, seed=seed) < 0.3


@pytest.mark.parametrize("seed", [0, 1])
def test_gail_does_not(seed: int) -> None:
    assert imitate("gail-logistic", noise_rate=0.4, seed=seed) > 0.45


@pytest.mark.parametrize("method", ["ril-co", "gail-logistic"])
def test_both_recover_the_expert_from_clean_demonstrations(method: str) -> None:
    assert imitate(method, noise_rate=0.0, seed=0, iterations=300) < 0.1
