"""rilco's own format: nothing is lost, nothing is executed, and a bad file says what is wrong with it."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rilco.data.formats import load_file, npz, save_demonstrations
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError


def test_same_demonstrations_same_bytes(tmp_path: Path, full_demos: Demonstrations) -> None:
    save_demonstrations(full_demos, tmp_path / "a.npz")
    save_demonstrations(full_demos, tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_reads_what_numpy_writes(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", obs=np.ones((4, 3)), action=np.ones((4, 1)), extra=np.ones(2))
    back = load_file(tmp_path / "a.npz")
    assert back.demonstrator_names == ("a.npz",)
    assert back.obs.dtype == np.float32
    np.savez(
        tmp_path / "b.npz", obs=np.ones((4, 3), order="F"), action=np.ones((4, 1)), demonstrator=[0, 1, 1, 2]
    )
    assert load_file(tmp_path / "b.npz").demonstrator_names == (
        "demonstrator 0",
        "demonstrator 1",
        "demonstrator 2",
    )


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"action": None, "observations": np.ones(3)}, "no action; it holds obs, observations"),
        ({"obs": np.full((4, 3), np.inf)}, "obs holds 12 values .* inf in row 0, dimension 0"),
        ({"episode": [0, 0, -1, 0]}, "episode holds values from -1 to 0"),
        ({"demonstrator": [0, 0, 0, 1], "demonstrator_names": ["me"]}, "the id 1; expected ids from 0 to 0"),
        ({"demonstrator_names": np.ones(1)}, "demonstrator_names has the shape"),
        ({"obs": np.ones((2, 3, 3)), "action": np.ones((2, 2, 1))}, "number each pair's episode"),
        ({"obs": np.ones((2, 2, 3))}, "number each pair's episode"),
        ({"reward": np.ones((4, 1))}, r"reward has the shape \[4, 1\]; expected \[4\]"),
        ({"noise_rate": 0.5}, "noise_rate must be one number"),
        ({"noise_rate": np.nan}, "noise_rate must be one number"),
        ({"noise_rate": [0.1, 0.1]}, "noise_rate must be one number"),
    ],
)
def test_refuses_bad_arrays(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    arrays: dict[str, Any] = {"obs": np.ones((4, 3)), "action": np.ones((4, 1))} | changes
    path = tmp_path / "bad.npz"
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(DemonstrationError, match=message) as caught:
        load_file(path)
    assert str(path) in str(caught.value)


PAIRS = {"obs": np.arange(12.0).reshape(4, 3), "action": np.arange(4.0)[:, None]}


@pytest.mark.parametrize(
    "arrays, expected",
    [
        (  # Stable Baselines' expert data
            {
                "obs": PAIRS["obs"],
                "actions": PAIRS["action"],
                "rewards": np.arange(4)[:, None],
                "episode_starts": [True, False, True, False],
                "episode_returns": [1.0, 5.0],
            },
            {"episode": [0, 0, 1, 1], "reward": [0, 1, 2, 3]},
        ),
        (  # names of D4RL, with dones
            {
                "observations": PAIRS["obs"],
                "actions": PAIRS["action"],
                "rewards": np.arange(4),
                "terminals": [0, 1, 0, 0],
                "timeouts": [0, 0, 0, 1],
                "dones": [0, 1, 0, 1],
            },
            {"episode": [0, 0, 1, 1], "terminated": [0, 1, 0, 0], "truncated": [0, 0, 0, 1]},
        ),
        (  # trajectories of imitation: an observation more than actions in each
            {
                "obs": np.insert(PAIRS["obs"], [3, 4], -1.0, axis=0),
                "acts": PAIRS["action"],
                "rews": np.arange(4),
                "infos": np.array([{}] * 4, object),
                "terminal": [True, False],
                "indices": [3],
            },
            {"episode": [0, 0, 0, 1], "reward": [0, 1, 2, 3], "terminated": [0, 0, 1, 0]},
        ),
        (
            {"observations": PAIRS["obs"], "actions": PAIRS["action"]},
            {"episode": [0, 0, 0, 0], "reward": None},
        ),
    ],
)
def test_reads_what_others_write(tmp_path: Path, arrays: dict[str, Any], expected: dict[str, Any]) -> None:
    np.savez(tmp_path / "a.npz", **arrays)
    back = load_file(tmp_path / "a.npz")
    np.testing.assert_array_equal(back.obs, PAIRS["obs"])
    np.testing.assert_array_equal(back.action, PAIRS["action"])
    for name, values in expected.items():
        np.testing.assert_array_equal(getattr(back, name), values, name)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"episode_starts": [True]}, r"episode_starts has the shape \[1\]"),
        ({"dones": np.ones((4, 2))}, r"dones has the shape \[4, 2\]"),
        ({"indices": [2]}, r"2 trajectories of 4 actions, \[4, 3\] observations"),
        ({"indices": [2.5]}, "cannot be read as trajectories"),
        ({"indices": [[2]]}, "expected one more observation|cannot be read as"),
        ({"indices": [4], "obs": np.ones((6, 3))}, "expected one more observation"),
        ({"indices": [-1], "obs": np.ones((6, 3))}, "expected one more observation"),
        ({"indices": [2], "obs": np.ones((6, 3)), "terminal": [True]}, "expected one more observation"),
    ],
)
def test_refuses_episodes_that_do_not_add_up(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    np.savez(tmp_path / "a.npz", **(PAIRS | changes))
    with pytest.raises(DemonstrationError, match=message):
        load_file(tmp_path / "a.npz")


class Opener:
    """Unpickling this would create a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (str(self.path), "w")


def test_never_unpickles_an_object_array(tmp_path: Path) -> None:
    obs = np.array([[Opener(tmp_path / "executed")]], dtype=object)
    np.savez(tmp_path / "a.npz", obs=obs, action=np.ones((1, 1)))
    with pytest.raises(DemonstrationError, match="obs is an array of objects"):
        load_file(tmp_path / "a.npz")
    assert not (tmp_path / "executed").exists()


def with_header(path: Path, header: bytes) -> Path:
    """An npz file whose observations have this npy header, and 12 values after it."""
    block = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + np.ones(12, "<f4").tobytes()
    action = io.BytesIO()
    np.save(action, np.ones((4, 1)))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("obs.npy", block)
        archive.writestr("action.npy", action.getvalue())
    return path


def test_header_must_match_the_bytes(tmp_path: Path) -> None:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (%s, 3), }\n"
    assert len(load_file(with_header(tmp_path / "a.npz", header % b"4"))) == 4
    for rows in (b"3", b"5", b"-4", b"10000000000000", b"True"):
        with pytest.raises(DemonstrationError, match="cannot be read as npz"):
            load_file(with_header(tmp_path / "a.npz", header % rows))


def test_refuses_a_bomb_before_unpacking_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RILCO_MAX_GB", str(10**6 / 2**30))
    monkeypatch.setattr(npz, "_read", lambda *_: pytest.fail("unpacked"))
    np.savez_compressed(tmp_path / "a.npz", obs=np.zeros((10**5, 3)), action=np.zeros((10**5, 1)))
    assert (tmp_path / "a.npz").stat().st_size < 10**5
    with pytest.raises(DemonstrationError, match="the limit is"):
        load_file(tmp_path / "a.npz")


def test_a_single_dimension_may_be_left_out(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", observation=np.arange(4.0), act=np.arange(4.0))
    back = load_file(tmp_path / "a.npz")
    assert back.obs.tolist() == back.action.tolist() == [[0.0], [1.0], [2.0], [3.0]]


def test_episodes_may_be_an_axis_of_their_own(tmp_path: Path) -> None:
    obs, action = np.arange(18.0).reshape(2, 3, 3), np.arange(6.0).reshape(2, 3, 1)
    np.savez(tmp_path / "a.npz", obs=obs, action=action, reward=np.arange(6.0).reshape(2, 3))
    back = load_file(tmp_path / "a.npz")
    assert back.obs.tolist() == np.arange(18.0).reshape(6, 3).tolist()
    assert back.action[:, 0].tolist() == np.arange(6.0).tolist()
    assert back.episode.tolist() == [0, 0, 0, 1, 1, 1]
    assert back.reward is not None
    assert back.reward.tolist() == np.arange(6.0).tolist()
