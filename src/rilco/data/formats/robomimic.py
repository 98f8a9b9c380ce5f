"""robomimic's HDF5 of low-dimensional observations: a group for each demonstration.

data/demo_0/obs/<key> [T, ...], data/demo_0/actions [T, action_dim], rewards [T] and dones [T] where known. The user
names the observation keys, whose columns are put side by side in that order. A done does not say whether the episode
failed or ran out of time, so neither is known of files by others. rilco writes one key, `flat`, as robomimic's own
converter names it. Like that converter it repeats the last observation in next_obs. Nothing is lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np

from rilco.data.formats import hdf5, stretches
from rilco.data.formats.files import atomic_write, parsing
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError
from rilco.words import listing

_DEMO = re.compile(r"demo_?(\d{1,9})")
_GYM = 2  # robomimic's number for Gym environments


def recognise(path: Path) -> bool:
    return hdf5.holds(path, "data")


def load(path: Path, obs_keys: Sequence[str] = ()) -> Demonstrations:
    """Reads the episodes in the order of their numbers; of several observation keys, those that are named."""
    with parsing(path, "HDF5"), h5py.File(path, "r") as file:
        length, pairs, columns = hdf5.read_episodes(
            path, _groups(path, file), "obs", ("rewards",), obs_keys, last_obs=False
        )
        text = hdf5.read_bytes(path, file, stretches.KEY)
    record = stretches.from_bytes(path, text)
    return Demonstrations(**pairs, **stretches.fields(path, length, record, reward=columns.get("rewards")))


def save(demos: Demonstrations, path: Path, env: str | None = None) -> None:
    """Writes a demonstration a stretch; `env`, a Gymnasium id, becomes the name in env_args."""
    cut = stretches.split(demos)
    with atomic_write(path) as temporary, hdf5.writing(temporary) as file:
        data = file.create_group("data")
        data.attrs["total"] = len(demos)
        data.attrs["env_args"] = json.dumps({"env_name": env or "", "type": _GYM, "env_kwargs": {}})
        for k, (start, length) in enumerate(zip(cut.start, cut.length, strict=True)):
            pairs = slice(start, start + length)
            demo = data.create_group(f"demo_{k}")
            demo.attrs["num_samples"] = length
            demo["obs/flat"] = demos.obs[pairs]
            demo["next_obs/flat"] = np.concatenate([demos.obs[pairs][1:], demos.obs[pairs][-1:]])
            demo["actions"] = stretches.actions(demos, pairs)
            demo["dones"] = (np.arange(length) == length - 1).astype(np.int32)
            if demos.reward is not None:
                demo["rewards"] = demos.reward[pairs]
        file[stretches.KEY] = np.frombuffer(stretches.to_bytes(demos, cut), np.uint8)


def names(path: Path) -> list[str]:
    """Of the episodes, in the order in which they are read."""
    with parsing(path, "HDF5"), h5py.File(path, "r") as file:
        return [group.name.rpartition("/")[2] for group in _groups(path, file)]


def _groups(path: Path, file: h5py.File) -> list[h5py.Group]:
    data = hdf5.group(path, file, "data")
    names = {int(match[1]): name for name in map(str, data) if (match := _DEMO.fullmatch(name))}
    if not names:
        raise DemonstrationError(
            f"{path}: the group data holds {listing(sorted(map(str, data)))}; expected robomimic's layout: "
            "groups demo_0, demo_1 and so on. Check how the file was written."
        )
    return [hdf5.group(path, data, names[number]) for number in sorted(names)]
