"""Frames of policies: rendered from the run's own task, and none where there is nothing to render."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from tests.reporting.runs import write_run

from rilco.policy.saved import Policy
from rilco.reporting.cells import sort_results
from rilco.reporting.media import GAP, MOMENTS, make_strips, moments, side_by_side
from rilco.runs.results import read_results
from rilco.tasks.robots import ROBOTS
from rilco.tasks.table import Task

pytest.importorskip("pybullet")
Image = pytest.importorskip("PIL.Image")


def limp(task: str, card=None) -> Policy:
    """A policy that does nothing."""
    obs_dim, action_dim = ROBOTS[task].obs_dim, ROBOTS[task].action_dim
    head = (np.zeros((obs_dim, action_dim), np.float32), np.zeros(action_dim, np.float32))
    zeros, ones = np.zeros(obs_dim, np.float32), np.ones(obs_dim, np.float32)
    return Policy(zeros, ones, [head], np.zeros(action_dim, np.float32), card or {})


def strips_of(root):
    media = make_strips(sort_results(read_results(root)).cells)
    complaints = {who: reason for reason, names in media.complaints.items() for who in names}
    return {strip.name: strip for strip in media.strips}, complaints


def test_five_frames_of_the_first_hundred_steps() -> None:
    frames, ended = moments(limp("halfcheetah"), Task(task="halfcheetah"))
    assert len(frames) == len(MOMENTS) == 5
    assert ended is None  # HalfCheetah never falls
    assert not np.array_equal(frames[0], frames[1])
    picture = side_by_side(frames)
    height, width, _ = frames[0].shape
    assert picture.shape == (height, 5 * width + 4 * GAP, 3)
    np.testing.assert_array_equal(picture[:, width + GAP : 2 * width + GAP], frames[1])


def test_a_fall_ends_the_strip() -> None:
    frames, ended = moments(limp("hopper"), Task(task="hopper"))
    assert ended is not None
    assert ended < 100
    assert len(frames) == sum(step < ended for step in MOMENTS)
    picture = side_by_side(frames)
    assert (picture[:, -10:] == 255).all()  # white where there was nothing to see


def test_the_last_policy_at_the_highest_noise_rate_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rilco.reporting.media.TASKS", ("halfcheetah",))  # the others take time
    for name, rate, seed in (("clean", 0.0, 1), ("noisy", 0.4, 2), ("noisier", 0.4, 3)):
        run = write_run(tmp_path / name, [1.0], noise_rate=rate, seed=seed)
        limp("halfcheetah").save(run / "policy" / "last.safetensors")
    made, _ = strips_of(tmp_path)
    strip = made["strip-halfcheetah-ril-co"]
    assert strip.caption == "RIL-Co at noise rate 0.4, seed 2, after 0.1 M transitions"
    png = np.asarray(Image.open(io.BytesIO(strip.png)))
    assert png.shape == np.asarray(Image.open(io.BytesIO(strip.jpeg))).shape
    np.testing.assert_array_equal(
        png, side_by_side(moments(limp("halfcheetah"), Task(task="halfcheetah"))[0])
    )


def test_a_policy_file_cannot_choose_what_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rilco.reporting.media.TASKS", ("halfcheetah",))  # the others take time
    run = write_run(tmp_path / "run", [1.0])
    limp("halfcheetah", {"task": None, "env": "no_such_module_of_ours:Evil-v0"}).save(
        run / "policy" / "last.safetensors"
    )
    made, complaints = strips_of(tmp_path)
    assert "strip-halfcheetah-ril-co" in made
    assert not any("no_such_module_of_ours" in reason for reason in complaints.values())


def test_policies_that_are_missing_torn_or_of_another_task_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rilco.reporting.media.TASKS", ("hopper", "ant", "walker2d"))
    write_run(tmp_path / "none", [1.0], task="hopper")
    torn = write_run(tmp_path / "torn", [1.0], task="ant")
    (torn / "policy").mkdir()
    (torn / "policy" / "last.safetensors").write_bytes(b"half a fi")
    other = write_run(tmp_path / "other", [1.0], task="walker2d")
    limp("ant").save(other / "policy" / "last.safetensors")
    made, complaints = strips_of(tmp_path)
    assert not [name for name in made if name.endswith("ril-co")]
    assert complaints["RIL-Co on Hopper"] == "no run folder holds a policy"
    assert "not a readable policy file" in complaints["RIL-Co on Ant"]
    assert "trained for another environment" in complaints["RIL-Co on Walker2D"]
