"""LeRobot's dataset folder, versions 2 and 3, without images: frames in Parquet, episodes one after the other.

meta/info.json, data/chunk-000/file-000.parquet with observation.<part>, action, episode_index and, where known,
next.reward, next.done and next.truncated; meta/episodes, meta/tasks.parquet and meta/stats.json for LeRobot's
own use. Version 2 (2.0 and 2.1) has a file for each episode, data/chunk-000/episode_000000.parquet, and its
lists of episodes and tasks in JSON lines. A done by itself does not say whether the episode failed or ran out of
time. Where the observation has several parts, the user names those to use.

rilco writes version 3. The observation is observation.state, and the task is the environment's name. An unknown end is
a truncation, and restored as unknown. Time passes at 60 frames a second, the rate of the Bullet tasks. All else is
kept, under `rilco` in meta/info.json.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rilco.data.formats import arrow, stretches
from rilco.data.formats.files import atomic_write, check_size, choose, parsing, read_json
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError

FPS = 60

_INFO = "meta/info.json"
_FILE = "chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
_FIRST = "chunk-000/file-000.parquet"  # and the only one that rilco writes
_PLACES = tuple(f"{part}/{kind}_index" for part in ("data", "meta/episodes") for kind in ("chunk", "file"))
_OPTIONAL = ("next.reward", "next.done", "next.truncated")


def recognise(path: Path) -> bool:
    return (path / _INFO).is_file()


def load(path: Path, obs_keys: Sequence[str] = ()) -> Demonstrations:
    info = read_json(path / _INFO)
    version, features = str(info.get("codebase_version")), info.get("features")
    if not version.startswith(("v2.", "v3.")) or not isinstance(features, dict):
        raise DemonstrationError(
            f"{path}: {_INFO} has the version {version[:20]!r}; expected v2.0, v2.1 or v3.0, with a table of features. "
            "LeRobot converts other datasets."
        )
    keys = choose(path, _parts(path, features), obs_keys)
    frames = _read_frames(path, {*keys, "action", "episode_index", *_OPTIONAL})
    missing = [name for name in (*keys, "action", "episode_index") if name not in frames.column_names]
    if missing:
        raise DemonstrationError(
            f"{path}: the frames have no {' and no '.join(missing)}. Copy the dataset again, or write it again."
        )
    if info.get("total_frames") not in (None, len(frames)):
        raise DemonstrationError(
            f"{path}: {len(frames)} frames were found, and {_INFO} counts {str(info['total_frames'])[:20]}. A file may "
            "be missing: copy the dataset again."
        )
    obs = np.concatenate([arrow.matrix(path, key, frames[key]) for key in keys], axis=1)
    return Demonstrations(obs, arrow.matrix(path, "action", frames["action"]), **_fields(path, info, frames))


def save(demos: Demonstrations, path: Path, env: str | None = None) -> None:
    pq = arrow.library(path, "pyarrow.parquet")
    cut = stretches.split(demos)
    frames, task = _frames(demos, cut), env or "unknown"
    with atomic_write(path) as temporary:
        temporary.mkdir()
        data, episodes = temporary / "data" / _FIRST, temporary / "meta" / "episodes" / _FIRST
        data.parent.mkdir(parents=True)
        episodes.parent.mkdir(parents=True)
        pq.write_table(frames, data, use_dictionary=False)
        pq.write_table(_episodes(cut, task), episodes)
        pq.write_table(_tasks(task), temporary / "meta" / "tasks.parquet")
        (temporary / "meta" / "stats.json").write_text(json.dumps(_stats(demos), indent=4))
        (temporary / _INFO).write_text(json.dumps(_info(demos, cut, frames.schema), indent=4))


def _parts(path: Path, features: dict[str, Any]) -> dict[str, int]:
    """The low-dimensional parts of the observation, and the columns that each has."""
    with parsing(path / _INFO, "the description of a LeRobot dataset"):
        return {
            name: int(feature["shape"][0])
            for name, feature in features.items()
            if name.startswith("observation.")
            and feature["dtype"] not in ("image", "video", "string")
            and len(feature["shape"]) == 1
        }


def _read_frames(path: Path, wanted: set[str]) -> Any:
    """Those of the wanted columns that exist, of all files in LeRobot's order."""
    pa = arrow.library(path)
    files = sorted((path / "data").glob("*/*.parquet"))
    if not files:
        raise DemonstrationError(
            f"{path}: there is no file of frames, such as data/{_FIRST}. Copy the dataset again."
        )
    tables, size = [], 0
    for file in files:
        tables.append(arrow.read_parquet(file, lambda name: name in wanted))
        size += tables[-1].nbytes
        check_size(path, size)
    with parsing(path, "files of one dataset"):
        return pa.concat_tables(tables, promote_options="permissive")


def _fields(path: Path, info: dict[str, Any], frames: Any) -> dict[str, Any]:
    episode = arrow.column(path, "episode_index", frames["episode_index"])
    reward, done, truncated = (
        arrow.column(path, name, frames[name]) if name in frames.column_names else None for name in _OPTIONAL
    )
    start = np.concatenate([[0], np.flatnonzero(np.diff(episode)) + 1])
    truncated = None if truncated is None else truncated.astype(bool)
    terminated = None if done is None or truncated is None else done.astype(bool) & ~truncated
    return stretches.fields(
        path,
        np.diff(start, append=len(episode)),
        info.get(stretches.KEY),
        reward=reward,
        terminated=terminated,
        truncated=truncated,
    )


def _frames(demos: Demonstrations, cut: stretches.Stretches) -> Any:
    """All frames, as LeRobot stores them."""
    import pyarrow as pa

    index = np.arange(len(demos))
    frame = index - np.repeat(cut.start, cut.length)
    at_end = frame == np.repeat(cut.length, cut.length) - 1
    columns = {
        "observation.state": arrow.rows(demos.obs),
        "action": arrow.rows(stretches.actions(demos)),
        "next.done": at_end,
        "next.truncated": at_end & np.repeat(cut.truncated | ~cut.terminated, cut.length),
        "timestamp": (frame / FPS).astype(np.float32),
        "frame_index": frame,
        "episode_index": np.repeat(np.arange(len(cut.start)), cut.length),
        "index": index,
        "task_index": np.zeros(len(index), np.int64),
    }
    if demos.reward is not None:
        columns["next.reward"] = demos.reward
    return pa.table(columns)


def _episodes(cut: stretches.Stretches, task: str) -> Any:
    import pyarrow as pa

    count = len(cut.start)
    return pa.table(
        {
            "episode_index": np.arange(count),
            "tasks": [[task]] * count,
            "length": cut.length,
            "dataset_from_index": cut.start,
            "dataset_to_index": cut.start + cut.length,
            **dict.fromkeys(_PLACES, np.zeros(count, np.int64)),
        }
    )


def _tasks(task: str) -> Any:
    """A table that pandas opens with the task as its index, which LeRobot looks tasks up by."""
    import pyarrow as pa

    index = "__index_level_0__"
    number = {"name": "task_index", "field_name": "task_index", "pandas_type": "int64", "numpy_type": "int64"}
    text = {"name": None, "field_name": index, "pandas_type": "unicode", "numpy_type": "object"}
    pandas = {
        "index_columns": [index],
        "column_indexes": [],
        "columns": [{**number, "metadata": None}, {**text, "metadata": None}],
        "pandas_version": "2.0.0",
    }
    table = pa.table({"task_index": np.zeros(1, np.int64), index: [task]})
    return table.replace_schema_metadata({"pandas": json.dumps(pandas)})


def _stats(demos: Demonstrations) -> dict[str, Any]:
    """Statistics that LeRobot normalises with."""
    result = {}
    for name, values in (("observation.state", demos.obs), ("action", demos.action)):
        result[name] = {
            "min": values.min(axis=0).tolist(),
            "max": values.max(axis=0).tolist(),
            "mean": values.mean(axis=0, dtype=np.float64).tolist(),
            "std": values.std(axis=0, dtype=np.float64).tolist(),
            "count": [len(demos)],
        }
    return result


def _info(demos: Demonstrations, cut: stretches.Stretches, schema: Any) -> dict[str, Any]:
    features = {}
    for field in schema:
        size = getattr(field.type, "list_size", 1)
        number = field.type if size == 1 else field.type.value_type
        dtype = np.dtype(number.to_pandas_dtype()).name
        features[field.name] = {"dtype": dtype, "shape": [size], "names": None}
    return {
        "codebase_version": "v3.0",
        "robot_type": None,
        "total_episodes": len(cut.start),
        "total_frames": len(demos),
        "total_tasks": 1,
        "chunks_size": 1000,
        "data_files_size_in_mb": 100,
        "video_files_size_in_mb": 200,
        "fps": FPS,
        "splits": {"train": f"0:{len(cut.start)}"},
        "data_path": f"data/{_FILE}",
        "video_path": None,
        "features": features,
        stretches.KEY: stretches.record(demos, cut),
    }
