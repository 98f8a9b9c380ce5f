"""Minari datasets: a folder <name>/data with metadata.json and the episodes in main_data.hdf5.

observations [T + 1, ...], actions [T, action_dim], rewards [T], terminations [T], truncations [T]. Where observations
have named parts (a Dict space), the user names those to use. Infos are left alone. The observation after the last
pair is left out on loading; rilco writes the last one twice. Unknown rewards are written as zeros, and an unknown end
as a truncation; the key `rilco` of metadata.json restores both as unknown. Spaces are written without bounds, and the
environment as its Gymnasium specification.

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

from rilco.data.formats import hdf5, stretches
from rilco.data.formats.files import atomic_write, check_file, parsing, read_json
from rilco.data.record import Demonstrations
from rilco.errors import ConfigError, DemonstrationError
from rilco.tasks.actions import Actions

PREFIX = "minari:"
"""`minari:hopper/expert-v0` is the dataset of that id in Minari's own folder."""

_VERSION = "0.5.0"  # of Minari, whose layout is written; later versions read it
_METADATA, _HDF5 = "metadata.json", "main_data.hdf5"
_ID = re.compile(r"(?:[-\w][-\w/]*[-\w]+/)?[-\w]+?-v\d+")
_COLUMNS = {"reward": "rewards", "terminated": "terminations", "truncated": "truncations"}


def local_path(name: str) -> Path | None:
    """Where Minari keeps the dataset that a name with the prefix means; None for any other name."""
    dataset_id = name.removeprefix(PREFIX)
    if dataset_id == name:
        return None
    if not _ID.fullmatch(dataset_id):
        raise DemonstrationError(
            f"{dataset_id}: not an id of a Minari dataset. Expected (namespace/)name-v0, such as "
            "hopper/expert-v0."
        )
    return _root() / dataset_id


def recognise(path: Path) -> bool:
    """Whether there is a metadata.json that names its storage. One in a folder called data is always Minari's."""
    data = _data_folder(path)
    return data is not None and (data != path or "data_format" in json.loads((data / _METADATA).read_bytes()))


def load(path: Path, obs_keys: Sequence[str] = ()) -> Demonstrations:
    """Reads a dataset by its folder, or by the folder data in it."""
    data = _data_folder(path) or path
    metadata = read_json(data / _METADATA)
    storage, episodes = metadata.get("data_format", "hdf5"), metadata.get("total_episodes")
    if not isinstance(episodes, int) or episodes < 1:
        raise DemonstrationError(
            f"{path}: {_METADATA} says that there are {episodes!r} episodes; expected at least one. Write it again."
        )
    if storage != "hdf5":
        raise DemonstrationError(
            f"{path}: the dataset is stored as {storage!r}; expected hdf5. Write it again, with data_format='hdf5'."
        )
    file_path = data / _HDF5
    check_file(file_path)
    with parsing(file_path, "HDF5"), h5py.File(file_path, "r") as file:
        groups = [hdf5.group(file_path, file, f"episode_{k}") for k in range(min(episodes, len(file) + 1))]
        length, pairs, columns = hdf5.read_episodes(
            file_path, groups, "observations", tuple(_COLUMNS.values()), obs_keys, last_obs=True
        )
    pairs["discrete"] |= _is_discrete(metadata)
    known = {name: columns.get(theirs) for name, theirs in _COLUMNS.items()}
    return Demonstrations(**pairs, **stretches.fields(path, length, metadata.get(stretches.KEY), **known))


def save(
    demos: Demonstrations,
    path: Path,
    env: str | None = None,
    notes: Sequence[Mapping[str, str | float]] = (),
) -> None:
    """`env` is a Gymnasium id, from which Minari then recovers the environment.

    `notes`, one for each of `stretches.split`, become metadata of the episodes.
    """
    cut = stretches.split(demos)
    metadata = _metadata(demos, cut, path, env)
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
        size = (data / _HDF5).stat().st_size
        (data / _METADATA).write_text(json.dumps({**metadata, "dataset_size": round(size / 1e6, 1)}))


def _root() -> Path:
    given = os.environ.get("MINARI_DATASETS_PATH")
    return Path(given) if given else Path.home() / ".minari" / "datasets"


def _data_folder(path: Path) -> Path | None:
    for data in (path / "data", path):
        if (data / _METADATA).is_file():
            return data
    return None


def _episode(demos: Demonstrations, cut: stretches.Stretches, k: int) -> dict[str, np.ndarray]:
    length = cut.length[k]
    pairs = slice(cut.start[k], cut.start[k] + length)
    at_end = np.arange(length) == length - 1
    action = stretches.actions(demos, pairs)
    if demos.discrete and demos.action_dim == 1:
        action = action[:, 0]  # one choice is a number
    return {
        "observations": np.concatenate([demos.obs[pairs], demos.obs[pairs][-1:]]),
        "actions": action,
        "rewards": np.zeros(length, np.float32) if demos.reward is None else demos.reward[pairs],
        "terminations": at_end & cut.terminated[k],
        "truncations": at_end & cut.truncated[k],
    }


def _metadata(demos: Demonstrations, cut: stretches.Stretches, path: Path, env: str | None) -> dict[str, Any]:
    metadata = {
        "total_episodes": len(cut.start),
        "total_steps": len(demos),
        "data_format": "hdf5",
        "observation_space": _box(demos.obs_dim),
        "action_space": _discrete(demos) if demos.discrete else _box(demos.action_dim),
        "dataset_id": _dataset_id(path),
        "minari_version": _VERSION,
        stretches.KEY: stretches.record(demos, cut),
    }
    return metadata if env is None else {**metadata, "env_spec": _specification(env)}


def _box(size: int) -> str:
    low, high = [-np.inf] * size, [np.inf] * size
    return json.dumps({"type": "Box", "dtype": "float32", "shape": [size], "low": low, "high": high})


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
