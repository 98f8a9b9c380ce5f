"""LeRobot's folders: what it has written is read, and what is written has all that it looks for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rilco.data.formats import lerobot, load_file, save_demonstrations
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

DATA = "data/chunk-000/file-000.parquet"
BOTH = ("observation.environment_state", "observation.state")


def test_reads_what_the_library_writes(written: Path, expected: Demonstrations) -> None:
    """By lerobot 0.4.4; its observation.state is twice the first two columns of the environment's state."""
    back = load_file(written / "lerobot", obs_keys=BOTH)
    np.testing.assert_array_equal(back.obs, np.concatenate([expected.obs, 2 * expected.obs[:, :2]], axis=1))
    np.testing.assert_array_equal(back.action, expected.action, strict=True)
    np.testing.assert_array_equal(back.episode, expected.episode, strict=True)
    assert back.reward is back.terminated is back.truncated is None


def older(path: Path, written: Path, version: str) -> Path:
    """The library's dataset as version 2 stores it: a file for each episode, and the lists as JSON lines."""
    table = pq.read_table(written / "lerobot" / DATA)
    (path / "meta").mkdir(parents=True)
    info = json.loads((written / "lerobot/meta/info.json").read_bytes())
    info |= {
        "codebase_version": version,
        "total_chunks": 2,
        "chunks_size": 2,
        "data_path": "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet",
    }
    (path / "meta/info.json").write_text(json.dumps(info))
    (path / "meta/tasks.jsonl").write_text(json.dumps({"task_index": 0, "task": "walk"}) + "\n")
    for k, (start, length) in enumerate([(0, 5), (5, 4), (9, 3)]):
        file = path / f"data/chunk-{k // 2:03d}/episode_{k:06d}.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table.slice(start, length), file)
        with (path / "meta/episodes.jsonl").open("a") as lines:
            lines.write(json.dumps({"episode_index": k, "tasks": ["walk"], "length": length}) + "\n")
    return path


@pytest.mark.parametrize("version", ["v2.0", "v2.1"])
def test_reads_older_versions(tmp_path: Path, written: Path, version: str) -> None:
    back = load_file(older(tmp_path / "same", written, version), obs_keys=BOTH)
    expected = load_file(written / "lerobot", obs_keys=BOTH)
    np.testing.assert_array_equal(back.obs, expected.obs)
    np.testing.assert_array_equal(back.action, expected.action)
    np.testing.assert_array_equal(back.episode, expected.episode)


def test_a_missing_episode_of_an_older_version(tmp_path: Path, written: Path) -> None:
    path = older(tmp_path / "a", written, "v2.1")
    (path / "data/chunk-000/episode_000001.parquet").unlink()
    with pytest.raises(DemonstrationError, match=r"8 frames were found, and meta/info\.json counts 12"):
        load_file(path, obs_keys=BOTH)


def test_several_parts_must_be_named(written: Path) -> None:
    with pytest.raises(
        DemonstrationError, match=r"observation.state \(2\), observation.environment_state \(3\)"
    ):
        load_file(written / "lerobot")
    with pytest.raises(DemonstrationError, match=r"Did you mean 'observation\.state'"):
        load_file(written / "lerobot", obs_keys=["observation.stat"])


def test_has_all_that_the_library_looks_for(written: Path, tmp_path: Path, demos: Demonstrations) -> None:
    save_demonstrations(demos, tmp_path / "a.lerobot", env="rilco/AntBullet-v0")
    theirs, ours = written / "lerobot", tmp_path / "a.lerobot"
    names = {str(path.relative_to(theirs)) for path in theirs.rglob("*") if path.is_file()}
    assert {str(path.relative_to(ours)) for path in ours.rglob("*") if path.is_file()} == names
    their_info = json.loads((theirs / "meta/info.json").read_bytes())
    info = json.loads((ours / "meta/info.json").read_bytes())
    assert set(their_info) <= set(info)
    assert info["data_path"] == their_info["data_path"]
    frames, theirs_frames = pq.read_table(ours / DATA), pq.read_table(theirs / DATA)
    assert set(frames.column_names) == set(info["features"])
    for name in set(theirs_frames.column_names) - set(BOTH):
        assert str(frames[name].type) == str(theirs_frames[name].type), name
    table, their_table = (pq.read_table(path / "meta/episodes") for path in (ours, theirs))
    assert {name for name in their_table.column_names if not name.startswith("stats/")} == set(
        table.column_names
    )
    assert table["dataset_to_index"].to_pylist() == [5, 9, 12]
    tasks = pq.read_table(ours / "meta/tasks.parquet")
    assert tasks["__index_level_0__"].to_pylist() == ["rilco/AntBullet-v0"]
    stats = json.loads((ours / "meta/stats.json").read_bytes())
    np.testing.assert_allclose(stats["action"]["std"], demos.action.std(axis=0), rtol=1e-5)


def test_the_frames_are_counted_as_the_library_counts_them(tmp_path: Path, demos: Demonstrations) -> None:
    save_demonstrations(demos, tmp_path / "a.lerobot")
    frames = pq.read_table(tmp_path / "a.lerobot" / DATA)
    assert frames["index"].to_pylist() == list(range(12))
    assert frames["frame_index"].to_pylist() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 0, 1, 2]
    assert frames["episode_index"].to_pylist() == demos.episode.tolist()
    assert np.flatnonzero(frames["next.done"]).tolist() == [4, 8, 11]
    np.testing.assert_allclose(np.diff(frames["timestamp"])[:4], 1 / lerobot.FPS, rtol=1e-5)


def test_reads_several_files(tmp_path: Path, written: Path) -> None:
    """As LeRobot writes large data, with the columns in any order."""
    shutil.copytree(written / "lerobot", tmp_path / "a")
    table = pq.read_table(tmp_path / "a" / DATA)
    pq.write_table(table.slice(0, 7), tmp_path / "a" / DATA)
    (tmp_path / "a/data/chunk-001").mkdir()
    rest = table.slice(7).select(table.column_names[::-1])
    pq.write_table(rest, tmp_path / "a/data/chunk-001/file-000.parquet")
    back, expected = (load_file(path, obs_keys=BOTH) for path in (tmp_path / "a", written / "lerobot"))
    np.testing.assert_array_equal(back.obs, expected.obs)
    np.testing.assert_array_equal(back.episode, expected.episode)


def rewrite(path: Path, written: Path, info: dict[str, Any] | None = None, **changes: Any) -> Path:
    """The library's dataset with other columns, or another info.json."""
    shutil.copytree(written / "lerobot", path)
    if info:
        file = path / "meta/info.json"
        file.write_text(json.dumps(json.loads(file.read_bytes()) | info))
    table = pq.read_table(path / DATA)
    columns = {name: table[name] for name in table.column_names}
    columns |= {name.replace("__", "."): values for name, values in changes.items()}
    pq.write_table(pa.table({name: each for name, each in columns.items() if each is not None}), path / DATA)
    return path


def test_a_done_and_a_truncation(tmp_path: Path, written: Path) -> None:
    last = np.isin(np.arange(12), [4, 8, 11])
    cut = np.arange(12) == 11
    path = rewrite(tmp_path / "a", written, next__done=last, next__truncated=cut, next__reward=np.ones(12))
    back = load_file(path, obs_keys=BOTH)
    assert np.flatnonzero(back.terminated).tolist() == [4, 8]
    assert np.flatnonzero(back.truncated).tolist() == [11]
    back = load_file(rewrite(tmp_path / "b", written, next__done=last), obs_keys=BOTH)
    assert back.terminated is back.truncated is None  # it may have been either


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"info": {"codebase_version": "v1.6"}}, "has the version 'v1.6'; expected v2.0, v2.1 or v3.0"),
        ({"info": {"total_frames": 13}}, "12 frames were found, and meta/info.json counts 13"),
        ({"info": {"features": {"observation.state": {}}}}, "cannot be read as"),
        ({"info": {"features": None}}, "table of features"),
        ({"action": None}, "the frames have no action"),
        ({"episode_index": None}, "the frames have no episode_index"),
        ({"observation__state": ["x"] * 12}, "expected numbers"),
        ({"observation__state": [[1.0, 2.0]] * 11 + [[1.0]]}, "differ in length"),
        ({"observation__state": [[1.0, 2.0]] * 11 + [None]}, "missing values"),
        ({"episode_index": [[0, 1]] * 12}, "2 values in a row"),
        ({"next__reward": [[0.0, 1.0]] * 12}, "2 values in a row"),
    ],
)
def test_refuses(tmp_path: Path, written: Path, changes: dict[str, Any], message: str) -> None:
    path = rewrite(tmp_path / "a", written, **changes)
    with pytest.raises(DemonstrationError, match=message) as caught:
        load_file(path, obs_keys=["observation.state"])
    assert str(path) in str(caught.value)


def test_refuses_a_dataset_without_frames(tmp_path: Path, written: Path) -> None:
    shutil.copytree(written / "lerobot", tmp_path / "a")
    (tmp_path / "a" / DATA).unlink()
    with pytest.raises(DemonstrationError, match="no file of frames"):
        load_file(tmp_path / "a", obs_keys=BOTH)


def test_refuses_a_bomb_before_unpacking_it(
    tmp_path: Path, demos: Demonstrations, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.lerobot"
    save_demonstrations(demos, path)
    count = 10**6
    frames = {
        "observation.state": pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(3 * count, np.float32)), 3),
        "action": pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(2 * count, np.float32)), 2),
        "episode_index": np.zeros(count, np.int64),
    }
    pq.write_table(pa.table(frames), path / DATA, compression="zstd")
    assert (path / DATA).stat().st_size < count
    monkeypatch.setenv("RILCO_MAX_GB", str(4 * count / 2**30))
    with monkeypatch.context() as patch:
        patch.setattr(pq.ParquetFile, "iter_batches", lambda *_, **__: pytest.fail("unpacked"))
        with pytest.raises(DemonstrationError, match="the limit is"):
            load_file(path)
    # Lists of any length tell it in their pages only.
    lists = {name: values.cast(pa.list_(pa.float32())) for name, values in list(frames.items())[:2]}
    pq.write_table(pa.table(frames | lists), path / DATA, compression="zstd")
    monkeypatch.setenv("RILCO_MAX_GB", str(14 * count / 2**30))
    with pytest.raises(DemonstrationError, match="the limit is"):
        load_file(path)
