"""A folder of results: its runs, what was skipped and why, and a thinned copy that is small enough to share.

A run is any folder with a configuration, at any depth. Only the lines of metrics with an evaluation matter here, so
a thinned copy reads the same as the run itself.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rilco.config import RunConfig
from rilco.errors import RilcoError, RunError
from rilco.files import write_atomically
from rilco.runs.metrics import STOPPED, read_evaluations
from rilco.runs.paths import CONFIG, METRICS, holds_run

KEPT = ("transitions", "seconds", "eval_return", "eval_std", "eval_length", "eval_episodes", STOPPED)
"""What is kept of a line of metrics."""
OURS = ("README.md", "logs")  # beside runs, and not mentioned


@dataclass(frozen=True, eq=False)
class RunRecord:
    """One run's configuration and evaluations."""

    path: Path
    config: RunConfig
    transitions: np.ndarray  # [n] int64, increasing
    returns: np.ndarray  # [n] mean over the evaluation's episodes
    stds: np.ndarray  # [n] standard deviation over them
    finished: bool  # whether the run has done all of its transitions, or stopped early by itself
    done: int  # transitions at the last line, evaluated or not


class Skipped(NamedTuple):
    """Something in a results folder that is not used."""

    path: Path
    reason: str


class Results(NamedTuple):
    runs: list[RunRecord]
    skipped: list[Skipped]


def read_results(path: str | os.PathLike[str]) -> Results:
    """Every usable run at or below `path`, in order of path, and what was skipped.

    Of runs that differ only in their length and evaluations, the one that came furthest is used: the shorter is the
    beginning of the longer, not another sample.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise RunError(
            f"{folder}: there is no such folder. Name the folder that was --out of `rilco sweep` or `rilco train`."
        )
    runs: list[RunRecord] = []
    skipped: list[Skipped] = []
    for place in _entries(folder):
        if isinstance(place, Skipped):
            skipped.append(place)
            continue
        try:
            runs.append(read_run(place))
        except RilcoError as error:
            skipped.append(Skipped(place, str(error)))
    runs, duplicates = _without_duplicates(runs)
    return Results(runs, sorted([*skipped, *duplicates]))


def read_run(folder: Path) -> RunRecord:
    """The record of one run. Raises RunError for what a run cannot have written."""
    config = RunConfig.load(folder)
    lines, last = read_evaluations(folder)
    done = last.get("transitions", 0)
    return RunRecord(
        path=folder,
        config=config,
        transitions=np.array([line["transitions"] for line in lines], np.int64),
        returns=np.array([line["eval_return"] for line in lines], np.float64),
        stds=np.array([line["eval_std"] for line in lines], np.float64),
        finished=bool(last.get(STOPPED)) or done >= config.transitions,
        done=done,
    )


def _entries(folder: Path, above: tuple[Path, ...] = ()) -> Iterator[Path | Skipped]:
    """Run folders, and what is neither a run nor a folder of runs. Does not look inside runs."""
    real = folder.resolve()
    if real in above:  # a symbolic link to a folder that contains it
        return
    if holds_run(folder):
        yield folder
        return
    if (folder / METRICS).exists():
        yield Skipped(folder, f"{folder}: has metrics and no {CONFIG}, so nothing says what was run.")
        return
    try:
        children = sorted(folder.iterdir())
    except OSError as error:
        yield Skipped(folder, f"{folder}: could not be read ({error.strerror}).")
        return
    for child in children:
        if child.name.startswith(".") or child.name in OURS:
            continue
        if child.is_dir():
            yield from _entries(child, (*above, real))
        else:
            yield Skipped(child, f"{child}: not a run; runs are folders.")


def _without_duplicates(runs: list[RunRecord]) -> tuple[list[RunRecord], list[Skipped]]:
    best: dict[RunConfig, RunRecord] = {}
    skipped = []
    for run in sorted(runs, key=lambda run: -run.done):
        kept = best.setdefault(identity(run.config), run)
        if kept is not run:
            reason = f"{run.path}: the same run as {kept.path}, which came at least as far ({kept.done:,} transitions)."
            skipped.append(Skipped(run.path, reason))
    return sorted(best.values(), key=lambda run: run.path), skipped


def identity(config: RunConfig) -> RunConfig:
    """The configuration without what does not change what is learned: its length, evaluations and snapshots.

    Where something decays over the length, the policy learner's settings have the number of updates.
    """
    return dataclasses.replace(config, steps=1, evaluate_every=0, evaluation_episodes=1, snapshot_every=0)


# -- thinning ------------------------------------------------------------------------------------


def thin(source: str | os.PathLike[str], out: str | os.PathLike[str]) -> Results:
    """Copy the configurations and evaluations of the runs below `source` to the same places below `out`.

    Demonstration files lose their folders, which mean nothing on other machines. Returns the copied runs, and what was
    skipped. A copy that came further than the run is left as it is.
    """
    source, out = Path(source), Path(out)
    real_source, real_out = source.resolve(), out.resolve()
    if real_source == real_out or real_source in real_out.parents or real_out in real_source.parents:
        raise RunError(
            f"{out}: thinned copies go to a folder of their own, neither inside {source} nor around it."
        )
    results = read_results(source)
    copied, skipped = [], list(results.skipped)
    for run in results.runs:
        target = out / (run.path.relative_to(source) if run.path != source else run.path.name)
        reason = _obstacle(run, target) if run.done else f"{run.path}: nothing was logged yet."
        if reason is not None:
            skipped.append(Skipped(run.path, reason))
            continue
        copied.append(_write_thinned(run, target))
    return Results(copied, skipped)


def is_thinned(folder: Path) -> bool:
    """Whether a folder is a thinned copy, which holds results but cannot go on."""
    try:
        with (folder / METRICS).open("rb") as file:
            first = file.readline()
    except OSError:
        return False
    return first.endswith(b"\n") and b'"iteration"' not in first


def _obstacle(run: RunRecord, target: Path) -> str | None:
    """Why a copy may not be written, if so."""
    if not holds_run(target):
        return None
    if not is_thinned(target) and (target / METRICS).exists():
        return f"{target}: holds a run of its own, not a thinned copy; it was left alone."
    try:
        there = read_run(target)
    except RilcoError:
        return None  # damaged: better written again
    if identity(there.config) != identity(portable(run.config)):
        return f"{target}: holds a copy of a run with another configuration; it was left alone."
    if there.done > run.done:
        return f"{target}: the copy has {there.done:,} transitions, this run only {run.done:,}; it was left alone."
    return None


def _write_thinned(run: RunRecord, target: Path) -> RunRecord:
    lines, last = read_evaluations(run.path)
    if last and (not lines or lines[-1]["transitions"] < last["transitions"]):
        # The copy says how far the run came.
        lines.append({name: last.get(name) for name in ("transitions", "seconds", STOPPED)})
    kept = [{name: line[name] for name in KEPT if line.get(name) is not None} for line in lines]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in kept)
    write_atomically(target / CONFIG, portable(run.config).to_json().encode())
    write_atomically(target / METRICS, text.encode())
    return read_run(target)


def portable(config: RunConfig) -> RunConfig:
    """The configuration without the folders of files, which belong to one machine."""
    names = [tuple(Path(file).name for file in files) for files in (config.demos, config.nonexpert_demos)]
    start = Path(config.start_from).name
    return dataclasses.replace(config, demos=names[0], nonexpert_demos=names[1], start_from=start)
