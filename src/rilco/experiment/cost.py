"""How long a grid will take, from a short measurement of each kind of run on this machine."""

from __future__ import annotations

import dataclasses
import heapq
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rilco.clean.config import CleanConfig
from rilco.config import RunConfig
from rilco.experiment.grid import Job, run_name
from rilco.experiment.measure import MEASURED, WARM_UP, Speed, measure
from rilco.files import write_atomically
from rilco.methods import find
from rilco.runs.interrupt import StopSignal
from rilco.runs.standing import Standing

FORMAT = "rilco-estimate-1"
FILE = "estimate.json"
EPISODE = 1000  # steps of an evaluation episode, if it lasts to its time limit


class Estimate(NamedTuple):
    seconds: dict[str, float]
    """Of what is left of each run, by name; without those whose kind could not be measured."""
    failures: dict[str, str]
    """Kinds that could not be measured, and why."""


def kind(config: RunConfig) -> RunConfig:
    """The configuration that stands for all that cost the same: which data and seed does not matter."""
    alike = find(config.method).like or config.method
    settings: dict[str, Any] = {"method": alike, "seed": 1, "evaluate_every": -1, "snapshot_every": 0}
    settings["clean"] = CleanConfig()
    interval = 1  # iterations to a line of metrics
    if not find(config.method).makes_transitions:
        interval, settings["evaluate_every"] = 100, 0  # it makes no steps but those of evaluations
    settings["steps"] = (WARM_UP + MEASURED) * interval * config.transitions_per_iteration
    if config.noise_rate is not None and config.demo_kind == "policy":
        settings["noise_rate"] = 0.4
    return dataclasses.replace(config, **settings)


def estimate(
    jobs: Sequence[Job],
    standings: Sequence[Standing],
    out: Path,
    *,
    side_by_side: int,
    workers: int,
    stop: StopSignal,
) -> Estimate:
    """Seconds for what is left of every run, as it will run: `side_by_side` at a time.

    Measurements are kept in the folder `out` and made once for each way of sharing the machine.
    """
    left = [(job, there) for job, there in zip(jobs, standings, strict=True) if there.state != "finished"]
    kinds = {label(job.config): kind(job.config) for job, _ in left}
    shared = f"{side_by_side} runs side by side, {workers} workers each, {os.cpu_count()} cores"
    known = _load(out / FILE)
    wanted = {
        name: config for name, config in kinds.items() if name not in known or known[name].measured != shared
    }
    measured, failures = measure(wanted, side_by_side, workers, stop)
    if measured:
        known |= {name: speed._replace(measured=shared) for name, speed in measured.items()}
        _store(out / FILE, known)
    seconds = {
        job.name: time_left(job.config, known[label(job.config)], there.progress.done)
        for job, there in left
        if label(job.config) not in failures
    }
    return Estimate(seconds, failures)


def label(config: RunConfig) -> str:
    """The name of a kind: `ant/noise-0.4/ril-co`."""
    return run_name(kind(config)).rpartition("/")[0]


def time_left(config: RunConfig, speed: Speed, done: int) -> float:
    """Iterations, and evaluations whose episodes all last to their time limit."""
    share = 1 - min(1.0, done / (config.iterations * config.transitions_per_iteration))
    evaluations = max(0, config.evaluate_every + 1)  # 0: only one, at the end; -1: none
    if config.evaluate_every > 0:
        evaluations = -(-config.iterations // config.every(config.evaluate_every))  # the end is always one
    evaluating = evaluations * config.evaluation_episodes * EPISODE * speed.seconds_per_step
    return share * (config.iterations * speed.seconds_per_iteration + evaluating)


def makespan(seconds: Sequence[float], side_by_side: int) -> float:
    """When the last run ends if each begins, in order, as soon as there is room."""
    free = [0.0] * max(1, side_by_side)
    for length in seconds:
        heapq.heapreplace(free, free[0] + length)
    return max(free)


def _load(file: Path) -> dict[str, Speed]:
    """What was measured before; anything unreadable is measured again."""
    try:
        table = json.loads(file.read_bytes())
        if table["format"] != FORMAT:
            return {}
        return {
            name: Speed(
                float(row["seconds_per_iteration"]), float(row["seconds_per_step"]), str(row["measured"])
            )
            for name, row in table["kinds"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _store(file: Path, known: Mapping[str, Speed]) -> None:
    table = {"format": FORMAT, "kinds": {name: speed._asdict() for name, speed in sorted(known.items())}}
    write_atomically(file, (json.dumps(table, indent=2) + "\n").encode())
