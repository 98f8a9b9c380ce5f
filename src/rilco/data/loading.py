"""Demonstrations from files, mixed by the paper's protocol where a noise rate is given."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from rilco.data.formats import find_files, load_file
from rilco.data.formats.files import choose
from rilco.data.mixing import mix
from rilco.data.record import Demonstrations, concatenate, source_names
from rilco.errors import DemonstrationError, check_noise_rate
from rilco.tasks.observations import read_keys

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Given = Demonstrations | Paths | Mapping[str, Any] | Sequence[Any]
"""Paths, one object or several, or arrays: by name, or observations, actions and perhaps episodes. Observations may be a
table of named parts."""


def load_demonstrations(
    paths: Given,
    noise_rate: float | None = None,
    *,
    seed: int | None = None,
    obs_keys: Sequence[str] = (),
    flat_too: bool = False,
) -> Demonstrations:
    """Load one file, several, or a folder of them; each is a demonstrator, the expert first where known. What `train` takes
    as `demos` in memory is given back as one object.

    Without a noise rate, every pair is used. With one, the files are mixed by the paper's protocol; `seed` is that of
    `mix`. One file must be an expert's and all others non-experts', by what they hold or by the authors' names (`P1.0`
    for the expert, `P0.4` to `P0.0`). `obs_keys` and `flat_too` are those of `load_file`.

        >>> rilco.load_demonstrations("mine.hdf5")
        Demonstrations(obs=[600, 3], action=[600, 1], episodes=12, demonstrators=1, known=[])
    """
    if noise_rate is not None:
        check_noise_rate(noise_rate)
    held = from_memory(paths, obs_keys)
    if isinstance(held, Demonstrations):
        parts = [held]
    else:
        parts = [load_file(path, obs_keys=obs_keys, flat_too=flat_too) for path in find_files(held)]
    if noise_rate is None:
        return concatenate(parts)
    return mix(*expert_and_others(parts), noise_rate, seed=seed)


def expert_and_others(
    parts: Sequence[Demonstrations], *, guess: bool = False
) -> tuple[Demonstrations, list[Demonstrations]]:
    """The one part that is an expert's, and the others, by their ground truth.

    With `guess` a part that holds none may be either: the first is the expert's where nothing says whose is.
    """
    if guess:
        known = any(part.noise_fraction == 0.0 for part in parts)
        parts = [
            replace(part, expert=np.full(len(part), i == 0 and not known)) if part.expert is None else part
            for i, part in enumerate(parts)
        ]
    experts = [part for part in parts if part.noise_fraction == 0.0]
    non_experts = [part for part in parts if part.noise_fraction == 1.0]
    if len(experts) != 1 or len(experts) + len(non_experts) != len(parts):
        raise DemonstrationError(
            f"{'; '.join(source_names(part) for part in parts)}: a noise rate mixes one file of expert pairs with "
            "files of non-expert pairs, known as such by name (P1.0 for the expert, P0.4 to P0.0 for the "
            f"others) or by what they hold; of these {len(parts)} files {len(experts)} are known as expert "
            f"and {len(non_experts)} as non-expert. Name them so, give others, or leave the noise "
            "rate out to use the files as they are."
        )
    return experts[0], non_experts


def from_memory(given: Any, obs_keys: Sequence[str] = ()) -> Any:
    """What is in memory as one object. Paths stay as they are."""
    if isinstance(given, Demonstrations) or are_paths(given):
        return given
    if isinstance(given, Mapping):
        names = [field.name for field in fields(Demonstrations)]
        if {"obs", "action"} <= set(given) <= set(names):
            return Demonstrations(**{**given, "obs": _side_by_side(given["obs"], obs_keys)})
        raise _not_understood(f"a table of {', '.join(map(str, given))}")
    parts = given if isinstance(given, list | tuple) else []
    if parts and all(isinstance(part, Demonstrations) for part in parts):
        return concatenate(parts)
    if len(parts) in (2, 3) and all(
        hasattr(part, "__array__") or isinstance(part, Mapping) for part in parts
    ):
        return from_memory(dict(zip(("obs", "action", "episode"), parts, strict=False)), obs_keys)
    raise _not_understood(f"{type(given).__name__} of {len(parts)}" if parts else type(given).__name__)


def are_paths(given: Any) -> bool:
    """Whether demonstrations are given by the names of their files."""
    several = given if isinstance(given, list | tuple) and given else [given]
    return all(isinstance(one, str | os.PathLike) for one in several)


def _side_by_side(obs: Any, wanted: Sequence[str]) -> Any:
    """Named parts of observations as one array: sorted by name, as an environment shows them, or those that are wanted."""
    if not isinstance(obs, Mapping):
        return obs
    parts = {name: np.reshape(part, (len(part), -1)) for name, part in _leaves(obs)}
    columns = {name: parts[name].shape[1] for name in sorted(parts)}
    names = choose(Path("demonstrations"), columns, read_keys(wanted) or list(columns))
    if len({len(parts[name]) for name in names}) > 1:
        lengths = ", ".join(f"{name} {len(parts[name]):,}" for name in names)
        raise DemonstrationError(
            f"The parts of obs have different numbers of pairs: {lengths}. Give each part of every pair."
        )
    return np.concatenate([parts[name] for name in names], axis=1)


def _leaves(parts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, part in parts.items():
        yield from (
            _leaves(part, f"{prefix}{name}/")
            if isinstance(part, Mapping)
            else [(f"{prefix}{name}", np.asarray(part))]
        )


def _not_understood(given: str) -> DemonstrationError:
    return DemonstrationError(
        f"The demonstrations are given as {given}; expected paths, Demonstrations, or arrays: (obs, action), (obs, action, "
        'episode) or {"obs": ..., "action": ..., "episode": ...}.'
    )
