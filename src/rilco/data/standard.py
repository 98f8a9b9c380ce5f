"""The standard datasets: what the shipped policies of a task do, made on first use and kept in a cache.

A dataset is six files, the expert's and five non-experts', so that every noise rate is mixed from the same ones. The
cache is only a saving of time: the files follow from the shipped policies alone, byte for byte.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rilco.errors import RunError
from rilco.files import remove_forgotten, replacing

if TYPE_CHECKING:
    from rilco.data.record import Demonstrations
    from rilco.policy.saved import Policy
    from rilco.tasks.table import Task

PAIRS = 10_000  # of each demonstrator, at least: whole episodes
RUNGS = (1, 2, 3, 4, 5, 6)
VERSION = 1  # of how the files are made; a new number makes new ones

Say = Callable[[str], None]


def standard_files(task: Task, kind: str = "policy", *, say: Say = lambda line: None) -> tuple[str, ...]:
    """Paths of the six files of a task, the expert's first. Makes them where the cache has none."""
    from rilco.policy.saved import shipped_rung

    ladder = f"{task.name}-matched" if kind == "matched" else task.name
    policies = [shipped_rung(ladder, rung)[0] for rung in (RUNGS[:1] if kind == "gaussian" else RUNGS)]
    names = ["expert.npz", *(f"non-expert-{rung}.npz" for rung in RUNGS[1:])]
    folder = cache_folder() / f"{task.name}-{kind}-{_digest(policies)}"
    remove_forgotten(folder)
    if not folder.is_dir():
        say(f"Making the standard demonstrations of {task.name} ({kind}); they are kept in {folder}.")
        _fill(folder, names, _play(policies, task, None if kind == "gaussian" else ladder))
    return tuple(str(folder / name) for name in names)


def cache_folder() -> Path:
    """`RILCO_CACHE`, or `rilco` in the user's cache folder."""
    own = os.environ.get("RILCO_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rilco"


def _play(policies: list[Policy], task: Task, ladder: str | None) -> Iterator[Demonstrations]:
    """The ladder's policies as they are; or the expert, without and with five strengths of noise on its actions."""
    from rilco.data.collect import collect, find_variances

    expert = policies[0]
    if ladder:
        takes = [(policy, 0.0, f"{ladder}#{rung}") for rung, policy in zip(RUNGS, policies, strict=True)]
    else:
        variances = find_variances(expert, task)
        noisy = [(expert, variance, f"{task.name}#1 with variance {variance:.3g}") for variance in variances]
        takes = [(expert, 0.0, f"{task.name}#1"), *noisy]
    for k, (policy, variance, name) in enumerate(takes):
        yield collect(policy, task, pairs=PAIRS, action_noise=variance, expert=k == 0, name=name)


def _fill(folder: Path, names: list[str], parts: Iterator[Demonstrations]) -> None:
    """The whole folder or nothing; two processes that fill it at once do not meet. A part is made when its turn comes."""
    from rilco.data.formats import save_demonstrations

    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with replacing(folder) as unfinished:
            unfinished.mkdir()
            for name, part in zip(names, parts, strict=True):
                save_demonstrations(part, unfinished / name)
    except OSError as error:
        if not folder.is_dir():  # else another process was first, with the same files
            raise RunError(
                f"{folder}: the standard demonstrations could not be kept here ({error.strerror or error}). Set the "
                "environment variable RILCO_CACHE to a folder that can be written, or make room."
            ) from error


def _digest(policies: list[Policy]) -> str:
    digest = hashlib.sha256(f"{VERSION} {PAIRS}".encode())
    for policy in policies:
        for name, array in policy.arrays().items():
            digest.update(name.encode() + array.tobytes())
    return digest.hexdigest()[:12]
