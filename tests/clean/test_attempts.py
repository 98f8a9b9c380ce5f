"""How expert-like an attempt is, in the eyes of judges made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from tests.judges import ACTION, OBS, judges, sigmoid

from rilco.clean.practice import likeness, lived
from rilco.rollout.pool import Transitions


def transitions(
    action_sum: np.ndarray, terminated: np.ndarray, truncated: np.ndarray | None = None
) -> Transitions:
    steps, envs = action_sum.shape
    action = np.repeat(action_sum[..., None] / ACTION, ACTION, axis=-1).astype(np.float32)
    obs = np.zeros((steps + 1, envs, OBS), np.float32)
    none = np.zeros((steps, envs), bool)
    return Transitions(
        obs=obs,
        obs_mean=np.zeros((steps + 1, OBS)),
        obs_var=np.ones((steps + 1, OBS)),
        action=action,
        reward=np.zeros((steps, envs)),
        terminated=terminated,
        truncated=none if truncated is None else truncated,
        episode_returns=np.zeros(0),
    )


def test_likeness_is_the_mean_probability_over_steps_and_judges():
    sums = np.array([[0.3, -1.0], [2.0, 0.0]])
    expected = np.mean([sigmoid(c * np.tanh(sums)) for c in (1.0, 3.0)], axis=(0, 1))
    found = likeness(judges(1.0, 3.0), transitions(sums, np.zeros(sums.shape, bool)))
    assert found == pytest.approx(expected, abs=1e-6)


def test_a_fall_costs_the_time_after_it():
    """The step of the fall itself still counts; the next episode, begun in the same environment, does not."""
    sums, terminated = np.full((10, 2), 50.0), np.zeros((10, 2), bool)
    whole = likeness(judges(2.0, 2.0), transitions(sums, terminated))
    terminated[3, 1] = terminated[7, 1] = True
    assert likeness(judges(2.0, 2.0), transitions(sums, terminated)) == pytest.approx(whole * [1.0, 0.4])


def test_a_time_limit_costs_nothing_and_what_follows_does_not_count():
    sums, terminated = np.full((10, 3), 50.0), np.zeros((10, 3), bool)
    whole = likeness(judges(2.0, 2.0), transitions(sums, terminated))
    truncated = terminated.copy()
    truncated[3] = True
    sums[4:] = -50.0
    terminated[6, 1] = True  # a fall of the next episode
    made = transitions(sums, terminated, truncated)
    assert likeness(judges(2.0, 2.0), made) == pytest.approx(whole)
    steps, fell = lived(made)
    assert steps.tolist() == [4, 4, 4]
    assert not fell.any()


def test_how_long_an_attempt_lived():
    terminated, truncated = np.zeros((10, 3), bool), np.zeros((10, 3), bool)
    terminated[[2, 9], [0, 1]] = True
    steps, fell = lived(transitions(np.zeros((10, 3)), terminated, truncated))
    assert steps.tolist() == [3, 10, 10]
    assert fell.tolist() == [True, True, False]
