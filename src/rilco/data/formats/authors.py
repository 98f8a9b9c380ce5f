"""The HDF5 layout of the paper's authors: one demonstrator a file, its quality in the file's name.

obs_array [N, obs_dim], act_array [N, action_dim], nobs_array [N, obs_dim], reward_array [N, 1],
mask_array [N, 1] (0 = the episode ended here, by failing or by the time limit alike)
"""

from __future__ import annotations

import math
import re
from pathlib import Path

import h5py
import numpy as np

from rilco.data.formats import hdf5
from rilco.data.formats.files import atomic_write, parsing
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError

_REQUIRED = ("obs_array", "act_array", "mask_array")
_LAYOUT = (
    "the authors' layout: obs_array, act_array and mask_array, and possibly reward_array; or D4RL's: observations, "
    "actions and terminals; or robomimic's: data/demo_0."
)
_QUALITY = re.compile(r"(?:^|_)P([01]\.\d)(?=[_.]|$)")


def quality(path: Path) -> float | None:
    """1.0 for the expert, 0.4 to 0.0 for the others, best to worst; None for a file that is not named so."""
    match = _QUALITY.search(path.name)
    return float(match.group(1)) if match else None


def recognise(path: Path) -> bool:
    """Whether the file is HDF5 and holds at least one of this layout's arrays."""
    return hdf5.holds(path, *_REQUIRED)


def load(path: Path) -> Demonstrations:
    """Reads all but the next observations. The ground truth is the file's name, and unknown without it."""
    with parsing(path, "HDF5"), h5py.File(path, "r") as file:
        arrays = hdf5.read_flat(path, file, _REQUIRED, ("reward_array",), _LAYOUT)
    pairs = math.prod(arrays["obs_array"].shape[:1])
    going_on = hdf5.flags(path, arrays, "mask_array", pairs)
    grade = quality(path)
    ended_before = np.append(False, ~going_on[:-1])[:pairs]
    return Demonstrations(
        arrays["obs_array"],
        arrays["act_array"],
        episode=np.cumsum(ended_before),
        reward=hdf5.column(path, arrays, "reward_array", pairs) if "reward_array" in arrays else None,
        expert=None if grade is None else np.full(pairs, grade == 1.0),
        demonstrator_names=(path.name,),
        where=str(path),
    )


def save(demos: Demonstrations, path: Path) -> None:
    """Writes the authors' layout: one demonstrator a file, and no ground truth but the file's name.

    The observation after the last pair of an episode is not known here: those rows of nobs_array are NaN.
    """
    demonstrators = len(np.unique(demos.demonstrator))
    if demonstrators > 1:
        raise DemonstrationError(
            f"{path}: the authors' layout holds one demonstrator a file, and these demonstrations have "
            f"{demonstrators}. Save them as npz, or select one demonstrator for each file."
        )
    ends = np.append(np.diff(demos.episode) != 0, True)
    next_obs = np.roll(demos.obs, -1, axis=0)
    next_obs[ends] = np.nan
    arrays = {
        "obs_array": demos.obs,
        "act_array": demos.action,
        "nobs_array": next_obs,
        "mask_array": np.where(ends, 0, 1).astype(np.int32)[:, None],
    }
    if demos.reward is not None:
        arrays["reward_array"] = demos.reward[:, None]
    with atomic_write(path) as temporary, hdf5.writing(temporary) as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array)
