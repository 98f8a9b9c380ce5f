"""The imitation library's folders: what it has written is read, and what is written it opens."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rilco.data.formats import load_file, save_demonstrations
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError

pa = pytest.importorskip("pyarrow")


def test_reads_what_the_library_writes(written: Path, expected: Demonstrations) -> None:
    """By imitation 1.0.1; its infos are of a kind that jsonpickle would run code for."""
    assert b"py/reduce" in next((written / "imitation").glob("*.arrow")).read_bytes()
    back = load_file(written / "imitation")
    for field in ("obs", "action", "reward", "episode"):
        np.testing.assert_array_equal(getattr(back, field), getattr(expected, field), strict=True)
    assert np.flatnonzero(back.terminated).tolist() == [8]
    assert back.truncated is None
    assert back.demonstrator_names == ("imitation",)


def test_the_library_opens_what_is_written(tmp_path: Path, demos: Demonstrations) -> None:
    """The very calls of imitation.data: load_from_disk, then a trajectory of each row's columns."""
    datasets = pytest.importorskip("datasets")
    save_demonstrations(demos, tmp_path / "a.imitation")
    dataset = datasets.load_from_disk(str(tmp_path / "a.imitation"))
    assert set(dataset.features) == {"obs", "acts", "infos", "terminal", "rews"}
    for row, mine in zip(dataset, demos.episodes(), strict=True):
        np.testing.assert_array_equal(np.asarray(row["obs"], np.float32), mine.obs[[*range(len(mine)), -1]])
        np.testing.assert_array_equal(np.asarray(row["acts"], np.float32), mine.action)
        np.testing.assert_array_equal(np.asarray(row["rews"], np.float32), mine.reward)
        assert row["infos"] == ["{}"] * len(mine)
        assert row["terminal"] is False


def test_has_the_columns_and_types_of_the_library(
    written: Path, tmp_path: Path, demos: Demonstrations
) -> None:
    save_demonstrations(demos, tmp_path / "a.imitation")

    def schema(path: Path) -> Any:
        with pa.memory_map(str(next(path.glob("*.arrow")))) as source:
            return pa.ipc.open_stream(source).schema

    theirs, ours = schema(written / "imitation"), schema(tmp_path / "a.imitation")
    assert ours.names == theirs.names
    single = [str(kind).replace("double", "float") for kind in theirs.types]  # their rewards are of 64 bits
    assert [str(kind) for kind in ours.types] == single


def rewrite(path: Path, written: Path, options: Any = None, **changes: Any) -> Path:
    """The library's dataset with other columns."""
    shutil.copytree(written / "imitation", path)
    file = next(path.glob("*.arrow"))
    with pa.memory_map(str(file)) as source:
        table = pa.ipc.open_stream(source).read_all()
    columns = {name: table[name].to_pylist() for name in table.column_names} | changes
    table = pa.table({name: values for name, values in columns.items() if values is not None})
    file.unlink()
    with pa.ipc.new_stream(str(file), table.schema, options=options) as writer:
        writer.write_table(table)
    return path


OBS, ACTS = [[0.0], [1.0]], [[0.5]]


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"acts": None}, "no column acts; it holds obs, rews, terminal"),
        ({"obs": [OBS] * 3, "acts": [ACTS, ACTS, []]}, "at least one action"),
        ({"obs": [ACTS] * 3, "acts": [ACTS] * 3}, "one more observation"),
        ({"obs": [[[0.0], [1.0, 2.0]]] * 3, "acts": [ACTS] * 3, "rews": None}, "differ in length"),
        ({"obs": [OBS] * 3, "acts": [ACTS] * 3}, "rews and acts differ"),
        ({"obs": [[["a"], ["b"]]] * 3, "acts": [ACTS] * 3, "rews": None}, "expected numbers"),
        ({"obs": [[[None], [1.0]]] * 3, "acts": [ACTS] * 3, "rews": None}, "missing values"),
        ({"obs": [OBS, None, OBS], "acts": [ACTS] * 3, "rews": None}, "missing values"),
        ({"obs": [1.0] * 3}, "expected lists"),
        ({"terminal": ["no"] * 3}, "expected numbers"),
    ],
)
def test_refuses(tmp_path: Path, written: Path, changes: dict[str, Any], message: str) -> None:
    path = rewrite(tmp_path / "a", written, **changes)
    with pytest.raises(DemonstrationError, match=message) as caught:
        load_file(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_refuses_compressed_arrow_before_unpacking_it(tmp_path: Path, written: Path, codec: str) -> None:
    path = rewrite(tmp_path / "a", written, pa.ipc.IpcWriteOptions(compression=codec))
    with pytest.raises(DemonstrationError, match="compressed"):
        load_file(path)


def test_refuses_a_stream_that_begins_with_something_else(tmp_path: Path, demos: Demonstrations) -> None:
    """pyarrow takes whatever comes first for a schema, and ends the process where it is none."""
    save_demonstrations(demos, tmp_path / "a.imitation")
    file = next((tmp_path / "a.imitation").glob("*.arrow"))
    content, messages = file.read_bytes(), []
    for place in range(8, 64):
        file.write_bytes(content[:place] + b"\x7f" + content[place + 1 :])
        try:
            load_file(tmp_path / "a.imitation")  # some of these bytes mean nothing
        except DemonstrationError as error:
            messages.append(str(error))
    assert any("found unknown" in message for message in messages)


def test_refuses_a_stream_that_was_cut_between_batches(tmp_path: Path, demos: Demonstrations) -> None:
    """Arrow itself would take the end of the file for the end of the data."""
    save_demonstrations(demos, tmp_path / "a.imitation")
    file = next((tmp_path / "a.imitation").glob("*.arrow"))
    file.write_bytes(file.read_bytes()[:-8])
    with pytest.raises(DemonstrationError, match="the end is missing"):
        load_file(tmp_path / "a.imitation")


@pytest.mark.parametrize("name", ["../secret.arrow", "/etc/hostname", "missing.arrow", "", ".", "x" * 300])
def test_reads_no_file_outside_the_folder(tmp_path: Path, written: Path, name: str) -> None:
    shutil.copytree(written / "imitation", tmp_path / "a")
    shutil.copy(next((written / "imitation").glob("*.arrow")), tmp_path / "secret.arrow")
    state = json.loads((tmp_path / "a" / "state.json").read_bytes())
    state["_data_files"] = [{"filename": name}]
    (tmp_path / "a" / "state.json").write_text(json.dumps(state))
    with pytest.raises(DemonstrationError, match="in this very folder"):
        load_file(tmp_path / "a")
