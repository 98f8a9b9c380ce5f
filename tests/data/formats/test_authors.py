"""The authors' HDF5 layout: what is read, what is written, and everything that can be wrong with a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from rilco.data.formats import authors, load_file, save_demonstrations
from rilco.data.index import demonstrators
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError


def write(path: Path, **changes: Any) -> Path:
    """A file as the authors write it, with some arrays changed, or left out where None."""
    arrays = {
        "obs_array": np.arange(24, dtype=np.float32).reshape(8, 3),
        "act_array": np.ones((8, 2), np.float32),
        "nobs_array": np.arange(24, dtype=np.float32).reshape(8, 3) + 3,
        "reward_array": np.arange(8, dtype=np.float32)[:, None],
        "mask_array": np.array([1, 1, 0, 1, 0, 1, 1, 0], np.int32)[:, None],
        "model_file": "policy.pt",
    } | changes
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            if array is not None:
                file[name] = array
    return path


def test_reads_pairs_rewards_and_episodes(tmp_path: Path) -> None:
    demos = authors.load(write(tmp_path / "walk.h5"))
    assert (demos.obs == np.arange(24).reshape(8, 3)).all()
    assert (demos.action == 1).all()
    assert demos.reward is not None
    assert demos.reward.tolist() == list(range(8))
    assert demos.episode.tolist() == [0, 0, 0, 1, 1, 2, 2, 2]
    assert demos.demonstrator_names == ("walk.h5",)
    assert demos.expert is None


def test_an_unfinished_last_episode_is_an_episode(tmp_path: Path) -> None:
    mask = np.array([1, 0, 1, 1, 1, 1, 1, 1])
    assert authors.load(write(tmp_path / "a.h5", mask_array=mask)).episode.tolist() == [0, 0] + [1] * 6


@pytest.mark.parametrize(
    "name, grade",
    [
        ("AntBulletEnv-v0_TRAJ-N10000_P1.0_det.h5", 1.0),
        ("AntBulletEnv-v0_TRAJ-N10000_P0.4_det.h5", 0.4),
        ("P0.0.h5", 0.0),
        ("x_P0.3", 0.3),
        ("my_demos.h5", None),
        ("ramP1.0_det.h5", None),
        ("x_P1.05.h5", None),
    ],
)
def test_quality_is_in_the_name(name: str, grade: float | None) -> None:
    assert authors.quality(Path(name)) == grade


@pytest.mark.parametrize("name, fraction", [("a_P1.0_det.h5", 0.0), ("a_P0.4_det.h5", 1.0), ("a.h5", None)])
def test_ground_truth_comes_from_the_name(tmp_path: Path, name: str, fraction: float | None) -> None:
    assert authors.load(write(tmp_path / name)).noise_fraction == fraction


def test_round_trip(tmp_path: Path, demos: Demonstrations) -> None:
    save_demonstrations(demos, tmp_path / "a.h5")
    back = load_file(tmp_path / "a.h5")
    for name in ("obs", "action", "reward", "episode"):
        np.testing.assert_array_equal(getattr(back, name), getattr(demos, name))
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["mask_array"][:, 0].tolist() == [1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 0]
        inside = file["mask_array"][:-1, 0] == 1
        np.testing.assert_array_equal(file["nobs_array"][:-1][inside], demos.obs[1:][inside])
        assert np.isnan(file["nobs_array"][4]).all()
    save_demonstrations(Demonstrations(demos.obs, demos.action), tmp_path / "b.h5")
    assert load_file(tmp_path / "b.h5").reward is None


def test_refuses_to_lose_who_made_what(tmp_path: Path, demos: Demonstrations) -> None:
    several = Demonstrations(demos.obs, demos.action, demonstrator=np.arange(12) % 2)
    with pytest.raises(DemonstrationError, match="one demonstrator a file, and these demonstrations have 2"):
        save_demonstrations(several, tmp_path / "a.h5")
    assert list(tmp_path.iterdir()) == []


TEXT = np.array(["a"] * 8, dtype=h5py.string_dtype())


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"act_array": None}, "no act_array; it holds mask_array, model_file, nobs_array, obs_array, reward"),
        ({"act_array": None, "mask_array": None}, "no act_array and no mask_array"),
        ({"obs_array": np.full((8, 3), np.nan)}, "obs holds 24 values .* the first is nan in row 0, dim"),
        (
            {"obs_array": np.zeros((2, 2, 2)), "mask_array": np.ones(2)},
            r"reward_array .* \[8, 1\]; expected \[2",
        ),
        ({"act_array": np.ones((7, 2))}, r"action has the shape \[7, 2\]; expected \[8, 2\]"),
        ({"mask_array": np.ones((7, 1))}, r"mask_array has the shape \[7, 1\]; expected \[8\]"),
        ({"mask_array": np.ones((8, 2))}, r"mask_array has the shape \[8, 2\]"),
        ({"mask_array": np.float32(1.0)}, r"mask_array has the shape \[\]"),
        ({"mask_array": np.full((8, 1), 2)}, "mask_array holds values other than 0"),
        ({"reward_array": np.ones((8, 3))}, r"reward_array has the shape \[8, 3\]"),
        ({"obs_array": TEXT}, "obs_array has the type object"),
        ({"act_array": np.ones((8, 2), complex)}, "act_array has the type complex128"),
        ({"obs_array": h5py.Empty("f4")}, "obs_array has the type float32"),
        ({"obs_array": None, "obs_array/inside": np.ones(3)}, "obs_array is something else"),
        ({"obs_array": h5py.SoftLink("/act_array")}, "obs_array is something else, or a link"),
        ({"obs_array": h5py.ExternalLink("other.h5", "/x")}, "obs_array is something else, or a link"),
        (
            {
                "obs_array": np.zeros((0, 3)),
                "act_array": np.zeros((0, 2)),
                "mask_array": np.zeros((0, 1)),
                "reward_array": None,
            },
            "not a single pair",
        ),
    ],
)
def test_refuses_bad_arrays(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = write(tmp_path / "bad.h5", **changes)
    with pytest.raises(DemonstrationError, match=message) as caught:
        load_file(path)
    assert str(path) in str(caught.value)


def test_refuses_content_kept_in_another_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(bytes(96))
    path = write(tmp_path / "a.h5", obs_array=None)
    with h5py.File(path, "a") as file:
        file.create_dataset("obs_array", (8, 3), "f4", external=[(str(tmp_path / "secret"), 0, 96)])
    with pytest.raises(DemonstrationError, match="stored in this file"):
        load_file(path)


@pytest.mark.parametrize("options", [{}, {"chunks": (4, 3)}])
def test_refuses_an_array_that_was_never_written(tmp_path: Path, options: dict[str, Any]) -> None:
    path = write(tmp_path / "a.h5", obs_array=None)
    with h5py.File(path, "a") as file:
        file.create_dataset("obs_array", (8, 3), "f4", **options)
    with pytest.raises(DemonstrationError, match="96 bytes, but the file holds 0"):
        load_file(path)


def test_refuses_a_bomb_before_unpacking_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a.h5", obs_array=None)
    with h5py.File(path, "a") as file:
        file.create_dataset("obs_array", (10**10, 3), "f4", chunks=(1000, 3), compression="gzip")
    with pytest.raises(DemonstrationError, match=r"claim 112 GB; the limit is 8 GB"):
        load_file(path)


def test_reads_compressed_and_big_endian_arrays(tmp_path: Path) -> None:
    obs = np.random.default_rng(0).normal(size=(8, 3)).astype(">f8")
    path = write(tmp_path / "a.h5", obs_array=None)
    with h5py.File(path, "a") as file:
        file.create_dataset("obs_array", data=obs, chunks=(3, 2), compression="gzip")
    np.testing.assert_array_equal(load_file(path).obs, obs.astype(np.float32))


# --- the authors' own files

PAPER_RETURNS = {  # the paper's snapshot table, from the expert down
    "HalfCheetah": [2500, 1300, 1000, 700, -1100, -1000],
    "Hopper": [2300, 1100, 1000, 900, 600, 0],
    "Walker2D": [2700, 800, 600, 700, 100, 0],
    "Ant": [3500, 1400, 1000, 700, 400, 0],
}


@pytest.mark.parametrize("task", PAPER_RETURNS)
def test_published_files_hold_what_the_paper_says(shared_dir: Path, task: str) -> None:
    folder = shared_dir / "demos" / f"{task}BulletEnv-v0"
    for grade, expected in zip((1.0, 0.4, 0.3, 0.2, 0.1, 0.0), PAPER_RETURNS[task], strict=True):
        demos = load_file(folder / f"{task}BulletEnv-v0_TRAJ-N10000_P{grade}_det.h5")
        assert 10000 <= len(demos) <= 10300
        assert len(demos) == 10000 or grade < 1.0
        assert demos.noise_fraction == float(grade < 1.0)
        [one] = demonstrators(demos)
        assert one.episodes >= 10
        assert one.mean_return == pytest.approx(expected, abs=200)
