"""Demonstrations as unbroken stretches: what formats store as episodes, demos or trajectories.

Other formats end an episode where a new one begins. They know no demonstrator and no ground truth, and some cannot
tell failing from a time limit. So a stretch ends wherever any of these changes, and has one value of each. A small
record of these values, as JSON, restores everything. Every format has a corner for it that its own readers pass over.
If the data no longer has the stretches that the record names, someone has changed it, and the record is ignored.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rilco.data.formats.files import parsing
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError

KEY = "rilco"
"""Name of the record, wherever a format keeps it."""

_VERSION = 1
_PER_STRETCH = ("episode", "demonstrator", "expert", "terminated", "truncated")


class Stretches(NamedTuple):
    """Where each stretch lies, and how it ends."""

    start: np.ndarray  # [K]: its first pair
    length: np.ndarray  # [K]: its number of pairs, at least one
    terminated: np.ndarray  # [K] bool: it ends for good; false where that is not known
    truncated: np.ndarray  # [K] bool: it is cut; where that is not known, true unless terminated

    @property
    def last(self) -> np.ndarray:
        """[K]: the last pair of each."""
        return self.start + self.length - 1


def split(demos: Demonstrations) -> Stretches:
    """Cuts wherever the episode, the demonstrator or the ground truth changes, or an episode ends."""
    cut = np.zeros(len(demos) - 1, bool)
    for values in (demos.episode, demos.demonstrator, demos.expert):
        if values is not None:
            cut |= values[1:] != values[:-1]
    for ended in (demos.terminated, demos.truncated):
        if ended is not None:
            cut |= ended[:-1]
    start = np.concatenate([[0], np.flatnonzero(cut) + 1])
    length = np.diff(start, append=len(demos))
    last = start + length - 1
    terminated = np.zeros(len(start), bool) if demos.terminated is None else demos.terminated[last]
    truncated = ~terminated if demos.truncated is None else demos.truncated[last]
    return Stretches(start, length, terminated, truncated)


def actions(demos: Demonstrations, pairs: slice = slice(None)) -> np.ndarray:
    """[N, action_dim]: choices as integers, by which every reader knows them."""
    chosen = demos.action[pairs]
    return chosen.astype(np.int64) if demos.discrete else chosen


def record(demos: Demonstrations, stretches: Stretches) -> dict[str, Any]:
    """All that a format has no place for, as values that fit into JSON."""
    result: dict[str, Any] = {"version": _VERSION, "length": stretches.length.tolist()}
    for name in _PER_STRETCH:
        values = getattr(demos, name)
        at = stretches.last if name in ("terminated", "truncated") else stretches.start
        result[name] = None if values is None else values[at].tolist()
    result["reward"] = demos.reward is not None
    result["noise_rate"] = demos.noise_rate
    result["demonstrator_names"] = list(demos.demonstrator_names)
    return result


def to_bytes(demos: Demonstrations, stretches: Stretches) -> bytes:
    return json.dumps(record(demos, stretches)).encode()


def fields(
    path: Path,
    length: np.ndarray,
    found: Any,
    *,
    reward: np.ndarray | None = None,
    terminated: np.ndarray | None = None,
    truncated: np.ndarray | None = None,
) -> dict[str, Any]:
    """Arguments of `Demonstrations`, beside the observations and actions.

    `found` is the JSON of `record`, or None. Without it, or if it is of other data, the arrays are taken as they were
    read. Then a stretch is an episode, and one demonstrator made them all, with the name of the path.
    """
    if not isinstance(found, dict) or found.get("length") != length.tolist():
        return {
            "episode": np.repeat(np.arange(len(length)), length),
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
            "demonstrator_names": (path.name,),
            "where": str(path),
        }
    if found.get("version") != _VERSION:
        raise DemonstrationError(
            f"{path}: rilco's record in it has the version {found.get('version')!r}; expected {_VERSION}. Read "
            "it with a newer rilco."
        )
    result: dict[str, Any] = {name: _spread(path, name, found.get(name), length) for name in _PER_STRETCH}
    result["reward"] = reward if found.get("reward") else None
    result["noise_rate"] = noise_rate(path, found.get("noise_rate"))
    result["demonstrator_names"] = _names(path, found.get("demonstrator_names"))
    return {**result, "where": str(path)}


def from_bytes(path: Path, found: bytes | None) -> Any:
    with parsing(path, "rilco's record in it"):
        return None if found is None else json.loads(found)


def _spread(path: Path, name: str, values: Any, length: np.ndarray) -> np.ndarray | None:
    """One value for each pair; a flag holds for the last pair of a stretch only."""
    if values is None and name not in ("episode", "demonstrator"):
        return None
    with parsing(path, "rilco's record in it"):
        column = np.asarray(values)
    if column.shape != length.shape:
        raise DemonstrationError(
            f"{path}: {name} in rilco's record has the shape {list(column.shape)}; expected "
            f"{list(length.shape)}. It is damaged: write the file again."
        )
    if name not in ("terminated", "truncated"):
        return np.repeat(column, length)
    result = np.zeros(int(length.sum()), column.dtype)
    result[np.cumsum(length) - 1] = column
    return result


def noise_rate(path: Path, rate: Any) -> float | None:
    """A noise rate that a file holds, if it is one."""
    if rate is None or (isinstance(rate, float) and 0.0 <= rate < 0.5):
        return rate
    raise DemonstrationError(f"{path}: noise_rate must be one number, at least 0 and less than 0.5.")


def _names(path: Path, names: Any) -> tuple[str, ...]:
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return tuple(names)
    raise DemonstrationError(f"{path}: demonstrator_names in rilco's record must be a list of texts.")
