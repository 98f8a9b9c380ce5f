"""How alike attempts and demonstrations are: distances that can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from rilco.clean.likeness import MOST_PAIRS, neighbourhood
from rilco.clean.practice import likeness, lived
from rilco.data.record import Demonstrations
from rilco.rollout.pool import Transitions
from rilco.tasks.actions import Actions


def two_lines(length: int = 101, apart: float = 0.1) -> Demonstrations:
    """Two demonstrations side by side, along the first dimension; nothing else varies."""
    along = np.tile(np.linspace(0.0, 1.0, length), 2)
    across = np.repeat([0.0, apart], length)
    episode = np.repeat([0, 1], length)
    return Demonstrations(np.stack([along, across], 1), np.zeros((2 * length, 1)), episode=episode)


def transitions(
    across: np.ndarray, terminated: np.ndarray, truncated: np.ndarray | None = None
) -> Transitions:
    """[T, B] places across the lines, at the middle of them."""
    steps, envs = across.shape
    obs = np.full((steps + 1, envs, 2), 0.5, np.float32)
    obs[:-1, :, 1] = across
    none = np.zeros((steps, envs), bool)
    return Transitions(
        obs=obs,
        obs_mean=np.zeros((steps + 1, 2)),
        obs_var=np.ones((steps + 1, 2)),
        action=np.zeros((steps, envs, 1), np.float32),
        reward=np.zeros((steps, envs)),
        terminated=terminated,
        truncated=none if truncated is None else truncated,
        episode_returns=np.zeros(0),
    )


def test_likeness_is_1_within_the_usual_distance_and_its_share_beyond() -> None:
    """The lines are 0.1 apart everywhere, so that is usual: two standard deviations of the second dimension."""
    near = neighbourhood(two_lines(), steps=50)
    assert near.usual == pytest.approx(2.0, abs=1e-4)
    assert near.standard == pytest.approx(1.0)
    across = np.array([0.0, 0.1, 0.2, 0.3, 0.5, 1.1])
    obs = np.stack([np.full(6, 0.5), across], 1)
    found = near.likeness(obs.reshape(2, 3, 2), np.zeros((2, 3, 1)))
    assert found == pytest.approx(np.array([[1, 1, 1], [1 / 2, 1 / 4, 1 / 10]]), rel=1e-3)


def test_an_action_that_nobody_takes_there_is_as_far_as_a_place_where_nobody_is() -> None:
    demos = two_lines()
    demos = Demonstrations(demos.obs, demos.obs[:, :1], episode=demos.episode)
    near = neighbourhood(demos, steps=50)
    like = near.likeness(demos.obs[:101], demos.obs[:101, :1])
    unlike = near.likeness(demos.obs[:101], 3.0 - demos.obs[:101, :1])
    assert like.min() == 1.0
    assert unlike.max() < 0.7


def test_units_and_constant_dimensions_change_nothing() -> None:
    demos = two_lines()
    wide = np.hstack([demos.obs * [1000.0, -3.0] + 7.0, np.full((len(demos), 1), 5.0)])
    other = Demonstrations(wide, demos.action, episode=demos.episode)
    places = np.random.default_rng(0).uniform(0, 0.4, (40, 2))
    moved = np.hstack([places * [1000.0, -3.0] + 7.0, np.full((40, 1), 5.0)])
    action = np.zeros((40, 1))
    found = neighbourhood(demos, 50).likeness(places, action)
    assert found.min() < 0.9
    assert neighbourhood(other, 50).likeness(moved, action) == pytest.approx(found, rel=1e-3)


def test_choices_are_compared_as_choices() -> None:
    """Of three, the first is no nearer to the second than to the third."""
    demos = two_lines()
    action = np.tile(np.arange(101) % 3, 2)[:, None]
    demos = Demonstrations(demos.obs, action, episode=demos.episode, discrete=True)
    near = neighbourhood(demos, 50, Actions((), (3,), (0.0,)))
    place = np.array([[5.0, 0.0]] * 3)
    assert np.ptp(near.likeness(place, np.array([[0], [1], [2]]))) < 0.05


def test_many_pairs_are_compared_by_a_sample() -> None:
    near = neighbourhood(two_lines(MOST_PAIRS), steps=50)
    assert len(near.points) == MOST_PAIRS


def test_an_attempt_is_judged_by_its_last_third_and_a_fall_is_worth_nothing() -> None:
    near, across, terminated = neighbourhood(two_lines(), 50), np.zeros((9, 3)), np.zeros((9, 3), bool)
    across[:6, 1] = 50.0  # went astray, and found back
    across[6:, 2] = 0.3
    assert likeness(near, transitions(across, terminated)) == pytest.approx([1.0, 1.0, 0.5], rel=1e-3)
    terminated[8, 1] = True
    assert likeness(near, transitions(across, terminated)) == pytest.approx([1.0, 0.0, 0.5], rel=1e-3)


def test_the_standard_is_that_of_the_steps_which_are_judged() -> None:
    """The lines part after two thirds of the first 60 steps, and meet again after these."""
    demos = two_lines(200)
    step = np.tile(np.arange(200), 2)
    obs = np.where(((step >= 40) & (step < 60) & (demos.episode == 1))[:, None], demos.obs + 2.0, demos.obs)
    demos = Demonstrations(obs, demos.action, episode=demos.episode)
    assert neighbourhood(demos, 60).standard == pytest.approx(0.5, abs=0.05)
    assert neighbourhood(demos, 40).standard == pytest.approx(1.0)
    assert neighbourhood(demos, 10_000).standard == pytest.approx(1.0), "longer than all of them"


def test_a_time_limit_costs_nothing_and_what_follows_does_not_count() -> None:
    near, across, terminated = neighbourhood(two_lines(), 50), np.zeros((10, 3)), np.zeros((10, 3), bool)
    truncated = terminated.copy()
    truncated[3] = True
    across[4:] = 50.0
    terminated[6, 1] = True  # a fall of the next episode
    made = transitions(across, terminated, truncated)
    assert likeness(near, made) == pytest.approx([1.0, 1.0, 1.0])
    steps, fell = lived(made)
    assert steps.tolist() == [4, 4, 4]
    assert not fell.any()


def test_how_long_an_attempt_lived() -> None:
    terminated, truncated = np.zeros((10, 3), bool), np.zeros((10, 3), bool)
    terminated[[2, 9], [0, 1]] = True
    steps, fell = lived(transitions(np.zeros((10, 3)), terminated, truncated))
    assert steps.tolist() == [3, 10, 10]
    assert fell.tolist() == [True, True, False]
