"""robomimic's HDF5: the documented layout, and observations chosen by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from rilco.data.formats import load_file, save_demonstrations
from rilco.data.record import Demonstrations
from rilco.errors import ConfigError, DemonstrationError

POS, OBJECT = np.arange(24.0).reshape(8, 3), np.arange(80.0).reshape(8, 10)


def write(path: Path, **changes: Any) -> Path:
    """Two demonstrations of 5 and 3 pairs; robomimic orders them by number, not by name."""
    with h5py.File(path, "w") as file:
        file.create_group("data").attrs["env_args"] = "{}"
        for name, rows in (("demo_10", slice(5, 8)), ("demo_2", slice(0, 5))):
            count = rows.stop - rows.start
            arrays = {
                "obs/eef_pos": POS[rows],
                "obs/object": OBJECT[rows],
                "obs/camera": np.zeros((count, 4, 4, 3), np.uint8),
                "actions": -POS[rows],
                "rewards": np.ones(count),
                "dones": np.arange(count) == count - 1,
                "states": np.zeros((count, 2)),
            }
            for key, values in (arrays | (changes if name == "demo_10" else {})).items():
                if values is not None:
                    file[f"data/{name}/{key}"] = values
        file["mask/train"] = [b"demo_2"]
    return path


def test_named_observations_side_by_side(tmp_path: Path) -> None:
    demos = load_file(write(tmp_path / "a.hdf5"), obs_keys=["object", "eef_pos"])
    np.testing.assert_array_equal(demos.obs, np.concatenate([OBJECT, POS], axis=1))
    np.testing.assert_array_equal(demos.action, -POS)
    assert demos.episode.tolist() == [0] * 5 + [1] * 3
    assert demos.terminated is demos.truncated is None  # a done can be either
    assert load_file(tmp_path / "a.hdf5", obs_keys=["eef_pos"]).obs_dim == 3


def test_several_observations_must_be_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.hdf5")
    with pytest.raises(DemonstrationError, match=r"2 low-dimensional parts.*eef_pos \(3\), object \(10\)"):
        load_file(path)
    with pytest.raises(
        DemonstrationError, match=r"no low-dimensional observation 'objekt'\. Did you mean 'object'"
    ):
        load_file(path, obs_keys=["objekt"])
    with pytest.raises(DemonstrationError, match="no low-dimensional observation 'camera'"):
        load_file(path, obs_keys=["camera"])
    with pytest.raises(ConfigError, match="named twice"):
        load_file(path, obs_keys=["object", "object"])


def test_written_as_documented(tmp_path: Path, demos: Demonstrations) -> None:
    save_demonstrations(demos, tmp_path / "a.robomimic.hdf5", env="rilco/AntBullet-v0")
    with h5py.File(tmp_path / "a.robomimic.hdf5") as file:
        assert file["data"].attrs["total"] == 12
        assert json.loads(file["data"].attrs["env_args"])["env_name"] == "rilco/AntBullet-v0"
        assert sorted(file["data"]) == ["demo_0", "demo_1", "demo_2"]
        demo = file["data/demo_1"]
        assert demo.attrs["num_samples"] == 4
        np.testing.assert_array_equal(demo["obs/flat"], demos.obs[5:9])
        np.testing.assert_array_equal(demo["next_obs/flat"], demos.obs[[6, 7, 8, 8]])
        np.testing.assert_array_equal(demo["actions"], demos.action[5:9])
        np.testing.assert_array_equal(demo["rewards"], demos.reward[5:9])
        assert demo["dones"][()].tolist() == [0, 0, 0, 1]


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"actions": None}, "data/demo_10/actions is missing"),
        ({"obs/object": None}, "data/demo_10/obs/object is missing"),
        ({"obs/object": OBJECT}, r"/data/demo_10/obs/object has the shape \[8, 10\]; expected \[3, 10\]"),
        ({"obs/object": OBJECT[:3, :9]}, r"has the shape \[3, 9\]; expected \[3, 10\]"),
        ({"actions": -POS[:3, :2]}, r"has the shape \[3, 2\]; expected \[3, 3\]"),
        ({"actions": np.ones(3)}, r"expected \[pairs, action_dim\]"),
        ({"actions": np.ones((0, 3))}, "without a single pair"),
        ({"rewards": np.ones(2)}, r"rewards has the shape \[2\]; expected \[3\]"),
        ({"obs/object": h5py.SoftLink("/data/demo_2/obs/object")}, "is something else, or a link"),
    ],
)
def test_refuses(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = write(tmp_path / "a.hdf5", **changes)
    with pytest.raises(DemonstrationError, match=message) as caught:
        load_file(path, obs_keys=["object"])
    assert str(path) in str(caught.value)


def test_refuses_a_file_without_demonstrations(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.hdf5", "w") as file:
        file["data/episode"] = 1
    with pytest.raises(DemonstrationError, match="holds episode; expected robomimic's layout"):
        load_file(tmp_path / "a.hdf5")


def test_refuses_a_bomb_before_unpacking_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each array is within the limit; all of them together are not."""
    path = write(tmp_path / "a.hdf5", actions=None)
    with h5py.File(path, "a") as file:
        for name in ("actions", "obs/object"):
            file.pop(f"data/demo_10/{name}", None)
            file.create_dataset(
                f"data/demo_10/{name}", (10**5, 3 if name == "actions" else 10), "f4", compression="gzip"
            )
        del file["data/demo_10/rewards"]
    monkeypatch.setenv("RILCO_MAX_GB", str(5 * 10**6 / 2**30))
    monkeypatch.setattr("rilco.data.formats.hdf5._stack", lambda *_: pytest.fail("unpacked"))
    with pytest.raises(DemonstrationError, match="the limit is"):
        load_file(path, obs_keys=["object"])
