"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from rilco.errors import RunError

_FORGOTTEN = 3600.0  # seconds: whoever has not touched its half-written file for so long was killed


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields a path to write a file or a folder to; it takes its real name only if all went well.

    The bytes reach the disk before the name does, and the name before this ends. On any failure nothing is left
    behind. What a killed process left of the same name is removed.
    """
    _remove_forgotten(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
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
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            temporary.write_bytes(data)
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> RunError:
    """The error for a read-only or full output folder, or any other refusal of the system."""
    return RunError(
        f"{path}: could not be written ({error.strerror or error}). Choose another folder with --out, or "
        "make room and continue with --resume; what was written before is intact."
    )


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


def _remove_forgotten(path: Path) -> None:
    with contextlib.suppress(OSError):
        before = time.time() - _FORGOTTEN
        start = f".{path.name}."
        for other in os.scandir(path.parent):
            if other.name.startswith(start) and other.name.endswith(".part"):
                left = Path(other.path)
                if max(each.lstat().st_mtime for each in (left, *left.rglob("*"))) < before:
                    _remove(left)
