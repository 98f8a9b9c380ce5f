"""Parts that all formats share: checks before a parser opens a file, named observations, and atomic writing."""

from __future__ import annotations

import contextlib
import difflib
import json
import math
import os
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rilco.errors import ConfigError, DemonstrationError, RilcoError, suggestion
from rilco.files import replacing
from rilco.words import listing

LIMIT = "RILCO_MAX_GB"
"""The environment variable that says how many gigabytes one file may unpack to. A few kilobytes can claim
terabytes, and five million pairs of Ant need 0.7 GB."""

_USUAL_LIMIT = "8"
_PICKLE_SUFFIXES = {".pkl", ".pickle", ".p", ".joblib", ".pt", ".pth"}


def existing(path: str | os.PathLike[str]) -> Path:
    """The path, or an error that suggests what may have been meant."""
    path = Path(path).expanduser()
    with _reaching(path):
        if path.exists():
            return path
    if not path.parent.is_dir():
        raise DemonstrationError(f"{path}: the folder {path.parent} does not exist. Check the path.")
    names = [entry.name for entry in entries(path.parent)]
    near = difflib.get_close_matches(path.name, names, n=3)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"The folder holds {listing(names)}."
    raise DemonstrationError(f"{path}: no such file or folder. {hint}")


def entries(folder: Path) -> list[Path]:
    """Sorted entries of a folder, without hidden files."""
    with _reaching(folder):
        return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))


def check_file(path: Path) -> None:
    """Refuses what no parser should be given: pipes, devices, empty or unreadable files, and every pickle."""
    if not path.is_file():
        raise DemonstrationError(f"{path}: this is not a regular file. Name a file of demonstrations.")
    with _reaching(path), path.open("rb") as file:
        head = file.read(8)
    if not head:
        raise DemonstrationError(f"{path}: the file is empty (0 bytes). Copy or write it again.")
    if path.suffix.lower() in _PICKLE_SUFFIXES or _is_pickle(path, head):
        raise DemonstrationError(
            f"{path}: this is a pickle, and opening a pickle can run any program hidden in it, so rilco "
            "never loads one. Open it where you trust it and save the arrays as npz, with the names obs and "
            "action."
        )


@contextlib.contextmanager
def _reaching(path: Path) -> Iterator[None]:
    """Explain what the system refuses before any content is seen: no permission, or a name that is too long."""
    try:
        yield
    except OSError as error:
        raise DemonstrationError(
            f"{path}: the path cannot be read ({error.strerror or error}). Check its spelling, and who may "
            "read it."
        ) from error


def _is_pickle(path: Path, head: bytes) -> bool:
    if head[:1] == b"\x80" and head[1:2] in (b"\2", b"\3", b"\4", b"\5"):  # the PROTO opcode and its version
        return True
    if head[:4] != b"PK\x03\x04":
        return False
    try:
        with zipfile.ZipFile(path) as archive:  # what PyTorch saves: a zip around a pickle
            return any(name.endswith("data.pkl") for name in archive.namelist())
    except Exception:  # a damaged zip; the format that reads zips will say so
        return False


def check_size(path: Path, size: int) -> None:
    """Refuses a file whose arrays would fill the memory, before they are read."""
    text = os.environ.get(LIMIT, _USUAL_LIMIT)
    try:
        limit = float(text)
    except ValueError:
        raise ConfigError(f"{LIMIT} is {text!r}; expected a number of gigabytes, such as 8.") from None
    if not size <= limit * 2**30:
        raise DemonstrationError(
            f"{path}: the arrays claim {size / 2**30:.3g} GB; the limit is {limit:.3g} GB a file. If there really "
            f"is that much, set {LIMIT}={math.ceil(size / 2**30)}; otherwise the file is damaged, or made to fill "
            "the memory."
        )


@contextlib.contextmanager
def parsing(path: Path, kind: str) -> Iterator[None]:
    """Turns whatever a parser raises on damaged bytes into one clear error.

    Everything is caught on purpose: h5py, zipfile and NumPy raise a dozen types on damaged files, and to the
    user they all mean the same. Keep what is inside the block down to calls of the parser.
    """
    try:
        yield
    except RilcoError:
        raise
    except Exception as error:
        detail = " ".join(str(error).split())[:200]
        raise DemonstrationError(
            f"{path}: the file cannot be read as {kind} ({type(error).__name__}: {detail}). It has "
            f"{path.stat().st_size if path.exists() else 0} bytes; it may be cut short, damaged, or of "
            "another format. Copy or download it again, or write it again."
        ) from error


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file that lies in the folder of a dataset."""
    check_file(path)
    check_size(path, path.stat().st_size)
    with parsing(path, "JSON"):
        content = json.loads(path.read_bytes())
    if not isinstance(content, dict):
        raise DemonstrationError(f"{path}: expected a JSON object, and it is something else. Write it again.")
    return content


class NoNamedPartsError(DemonstrationError):
    """Keys were asked for, and observations are one array."""

    def __init__(self, path: Path, wanted: Sequence[str]) -> None:
        super().__init__(
            f"{path}: the observations are one array without named parts, and the observation keys "
            f"{', '.join(wanted)} were asked for. Leave the keys out."
        )


def choose(path: Path, available: Mapping[str, int], wanted: Sequence[str]) -> list[str]:
    """The wanted parts, in the wanted order; without a wish the only one there is.

    `available` holds the number of columns of each. There is no rule for which of several make up what a
    policy sees, so nothing is guessed.
    """
    parts = [f"{name} ({columns})" for name, columns in available.items()]
    for name in wanted:
        if name not in available:
            raise DemonstrationError(
                f"{path}: there is no low-dimensional observation {name!r}.{suggestion(name, available)} With their numbers of columns "
                f"there are {listing(parts, most=30)}."
            )
    if not wanted and len(available) != 1:
        raise DemonstrationError(
            f"{path}: the observations are stored in {len(parts)} low-dimensional parts; with their numbers of "
            f"columns: {listing(parts, most=30)}. Expected one part, or to be told which ones to put side by "
            "side: name them as observation keys, in order (--obs-keys, or obs_keys in Python)."
        )
    return list(wanted) or list(available)


@contextlib.contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yields a path to write a file or a folder to; it takes its real name only if all went well.

    On any failure nothing is left behind, and a file that was there before is untouched. A folder that was
    there before is never replaced: it may hold more than a dataset.
    """
    path = Path(path).expanduser()
    if path.is_dir() and any(path.iterdir()):
        raise DemonstrationError(
            f"{path}: it could not be written, because there is a folder of that name with something in it. "
            "Choose another name, or remove the folder first."
        )
    try:
        with replacing(path) as temporary:
            yield temporary
    except OSError as error:
        reason = " ".join(str(error.strerror or error).split())[:200]
        raise DemonstrationError(
            f"{path}: the file could not be written ({reason}). Nothing was left behind. Check that the "
            "folder exists, may be written to and has space."
        ) from error
