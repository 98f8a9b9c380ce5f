"""Practice: of several drivers each does well from other starts, and the judges want them all to drive forward."""

from __future__ import annotations

import numpy as np
import pytest
from tests.environments import env_id
from tests.judging import ACTION, OBS, driver, judges, sigmoid

from rilco.bc import BcConfig, clone
from rilco.cleaning import CleanConfig
from rilco.cleaning.attempts import attempt, likeness
from rilco.cleaning.practice import (
    GOOD_ENOUGH,
    STARTS,
    Practice,
    best_attempts,
    practice_transitions,
    practise,
    standard_of,
)
from rilco.demonstrations import Demonstrations
from rilco.formats import load_file
from rilco.interrupt import StopSignal
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import RolloutPool
from rilco.tasks.table import Task

ENVS, STEPS = 8, 12
JUDGES = judges(4.0, 4.0)
WITH, AGAINST = (
    driver(gain=1.0),
    driver(gain=-1.0),
)  # the velocity: one is right where it is forward, the other elsewhere


@pytest.fixture(scope="module")
def pool():
    sizes = Sizes(ENVS, STEPS, OBS, ACTION, ())
    with RolloutPool(Task(env=env_id("Vehicle")), sizes, seed=3, num_workers=1) as pool:
        yield pool


def demonstrations(action_sum: float, pairs: int = 40) -> Demonstrations:
    """Of somebody who always does the same."""
    return Demonstrations(np.zeros((pairs, OBS)), np.full((pairs, ACTION), action_sum / ACTION))


def carry_out(policies, demos, pool, out, starts=8, **more) -> Practice:
    how = {"number": 1, "say": str, "stop": StopSignal(), **more}
    return practise(policies, demos, JUDGES, pool, out, starts=starts, **how)


def test_from_every_start_the_best_attempt_is_taken(pool):
    obs, action, score = best_attempts([WITH, AGAINST], 0, JUDGES, pool, StopSignal())
    forward = obs[:, 0].sum(axis=-1) > 0
    assert 0 < forward.sum() < ENVS
    assert np.all(action.sum(axis=-1) > 0), "the wrong ones brake at every step"
    np.testing.assert_allclose(action[forward], obs[forward], rtol=1e-5)
    np.testing.assert_allclose(action[~forward], -obs[~forward], rtol=1e-5)
    alone = [likeness(JUDGES, attempt(policy, 0, pool)) for policy in (WITH, AGAINST)]
    np.testing.assert_allclose(score, np.maximum(*alone), rtol=1e-5)


def test_good_attempts_become_demonstrations_without_their_last_third(pool, tmp_path):
    said: list[str] = []
    drivers, file = [driver(-0.5), driver(0.8)], tmp_path / "1.npz"
    record = carry_out(drivers, demonstrations(1.6), pool, file, starts=20, number=3, say=said.append)
    practised = load_file(file)
    assert (record.starts, record.good) == (24, 24), "whole heats"
    assert record.transitions == practice_transitions(2, 20, ENVS, STEPS) == 2 * 24 * STEPS
    assert len(practised) == 24 * 8
    assert np.array_equal(practised.episode, np.repeat(np.arange(24), 8))
    np.testing.assert_allclose(practised.action, 0.8, rtol=1e-6)
    starts = practised.obs[::8]
    assert len(np.unique(starts.round(4), axis=0)) == 24
    np.testing.assert_allclose(starts[:ENVS], attempt(WITH, 3 * STARTS, pool).obs[0], rtol=1e-6)
    assert "24 start states" in said[0]
    assert "From 24 of 24" in record.sentence()


def test_what_is_less_expert_like_than_the_demonstrations_is_not_imitated(pool, tmp_path):
    """The judges' mean over an attempt decides, beside the demonstrations' over as many of their first steps."""
    standard = standard_of(demonstrations(1.0), JUDGES, STEPS)
    assert standard == pytest.approx(sigmoid(4 * np.tanh(1.0)), abs=1e-6)
    least = np.arctanh(np.log(GOOD_ENOUGH * standard / (1 - GOOD_ENOUGH * standard)) / 4)
    for throttle, good in ((0.98 * least / 2, 0), (1.02 * least / 2, 8)):
        record = carry_out([driver(throttle)] * 2, demonstrations(1.0), pool, tmp_path / "1.npz")
        assert record.good == good
        assert (tmp_path / "1.npz").exists() == (good > 0)
    carry_out([driver(-1.0)] * 2, demonstrations(1.0), pool, tmp_path / "1.npz")
    assert not (tmp_path / "1.npz").exists(), "that of an interrupted practice is gone"


def test_the_demonstrations_are_judged_by_their_first_steps():
    """An expert's starts often look like a beginner's; attempts are all starts."""
    actions = np.repeat([0.1, 2.0], [10, 30])[:, None] * np.ones(ACTION)
    demos = Demonstrations(np.zeros((40, OBS)), actions)
    assert standard_of(demos, JUDGES, 10) == pytest.approx(sigmoid(4 * np.tanh(0.2)), abs=1e-5)
    assert standard_of(demos, JUDGES, 40) > 0.8


def test_a_clone_of_what_was_practised_does_what_none_of_them_could(pool, tmp_path):
    carry_out([WITH, AGAINST], demonstrations(0.1), pool, tmp_path / "1.npz", starts=64)
    practised = clone(load_file(tmp_path / "1.npz"), BcConfig(hidden_sizes=(32,)), gradient_steps=4000)
    # It need not be in the pool: what counts is what it does where they are.
    starts = np.concatenate([attempt(WITH, number, pool).obs[0].copy() for number in range(16)])
    sums = [policy.mean(starts).sum(axis=-1) for policy in (WITH, AGAINST, practised)]
    right = [np.mean(of > 0) for of in sums]
    assert max(right[:2]) < 0.6
    assert right[2] > 0.9


def test_a_single_clone_has_nobody_to_learn_from():
    assert CleanConfig(clones=1).rounds == 0
    assert CleanConfig(clones=2, practice_rounds=3).rounds == 3


def test_a_stop_is_heard_between_attempts(pool, tmp_path):
    stop = StopSignal()
    stop.signum = 15
    with pytest.raises(KeyboardInterrupt):
        carry_out([WITH, AGAINST], demonstrations(1.0), pool, tmp_path / "1.npz", stop=stop)
    assert not any(tmp_path.iterdir())
