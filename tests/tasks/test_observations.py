"""Observations of any space as one flat vector."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, Text
from tests.environments import Named, env_id

from rilco.errors import DemonstrationError, TaskError
from rilco.tasks.gym_batch import GymBatch, find_spaces
from rilco.tasks.spaces import read_observations
from rilco.tasks.table import Task


def rngs(*seeds: int) -> list[np.random.Generator]:
    return [np.random.default_rng(seed) for seed in seeds]


def test_dictionary_is_flattened_by_sorted_names() -> None:
    batch = GymBatch(env_id("Named"), 1)
    assert batch.spaces.observations.names == ("clock", "state/a", "state/y")
    obs = batch.reset([0], rngs(3))[0]
    place, age = obs[-2:]
    assert obs.tolist() == [age, float(place <= 0), float(place > 0), place, age]
    batch.close()


def test_order_of_construction_does_not_matter() -> None:
    parts = {"b": Box(0, 1, (2,)), "a": Discrete(3), "c": Box(0, 1, (1,))}
    spaces = [Dict(**parts), Dict(**dict(reversed(parts.items())))]
    one, other = (read_observations(space, "env") for space in spaces)
    assert one == other
    assert one.names == ("a", "b", "c")
    assert one.flatten({"c": [3.0], "a": 2, "b": [1.0, 2.0]}, "env").tolist() == [0, 0, 1, 1, 2, 3]


def test_keys_choose_and_order() -> None:
    batch = GymBatch(env_id("Named"), 1, obs_keys=("state/y", "clock"))
    obs = batch.reset([0], rngs(3))[0]
    assert obs.shape == (3,)
    assert obs[1] == obs[2] == 0.0  # the age, twice
    batch.close()
    with pytest.raises(TaskError, match=r"no observation 'speed'; it has clock, state/a, state/y"):
        Task(env=env_id("Named"), obs_keys=("speed",)).spaces()


def test_files_that_hold_choices_as_numbers_are_one_hot_too() -> None:
    observations = read_observations(Named().observation_space, "env")
    raw = np.array([[0.1, 1.0, -0.5, 0.1]], np.float32)  # clock, side, place and age
    assert np.array_equal(observations.encode(raw, "file"), np.float32([[0.1, 0, 1, -0.5, 0.1]]))
    flat = np.zeros((1, 5), np.float32)
    assert observations.encode(flat, "file") is flat
    for wrong in (2.0, -1.0, 0.5):
        raw[0, 1] = wrong
        with pytest.raises(DemonstrationError, match=r"file: the observation state/a holds .* from 0 to 1"):
            observations.encode(raw, "file")


def test_images_are_refused_in_a_sentence_and_can_be_left_out() -> None:
    with pytest.raises(TaskError, match=r"'image' is .*an image. Images are not supported.*--obs-keys"):
        Task(env=env_id("Picture")).spaces()
    assert GymBatch(env_id("Picture"), 1, obs_keys=("place",)).obs_dim == 1
    with pytest.raises(TaskError, match="supported are Box, Discrete"):
        read_observations(Text(5), "env")


def test_spaces_that_change_are_noticed_before_training() -> None:
    with pytest.raises(TaskError, match=r"has 3 numbers, but its space had 2 .* Spaces must not change"):
        find_spaces("tests.environments:Grows", {}, ())
    with pytest.raises(TaskError, match="its spaces change"):
        find_spaces("tests.environments:Rewires", {}, ())
    with pytest.raises(TaskError, match="its spaces change"):
        GymBatch("tests.environments:Swells", 2)


def test_observations_whose_squares_overflow_are_refused() -> None:
    with pytest.raises(TaskError, match=r"first observation holds .*e\+(29|30|31)"):
        Task(env="tests.environments:Huge").spaces()
