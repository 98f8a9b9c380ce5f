"""Files that a reader never sees half of, and JSON that is believed only after a look."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import fcntl
import functools
import json
import os
import secrets
import shutil
import sys
import tempfile
import time
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from rilco.errors import RunError, WriteError

UNFINISHED = ".part"  # ending of what is being written
_FORGOTTEN = 3600.0  # seconds: whoever has not touched its half-written file for so long was killed
_LOCK = ".in-use"  # is locked while somebody uses a temporary folder
_BEGINNING = 60.0  # seconds in which whoever has just made one locks it
_Record = TypeVar("_Record")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields a path to write a file or a folder to; it takes its real name only if all went well.

    The bytes reach the disk before the name does, and the name before this ends. On any failure nothing is left
    behind. What a killed process left of the same name is removed.
    """
    remove_forgotten(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}{UNFINISHED}")
    try:
        yield temporary
        for written in (temporary, *temporary.rglob("*")):
            _sync(written)
        os.replace(temporary, path)
        _sync(path.parent)
    finally:
        _remove(temporary)


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` beside `path`, then rename it into place; on any failure nothing is left behind."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_bytes(data)


def write_together(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files of one folder: none is there before all are written, and the last one comes last."""
    with writing(folder), contextlib.ExitStack() as renamed:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in reversed(list(files.items())):
            renamed.enter_context(replacing(folder / name)).write_bytes(data)


@contextlib.contextmanager
def scratch(purpose: str) -> Iterator[Path]:
    """A folder among the system's temporary ones while the context lasts. What killed processes left is removed."""
    start = f"rilco-{purpose}-"
    for left in Path(tempfile.gettempdir()).glob(f"{start}*/{_LOCK}"):
        with contextlib.suppress(OSError), left.open("r+") as lock:
            about = os.fstat(lock.fileno())
            if about.st_uid == os.getuid() and about.st_mtime < time.time() - _BEGINNING:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(left.parent)
    with tempfile.TemporaryDirectory(prefix=start) as folder, (Path(folder) / _LOCK).open("w") as lock:
        with contextlib.suppress(OSError):  # some file systems have no locks; such a folder is never removed
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield Path(folder)


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns an OSError, of a read-only or full disk for instance, into a WriteError that names the file."""
    try:
        yield
    except OSError as error:
        advice = "Make room, or choose" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "Choose"
        raise WriteError(
            f"{path}: could not be written ({error.strerror or error}). {advice} another folder. What was written before "
            "is intact."
        ) from error


def check_writable(path: Path) -> None:
    """Raises WriteError unless a file can be made where `path` is to be, or where its first folder is."""
    with writing(path):
        folder = next(above for above in path.absolute().parents if above.exists())
        tempfile.TemporaryFile(dir=folder).close()


def remove_unfinished(*folders: Path) -> None:
    """Remove what processes that were killed left half-written. Only for folders that nobody writes to now."""
    for folder in folders:
        for file in folder.glob(f".*{UNFINISHED}"):
            _remove(file)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        if not path.is_dir():  # some file systems cannot sync a folder, and none loses the file by that
            raise
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # gone, because it was renamed
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def remove_forgotten(path: Path) -> None:
    """Remove what killed processes left half-written of this name; what somebody may be writing now stays."""
    with contextlib.suppress(OSError):
        before = time.time() - _FORGOTTEN
        start = f".{path.name}."
        for other in os.scandir(path.parent):
            if other.name.startswith(start) and other.name.endswith(UNFINISHED):
                left = Path(other.path)
                if max(each.lstat().st_mtime for each in (left, *left.rglob("*"))) < before:
                    _remove(left)


# -- reading ---------------------------------------------------------------------------------------


def parse_object(text: str | bytes, where: str) -> dict[str, Any]:
    """A JSON object, from bytes that may be anything."""
    try:
        table = json.loads(text)
    except (ValueError, RecursionError) as error:  # also of bytes that are not UTF-8
        raise RunError(f"{where}: is not JSON ({brief(error)}). Restore it, or run again.") from error
    if not isinstance(table, dict):
        raise RunError(f"{where}: expected names and values, found {brief(table)}.")
    return table


def read_object(file: Path) -> dict[str, Any]:
    """The JSON object in a file."""
    try:
        return parse_object(file.read_bytes(), str(file))
    except OSError as error:
        raise RunError(f"{file}: could not be read ({error.strerror}).") from error


def read_record(record: type[_Record], file: Path) -> _Record:
    """A record that was stored as a JSON object."""
    return as_record(record, read_object(file), str(file))


def as_record(record: type[_Record], table: Any, where: str) -> _Record:
    """A dataclass or named tuple from a JSON object whose values have the types of its fields, in parts as well.

    Fields may be left out where they have a default; the record itself checks what its values mean.
    """
    if not isinstance(table, dict):
        raise RunError(f"{where}: expected names and values, found {brief(table)}.")
    types_of = _types_of(record)  # type: ignore[arg-type]
    if unknown := [name for name in table if name not in types_of]:
        raise RunError(f"{where}: {brief(unknown[0])} is not among {', '.join(types_of)}.")
    values: dict[str, Any] = {}
    for name, value in table.items():
        wanted = types_of[name]
        if dataclasses.is_dataclass(wanted):
            values[name] = as_record(wanted, value, f"{where}: {name}")  # type: ignore[arg-type]
            continue
        values[name] = _tuples(value)
        if not fits(values[name], wanted):
            shown = wanted.__name__ if isinstance(wanted, type) else wanted
            raise RunError(f"{where}: expected {name} to be {shown}, found {brief(value)}.")
    try:
        return record(**values)
    except TypeError as error:  # something is missing
        raise RunError(f"{where}: {error}.") from error


_types_of = functools.cache(get_type_hints)


def _tuples(value: Any) -> Any:
    """JSON has lists where records have tuples, some of them of tuples."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def is_number(value: Any) -> bool:
    """A finite number that fits into a float."""
    return isinstance(value, int | float) and type(value) is not bool and abs(value) <= sys.float_info.max


def fits(value: Any, wanted: Any) -> bool:
    """Whether a value is of a type, as far as JSON knows types."""
    if wanted is Any:
        return True
    inner = get_args(wanted)
    if get_origin(wanted) in (Union, types.UnionType):
        return any(fits(value, one) for one in inner)
    if get_origin(wanted) is Literal:
        return isinstance(value, str) and value in inner
    if get_origin(wanted) is tuple and isinstance(value, tuple):
        each = inner[:1] * len(value) if inner[-1] is ... else inner
        return len(value) == len(each) and all(map(fits, value, each))
    if get_origin(wanted) in (dict, Mapping):
        return isinstance(value, dict) and all(fits(item, inner[1]) for item in value.values())
    if wanted is float:
        return is_number(value)
    if wanted is int:
        return type(value) is int and abs(value) < 2**63
    if wanted is str:
        # JSON can spell half of a character, which is no text.
        return isinstance(value, str) and value.encode(errors="ignore").decode() == value
    return isinstance(value, get_origin(wanted) or wanted)


def brief(value: Any) -> str:
    """A value as an error message shows it."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
