"""Practice: of two drivers each does well from other starts; the demonstrations drive forward from all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.environments import Vehicle, env_id

from rilco.clean.config import CleanConfig, practised_steps
from rilco.clean.likeness import neighbourhood
from rilco.clean.practice import STARTS, Practice, attempt, best_attempts, likeness, practise
from rilco.data.formats import load_file
from rilco.data.record import Demonstrations
from rilco.policy.saved import Policy
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import RolloutPool
from rilco.runs.how import How
from rilco.runs.interrupt import StopSignal
from rilco.tasks.actions import Actions
from rilco.tasks.table import Task

OBS, ACTION = 2, 2
ENVS, STEPS = 8, 12
HOW = How(quiet=True)
Throttle = Callable[[np.ndarray, np.ndarray], np.ndarray]


def driver(throttle: float = 0.0, gain: float = 0.0) -> Policy:
    """Throttle that is always the same, or grows with the velocity; the spread, were it used, would drown it."""
    layers = [(gain * np.eye(OBS, ACTION, dtype=np.float32), np.full(ACTION, throttle, np.float32))]
    return Policy(
        np.zeros(OBS, np.float32), np.ones(OBS, np.float32), layers, np.full(ACTION, 3.0, np.float32)
    )


WITH, AGAINST = driver(gain=1.0), driver(gain=-1.0)
"""The velocity: one is right where it is forward, the other elsewhere."""


def drive(throttle: Throttle, episodes: int = 60, steps: int = STEPS) -> Demonstrations:
    """Of somebody whose throttle is a function of the velocity at the start and now."""
    rng, obs, action = np.random.default_rng(5), [], []
    for _ in range(episodes):
        start = velocity = Vehicle.start(rng)
        for _ in range(steps):
            obs.append(velocity)
            action.append(throttle(start, velocity))
            velocity = Vehicle.drive(velocity, action[-1])
    return Demonstrations(np.array(obs), np.array(action), episode=np.repeat(np.arange(episodes), steps))


FORWARD = drive(lambda start, velocity: velocity if start.sum() > 0 else -velocity)
STEADY = drive(lambda start, velocity: np.full(ACTION, 0.8))


@pytest.fixture(scope="module")
def pool() -> Iterator[RolloutPool]:
    sizes = Sizes(ENVS, STEPS, OBS, Actions((ACTION,)), ())
    with RolloutPool(Task(env=env_id("Vehicle")), sizes, seed=3, num_workers=1) as pool:
        yield pool


def carry_out(
    policies: list[Policy],
    demos: Demonstrations,
    pool: RolloutPool,
    out: Path,
    *,
    starts: int = 8,
    practised: int = 0,
    how: How = HOW,
) -> Practice:
    return practise(policies, demos, pool, out, practised=practised, starts=starts, how=how)


def test_from_every_start_the_best_attempt_is_taken(pool: RolloutPool) -> None:
    near = neighbourhood(FORWARD, STEPS)
    best = best_attempts([WITH, AGAINST], np.zeros(ENVS, int), near, pool, StopSignal())
    alone = [likeness(near, attempt(policy, np.zeros(ENVS, int), pool)) for policy in (WITH, AGAINST)]
    sums = np.array([one.obs[0].sum() for one in best])
    clear = np.abs(sums) > 0.6  # between the two, both are near what was demonstrated
    assert (sums[clear] > 0).any()
    assert (sums[clear] < 0).any()
    for one, velocity, is_clear, score in zip(best, sums, clear, np.maximum(*alone), strict=True):
        if is_clear:
            np.testing.assert_allclose(one.action, one.obs if velocity > 0 else -one.obs, rtol=1e-5)
        assert one.likeness == pytest.approx(score)


def test_good_attempts_become_demonstrations_without_their_last_third(
    pool: RolloutPool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "1.npz"
    drivers = [driver(0.7), driver(0.9)]
    record = carry_out(drivers, STEADY, pool, file, starts=20, practised=2, how=How())
    practised = load_file(file)
    assert (record.starts, record.good) == (24, 24), "whole heats"
    assert record.transitions == 24 * STEPS, "their mean alone: nothing went wrong"
    assert len(practised) == 24 * 8
    assert np.array_equal(practised.episode, np.repeat(np.arange(24), 8))
    np.testing.assert_allclose(practised.action, 0.8, rtol=1e-6)
    starts = practised.obs[::8]
    assert len(np.unique(starts.round(4), axis=0)) == 24
    np.testing.assert_allclose(
        starts[:ENVS], attempt(WITH, np.full(ENVS, 3 * STARTS), pool).obs[0], rtol=1e-6
    )
    assert "24 start states" in capsys.readouterr().err
    assert "From 24 of 24" in record.sentence()


def test_where_their_mean_fails_each_clone_tries_the_same_starts(pool: RolloutPool, tmp_path: Path) -> None:
    """Everywhere, here; there are heats for a third of the starts."""
    record = carry_out([driver(-1.6), driver(0.8)], STEADY, pool, tmp_path / "1.npz", starts=24, practised=2)
    practised = load_file(tmp_path / "1.npz")
    assert (record.starts, record.good) == (24, ENVS)
    assert record.transitions == (3 + 1 * 2) * ENVS * STEPS
    np.testing.assert_allclose(practised.action, 0.8, rtol=1e-6)
    np.testing.assert_allclose(
        practised.obs[::8], attempt(WITH, np.full(ENVS, 3 * STARTS), pool).obs[0], rtol=1e-6
    )


def test_what_is_less_like_the_demonstrations_than_they_are_is_not_imitated(
    pool: RolloutPool, tmp_path: Path
) -> None:
    file = tmp_path / "1.npz"
    assert carry_out([driver(0.8)] * 2, STEADY, pool, file).good == ENVS
    assert carry_out([driver(-1.5)] * 2, STEADY, pool, file).good == 0
    assert not file.exists(), "that of an interrupted practice is gone"


def test_falls_are_never_imitated(tmp_path: Path) -> None:
    """Every episode of this one ends in one, after 7 to 12 steps, and the demonstrations are like it everywhere."""
    drifter = Policy(np.zeros(2), np.ones(2), [(np.zeros((2, 1)), np.zeros(1))], np.zeros(1))
    obs = np.random.default_rng(0).uniform(-100, 100, (80, 2))
    demos = Demonstrations(obs, np.zeros((80, 1)), episode=np.arange(80) // 40)
    for steps, good in ((6, ENVS), (12, 0)):
        sizes = Sizes(ENVS, steps, 2, Actions((1,)), ())
        with RolloutPool(Task(env=env_id("Drift")), sizes, seed=3, num_workers=1) as pool:
            record = carry_out([drifter] * 2, demos, pool, tmp_path / "1.npz", starts=ENVS)
        assert record.good == good
        assert record.worth_imitating == (good > 0)


def test_an_attempt_ends_with_its_episode(tmp_path: Path) -> None:
    """Episodes of 60 steps, of which the limit says nothing bad; the next one is not part of it."""
    demos = drive(lambda start, velocity: np.full(ACTION, 0.8), steps=60)
    with RolloutPool(
        Task(env=env_id("Vehicle")), Sizes(ENVS, 150, OBS, Actions((ACTION,)), ()), seed=3, num_workers=1
    ) as pool:
        record = carry_out([driver(0.8)] * 2, demos, pool, tmp_path / "1.npz")
    practised = load_file(tmp_path / "1.npz")
    assert record.good == ENVS
    assert [len(one) for one in practised.episodes()] == [60] * ENVS
    for one in practised.episodes():
        velocity = np.float32(one.obs[:-1] + 0.2 * (0.8 - one.obs[:-1]))
        np.testing.assert_allclose(one.obs[1:], velocity, atol=1e-5)


@pytest.mark.parametrize(("good", "worth"), [(0, False), (96, False), (97, True), (192, True)])
def test_most_starts_must_have_gone_well(good: int, worth: bool) -> None:
    practice = Practice(192, good, 1000)
    assert practice.worth_imitating == worth
    assert ("too few" in practice.sentence()) == (not worth)


def test_a_single_clone_has_nobody_to_learn_from() -> None:
    assert CleanConfig(clones=1).rounds == 0
    assert CleanConfig(clones=2, practice_rounds=3).rounds == 3


def test_what_practice_will_take() -> None:
    clean = CleanConfig(clones=3, practice_rounds=2, practice_starts=20, practice_steps=STEPS)
    assert practised_steps(clean, ENVS) == 2 * (3 + 3 * 1) * ENVS * STEPS, "whole heats"
    assert practised_steps(CleanConfig(clones=1), ENVS) == 0


def test_a_stop_is_heard_between_attempts(pool: RolloutPool, tmp_path: Path) -> None:
    stop = StopSignal()
    stop.signum = 15
    with pytest.raises(KeyboardInterrupt):
        carry_out([WITH, AGAINST], FORWARD, pool, tmp_path / "1.npz", how=How(quiet=True, stop=stop))
    assert not any(tmp_path.iterdir())
