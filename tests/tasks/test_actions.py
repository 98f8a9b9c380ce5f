"""Actions as learners write them, beside what environments and files hold."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete, MultiBinary, MultiDiscrete, Space, Tuple

from rilco.errors import TaskError
from rilco.tasks.actions import Actions
from rilco.tasks.spaces import read_actions

SPACES = [
    Box(-1.0, 1.0, (3,), np.float32),
    Box(np.array([-20.0, 0.0]), np.array([20.0, 1.0]), dtype=np.float64),
    Box(-2.0, 6.0, (2, 2), np.float32),
    Discrete(4),
    Discrete(3, start=-1),
    MultiDiscrete([2, 5, 3]),
    MultiBinary(3),
]


def samples(space: Space, count: int = 50) -> np.ndarray:
    space.seed(0)
    return np.array([np.ravel(space.sample()) for _ in range(count)], np.float32)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_writing_and_reading_gives_the_environments_actions(space: Space) -> None:
    actions, given = read_actions(space, "env"), samples(space)
    written = actions.encode(given)
    assert written.shape == (50, actions.width)
    assert np.abs(written).max() <= 1.0 + 1e-6
    np.testing.assert_allclose(actions.decode(written), given, atol=1e-5)
    for action in actions.shaped(actions.decode(written)):
        assert space.contains(np.clip(action, space.low, space.high) if isinstance(space, Box) else action)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_kind_survives_json(space: Space) -> None:
    actions = read_actions(space, "env").fitted(None)
    assert Actions.from_json(json.loads(json.dumps(asdict(actions)))) == actions


def test_unit_range_is_taken_as_it_is() -> None:
    actions = read_actions(SPACES[0], "env").fitted(None)
    assert actions == Actions((3,))
    given = samples(SPACES[0])
    assert actions.encode(given) is given
    assert actions.decode(given) is given


def test_unbounded_actions_have_the_units_of_demonstrations() -> None:
    rng = np.random.default_rng(0)
    space = Box(np.float32([-np.inf, -2.0, -np.inf]), np.float32([np.inf, 2.0, 3e38]))
    action = rng.normal((500.0, 0.0, -3.0), (40.0, 0.5, 0.0), (1000, 3)).astype(np.float32)
    actions = read_actions(space, "env").fitted(action)
    assert actions.origin == (0.0, 0.0, 0.0)
    assert actions.scale == pytest.approx(
        (np.sqrt(np.mean(np.float64(action[:, 0]) ** 2)), 2.0, 3.0), rel=1e-5
    )
    other_units = read_actions(space, "env").fitted(action * np.float32([1000.0, 1.0, 1000.0]))
    np.testing.assert_allclose(
        other_units.encode(action * np.float32([1000.0, 1.0, 1000.0])), actions.encode(action), atol=1e-4
    )


def test_samples_follow_the_logits() -> None:
    """Gumbel noise turns the largest of several numbers into a sample of their softmax."""
    actions = Actions((2,), (3, 2), (0.0, 5.0))
    logits = np.float32([0.0, 1.0, 2.0, -1.0, 0.5])
    noise = actions.noise(np.random.default_rng(0), 20_000)
    drawn = actions.act(np.broadcast_to(logits, noise.shape), noise)
    assert set(np.unique(drawn)) == {0.0, 1.0}
    for part, of in zip(actions.split(drawn), actions.split(logits), strict=True):
        expected = np.exp(of) / np.exp(of).sum()
        np.testing.assert_allclose(part.mean(axis=0), expected, atol=0.015)
    assert actions.decode(actions.act(logits[None])).tolist() == [[2.0, 6.0]]


def test_demonstrations_alone_tell_the_choices() -> None:
    assert Actions.of(np.array([[0.0], [3.0]]), discrete=True) == Actions((), (4,), (0.0,))
    assert Actions.of(np.array([[0.0, 2.0], [0.0, 1.0]]), discrete=True).choices == (2, 3)
    assert Actions.of(np.array([[0.5], [-0.9]]), discrete=False) == Actions((1,))
    assert Actions.of(np.array([[500.0], [-500.0]]), discrete=False).scale == (500.0,)


def test_other_spaces_are_refused_by_name() -> None:
    for space in (Tuple([Discrete(2)]), Box(0, 9, (2,), np.int64)):
        with pytest.raises(TaskError, match=r"mine: its action space is .*supported are Discrete"):
            read_actions(space, "mine")
