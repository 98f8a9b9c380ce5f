"""Trials of policies: judges made by hand, and vehicles whose best driver is known."""

from __future__ import annotations

from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest
from tests.environments import env_id

from rilco.cleaning.trials import count_heats, hold_trials, likeness
from rilco.interrupt import StopSignal
from rilco.normalizer import init_normalizer
from rilco.policy.saved import Policy
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import RolloutPool, Transitions
from rilco.tasks.table import Task

OBS, ACTION = 2, 2  # of a vehicle


def sigmoid(x: float) -> float:
    return 1.0 / (1.0 + np.exp(-x))


def judges(*scores_of_sum: float) -> SimpleNamespace:
    """A classifier for each number c, with g(s, a) = c tanh(sum of a)."""
    count = len(scores_of_sum)
    inputs = np.tile(np.r_[np.zeros(OBS), np.ones(ACTION)][None, :, None], (count, 1, 1))
    layers = (
        {"w": jnp.asarray(inputs, jnp.float32), "b": jnp.zeros((count, 1))},
        {"w": jnp.asarray(scores_of_sum, jnp.float32).reshape(count, 1, 1), "b": jnp.zeros((count, 1))},
    )
    return SimpleNamespace(reward=SimpleNamespace(params=layers), normalizer=init_normalizer(OBS))


def transitions(action_sum: np.ndarray, terminated: np.ndarray) -> Transitions:
    steps, envs = action_sum.shape
    action = np.repeat(action_sum[..., None] / ACTION, ACTION, axis=-1).astype(np.float32)
    zeros = np.zeros((steps, envs))
    obs = np.zeros((steps + 1, envs, OBS), np.float32)
    return Transitions(obs, action, zeros, terminated, zeros.astype(bool), np.zeros(0))


def driver(throttle: float) -> Policy:
    """Always the same throttle; the spread, were it used, would drown it."""
    layers = [(np.zeros((OBS, ACTION), np.float32), np.full(ACTION, throttle, np.float32))]
    return Policy(
        np.zeros(OBS, np.float32), np.ones(OBS, np.float32), layers, np.full(ACTION, 3.0, np.float32)
    )


def test_likeness_is_the_mean_probability_over_pairs_and_judges():
    sums = np.array([[0.3, -1.0], [2.0, 0.0]])
    expected = np.mean([sigmoid(c * np.tanh(x)) for c in (1.0, 3.0) for x in sums.ravel()])
    found = likeness(judges(1.0, 3.0), transitions(sums, np.zeros(sums.shape, bool)))
    assert found == pytest.approx(expected, abs=1e-6)


def test_a_fall_costs_the_time_after_it():
    """The step of the fall itself still counts; the next episode, begun in the same environment, does not."""
    sums, terminated = np.full((10, 2), 50.0), np.zeros((10, 2), bool)
    whole = likeness(judges(2.0, 2.0), transitions(sums, terminated))
    terminated[3, 1] = terminated[7, 1] = True
    assert likeness(judges(2.0, 2.0), transitions(sums, terminated)) == pytest.approx(whole * 14 / 20)


@pytest.mark.parametrize(("policies", "heats"), [(1, 0), (2, 2), (4, 4 + 4), (5, 5 + 6 + 8), (16, 4 * 16)])
def test_every_round_halves_those_who_stand_and_doubles_their_heats(policies, heats):
    assert count_heats(policies) == heats


@pytest.fixture(scope="module")
def pool():
    with RolloutPool(
        Task(env=env_id("Vehicle")), Sizes(4, 10, OBS, ACTION, ()), seed=3, num_workers=1
    ) as pool:
        yield pool


def test_the_most_expert_like_policy_is_left(pool):
    drivers = [driver(throttle) for throttle in (0.1, -0.5, 0.8, 0.4, 0.2)]
    said: list[str] = []
    trials = hold_trials(drivers, judges(1.0, 1.0), pool, say=said.append, stop=StopSignal())
    assert trials.best == 2
    assert [len(own) for own in trials.scores] == [1, 1, 7, 7, 3]
    assert sum(map(len, trials.scores)) == count_heats(5)
    assert [line.split(",")[0] for line in said] == [f"Trying out {n} policies" for n in (5, 3, 2)]
    expected = [sigmoid(np.tanh(2 * throttle)) for throttle in (0.1, -0.5, 0.8)]
    assert [own[0] for own in trials.scores[:3]] == pytest.approx(expected, abs=1e-6), "without the spread"


def test_trials_begin_from_the_same_states_whatever_went_before(pool):
    """A judge of states: scores differ between heats, which have other starts, and are equal for equal drivers."""
    of_states = judges(1.0, 1.0)
    weights = np.tile(np.r_[np.ones(OBS), np.zeros(ACTION)][None, :, None], (2, 1, 1))
    of_states.reward.params[0]["w"] = jnp.asarray(weights, jnp.float32)
    first, second = (
        hold_trials([driver(0.5)] * 4, of_states, pool, say=str, stop=StopSignal()).scores for _ in range(2)
    )
    assert first == second
    assert first[0] == first[1]
    assert first[0][0] == first[3][0]
    assert len(set(first[0])) == 3


def test_a_stop_is_heard_between_heats(pool):
    stop = StopSignal()
    stop.signum = 15
    with pytest.raises(KeyboardInterrupt):
        hold_trials([driver(0.1), driver(0.2)], judges(1.0, 1.0), pool, say=str, stop=stop)
