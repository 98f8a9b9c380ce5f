"""Reading HDF5 that a stranger wrote: plain numbers only, and all of them stored in the very file.

Also the one way in which all formats write it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np

from rilco.data.formats.chunks import fill
from rilco.data.formats.files import NoNamedPartsError, check_size, choose
from rilco.errors import DemonstrationError
from rilco.words import listing

SIGNATURE = b"\x89HDF\r\n\x1a\n"
_MAX_DEPTH = 3  # of groups of observations


def holds(path: Path, *names: str) -> bool:
    """Whether an HDF5 file has any of these at its top."""
    with h5py.File(path, "r") as file:
        return any(name in file for name in names)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[h5py.File]:
    """A file to fill; it is made in memory, because libhdf5 crashes the process where the disk is full."""
    image = io.BytesIO()
    with h5py.File(image, "w") as file:
        yield file
    path.write_bytes(image.getvalue())  # shared and not copied; a view would outlive an error


def child(parent: h5py.Group, name: str) -> h5py.Group | h5py.Dataset | None:
    """The group or array right below `parent`; None if it is neither, or a link to elsewhere."""
    is_here = isinstance(parent.get(name, getlink=True), h5py.HardLink)
    found = parent[name] if is_here else None
    return found if isinstance(found, h5py.Group | h5py.Dataset) else None


def group(path: Path, parent: h5py.Group, name: str) -> h5py.Group:
    found = child(parent, name)
    if not isinstance(found, h5py.Group):
        raise _not_stored(path, parent, name, "a group")
    return found


def array(path: Path, parent: h5py.Group, name: str) -> h5py.Dataset:
    """The array, once it is sure that it is one, of numbers, and that all of it lies in this very file."""
    dataset = child(parent, name)
    if not isinstance(dataset, h5py.Dataset) or dataset.external or dataset.is_virtual:
        raise _not_stored(path, parent, name, "an array")
    if dataset.dtype.kind not in "fiub" or dataset.shape is None:
        raise DemonstrationError(
            f"{path}: {dataset.name} has the type {dataset.dtype}; expected numbers. Arrays of objects or text "
            "cannot be used: store plain numbers."
        )
    # Uncompressed, an array occupies its full size. If not, it was never written, or its shape is damaged.
    stored, filters = dataset.id.get_storage_size(), dataset.id.get_create_plist().get_nfilters()
    if filters == 0 and stored < dataset.nbytes:
        raise DemonstrationError(
            f"{path}: {dataset.name} has the shape {list(dataset.shape)}, which is {dataset.nbytes} bytes, but the "
            f"file holds {stored} of them. It was not written to the end, or is damaged: write or copy it "
            "again."
        )
    return dataset


def _not_stored(path: Path, parent: h5py.Group, name: str, wanted: str) -> DemonstrationError:
    what = "something else, or a link" if name in parent else "missing"
    return DemonstrationError(
        f"{path}: {parent.name}/{name} is {what}; expected {wanted} stored in this file. Write it again."
    )


def read(dataset: h5py.Dataset) -> np.ndarray:
    """All of an array, double precision as float32 and without ever holding both."""
    result = np.empty(dataset.shape, np.float32 if dataset.dtype.kind == "f" else dataset.dtype)
    fill(result, dataset)
    return result


def read_flat(
    path: Path, file: h5py.File, required: Sequence[str], optional: Sequence[str], layout: str
) -> dict[str, np.ndarray]:
    """The arrays at the top of a file; `layout` says what was expected where one is missing."""
    found = sorted(map(str, file))
    missing = [name for name in required if name not in found]
    if missing:
        raise DemonstrationError(
            f"{path}: the HDF5 file has no {' and no '.join(missing)}; it holds {listing(found)}. Expected {layout} "
            "Rename the arrays, or save them as npz with the names obs and action."
        )
    wanted = [*required, *(name for name in optional if name in found)]
    datasets = {name: array(path, file, name) for name in wanted}
    check_size(path, sum(dataset.nbytes for dataset in datasets.values()))
    return {name: read(dataset) for name, dataset in datasets.items()}


def column(path: Path, arrays: dict[str, np.ndarray], name: str, pairs: int) -> np.ndarray:
    """[pairs]: a value for each pair, stored as [pairs] or [pairs, 1]."""
    if arrays[name].shape not in ((pairs,), (pairs, 1)):
        raise DemonstrationError(
            f"{path}: {name} has the shape {list(arrays[name].shape)}; expected {[pairs]}, one value for each "
            "observation. Check how the file was written."
        )
    return arrays[name].reshape(pairs)


def flags(path: Path, arrays: dict[str, np.ndarray], name: str, pairs: int) -> np.ndarray:
    """[pairs] bool: such a column of zeros and ones."""
    found = column(path, arrays, name, pairs)
    if not np.isin(found, (0, 1)).all():
        raise DemonstrationError(f"{path}: {name} holds values other than 0 and 1. Write it again.")
    return found == 1


def read_bytes(path: Path, parent: h5py.Group, name: str) -> bytes | None:
    """Text that was stored as an array of bytes, if it is there."""
    if name not in parent:
        return None
    dataset = array(path, parent, name)
    check_size(path, dataset.nbytes)
    return read(dataset).tobytes()


class _Episode(NamedTuple):
    """The arrays of one episode, in the file."""

    obs: list[h5py.Dataset]
    action: h5py.Dataset
    columns: dict[str, h5py.Dataset]

    def arrays(self) -> list[h5py.Dataset]:
        return [*self.obs, self.action, *self.columns.values()]


def read_episodes(
    path: Path,
    groups: list[h5py.Group],
    obs: str,
    columns: Sequence[str],
    obs_keys: Sequence[str],
    *,
    last_obs: bool,
) -> tuple[np.ndarray, dict[str, Any], dict[str, np.ndarray]]:
    """Reads the arrays of all groups, which must agree; `last_obs`: there is one more observation than actions.

    Returns the number of pairs in each, what `Demonstrations` takes for observations and actions, and the columns that
    are in every group.
    """
    keys = _obs_keys(path, groups[0], obs, obs_keys)
    known = [name for name in columns if all(name in one for one in groups)]
    found: list[_Episode] = []
    seen: set[int] = set()
    for one in groups:
        parts = [_walk(path, one, f"{obs}/{key}" if key else obs) for key in keys]
        episode = _Episode(
            parts, array(path, one, "actions"), {name: array(path, one, name) for name in known}
        )
        found.append(episode)
        _check_shapes(path, episode, found[0], last_obs)
        for each in episode.arrays():
            if _address(each) in seen:  # a small file could name one array a million times
                raise DemonstrationError(
                    f"{path}: {each.name} has several names in the file; expected an array of its own for every "
                    "part of every episode. Store a copy of it."
                )
            seen.add(_address(each))
    check_size(path, sum(each.nbytes for episode in found for each in episode.arrays()))
    length = np.array([len(episode.action) for episode in found])
    pairs = {
        "obs": _stack([episode.obs for episode in found], length),
        "action": _stack([[episode.action] for episode in found], length),
        "discrete": all(episode.action.dtype.kind in "iu" for episode in found),
    }
    read_columns = {name: np.concatenate([read(one.columns[name]) for one in found]) for name in known}
    return length, pairs, read_columns


def _stack(parts: list[list[h5py.Dataset]], lengths: np.ndarray) -> np.ndarray:
    """[N, columns] float32: the first rows of each list's arrays side by side, the lists one after the other."""
    widths = [1 if part.ndim == 1 else part.shape[1] for part in parts[0]]
    result = np.empty((int(lengths.sum()), sum(widths)), np.float32)
    first = 0
    for row, length in zip(parts, lengths, strict=True):
        column = 0
        for part, width in zip(row, widths, strict=True):
            place = result[first : first + length, column : column + width]
            fill(place[:, 0] if part.ndim == 1 else place, part)
            column += width
        first += length
    return result


def _obs_keys(path: Path, one: h5py.Group, obs: str, obs_keys: Sequence[str]) -> list[str]:
    node = child(one, obs)
    if not isinstance(node, h5py.Group):
        array(path, one, obs)
        if obs_keys:
            raise NoNamedPartsError(path, obs_keys)
        return [""]
    leaves = dict(_leaves(node, "", _MAX_DEPTH, set()))
    low = {
        name: 1 if leaf.ndim == 1 else leaf.shape[1] for name, leaf in leaves.items() if leaf.ndim in (1, 2)
    }
    return choose(path, low, obs_keys)


def _leaves(node: h5py.Group, prefix: str, depth: int, seen: set[int]) -> list[tuple[str, h5py.Dataset]]:
    """All arrays below a group. Hard links can form circles, so that no group is entered twice."""
    result: list[tuple[str, h5py.Dataset]] = []
    seen.add(_address(node))
    for name in map(str, node):
        found = child(node, name)
        if isinstance(found, h5py.Dataset) and found.shape is not None:
            result.append((prefix + name, found))
        elif isinstance(found, h5py.Group) and depth > 1 and _address(found) not in seen:
            result += _leaves(found, f"{prefix}{name}/", depth - 1, seen)
    return result


def _walk(path: Path, parent: h5py.Group, name: str) -> h5py.Dataset:
    *groups, last = name.split("/")
    for each in groups:
        parent = group(path, parent, each)
    return array(path, parent, last)


def _check_shapes(path: Path, one: _Episode, first: _Episode, last_obs: bool) -> None:
    if one.action.ndim != 2 and not (one.action.ndim == 1 and one.action.dtype.kind in "iu"):
        raise DemonstrationError(
            f"{path}: {one.action.name} has the shape {list(one.action.shape)}; expected [pairs, action_dim], or "
            "[pairs] of integers where an action is one choice."
        )
    pairs = len(one.action)
    if pairs == 0:
        raise DemonstrationError(
            f"{path}: {one.action.name} is an episode without a single pair. Leave it out."
        )
    shapes = [(one.action, (pairs, *first.action.shape[1:]))]
    shapes += [
        (part, (pairs + last_obs, *other.shape[1:])) for part, other in zip(one.obs, first.obs, strict=True)
    ]
    shapes += [(values, (pairs,)) for values in one.columns.values()]
    for part, expected in shapes:
        if part.shape != expected or part.ndim not in (1, 2):
            raise DemonstrationError(
                f"{path}: {part.name} has the shape {list(part.shape)}; expected {list(expected)}, to go with "
                f"its {pairs} actions and with the other episodes. Check how the file was written."
            )


def _address(node: h5py.Group | h5py.Dataset) -> int:
    """Where it lies in the file, whatever its name."""
    return int(h5py.h5o.get_info(node.id).addr)
