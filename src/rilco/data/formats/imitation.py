"""The `imitation` library's trajectories: a Hugging Face dataset folder with a row for each.

obs [T + 1, obs_dim], acts [T, action_dim], infos [T] (text), terminal (whether it ended for good) and, where
known, rews [T], in data-*.arrow beside dataset_info.json and state.json. The infos are encoded with jsonpickle,
which can run any program when decoded: they are never decoded. The observation after the last pair is left out on
loading; rilco writes the last one twice, and empty infos. All else is kept, in the metadata of the Arrow schema.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from rilco.data.formats import arrow, stretches
from rilco.data.formats.files import atomic_write, entries, parsing, read_json
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError
from rilco.words import listing

_COLUMNS = ("obs", "acts", "terminal", "rews")
_STATE, _INFO = "state.json", "dataset_info.json"
_MOST_ROWS = 1000  # of a record batch, as the datasets library writes
_MOST_PAIRS = 2**20  # of a record batch, whose offsets have 32 bits


def recognise(path: Path) -> bool:
    return (path / _STATE).is_file() and (path / _INFO).is_file()


def load(path: Path) -> Demonstrations:
    pa = arrow.library(path)
    tables = [arrow.read_stream(shard, lambda name: name in _COLUMNS) for shard in _shards(path)]
    with parsing(path, "parts of one dataset"):
        table = pa.concat_tables(tables)
    missing = [name for name in _COLUMNS[:3] if name not in table.column_names]
    if missing:
        raise DemonstrationError(
            f"{path}: the dataset has no column {' and no '.join(missing)}; it holds "
            f"{listing(sorted(table.column_names))}. Expected the trajectories of the imitation library: obs, "
            "acts, infos, terminal, and possibly rews."
        )
    obs, obs_length = arrow.unpack(path, "obs", table["obs"])
    action, length = arrow.unpack(path, "acts", table["acts"])
    if (length < 1).any() or (obs_length != length + 1).any():
        raise DemonstrationError(
            f"{path}: a trajectory has {listing(list(map(str, obs_length)))} observations and "
            f"{listing(list(map(str, length)))} actions; expected at least one action, and one more observation "
            "than actions. Leave out what is empty."
        )
    reward = None
    if "rews" in table.column_names:
        rewards, reward_length = arrow.unpack(path, "rews", table["rews"])
        if (reward_length != length).any():
            raise DemonstrationError(f"{path}: rews and acts differ in number. Write the dataset again.")
        reward = arrow.column(path, "rews", rewards)
    terminated = np.zeros(len(action), bool)
    terminated[np.cumsum(length) - 1] = arrow.column(path, "terminal", table["terminal"])
    found = stretches.from_bytes(path, (table.schema.metadata or {}).get(stretches.KEY.encode()))
    return Demonstrations(
        np.delete(arrow.matrix(path, "obs", obs), np.cumsum(obs_length) - 1, axis=0),
        arrow.matrix(path, "acts", action),
        **stretches.fields(path, length, found, reward=reward, terminated=terminated),
    )


def save(demos: Demonstrations, path: Path) -> None:
    """Writes the folder as the datasets library would, in the older spelling that all its versions read."""
    pa = arrow.library(path)
    cut = stretches.split(demos)
    number, truth = {"dtype": "float32", "_type": "Value"}, {"dtype": "bool", "_type": "Value"}
    features = {
        "obs": _sequence(_sequence(number)),
        "acts": _sequence(_sequence({**number, "dtype": "int64"} if demos.discrete else number)),
        "infos": _sequence({"dtype": "string", "_type": "Value"}),
        "terminal": truth,
    }
    if demos.reward is not None:
        features["rews"] = _sequence(number)
    metadata = {
        "huggingface": json.dumps({"info": {"features": features}}),
        stretches.KEY: stretches.to_bytes(demos, cut),
    }
    name = "data-00000-of-00001.arrow"
    state: dict[str, Any] = {
        "_data_files": [{"filename": name}],
        "_fingerprint": demos.fingerprint()[:16],
        "_format_columns": None,
        "_format_kwargs": {},
        "_format_type": None,
        "_output_all_columns": False,
        "_split": None,
    }
    info = {"citation": "", "description": "", "features": features, "homepage": "", "license": ""}
    with atomic_write(path) as temporary:
        temporary.mkdir()
        (temporary / _STATE).write_text(json.dumps(state, indent=2))
        (temporary / _INFO).write_text(json.dumps(info, indent=2))
        schema = _batch(demos, cut, 0, 1).schema.with_metadata(metadata)
        with pa.ipc.new_stream(str(temporary / name), schema) as writer:
            first = 0
            while first < len(cut.start):
                most = int(np.searchsorted(cut.start, cut.start[first] + _MOST_PAIRS))
                stop = min(max(most, first + 1), first + _MOST_ROWS)
                columns = _batch(demos, cut, first, stop).columns
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
                first = stop


def _shards(path: Path) -> list[Path]:
    """The files that the dataset names; only ones right in its folder, whatever it says."""
    state = read_json(path / _STATE)
    with parsing(path / _STATE, "the state of a Hugging Face dataset"):
        names = [str(each["filename"]) for each in state["_data_files"]]
    there = {entry.name for entry in entries(path) if entry.is_file()}
    if not names or not set(names) <= there:
        raise DemonstrationError(
            f"{path}: {_STATE} names the data files {listing(names)}; expected files in this very folder. Copy "
            "the dataset again, or write it again."
        )
    return [path / name for name in names]


def _batch(demos: Demonstrations, cut: stretches.Stretches, first: int, stop: int) -> Any:
    import pyarrow as pa

    start, length = cut.start[first:stop], cut.length[first:stop]
    pairs = slice(start[0], start[-1] + length[-1])
    # The rows of the observations, the last of each stretch twice.
    within = np.sort(np.concatenate([np.arange(pairs.start, pairs.stop), start + length - 1]))

    def matrices(values: np.ndarray, lengths: np.ndarray) -> Any:
        flat = pa.array(np.ascontiguousarray(values).reshape(-1))
        return arrow.pack(arrow.pack(flat, np.full(len(values), values.shape[1])), lengths)

    columns = {
        "obs": matrices(demos.obs[within], length + 1),
        "acts": matrices(stretches.actions(demos, pairs), length),
        "infos": arrow.pack(pa.array(["{}"] * (pairs.stop - pairs.start)), length),
        "terminal": pa.array(cut.terminated[first:stop]),
    }
    if demos.reward is not None:
        columns["rews"] = arrow.pack(pa.array(demos.reward[pairs]), length)
    return pa.RecordBatch.from_pydict(columns)


def _sequence(feature: dict[str, Any]) -> dict[str, Any]:
    return {"feature": feature, "_type": "Sequence"}
