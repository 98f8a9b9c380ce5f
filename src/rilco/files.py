"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from rilco.errors import RunError


def write_atomically(path: Path, data: bytes) -> None:
    """Write `data` beside `path`, then rename it into place; on any failure nothing is left behind."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())  # mkstemp makes files private
        os.replace(temporary, path)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def cannot_write(path: Path, error: OSError) -> RunError:
    """The error for a read-only or full output folder, or any other refusal of the system."""
    return RunError(
        f"{path}: could not be written ({error.strerror or error}). Choose another folder with --out, or "
        "make room and continue with --resume; what was written before is intact."
    )


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
