"""Demonstration files: one module a format, with `recognise`, `load` and `save`, and the table of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from rilco.demonstrations import Demonstrations
from rilco.errors import ConfigError, DemonstrationError
from rilco.formats import authors, npz
from rilco.formats.files import check_file, entries, existing, listing


class Format(NamedTuple):
    """How one kind of file is told apart, read and written."""

    name: str
    extensions: tuple[str, ...]
    """The first is the usual one."""
    signature: bytes
    """How such files begin. Formats may share one; `recognise` looks further."""
    recognise: Callable[[Path], bool]
    """Whether a file or folder holds this format, by content; never raises."""
    load: Callable[[Path], Demonstrations]
    save: Callable[[Demonstrations, Path], None]
    """Writes all or nothing."""


FORMATS: tuple[Format, ...] = (
    Format("authors", (".h5", ".hdf5"), b"\x89HDF\r\n\x1a\n", authors.recognise, authors.load, authors.save),
    Format("npz", (".npz",), b"PK\x03\x04", npz.recognise, npz.load, npz.save),
)


def find_files(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    """The files to load: as given, folders replaced by what is in them.

    Where all are named as the authors name theirs, the expert comes first and the others from best to worst.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise DemonstrationError("No demonstrations were given. Name at least one file or folder.")
    found = [file for path in given for file in _expand(existing(path))]
    seen: set[Path] = set()
    for file in found:
        if file.resolve() in seen:
            raise DemonstrationError(f"{file}: this file was given twice. Name each file once.")
        seen.add(file.resolve())
    grades = [authors.quality(file) for file in found]
    if None in grades:
        return found
    return sorted(found, key=lambda file: -(authors.quality(file) or 0.0))


def load_file(path: str | os.PathLike[str]) -> Demonstrations:
    """Loads one file, whichever its format: by content, else by how it begins, else by its extension."""
    source = existing(path)
    if not source.is_dir():
        check_file(source)
    fitting = [known for known in FORMATS if known.recognise(source)]
    if not fitting:
        check_file(source)  # a folder that is no dataset stops here
        with source.open("rb") as file:
            head = file.read(8)
        fitting = [known for known in FORMATS if head.startswith(known.signature)]
        fitting = fitting or [known for known in FORMATS if source.suffix.lower() in known.extensions]
    if not fitting:
        raise DemonstrationError(
            f"{source}: the file is in no format that rilco knows; it begins with {head!r}. Expected one of: "
            f"{_known_formats()}. Save the arrays as npz, with the names obs and action."
        )
    return fitting[0].load(source)


def save_file(demos: Demonstrations, path: str | os.PathLike[str], format_name: str | None = None) -> None:
    """Writes in the named format, or in the one that the extension stands for; all or nothing."""
    target = Path(path).expanduser()
    for known in FORMATS:
        if known.name == format_name or (format_name is None and target.suffix.lower() in known.extensions):
            return known.save(demos, target)
    wanted = f"format {format_name!r}" if format_name else f"extension {target.suffix!r}"
    raise ConfigError(
        f"{target}: the {wanted} is not one that rilco writes. Choose from: {_known_formats()}."
    )


def _known_formats() -> str:
    return ", ".join(f"{known.name} ({' or '.join(known.extensions)})" for known in FORMATS)


def _expand(path: Path) -> list[Path]:
    if not path.is_dir() or any(known.recognise(path) for known in FORMATS):
        return [path]
    extensions = {extension for known in FORMATS for extension in known.extensions}
    inside = entries(path)
    files = [entry for entry in inside if entry.is_file() and entry.suffix.lower() in extensions]
    if not files:
        raise DemonstrationError(
            f"{path}: the folder holds no demonstration file ({', '.join(sorted(extensions))}); it holds "
            f"{listing([entry.name for entry in inside])}. Name a file, or the folder that the files are in."
        )
    return files
