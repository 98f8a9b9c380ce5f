"""How far a run has come, by the files in its folder."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from rilco.config import RunConfig, in_words
from rilco.errors import RunError
from rilco.runs.checkpoint import newest_iteration
from rilco.runs.folder import changes
from rilco.runs.metrics import Progress, read_progress
from rilco.runs.paths import CHECKPOINTS, PHASES, holds_run
from rilco.runs.results import is_thinned, portable


class Standing(NamedTuple):
    """The state of a run before a sweep begins."""

    state: str  # `new`, `interrupted`, `finished`, or `unreadable`: nothing says what was run in the folder
    progress: Progress = Progress()


def standing(config: RunConfig, folder: Path) -> Standing:
    if not holds_run(folder):
        return Standing("new")
    try:
        stored, progress = RunConfig.load(folder), read_progress(folder)
    except RunError:  # training will say why
        return Standing("unreadable")
    thinned = is_thinned(folder)
    covered = progress.stopped or progress.done >= config.transitions
    different = changes(stored, portable(config) if thinned else config, covered=covered)
    if different:
        raise RunError(
            f"{folder}: holds a run with another configuration. Different: {in_words(different)}. Choose another "
            "--out, or remove that folder first."
        )
    reached = min(config.iterations, progress.done // config.transitions_per_iteration)
    if covered and (thinned or _saved(folder, reached)):
        return Standing("finished", progress)
    if thinned:
        raise RunError(
            f"{folder}: holds a thinned copy of an unfinished run, without a checkpoint to resume. Sweep into the "
            "folder that the copy was made from, or choose another --out."
        )
    return Standing("interrupted", progress)


def _saved(folder: Path, iterations: int) -> bool:
    """Whether the last checkpoint was written, which happens just after the last line of the metrics.

    A run in phases has no checkpoints of its own, and its metrics come last.
    """
    return (folder / PHASES).exists() or newest_iteration(folder / CHECKPOINTS) >= iterations
