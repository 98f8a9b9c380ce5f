"""Minari datasets: a folder <name>/data with metadata.json, the episodes in HDF5, Arrow or Parquet.

observations [T + 1, ...], actions [T, action_dim], rewards [T], terminations [T], truncations [T]. Of
observations in named parts (a Dict space) those are used that are named. Infos are left alone. The observation
after the last pair has no place in the record and is left out on loading; written by rilco it repeats the last
one. Unknown rewards are written as zeros, and a stretch that ends without a known reason as truncated; both are
restored as unknown, from the key `rilco` of metadata.json. Spaces are written without bounds, and the
environment, if it is given, as its Gymnasium specification.

Neither reading nor writing needs the minari library, and nothing is ever downloaded.
"""

from __future__ import annotations

import importlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from rilco.data.formats import arrow, hdf5, stretches
from rilco.data.formats.files import atomic_write, check_file, parsing, read_json
from rilco.data.formats.named import NoNamedPartsError, choose
from rilco.data.record import Demonstrations
from rilco.errors import ConfigError, DemonstrationError
from rilco.tasks.actions import Actions
from rilco.words import listing

PREFIX = "minari:"
"""`minari:hopper/expert-v0` is the dataset of that id in Minari's own folder."""

_VERSION = "0.5.0"  # of Minari, whose layout is written; later versions read it
_METADATA, _HDF5 = "metadata.json", "main_data.hdf5"
_ID = re.compile(r"(?:[-\w][-\w/]*[-\w]+/)?[-\w]+?-v\d+")
_COLUMNS = ("rewards", "terminations", "truncations")


def local_path(dataset_id: str) -> Path:
    """Where Minari keeps a dataset, by the id that minari.load_dataset takes."""
    if not _ID.fullmatch(dataset_id):
        raise DemonstrationError(
            f"{dataset_id}: not an id of a Minari dataset. Expected (namespace/)name-v0, such as "
            "hopper/expert-v0."
        )
    return _root() / dataset_id


def find_local(dataset_id: str) -> Path | None:
    """The folder of a dataset in Minari's own folder, if there is one of that id."""
    if not _ID.fullmatch(dataset_id) or not (_root() / dataset_id / "data" / _METADATA).is_file():
        return None
    return _root() / dataset_id


def recognise(path: Path) -> bool:
    return _storage(path) not in (None, "arrow", "parquet")


def recognise_arrow(path: Path) -> bool:
    return _storage(path) in ("arrow", "parquet")


def load(path: Path, obs_keys: Sequence[str] = ()) -> Demonstrations:
    """Reads a dataset by its folder, or by the folder data in it."""
    data = _data_folder(path)
    if data is None:
        raise DemonstrationError(
            f"{path}: this is no Minari dataset; expected a folder with data/{_METADATA} in it."
        )
    metadata = read_json(data / _METADATA)
    storage, episodes = metadata.get("data_format", "hdf5"), metadata.get("total_episodes")
    if not isinstance(episodes, int) or episodes < 1:
        raise DemonstrationError(
            f"{path}: {_METADATA} says that there are {episodes!r} episodes; expected at least one. Write it anew."
        )
    if storage not in ("hdf5", "arrow", "parquet"):
        raise DemonstrationError(
            f"{path}: the dataset is stored as {storage!r}; expected hdf5, arrow or parquet."
        )
    read = _read_hdf5 if storage == "hdf5" else _read_arrow
    obs, action, length, columns = read(path, data, episodes, obs_keys)
    extra = stretches.fields(
        path,
        length,
        metadata.get(stretches.KEY),
        reward=columns.get("rewards"),
        terminated=columns.get("terminations"),
        truncated=columns.get("truncations"),
    )
    return Demonstrations(obs, action, discrete=_is_discrete(metadata), **extra)


def save(
    demos: Demonstrations,
    path: Path,
    env: str | None = None,
    notes: Sequence[Mapping[str, str | float]] = (),
) -> None:
    """Writes HDF5; `env` is a Gymnasium id, from which Minari then recovers the environment.

    `notes`, one for each of `stretches.split`, become metadata of the episodes.
    """
    cut = stretches.split(demos)
    metadata = _metadata(demos, cut, path, "hdf5", env)
    with atomic_write(path) as temporary:
        temporary.mkdir()
        data = temporary / "data"
        data.mkdir()
        with hdf5.writing(data / _HDF5) as file:
            for k in range(len(cut.start)):
                group = file.create_group(f"episode_{k}")
                group.attrs["id"] = k
                group.attrs["total_steps"] = cut.length[k]
                for name, value in notes[k].items() if notes else ():
                    group.attrs[name] = value
                for name, values in _episode(demos, cut, k).items():
                    group[name] = values
        _write_metadata(data, metadata)


def save_arrow(demos: Demonstrations, path: Path, env: str | None = None) -> None:
    """Writes Arrow: a folder for each episode, in it one file, whose last row has an observation only."""
    pa = arrow.pyarrow(path)
    cut = stretches.split(demos)
    metadata = _metadata(demos, cut, path, "arrow", env)
    with atomic_write(path) as temporary:
        temporary.mkdir()
        for k in range(len(cut.start)):
            folder = temporary / "data" / str(k)
            folder.mkdir(parents=True)
            padded = {
                name: values
                if name == "observations"
                else np.concatenate([values, np.zeros_like(values[:1])])
                for name, values in _episode(demos, cut, k).items()
            }
            batch = pa.RecordBatch.from_pydict(
                {
                    name: _lists(values) if values.ndim == 2 else pa.array(values)
                    for name, values in padded.items()
                }
            )
            with pa.ipc.new_file(str(folder / "part-0.arrow"), batch.schema) as writer:
                writer.write_batch(batch)
            (folder / _METADATA).write_text(json.dumps({"id": k, "total_steps": int(cut.length[k])}))
        _write_metadata(temporary / "data", metadata)


def _root() -> Path:
    given = os.environ.get("MINARI_DATASETS_PATH")
    return Path(given) if given else Path.home() / ".minari" / "datasets"


def _data_folder(path: Path) -> Path | None:
    for data in (path / "data", path):
        if (data / _METADATA).is_file():
            return data
    return None


def _storage(path: Path) -> str | None:
    """How the dataset is stored; "" for one that does not say; None where there is none. Never raises."""
    data = None
    try:
        data = _data_folder(path)
        metadata = json.loads((data / _METADATA).read_bytes()) if data else {}
        found = metadata.get("data_format")
    except Exception:  # damaged; loading explains it
        found = None
    # Many folders hold a metadata.json; one in a folder called data is Minari's.
    return str(found) if found else None if data in (None, path) else ""


def _read_hdf5(path: Path, data: Path, episodes: int, obs_keys: Sequence[str]) -> tuple[Any, ...]:
    file_path = data / _HDF5
    check_file(file_path)
    with parsing(file_path, "HDF5"), h5py.File(file_path, "r") as file:
        groups = [hdf5.group(file_path, file, f"episode_{k}") for k in range(min(episodes, len(file) + 1))]
        found = hdf5.episodes(file_path, groups, "observations", "actions", _COLUMNS, obs_keys, last_obs=True)
        length = np.array([len(one.action) for one in found])
        obs = hdf5.stack([one.obs for one in found], length)
        action = hdf5.stack([[one.action] for one in found], length)
        return obs, action, length, {name: hdf5.column(found, name) for name in _COLUMNS}


def _read_arrow(path: Path, data: Path, episodes: int, obs_keys: Sequence[str]) -> tuple[Any, ...]:
    obs: list[np.ndarray] = []
    action: list[np.ndarray] = []
    columns: list[list[np.ndarray]] = []
    for k in range(episodes):
        tables = [arrow.read_table(part, _is_wanted) for part in _parts(data / str(k))]
        for table in tables:
            missing = [
                name for name in ("observations", "actions", *_COLUMNS) if name not in table.column_names
            ]
            if missing:
                raise DemonstrationError(
                    f"{data / str(k)}: the episode has no {' and no '.join(missing)}; it holds "
                    f"{listing(table.column_names)}. Write the dataset anew."
                )
        where = data / str(k)
        seen = np.concatenate([_observations(where, table["observations"], obs_keys) for table in tables])
        done = np.concatenate([arrow.matrix(where, "actions", table["actions"]) for table in tables])
        if len(seen) < 2 or (obs and (seen.shape[1], done.shape[1]) != (obs[0].shape[1], action[0].shape[1])):
            raise DemonstrationError(
                f"{where}: the episode has {len(seen)} rows of {seen.shape[1]} observations and {done.shape[1]} "
                "actions; expected two rows or more, and the same numbers in all episodes. Write it anew."
            )
        obs.append(seen[:-1])
        action.append(done[:-1])
        columns.append(
            [
                np.concatenate([arrow.column(where, name, table[name]) for table in tables])[:-1]
                for name in _COLUMNS
            ]
        )
    length = np.array(list(map(len, obs)))
    stacked = [np.concatenate(values) for values in zip(*columns, strict=True)]
    return np.concatenate(obs), np.concatenate(action), length, dict(zip(_COLUMNS, stacked, strict=True))


def _parts(folder: Path) -> list[Path]:
    """part-0, part-1 and so on, in order."""
    found = [path for suffix in ("arrow", "parquet") for path in folder.glob(f"part-*.{suffix}")]
    numbered = {int(path.stem[5:]): path for path in found if re.fullmatch(r"\d{1,9}", path.stem[5:])}
    if not numbered:
        raise DemonstrationError(
            f"{folder}: there is no part-0.arrow or part-0.parquet of this episode. Copy the dataset again."
        )
    return [numbered[k] for k in sorted(numbered)]


def _is_wanted(name: str) -> bool:
    return name in ("observations", "actions", *_COLUMNS)


def _observations(where: Path, values: Any, obs_keys: Sequence[str]) -> np.ndarray:
    import pyarrow as pa

    if not pa.types.is_struct(values.type):
        if obs_keys:
            raise NoNamedPartsError(where, obs_keys)
        return arrow.matrix(where, "observations", values)
    leaves = _leaves(values.combine_chunks(), "", depth=3)
    numeric = {name: leaf for name, leaf in leaves.items() if arrow.is_numeric(leaf.type)}
    matrices = {name: arrow.matrix(where, name, leaf) for name, leaf in numeric.items()}
    chosen = choose(where, {name: one.shape[1] for name, one in matrices.items()}, obs_keys)
    return np.concatenate([matrices[name] for name in chosen], axis=1)


def _leaves(values: Any, prefix: str, depth: int) -> dict[str, Any]:
    import pyarrow as pa

    result: dict[str, Any] = {}
    for field in values.type:
        inner = values.field(field.name)
        if pa.types.is_struct(inner.type) and depth > 1:
            result |= _leaves(inner, f"{prefix}{field.name}/", depth - 1)
        else:
            result[prefix + field.name] = inner
    return result


def _episode(demos: Demonstrations, cut: stretches.Stretches, k: int) -> dict[str, np.ndarray]:
    length = cut.length[k]
    pairs = slice(cut.start[k], cut.start[k] + length)
    at_end = np.arange(length) == length - 1
    return {
        "observations": np.concatenate([demos.obs[pairs], demos.obs[pairs][-1:]]),
        "actions": demos.action[pairs] if not demos.discrete else _choices(demos, pairs),
        "rewards": np.zeros(length, np.float32) if demos.reward is None else demos.reward[pairs],
        "terminations": at_end & cut.terminated[k],
        "truncations": at_end & cut.truncated[k],
    }


def _lists(values: np.ndarray) -> Any:
    """Lists of a fixed size, also where that is one."""
    import pyarrow as pa

    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def _metadata(
    demos: Demonstrations, cut: stretches.Stretches, path: Path, storage: str, env: str | None
) -> dict[str, Any]:
    metadata = {
        "total_episodes": len(cut.start),
        "total_steps": len(demos),
        "data_format": storage,
        "observation_space": _box(demos.obs_dim),
        "action_space": _discrete(demos) if demos.discrete else _box(demos.action_dim),
        "dataset_id": _dataset_id(path),
        "minari_version": _VERSION,
        stretches.KEY: stretches.record(demos, cut),
    }
    return metadata if env is None else {**metadata, "env_spec": _specification(env)}


def _write_metadata(data: Path, metadata: dict[str, Any]) -> None:
    size = sum(file.stat().st_size for file in data.rglob("*") if file.is_file())
    (data / _METADATA).write_text(json.dumps({**metadata, "dataset_size": round(size / 1e6, 1)}))


def _box(size: int) -> str:
    low, high = [-np.inf] * size, [np.inf] * size
    return json.dumps({"type": "Box", "dtype": "float32", "shape": [size], "low": low, "high": high})


def _choices(demos: Demonstrations, pairs: slice) -> np.ndarray:
    """As Minari has them: one choice is a number, several are a row."""
    action = demos.action[pairs].astype(np.int64)
    return action[:, 0] if demos.action_dim == 1 else action


def _discrete(demos: Demonstrations) -> str:
    """The space of all choices up to the largest that was made."""
    actions = Actions.of(demos.action, discrete=True)
    first = [int(value) for value in actions.origin]
    if demos.action_dim == 1:
        return json.dumps({"type": "Discrete", "dtype": "int64", "start": first[0], "n": actions.choices[0]})
    return json.dumps(
        {"type": "MultiDiscrete", "dtype": "int64", "nvec": list(actions.choices), "start": first}
    )


def _is_discrete(metadata: Mapping[str, Any]) -> bool:
    """Whether the space of actions says so; the actions' own type does too, in most files."""
    try:
        space = json.loads(metadata.get("action_space", "{}"))
        return space["type"] in ("Discrete", "MultiDiscrete", "MultiBinary")
    except (KeyError, TypeError, ValueError):
        return False


def _dataset_id(path: Path) -> str:
    """The id by which Minari finds the path, or for a path elsewhere its name, made to be an id."""
    path = path.resolve()
    root = _root().resolve()
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
    if _ID.fullmatch(name):
        return name
    return f"{re.sub(r'[^-0-9A-Za-z_]', '-', path.stem) or 'demos'}-v0"


def _specification(env: str) -> str:
    import gymnasium

    from rilco.tasks.registration import register_environments

    register_environments()
    module, _, name = env.rpartition(":")  # `mine:Name-v0` is registered by importing `mine`
    try:
        if module:
            importlib.import_module(module)
        return gymnasium.spec(name).to_json()
    except (ImportError, gymnasium.error.Error, TypeError, ValueError) as error:
        raise ConfigError(
            f"{env}: the environment's specification cannot be written ({error}). Give the id of a registered "
            "Gymnasium environment, or none."
        ) from error
