"""Trials of policies: judges made by hand, and vehicles whose best driver is known."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from tests.environments import env_id
from tests.judging import ACTION, OBS, driver, judges, sigmoid

from rilco.cleaning.trials import count_heats, hold_trials
from rilco.interrupt import StopSignal
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import RolloutPool
from rilco.tasks.table import Task


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
