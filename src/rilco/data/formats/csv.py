"""A plain table of numbers as text: a line for each pair, and a first line with the names of the columns.

The columns are obs_0, obs_1, ..., action_0, ... and, where known, episode, demonstrator, reward, terminated, truncated
and expert. Others are left alone. Truths are 0 and 1, or False and True. Numbers are written with nine digits, which
float32 needs to come back to the bit. The noise rate, the demonstrators' names, and whether actions are choices have no place
and are lost.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from rilco.data.formats.files import atomic_write, check_size, parsing
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError
from rilco.words import listing

_VECTORS = ("obs", "action")
_FLAGS = ("terminated", "truncated", "expert")
_SINGLE = ("episode", "demonstrator", "reward", *_FLAGS)
_LONGEST = 2**22  # bytes of the first line
_WRITTEN_ROWS = 2**14  # at a time


def recognise(path: Path) -> bool:
    """Whether the first line names a first observation and a first action."""
    return {"obs_0", "action_0"} <= set(_header(path))


def load(path: Path) -> Demonstrations:
    with parsing(path, "CSV"):
        header = _header(path)
    if len(set(header)) < len(header):
        raise DemonstrationError(f"{path}: two columns have the same name. Give each its own.")
    places = {name: _columns(path, header, name) for name in _VECTORS}
    places |= {name: [header.index(name)] for name in _SINGLE if name in header}
    used = [place for each in places.values() for place in each]
    truths: dict[int | str, Any] = {places[name][0]: _truth for name in _FLAGS if name in places}
    layout: dict[str, Any] = {"delimiter": ",", "skiprows": 1, "comments": None, "encoding": "utf-8"}
    with parsing(path, "CSV"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of no data: the record says it
        with path.open("rb") as file:
            lines = sum(block.count(b"\n") for block in iter(lambda: file.read(2**20), b""))
        check_size(path, 8 * lines * len(used))
        table = np.loadtxt(path, usecols=used, ndmin=2, converters=truths, **layout)
    ends = np.cumsum([len(each) for each in places.values()])[:-1]
    columns: dict[str, Any] = dict(zip(places, np.split(table, ends, axis=1), strict=True))
    for name in places.keys() - _VECTORS:
        column = columns[name][:, 0]
        columns[name] = column if name == "reward" else _whole(path, name, column)
    names = () if "demonstrator" in columns else (path.name,)
    return Demonstrations(**columns, demonstrator_names=names, where=str(path))


def save(demos: Demonstrations, path: Path) -> None:
    names = [f"{name}_{k}" for name in _VECTORS for k in range(getattr(demos, name).shape[1])]
    columns = [demos.obs, demos.action]
    for name in _SINGLE:
        if getattr(demos, name) is not None:
            names.append(name)
            columns.append(getattr(demos, name)[:, None])
    with atomic_write(path) as temporary, temporary.open("x", encoding="ascii") as file:
        file.write(",".join(names) + "\n")
        for first in range(0, len(demos), _WRITTEN_ROWS):
            rows = [column[first : first + _WRITTEN_ROWS].astype(np.float64) for column in columns]
            np.savetxt(file, np.concatenate(rows, axis=1), "%.9g", ",")  # float64 holds ids exactly


def _header(path: Path) -> list[str]:
    with path.open("rb") as file:
        line = file.readline(_LONGEST)
    return [name.strip().strip("\"'").strip() for name in line.decode("utf-8-sig").split(",")]


def _columns(path: Path, header: list[str], vector: str) -> list[int]:
    """Where vector_0, vector_1 and so on are; all of them must be there."""
    count = sum(re.fullmatch(rf"{vector}_\d+", name) is not None for name in header)
    missing = [name for k in range(max(1, count)) if (name := f"{vector}_{k}") not in header]
    if missing:
        raise DemonstrationError(
            f"{path}: there is no column {missing[0]}; the first line names {listing(header)}. Expected obs_0, obs_1 and "
            "so on, and action_0 and so on: rename the columns."
        )
    return [header.index(f"{vector}_{k}") for k in range(count)]


def _truth(text: str) -> float:
    return float({"False": 0.0, "True": 1.0}.get(text.strip(), text))


def _whole(path: Path, name: str, values: np.ndarray) -> np.ndarray:
    if not (np.abs(values) < 2**31).all() or (values != np.round(values)).any():
        raise DemonstrationError(
            f"{path}: {name} holds values that are not whole numbers. Number them from 0."
        )
    return values.astype(np.int64)
