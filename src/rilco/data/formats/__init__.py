"""Demonstration files: one module a format, with `recognise`, `load` and `save`, and the table of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rilco.data.formats import authors, csv, d4rl, imitation, lerobot, minari, npz, robomimic
from rilco.data.formats.files import NoNamedPartsError, check_file, entries, existing
from rilco.data.formats.hdf5 import SIGNATURE as HDF5
from rilco.data.record import Demonstrations
from rilco.errors import ConfigError, DemonstrationError
from rilco.outside import import_modules
from rilco.tasks.observations import read_keys
from rilco.words import listing


class Format(NamedTuple):
    """A kind of file or folder: how to recognise, read and write it."""

    name: str
    extensions: tuple[str, ...]
    """The first is the usual one. A longer one wins: `.d4rl.hdf5` over `.hdf5`."""
    signature: bytes
    """How such files begin; empty for a folder. Formats may share one; `recognise` looks further."""
    recognise: Callable[[Path], bool]
    """Whether a file or folder holds this format, by content; never raises."""
    load: Callable[..., Demonstrations]
    """Takes the path and, where observations have named parts, `obs_keys`."""
    save: Callable[..., None]
    """Takes the demonstrations, the path and, where the format has a place for it, `env`. All or nothing."""
    has_obs_keys: bool = False
    """Whether observations may be stored in named parts."""
    has_env: bool = False
    """Whether there is a place for the environment that the demonstrations are of."""


def _own(
    module: Any, *extensions: str, signature: bytes = b"", named: bool = False, env: bool = False
) -> Format:
    def recognise(path: Path) -> bool:
        try:
            return (path.is_file() if signature else path.is_dir()) and module.recognise(path)
        except Exception:  # of another format, or damaged; loading explains it
            return False

    name = module.__name__.rpartition(".")[2]
    return Format(name, extensions, signature, recognise, module.load, module.save, named, env)


FORMATS: tuple[Format, ...] = (
    _own(authors, ".h5", ".hdf5", signature=HDF5),
    _own(npz, ".npz", signature=b"PK\x03\x04"),
    _own(csv, ".csv", signature=b"obs_0,"),
    _own(d4rl, ".d4rl.hdf5", ".d4rl.h5", signature=HDF5),
    _own(robomimic, ".robomimic.hdf5", ".robomimic.h5", signature=HDF5, named=True, env=True),
    _own(minari, ".minari", named=True, env=True),
    _own(imitation, ".imitation"),
    _own(lerobot, ".lerobot", named=True, env=True),
)
_OUTSIDE: dict[str, Format] = {}


def register(known: Format) -> None:
    """Add a format from outside the package, or replace one. It is asked before rilco's own."""
    if known.name in [own.name for own in FORMATS]:
        raise ConfigError(f"register: {known.name!r} is one of rilco's own formats. Choose another name.")
    if not known.extensions or not all(extension.startswith(".") for extension in known.extensions):
        raise ConfigError(
            f"register: the format {known.name!r} has the extensions {known.extensions!r}; expected at least one, with "
            "its dot: ('.mine',)."
        )
    _OUTSIDE[known.name] = known


def formats() -> tuple[Format, ...]:
    """All that are known, those from outside first: whoever registers one knows such files best."""
    import_modules()
    return (*_OUTSIDE.values(), *FORMATS)


def find_files(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    """The files to load: as given, folders replaced by what is in them.

    Where all are named as the authors name theirs, the expert comes first and the others from best to worst.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        raise DemonstrationError("No demonstrations were given. Name at least one file or folder.")
    found = [file for path in given for file in _expand(_locate(path))]
    seen: set[Path] = set()
    for file in found:
        if file.resolve() in seen:
            raise DemonstrationError(f"{file}: this file was given twice. Name each file once.")
        seen.add(file.resolve())
    grades = [authors.quality(file) for file in found]
    if None in grades:
        return found
    return sorted(found, key=lambda file: -(authors.quality(file) or 0.0))


def load_file(
    path: str | os.PathLike[str], *, obs_keys: Sequence[str] = (), flat_too: bool = False
) -> Demonstrations:
    """Load one file or dataset folder, whose format is told by its content, its first bytes or its extension.

    A Minari dataset can also be named by its id, `minari:hopper/expert-v0`. Where a format stores observations in
    named parts, `obs_keys` says which to put side by side. With `flat_too`, observations without parts are fine, too.
    """
    obs_keys = read_keys(obs_keys)
    source = _locate(path)
    known = _format_of(source)
    if len(set(obs_keys)) < len(obs_keys):
        raise ConfigError(f"An observation key is named twice: {', '.join(obs_keys)}. Name each once.")
    try:
        if obs_keys and not known.has_obs_keys:
            raise NoNamedPartsError(source, obs_keys)
        demos = known.load(source, obs_keys=obs_keys) if obs_keys else known.load(source)
    except NoNamedPartsError:
        if flat_too:
            return load_file(path)
        raise
    except MemoryError as error:
        raise DemonstrationError(
            f"{source}: there is not enough memory for it ({error}). Split it, or free some memory."
        ) from error
    object.__setattr__(demos, "files", (source.name,))  # not made again: every pair was checked already
    return demos


def save_demonstrations(
    demos: Demonstrations,
    path: str | os.PathLike[str],
    format: str | None = None,
    *,
    env: str | None = None,
) -> None:
    """Write demonstrations, in the format of the path's ending or in the one that is named; all or nothing.

    `minari:hopper/expert-v0` is written to Minari's own folder under that id. `env`, the Gymnasium id of the
    environment, goes along where the format has a place for it.

        >>> demos = rilco.load_demonstrations("mine.hdf5")
        >>> rilco.save_demonstrations(demos, "again.npz")
        >>> rilco.save_demonstrations(demos, "again.hdf5", format="robomimic", env="Pendulum-v1")
    """
    target, known = target_format(path, format)
    if minari.local_path(os.fspath(path)):
        target.parent.mkdir(parents=True, exist_ok=True)
    options: dict[str, Any] = {"env": env} if known.has_env else {}
    known.save(demos, target, **options)


def target_format(path: str | os.PathLike[str], format_name: str | None) -> tuple[Path, Format]:
    """Where `save_demonstrations` would write, and in which format. Raises ConfigError where it could not."""
    local = minari.local_path(os.fspath(path))
    target, format_name = local or Path(path).expanduser(), format_name or ("minari" if local else None)
    by_name = [known for known in formats() if known.name == format_name]
    fitting = by_name if format_name else _by_extension(target)
    if fitting:
        return target, fitting[0]
    wanted = f"format {format_name!r}" if format_name else f"extension {target.suffix!r}"
    raise ConfigError(
        f"{target}: the {wanted} is not one that rilco writes. Choose from: {_known_formats()}."
    )


def _locate(path: str | os.PathLike[str]) -> Path:
    """The path, or the local Minari dataset of that id."""
    name = os.fspath(path)
    return existing(minari.local_path(name) or path)


def _format_of(source: Path) -> Format:
    if not source.is_dir():
        check_file(source)
    fitting = [known for known in formats() if known.recognise(source)]
    if not fitting:
        check_file(source)  # a folder that is no dataset stops here
        with source.open("rb") as file:
            head = file.read(8)
        fitting = [known for known in formats() if known.signature and head.startswith(known.signature)]
        fitting = fitting or _by_extension(source)
    if not fitting:
        raise DemonstrationError(
            f"{source}: the file is in no format that rilco knows; it begins with {head!r}. Expected one of: "
            f"{_known_formats()}. Save the arrays as npz, with the names obs and action."
        )
    return fitting[0]


def _by_extension(path: Path) -> list[Format]:
    """Those whose extension the name ends in, the longest first."""
    fitting = [
        (len(extension), known)
        for known in formats()
        for extension in known.extensions
        if path.name.lower().endswith(extension)
    ]
    return [known for _, known in sorted(fitting, key=lambda each: -each[0])]


def _known_formats() -> str:
    return ", ".join(f"{known.name} ({' or '.join(known.extensions)})" for known in formats())


def _expand(path: Path) -> list[Path]:
    if not path.is_dir() or any(known.recognise(path) for known in formats()):
        return [path]
    extensions = {extension for known in formats() for extension in known.extensions}
    inside = entries(path)
    files = [
        entry
        for entry in inside
        if (entry.is_file() and entry.suffix.lower() in extensions)
        or (entry.is_dir() and any(known.recognise(entry) for known in formats()))
    ]
    if not files:
        raise DemonstrationError(
            f"{path}: the folder holds no demonstration file ({', '.join(sorted(extensions))}); it holds "
            f"{listing([entry.name for entry in inside])}. Name a file, or the folder that the files are in."
        )
    return files
