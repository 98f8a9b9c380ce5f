"""Practice: of several drivers each does well from other starts, and the judges want them all to drive forward."""

from __future__ import annotations

import numpy as np
import pytest
from tests.environments import env_id
from tests.judges import ACTION, OBS, driver, judges, sigmoid

from rilco.bc.config import BcConfig
from rilco.bc.training import clone
from rilco.clean.config import CleanConfig, practised_steps
from rilco.clean.practice import (
    GOOD_ENOUGH,
    STARTS,
    Practice,
    attempt,
    best_attempts,
    likeness,
    practise,
    standard_of,
)
from rilco.data.formats import load_file
from rilco.data.record import Demonstrations, concatenate
from rilco.policy.saved import Policy
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import RolloutPool
from rilco.runs.how import How
from rilco.runs.interrupt import StopSignal
from rilco.tasks.actions import Actions
from rilco.tasks.table import Task

ENVS, STEPS = 8, 12
HOW = How(quiet=True)
JUDGES = judges(4.0, 4.0)
WITH, AGAINST = (
    driver(gain=1.0),
    driver(gain=-1.0),
)  # the velocity: one is right where it is forward, the other elsewhere


@pytest.fixture(scope="module")
def pool():
    sizes = Sizes(ENVS, STEPS, OBS, Actions((ACTION,)), ())
    with RolloutPool(Task(env=env_id("Vehicle")), sizes, seed=3, num_workers=1) as pool:
        yield pool


def demonstrations(action_sum: float, pairs: int = 40) -> Demonstrations:
    """Of somebody who always does the same."""
    return Demonstrations(np.zeros((pairs, OBS)), np.full((pairs, ACTION), action_sum / ACTION))


def carry_out(policies, demos, pool, out, starts=8, **more) -> Practice:
    return practise(policies, demos, JUDGES, pool, out, starts=starts, **{"practised": 0, "how": HOW, **more})


def test_from_every_start_the_best_attempt_is_taken(pool):
    best = best_attempts([WITH, AGAINST], 0, JUDGES, pool, StopSignal())
    alone = [likeness(JUDGES, attempt(policy, 0, pool)) for policy in (WITH, AGAINST)]
    forward = [one.obs[0].sum() > 0 for one in best]
    assert 0 < sum(forward) < ENVS
    for one, is_forward, score in zip(best, forward, np.maximum(*alone), strict=True):
        assert np.all(one.action.sum(axis=-1) > 0), "the wrong ones brake at every step"
        np.testing.assert_allclose(one.action, one.obs if is_forward else -one.obs, rtol=1e-5)
        assert one.likeness == pytest.approx(score)


def test_good_attempts_become_demonstrations_without_their_last_third(pool, tmp_path, capsys):
    drivers, file = [driver(-0.5), driver(0.8)], tmp_path / "1.npz"
    record = carry_out(drivers, demonstrations(1.6), pool, file, starts=20, practised=2, how=How())
    practised = load_file(file)
    assert (record.starts, record.good) == (24, 24), "whole heats"
    assert record.transitions == 2 * 24 * STEPS
    assert len(practised) == 24 * 8
    assert np.array_equal(practised.episode, np.repeat(np.arange(24), 8))
    np.testing.assert_allclose(practised.action, 0.8, rtol=1e-6)
    starts = practised.obs[::8]
    assert len(np.unique(starts.round(4), axis=0)) == 24
    np.testing.assert_allclose(starts[:ENVS], attempt(WITH, 3 * STARTS, pool).obs[0], rtol=1e-6)
    assert "24 start states" in capsys.readouterr().err
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


def test_falls_are_never_imitated(tmp_path):
    """Every episode of this one ends in one, after 7 to 12 steps; the judges find everything good."""
    drifter = Policy(np.zeros(2), np.ones(2), [(np.zeros((2, 1)), np.zeros(1))], np.zeros(1))
    kind = judges(0.0, 0.0)
    kind.reward.params[0]["w"] = kind.reward.params[0]["w"][:, :3]  # of an action with one dimension
    demos = Demonstrations(np.zeros((40, 2)), np.zeros((40, 1)))
    for steps, good in ((6, ENVS), (12, 0)):
        sizes = Sizes(ENVS, steps, 2, Actions((1,)), ())
        with RolloutPool(Task(env=env_id("Drift")), sizes, seed=3, num_workers=1) as pool:
            how = {"practised": 0, "starts": ENVS, "how": HOW}
            record = practise([drifter] * 2, demos, kind, pool, tmp_path / "1.npz", **how)
        assert record.good == good
        assert record.worth_imitating == (good > 0)


def test_an_attempt_ends_with_its_episode(tmp_path):
    """Episodes of 60 steps, of which the limit says nothing bad; the next one is not part of it."""
    with RolloutPool(
        Task(env=env_id("Vehicle")), Sizes(ENVS, 150, OBS, Actions((ACTION,)), ()), seed=3, num_workers=1
    ) as pool:
        record = carry_out([driver(0.8)] * 2, demonstrations(1.6), pool, tmp_path / "1.npz")
    practised = load_file(tmp_path / "1.npz")
    assert record.good == ENVS
    assert [len(one) for one in practised.episodes()] == [60] * ENVS
    for one in practised.episodes():
        velocity = np.float32(one.obs[:-1] + 0.2 * (0.8 - one.obs[:-1]))
        np.testing.assert_allclose(one.obs[1:], velocity, atol=1e-5)


@pytest.mark.parametrize(("good", "worth"), [(0, False), (96, False), (97, True), (192, True)])
def test_most_starts_must_have_gone_well(good, worth):
    practice = Practice(192, good, 1000)
    assert practice.worth_imitating == worth
    assert ("too few" in practice.sentence()) == (not worth)


def test_whole_demonstrations_set_the_standard_where_there_are_any():
    """Among pieces, which may be anybody's, an expert's episodes would be outvoted."""
    whole, pieces = demonstrations(2.0, 40), [demonstrations(-2.0, 5)] * 30
    both = concatenate([whole, *pieces])
    assert len(list(both.episodes())) == 31
    assert standard_of(both, JUDGES, 20) == pytest.approx(sigmoid(4 * np.tanh(2.0)), abs=1e-5)
    assert standard_of(both, JUDGES, 50) < 0.5


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


def test_what_practice_will_take():
    clean = CleanConfig(clones=3, practice_rounds=2, practice_starts=20, practice_steps=STEPS)
    assert practised_steps(clean, ENVS) == 2 * 3 * 24 * STEPS, "whole heats"
    assert practised_steps(CleanConfig(clones=1), ENVS) == 0


def test_a_stop_is_heard_between_attempts(pool, tmp_path):
    stop = StopSignal()
    stop.signum = 15
    with pytest.raises(KeyboardInterrupt):
        carry_out(
            [WITH, AGAINST], demonstrations(1.0), pool, tmp_path / "1.npz", how=How(quiet=True, stop=stop)
        )
    assert not any(tmp_path.iterdir())
