"""rilco's own format: an npz file with the record's arrays under the record's names.

Only `obs` and `action` are required. Read without pickle, so opening a stranger's file executes nothing.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from rilco.data.formats.files import atomic_write, check_size, listing, parsing
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError

_REQUIRED = ("obs", "action")
_OPTIONAL = ("episode", "demonstrator", "reward", "terminated", "truncated", "expert", "noise_rate")
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def recognise(path: Path) -> bool:
    """Whether the file is a zip and holds at least one of the required arrays."""
    if not path.is_file():
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return any(f"{name}.npy" in archive.namelist() for name in _REQUIRED)
    except Exception:  # not a zip, or damaged; loading explains it
        return False


def load(path: Path) -> Demonstrations:
    """Reads the arrays that the record knows, and leaves any others alone."""
    fields = _read_arrays(path)
    rate = fields.pop("noise_rate", None)
    if rate is not None and not (rate.shape == () and rate.dtype.kind == "f" and 0.0 <= rate < 0.5):
        raise DemonstrationError(f"{path}: noise_rate must be one number, at least 0 and less than 0.5.")
    unnamed = np.array([] if "demonstrator" in fields else [path.name], np.str_)
    names = fields.pop("demonstrator_names", unnamed)
    if names.ndim != 1 or names.dtype.kind != "U":
        raise DemonstrationError(
            f"{path}: demonstrator_names has the shape {list(names.shape)} and type {names.dtype}; expected "
            "text, one for each demonstrator. Write it so, or leave it out."
        )
    return Demonstrations(
        **fields,
        noise_rate=None if rate is None else float(rate),
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
        missing = [name for name in _REQUIRED if name not in found]
        if missing:
            raise DemonstrationError(
                f"{path}: the npz file has no {' and no '.join(missing)}; it holds {listing(found)}. Save "
                "the observations as obs and the actions as action."
            )
        wanted = [name for name in (*_REQUIRED, *_OPTIONAL, "demonstrator_names") if name in found]
        check_size(path, sum(archive.getinfo(f"{name}.npy").file_size for name in wanted))
        return {name: _read(path, archive, name) for name in wanted}


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
