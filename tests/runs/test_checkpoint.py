"""Checkpoints: whole or passed over."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rilco.errors import RunError
from rilco.runs.checkpoint import Checkpoint, flatten, load_checkpoint, save_checkpoint, unflatten


def checkpoint(iteration: int) -> Checkpoint:
    return Checkpoint(iteration, {"state.w": np.full((3, 2), iteration, np.float32)}, {"best_return": 1.5})


def test_round_trip(tmp_path: Path) -> None:
    save_checkpoint(tmp_path, checkpoint(7))
    loaded, complaints = load_checkpoint(tmp_path)
    assert complaints == []
    assert loaded is not None
    assert (loaded.iteration, loaded.facts) == (7, {"best_return": 1.5})
    assert np.array_equal(loaded.arrays["state.w"], np.full((3, 2), 7, np.float32))


def test_keeps_the_newest_and_the_one_before(tmp_path: Path) -> None:
    for i in (1, 2, 3, 10):
        save_checkpoint(tmp_path, checkpoint(i))
    names = [f"000000{i}.{suffix}" for i in ("03", "10") for suffix in ("json", "safetensors")]
    assert sorted(file.name for file in tmp_path.iterdir()) == names


def test_empty_folder(tmp_path: Path) -> None:
    assert load_checkpoint(tmp_path / "nothing") == (None, [])


@pytest.mark.parametrize("suffix", [".safetensors", ".json"])
@pytest.mark.parametrize("damage", ["truncated", "empty", "flipped", "missing"])
def test_damaged_checkpoint_is_noticed_and_the_one_before_it_used(
    tmp_path: Path, suffix: str, damage: str
) -> None:
    save_checkpoint(tmp_path, checkpoint(1))
    save_checkpoint(tmp_path, checkpoint(2))
    file = tmp_path / f"00000002{suffix}"
    data = file.read_bytes()
    if damage == "missing":
        file.unlink()
    else:
        middle = len(data) // 2
        flipped = data[:middle] + bytes([data[middle] ^ 0x10]) + data[middle + 1 :]
        file.write_bytes({"truncated": data[:middle], "empty": b"", "flipped": flipped}[damage])
    loaded, complaints = load_checkpoint(tmp_path)
    assert loaded is not None
    assert loaded.iteration == 1
    assert len(complaints) == (0 if damage == "missing" and suffix == ".json" else 1)


@pytest.mark.parametrize("cut", [True, False])
def test_every_cut_and_every_changed_byte_is_noticed(tmp_path: Path, cut: bool) -> None:
    save_checkpoint(tmp_path, checkpoint(1))
    for suffix in (".safetensors", ".json"):
        file = tmp_path / f"00000001{suffix}"
        data = file.read_bytes()
        for i in range(len(data)):
            file.write_bytes(data[:i] if cut else data[:i] + bytes([data[i] ^ 0x01]) + data[i + 1 :])
            assert load_checkpoint(tmp_path)[0] is None, f"byte {i} of {suffix}"
        file.write_bytes(data)
    assert load_checkpoint(tmp_path)[0] is not None


def test_unflatten_checks_names_and_shapes() -> None:
    state = {"a": np.zeros((2, 3), np.float32), "b": [np.int32(4), np.ones(2, bool)]}
    arrays = flatten(state)
    restored = unflatten(state, arrays)
    assert restored["b"][0].shape == ()
    assert int(restored["b"][0]) == 4
    with pytest.raises(RunError, match="another version"):
        unflatten({"a": np.zeros((2, 4), np.float32), "b": state["b"]}, arrays)
    with pytest.raises(RunError, match="another version"):
        unflatten({"a": state["a"]}, arrays)
