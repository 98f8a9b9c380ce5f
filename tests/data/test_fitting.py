"""Demonstrations that do not fit their environment are refused, or warned of, before anything is learned."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from tests.environments import Units, env_id

from rilco.data.fitting import fit
from rilco.data.formats import load_file, save_demonstrations
from rilco.data.loading import load_demonstrations
from rilco.data.record import Demonstrations, concatenate
from rilco.errors import DemonstrationError
from rilco.tasks.table import Task

STEPS, TWO, NAMED = (Task(env=env_id(name)) for name in ("Steps", "TwoSteps", "Named"))
DRIFT, FREE = Task(env=env_id("Drift")), Task(env=Units, env_kwargs={"bounded": False})
HOPPER = Task(task="hopper")


def demos(action: np.ndarray, obs_dim: int = 2) -> Demonstrations:
    obs = np.random.default_rng(0).normal(size=(len(action), obs_dim))
    return Demonstrations(obs, action, demonstrator_names=("mine.npz",))


def test_a_file_is_called_by_its_name_whoever_made_it(tmp_path: Path) -> None:
    made = Demonstrations(
        *(np.zeros((6, 2)), quantities(6, 2)),
        demonstrator=np.arange(6) % 2,
        demonstrator_names=("anna", "ben"),
    )
    save_demonstrations(made, tmp_path / "theirs.npz")
    with pytest.raises(DemonstrationError, match=r"theirs\.npz: a pair has 2 observation and 2 action"):
        check(DRIFT, load_file(tmp_path / "theirs.npz"))
    save_demonstrations(demos(quantities()), tmp_path / "mine.npz")
    with pytest.raises(DemonstrationError, match=r"mine\.npz: a pair has .* in .*theirs\.npz"):
        load_demonstrations([tmp_path / "theirs.npz", tmp_path / "mine.npz"])


def quantities(count: int = 200, dim: int = 1) -> np.ndarray:
    return np.random.default_rng(1).uniform(-1, 1, (count, dim))


def choices(count: int = 200, high: int = 3) -> np.ndarray:
    return np.random.default_rng(1).integers(0, high, count)


def check(task: Task, given: Demonstrations) -> Demonstrations:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return fit(given, task)


@pytest.mark.bullet
def test_fitting_demonstrations_stay_as_they_are() -> None:
    for task, given in (
        (DRIFT, demos(quantities())),
        (FREE, demos(5000.0 + 300.0 * quantities())),
        (FREE, demos(np.where(np.arange(200) % 9 > 0, 2.0 + 1e-3 * quantities()[:, 0], 0.1)[:, None])),
        (STEPS, demos(choices())),
        (STEPS, demos(choices().astype(np.float32)[:, None])),  # whole numbers, in a file without integers
        (TWO, demos(np.stack([choices(high=2), choices()], axis=1))),
        (HOPPER, demos(10.0 * np.random.default_rng(0).normal(size=(500, 3)), 15)),  # the paper's noisiest
    ):
        assert check(task, given) is given


def test_choices_for_an_environment_of_quantities_and_the_reverse() -> None:
    with pytest.raises(
        DemonstrationError, match=r"mine.npz: the actions are whole numbers.*takes quantities"
    ):
        check(DRIFT, demos(choices()))
    with pytest.raises(
        DemonstrationError, match=r"mine.npz: the actions are quantities.*whole numbers from 0 to 2"
    ):
        check(STEPS, demos(quantities()))


def test_choices_out_of_range() -> None:
    wrong = choices()
    wrong[[5, 9]] = 3
    with pytest.raises(DemonstrationError, match=r"2 pairs .*the first is 3 in row 5. Expected .* 0 to 2"):
        check(STEPS, demos(wrong))
    with pytest.raises(DemonstrationError, match=r"Expected whole numbers from 0 to 1, 0 to 2"):
        check(TWO, demos(np.stack([choices(), choices()], axis=1)))
    with pytest.raises(DemonstrationError, match="1 action dimensions"):
        check(TWO, demos(choices()))


@pytest.mark.bullet
def test_actions_a_hundred_times_too_large() -> None:
    with pytest.raises(DemonstrationError, match=r"typical action is \d+ times as large .*other units"):
        check(DRIFT, demos(100.0 * quantities()))
    with pytest.raises(DemonstrationError, match="other units"):
        check(HOPPER, demos(100.0 * quantities(dim=3), 15))
    some = quantities()
    some[:3] = 150.0
    for task in (DRIFT, FREE):
        with pytest.warns(UserWarning, match=r"3 of 200 pairs have an action more than 100 times"):
            fit(demos(some), task)


def test_observations_whose_squares_overflow() -> None:
    given = demos(quantities())
    obs = given.obs.copy()
    obs[7, 1] = -1e30
    with pytest.raises(DemonstrationError, match=r"observations reach 1e\+30 in dimension 1"):
        check(DRIFT, Demonstrations(obs, given.action))


def test_discrete_observations_become_one_hot() -> None:
    raw = np.stack([np.ones(50), choices(50, 2), np.zeros(50), np.ones(50)], axis=1)
    fitted = check(NAMED, Demonstrations(raw, choices(50)))
    assert fitted.obs.shape == (50, 5)
    assert np.array_equal(fitted.obs[:, 1:3].argmax(axis=1), raw[:, 1])
    with pytest.raises(DemonstrationError, match="3 observation"):
        check(NAMED, demos(choices(), 3))


def test_choices_are_known_by_their_type_and_do_not_mix_with_quantities() -> None:
    given = demos(choices())
    assert given.discrete
    assert given.action.shape == (200, 1)
    assert given.action.dtype == np.float32
    assert given.select(slice(5)).discrete
    assert concatenate([given, given]).discrete
    assert not demos(quantities()).discrete
    with pytest.raises(DemonstrationError, match=r"of choices \(integers\), but .* of quantities in"):
        concatenate([demos(quantities()), given])
    with pytest.raises(DemonstrationError, match="not all of them are whole numbers"):
        Demonstrations(np.zeros((2, 1)), np.array([[0.0], [0.5]]), discrete=True)
