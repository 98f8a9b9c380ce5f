"""D4RL's flat HDF5, as its own reader expects it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from rilco.data.formats import chunks, d4rl, load_file, save_demonstrations
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError


def write(path: Path, **changes: Any) -> Path:
    """Seven pairs in three episodes: one fails, one runs out of time, one is cut by the end of the file."""
    arrays = {
        "observations": np.arange(21.0).reshape(7, 3),
        "actions": np.arange(14.0).reshape(7, 2),
        "rewards": np.arange(7.0),
        "terminals": np.arange(7) == 2,
        "timeouts": np.arange(7) == 4,
        "infos/qpos": np.zeros((7, 9)),
        "metadata/algorithm": b"SAC",
    }
    with h5py.File(path, "w") as file:
        for name, values in (arrays | changes).items():
            if values is not None:
                file[name] = values
    return path


def test_episodes_end_at_terminals_and_timeouts(tmp_path: Path) -> None:
    demos = load_file(write(tmp_path / "a.hdf5"))
    assert demos.episode.tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert np.flatnonzero(demos.terminated).tolist() == [2]
    assert np.flatnonzero(demos.truncated).tolist() == [4]
    assert demos.reward is not None
    assert demos.reward.tolist() == list(range(7))
    assert demos.demonstrator_names == ("a.hdf5",)


def test_old_files_have_no_timeouts(tmp_path: Path) -> None:
    demos = load_file(
        write(tmp_path / "a.hdf5", timeouts=None, terminals=np.eye(7, dtype=np.uint8)[2][:, None])
    )
    assert demos.episode.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert demos.truncated is None


def test_its_own_reader_finds_the_ends(tmp_path: Path, demos: Demonstrations) -> None:
    """D4RL asks for these names and shapes, and splits where either flag is set."""
    save_demonstrations(demos, tmp_path / "a.d4rl.hdf5")
    with h5py.File(tmp_path / "a.d4rl.hdf5") as file:
        np.testing.assert_array_equal(file["observations"], demos.obs)
        np.testing.assert_array_equal(file["actions"], demos.action)
        np.testing.assert_array_equal(file["rewards"], demos.reward)
        assert file["terminals"].dtype == file["timeouts"].dtype == bool
        assert np.flatnonzero(file["terminals"][()] | file["timeouts"][()]).tolist() == [4, 8, 11]


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"terminals": None}, "no terminals; it holds actions, infos, metadata, observations"),
        ({"actions": np.ones((6, 2))}, r"action has the shape \[6, 2\]"),
        ({"rewards": np.ones(6)}, r"rewards has the shape \[6\]; expected \[7\]"),
        ({"terminals": np.full(7, 2)}, "values other than 0 and 1"),
        ({"observations": np.ones((0, 3))}, r"terminals has the shape \[7\]; expected \[0\]"),
        ({"observations": np.full((7, 3), 1e200)}, "infinite as float32"),
        ({"observations": np.full((7, 3), b"x")}, "expected numbers"),
        ({"observations": 1.0}, r"terminals has the shape \[7\]; expected \[1\]"),
        (
            {name: np.ones((0, 3)) for name in ("observations", "actions")}
            | {name: np.ones(0) for name in ("rewards", "terminals", "timeouts")},
            "not a single pair",
        ),
        ({"observations": h5py.ExternalLink("other.h5", "/x")}, "is something else, or a link"),
        ({"terminals": h5py.SoftLink("/rewards")}, "is something else, or a link"),
    ],
)
def test_refuses(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = write(tmp_path / "a.hdf5", **changes)
    with pytest.raises(DemonstrationError, match=message) as caught:
        load_file(path)
    assert str(path) in str(caught.value)


def test_double_precision_is_read_a_slab_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "_SLAB_BYTES", 50)  # two rows
    values = np.random.default_rng(0).normal(size=(7, 3))
    demos = d4rl.load(write(tmp_path / "a.hdf5", observations=values))
    np.testing.assert_array_equal(demos.obs, values.astype(np.float32))
