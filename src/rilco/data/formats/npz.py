"""rilco's own format: an npz file with the record's arrays under the record's names.

Only `obs` and `action` are required. Files are read without pickle, so opening a stranger's executes nothing. The names
of other writers are known, too: observations, actions or acts, rewards or rews, terminals, timeouts and dones. Episodes
may be told by episode_starts (Stable Baselines), or by indices, with one more observation than actions (imitation).
Equally long ones may also come as [episodes, steps, dim], and what has one dimension as [pairs].
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from rilco.data.formats.files import atomic_write, check_size, parsing
from rilco.data.formats.stretches import noise_rate
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError
from rilco.words import listing

_REQUIRED = ("obs", "action")
_OPTIONAL = ("episode", "demonstrator", "reward", "terminated", "truncated", "expert", "noise_rate")
_OTHERS = {
    "obs": ("observations", "observation"),
    "action": ("actions", "acts", "act"),
    "reward": ("rewards", "rews"),
    "terminated": ("terminals", "terminations"),
    "truncated": ("timeouts", "truncations"),
}
"""Names that other writers use."""
_BOUNDARIES = ("episode_starts", "dones", "indices", "terminal")
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def recognise(path: Path) -> bool:
    """Whether the file is a zip and holds at least one of the required arrays."""
    with zipfile.ZipFile(path) as archive:
        names = {name for own in _REQUIRED for name in (own, *_OTHERS[own])}
        return any(f"{name}.npy" in archive.namelist() for name in names)


def load(path: Path) -> Demonstrations:
    """Reads the arrays that the record knows, and leaves any others alone."""
    fields = _with_episodes(path, _with_rows(path, _read_arrays(path)))
    rate = noise_rate(path, fields.pop("noise_rate").tolist()) if "noise_rate" in fields else None
    unnamed = np.array([] if "demonstrator" in fields else [path.name], np.str_)
    names = fields.pop("demonstrator_names", unnamed)
    if names.ndim != 1 or names.dtype.kind != "U":
        raise DemonstrationError(
            f"{path}: demonstrator_names has the shape {list(names.shape)} and type {names.dtype}; expected "
            "text, one for each demonstrator. Write it so, or leave it out."
        )
    return Demonstrations(
        **fields,
        noise_rate=rate,
        demonstrator_names=tuple(map(str, names)),
        where=str(path),
    )


def save(demos: Demonstrations, path: Path) -> None:
    """Writes everything that the record holds; the same demonstrations give the same bytes."""
    fields = {name: getattr(demos, name) for name in (*_REQUIRED, *_OPTIONAL, "demonstrator_names")}
    arrays = {name: np.asarray(value) for name, value in fields.items() if value is not None}
    if demos.discrete:
        arrays["action"] = demos.action.astype(np.int64)  # integers say that they are choices
    with atomic_write(path) as temporary, temporary.open("xb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def _read_arrays(path: Path) -> dict[str, Any]:
    with parsing(path, "npz"), zipfile.ZipFile(path) as archive:
        found = sorted(name.removesuffix(".npy") for name in archive.namelist())
        names = {
            own: own for own in (*_REQUIRED, *_OPTIONAL, *_BOUNDARIES, "demonstrator_names") if own in found
        }
        for own, others in _OTHERS.items():
            there = [name for name in (own, *others) if name in found]
            if there:
                names[own] = there[0]
        missing = [own for own in _REQUIRED if own not in names]
        if missing:
            raise DemonstrationError(
                f"{path}: the npz file has no {' and no '.join(missing)}; it holds {listing(found)}. Save "
                "the observations as obs and the actions as action."
            )
        check_size(path, sum(archive.getinfo(f"{name}.npy").file_size for name in names.values()))
        arrays = {own: _read(path, archive, name) for own, name in names.items()}
    for own, name in names.items():
        if own != name and own not in _REQUIRED and arrays[own].shape[1:] == (1,):  # others' columns of one
            arrays[own] = arrays[own][:, 0]
    return arrays


def _with_rows(path: Path, fields: dict[str, Any]) -> dict[str, Any]:
    """With a row a pair, also where a single dimension was left out, or where episodes are an axis of their own."""
    obs, action = fields["obs"], fields["action"]
    grid = obs.shape[:2]
    if obs.ndim == action.ndim == 3 and obs.size and action.shape[:2] == grid and "episode" not in fields:
        flat = {
            name: array.reshape(-1, *array.shape[2:])
            for name, array in fields.items()
            if array.shape[:2] == grid
        }
        fields |= {"episode": np.repeat(np.arange(grid[0]), grid[1]), **flat}
    elif 3 in (obs.ndim, action.ndim):
        raise DemonstrationError(
            f"{path}: obs has the shape {list(obs.shape)} and action {list(action.shape)}; expected [pairs, dim], or "
            "[episodes, steps, dim] with as many steps of both. Put the pairs of all episodes one below the other, and "
            "number each pair's episode in an array named episode, of shape [pairs]."
        )
    return fields | {name: fields[name][:, None] for name in _REQUIRED if fields[name].ndim == 1}


def _with_episodes(path: Path, fields: dict[str, Any]) -> dict[str, Any]:
    """The record's fields, the episodes counted by whatever the file tells them by."""
    told = {name: fields.pop(name) for name in _BOUNDARIES if name in fields}
    pairs = len(fields["action"]) if fields["action"].ndim else 0
    if "indices" in told and "episode" not in fields:
        return _from_trajectories(path, fields, told, pairs)
    for name in ("episode_starts", "dones"):
        if name in told and "episode" not in fields:
            values = told[name]
            if values.shape not in ((pairs,), (pairs, 1)) or values.dtype.kind not in "biuf" or not pairs:
                raise DemonstrationError(
                    f"{path}: {name} has the shape {list(values.shape)} and type {values.dtype}; expected {[pairs]}, "
                    "a truth for each action. Check how the file was written."
                )
            starts = values.reshape(pairs) != 0
            if name == "dones":
                starts = np.append(False, starts[:-1])
            fields["episode"] = np.cumsum(starts) - starts[0]
    return fields


def _from_trajectories(
    path: Path, fields: dict[str, Any], told: dict[str, np.ndarray], pairs: int
) -> dict[str, Any]:
    """Trajectories one after the other: `indices` are where all but the first begin among the actions."""
    with parsing(path, "trajectories of imitation"):
        end = np.append(told["indices"].astype(np.int64, casting="safe"), pairs)
        length = np.diff(end, prepend=0)
    obs, terminal = fields["obs"], told.get("terminal", np.zeros(len(end), bool))
    if (length < 1).any() or obs.shape[:1] != (pairs + len(end),) or terminal.shape != end.shape:
        raise DemonstrationError(
            f"{path}: there are {len(end)} trajectories of {pairs} actions, {list(obs.shape)} observations and "
            f"{list(terminal.shape)} terminal; expected one more observation than actions in each, and one terminal."
        )
    fields["obs"] = np.delete(obs, end + np.arange(len(end)), axis=0)  # what was seen after the last action
    fields["episode"] = np.repeat(np.arange(len(end)), length)
    if "terminal" in told:
        fields["terminated"] = np.zeros(pairs, bool)
        fields["terminated"][end - 1] = terminal != 0
    return fields


def _read(path: Path, archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """One array, once its header is sure to describe plain values, as many as the file holds."""
    info = archive.getinfo(f"{name}.npy")
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        if version not in _HEADERS:
            raise ValueError(f"{name} has the unknown npy version {version}")
        shape, _, dtype = _HEADERS[version](stream)
        if dtype.hasobject:
            raise DemonstrationError(
                f"{path}: {name} is an array of objects, which is stored as a pickle; opening a pickle can "
                "run any program hidden in it, so rilco never loads one. Save plain numbers."
            )
        size = dtype.itemsize * int(np.prod(shape, dtype=object))
        if size != info.file_size - stream.tell():
            raise ValueError(f"{name} has the shape {shape}, and not the bytes for it")
    with archive.open(info) as stream:
        return np.asarray(np.lib.format.read_array(stream, allow_pickle=False))
