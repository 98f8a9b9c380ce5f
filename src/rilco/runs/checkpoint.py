"""Checkpoints that can be trusted: written whole or not at all, verified when read, resumed bit-exactly.

A checkpoint is a safetensors file with the learner's state and the actions of every unfinished episode. A small JSON
manifest, written after it, has the SHA-256 of both. A file that a crash tore has no manifest or the wrong digest, and
the checkpoint before it is used.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rilco.errors import RunError
from rilco.files import read_object, remove_unfinished, write_atomically

KEEP = 2  # the newest, and the one before it in case the newest is torn
FORMAT = "rilco-checkpoint-1"


@dataclass(frozen=True)
class Checkpoint:
    """The state of a run after some iteration."""

    iteration: int  # iterations done
    arrays: Mapping[str, np.ndarray]  # learner state and unfinished episodes
    facts: Mapping[
        str, Any
    ]  # the rest, as JSON: configuration, digests of metrics and data, best return so far


class Extent(NamedTuple):
    """The length of a file so far, and the digest of its content."""

    size: int
    sha256: str


def save_checkpoint(folder: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint, then remove those that are no longer needed."""
    from safetensors.numpy import save

    name = f"{checkpoint.iteration:08d}"
    data = save({key: np.asarray(array, order="C") for key, array in checkpoint.arrays.items()})
    manifest = {"format": FORMAT, "iteration": checkpoint.iteration, "facts": dict(checkpoint.facts)}
    manifest["sha256"] = _digest(manifest, data)
    write_atomically(folder / f"{name}.safetensors", data)
    write_atomically(folder / f"{name}.json", json.dumps(manifest, sort_keys=True).encode())
    for old in sorted(folder.glob("*.json"))[:-KEEP]:
        _remove(old)


def _remove(manifest_file: Path) -> None:
    with contextlib.suppress(OSError):  # one too many does no harm
        manifest_file.unlink(missing_ok=True)  # first: without it the data counts for nothing
        manifest_file.with_suffix(".safetensors").unlink(missing_ok=True)


def clean_up(folder: Path, newest: int) -> None:
    """Remove what a crash left: half-written files, and anything newer than the checkpoint in use."""
    remove_unfinished(folder)
    for file in folder.glob("*"):
        if file.suffix == ".safetensors" and not file.with_suffix(".json").exists():
            with contextlib.suppress(OSError):
                file.unlink()
        elif file.suffix == ".json" and file.stem.isdigit() and int(file.stem) > newest:
            _remove(file)


def load_checkpoint(folder: Path) -> tuple[Checkpoint | None, list[str]]:
    """The newest checkpoint that is whole, and a line for each newer one that is not."""
    complaints: list[str] = []
    for manifest_file in sorted(folder.glob("*.json"), reverse=True):
        try:
            return _read(manifest_file), complaints
        except (OSError, ValueError, KeyError, TypeError, RunError) as error:
            file = manifest_file.with_suffix(".safetensors")
            complaints.append(f"{file} is damaged and was passed over: {error}")
    return None, complaints


def _read(manifest_file: Path) -> Checkpoint:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    manifest = read_object(manifest_file)
    if manifest["format"] != FORMAT:
        raise ValueError(f"expected format {FORMAT!r}, found {manifest['format']!r}")
    data = manifest_file.with_suffix(".safetensors").read_bytes()
    if manifest.pop("sha256") != _digest(manifest, data):
        raise ValueError("its content does not match its checksum")
    try:
        arrays = load(data)
    except SafetensorError as error:
        raise ValueError(str(error)) from error
    return Checkpoint(int(manifest["iteration"]), arrays, manifest["facts"])


def newest_iteration(folder: Path) -> int:
    """The iteration of the newest manifest, whole or not; -1 where there is none."""
    return max((int(file.stem) for file in folder.glob("*.json") if file.stem.isdecimal()), default=-1)


def written_metrics(folder: Path) -> Extent | None:
    """How much of the metrics was written before the newest checkpoint, if a manifest says so."""
    for manifest_file in sorted(folder.glob("*.json"), reverse=True):
        with contextlib.suppress(RunError, KeyError, TypeError):
            facts = read_object(manifest_file)["facts"]
            size, sha256 = facts["metrics_bytes"], facts["metrics_sha256"]
            if type(size) is int and size >= 0:
                return Extent(size, str(sha256))
    return None


def _digest(manifest: Mapping[str, Any], data: bytes) -> str:
    """SHA-256 of the arrays and of the rest of the manifest."""
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode() + data).hexdigest()


def flatten(state: Any) -> dict[str, np.ndarray]:
    """A pytree of arrays as a flat table, named by path."""
    import jax

    leaves, _ = jax.tree_util.tree_flatten_with_path(state)
    return {f"state{jax.tree_util.keystr(path)}": np.asarray(leaf) for path, leaf in leaves}


def unflatten(template: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """The inverse of `flatten`, checked against a freshly initialised state of the same run."""
    import jax
    import jax.numpy as jnp

    expected = flatten(template)
    found = {name: array for name, array in arrays.items() if name.startswith("state")}
    if _shapes(expected) != _shapes(found):
        raise RunError(
            "The checkpoint's arrays are not those of this run's learner: it was written by another version of "
            "rilco or for another configuration. Start a new run in another folder."
        )
    treedef = jax.tree_util.tree_structure(template)
    return jax.tree_util.tree_unflatten(treedef, [jnp.asarray(found[name]) for name in expected])


def _shapes(arrays: Mapping[str, np.ndarray]) -> dict[str, tuple[Any, ...]]:
    return {name: (array.shape, array.dtype) for name, array in arrays.items()}
