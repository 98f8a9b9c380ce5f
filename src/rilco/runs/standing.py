"""How far a run in a results folder has come: read from its files, so that every engine sees the same."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from rilco.clean import config as cleaning
from rilco.config import RunConfig
from rilco.errors import RunError
from rilco.runs.results import CONFIG, METRICS, STOPPED, is_thinned, portable

TAIL = 256 * 1024  # bytes at the end of the metrics that hold the newest evaluation, with room to spare


class Progress(NamedTuple):
    """What the end of a run's metrics says."""

    done: int = 0
    """Transitions."""
    last_return: float | None = None
    """Of the newest evaluation."""
    stopped: bool = False
    """Whether the run ended of its own accord."""


class Standing(NamedTuple):
    """Where a run is before a sweep begins."""

    state: str
    """`new`, `interrupted` or `finished`."""
    progress: Progress = Progress()


def read_progress(folder: Path) -> Progress:
    """From the last whole lines; a file that is being written, or is not there yet, is no error."""
    try:
        with (folder / METRICS).open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - TAIL))
            lines = file.read().split(b"\n")[:-1]
    except OSError:
        return Progress()
    done, last_return, stopped = 0, None, False
    with contextlib.suppress(ValueError, KeyError, TypeError, IndexError):
        last = json.loads(lines[-1])
        done, stopped = int(last["transitions"]), bool(last.get(STOPPED))
    for line in reversed(lines):
        if b'"eval_return"' in line:
            with contextlib.suppress(ValueError, KeyError, TypeError):
                last_return = float(json.loads(line)["eval_return"])
            break
    return Progress(done, last_return, stopped)


def standing(config: RunConfig, folder: Path) -> Standing:
    if not (folder / CONFIG).exists():
        return Standing("new")
    stored, progress = RunConfig.load(folder), read_progress(folder)
    thinned = is_thinned(folder)
    changes = stored.difference(portable(config) if thinned else config)
    covered = progress.stopped or progress.done >= config.iterations * config.transitions_per_iteration
    decays = config.policy_settings.total_updates > 0
    if not decays and (covered or config.steps > stored.steps):
        changes = [line for line in changes if not line.startswith("steps:")]
    if changes:
        raise RunError(
            f"{folder}: holds a run with another configuration. Different: {'; '.join(changes)}. Choose another --out, "
            "or remove that folder first."
        )
    reached = min(config.iterations, progress.done // config.transitions_per_iteration)
    if covered and (thinned or _saved(folder, reached)):
        return Standing("finished", progress)
    if thinned:
        raise RunError(
            f"{folder}: holds a thinned copy of a run that is not finished; it has no checkpoint to go on from. Sweep "
            "into the folder that the copy was made from, or choose another --out."
        )
    return Standing("interrupted", progress)


def _saved(folder: Path, iterations: int) -> bool:
    """Whether the last checkpoint was written: the last line of the metrics comes a moment before it.

    A run in phases has none of its own, and its metrics come last.
    """
    return (folder / cleaning.PHASES).exists() or any(
        at >= iterations for at in _iterations((folder / "checkpoints").glob("*.json"))
    )


def _iterations(manifests: Iterable[Path]) -> list[int]:
    return [int(file.stem) for file in manifests if file.stem.isdigit()]
