"""D4RL's flat HDF5: all episodes one after the other.

observations [N, obs_dim], actions [N, action_dim], rewards [N], terminals [N] (the episode ended for good),
timeouts [N] (it was cut; old files have none). What lies under infos and metadata is left alone, but for
metadata/rilco. rilco writes unknown rewards as zeros, and an unknown end as a timeout, so that other readers see it.
Both are restored as unknown. Nothing is lost.
"""

from __future__ import annotations

import math
from pathlib import Path

import h5py
import numpy as np

from rilco.data.formats import hdf5, stretches
from rilco.data.formats.files import atomic_write, parsing
from rilco.data.record import Demonstrations

_REQUIRED = ("observations", "actions", "terminals")
_OPTIONAL = ("rewards", "timeouts")
_LAYOUT = "D4RL's layout: observations, actions and terminals, and possibly rewards and timeouts."


def recognise(path: Path) -> bool:
    return hdf5.holds(path, "observations", "actions")


def load(path: Path) -> Demonstrations:
    with parsing(path, "HDF5"), h5py.File(path, "r") as file:
        arrays = hdf5.read_flat(path, file, _REQUIRED, _OPTIONAL, _LAYOUT)
        metadata = hdf5.child(file, "metadata")
        text = hdf5.read_bytes(path, metadata, stretches.KEY) if isinstance(metadata, h5py.Group) else None
    pairs = math.prod(arrays["observations"].shape[:1])
    terminated = hdf5.flags(path, arrays, "terminals", pairs)
    truncated = hdf5.flags(path, arrays, "timeouts", pairs) if "timeouts" in arrays else None
    ended = terminated if truncated is None else terminated | truncated
    start = np.concatenate([[0], np.flatnonzero(ended[:-1]) + 1])
    extra = stretches.fields(
        path,
        np.diff(start, append=pairs),
        stretches.from_bytes(path, text),
        reward=hdf5.column(path, arrays, "rewards", pairs) if "rewards" in arrays else None,
        terminated=terminated,
        truncated=truncated,
    )
    return Demonstrations(arrays["observations"], arrays["actions"], **extra)


def save(demos: Demonstrations, path: Path) -> None:
    cut = stretches.split(demos)
    terminals, timeouts = np.zeros((2, len(demos)), bool)
    terminals[cut.last] = cut.terminated
    timeouts[cut.last] = cut.truncated | ~cut.terminated
    with atomic_write(path) as temporary, hdf5.writing(temporary) as file:
        file["observations"] = demos.obs
        file["actions"] = stretches.actions(demos)
        file["rewards"] = np.zeros(len(demos), np.float32) if demos.reward is None else demos.reward
        file["terminals"] = terminals
        file["timeouts"] = timeouts
        file[f"metadata/{stretches.KEY}"] = np.frombuffer(stretches.to_bytes(demos, cut), np.uint8)
