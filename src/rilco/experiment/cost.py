"""How long a grid will take, from a short measurement of each kind of run on this machine."""

from __future__ import annotations

import dataclasses
import heapq
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rilco.clean.config import CleanConfig
from rilco.config import RunConfig
from rilco.experiment.grid import Job, run_name
from rilco.experiment.launch import Settings, last_lines, log_file
from rilco.experiment.local import LocalEngine
from rilco.experiment.status import Board
from rilco.experiment.sweep import survey, work_through
from rilco.files import scratch
from rilco.methods import find
from rilco.runs.interrupt import StopSignal
from rilco.runs.metrics import Line, read_metrics
from rilco.runs.progress import StatusLine
from rilco.runs.standing import Standing

# Lines of metrics. The first iterations compile; every tenth iteration of K-FAC is a costly one.
WARM_UP, MEASURED = 5, 30
EPISODE = 1000  # steps of an evaluation episode that lasts to its time limit


class Speed(NamedTuple):
    """How fast one kind of run is."""

    seconds_per_iteration: float
    seconds_per_step: float
    """Of an evaluation."""


def estimate(
    jobs: Sequence[Job], standings: Sequence[Standing], *, side_by_side: int, workers: int, stop: StopSignal
) -> tuple[dict[str, float], dict[str, str]]:
    """Seconds that are left of every unfinished run, by name, with `side_by_side` runs at a time.

    Runs whose kind could not be measured are left out; the second table says why.
    """
    left = [(job, there) for job, there in zip(jobs, standings, strict=True) if there.state != "finished"]
    kinds = {label(job.config): kind(job.config) for job, _ in left}
    speeds, failures = measure(kinds, side_by_side, workers, stop)
    seconds = {
        job.name: time_left(job.config, speeds[label(job.config)], there.progress.done)
        for job, there in left
        if label(job.config) in speeds
    }
    return seconds, failures


def kind(config: RunConfig) -> RunConfig:
    """A short run that is as fast as this one. Data and seed make no difference."""
    method = find(config.method)
    settings: dict[str, Any] = {
        "method": method.like or config.method,
        "seed": 1,
        "snapshot_every": 0,
        "clean": CleanConfig(),
        "evaluate_every": -1,
    }
    interval = 1  # iterations to a line of metrics
    if not method.makes_transitions:
        interval, settings["evaluate_every"] = 100, 0  # its only steps are those of an evaluation
    settings["steps"] = (WARM_UP + MEASURED) * interval * config.transitions_per_iteration
    if config.noise_rate is not None and config.demo_kind == "policy":
        settings["noise_rate"] = 0.4
    return dataclasses.replace(config, **settings)


def label(config: RunConfig) -> str:
    """The name of a kind: `ant/noise-0.4/ril-co`."""
    return run_name(kind(config)).rpartition("/")[0]


def measure(
    kinds: Mapping[str, RunConfig], side_by_side: int, workers: int, stop: StopSignal
) -> tuple[dict[str, Speed], dict[str, str]]:
    """Run each kind, as many at a time as the sweep would. Returns speeds, and why others failed."""
    jobs = [Job(name, config) for name, config in kinds.items()]
    with scratch("estimate") as out:
        board = Board(jobs, survey(jobs, out), out, StatusLine(quiet=True))
        with LocalEngine(Settings(out, workers, checkpoint_every=10_000), side_by_side) as engine:
            failed = work_through(jobs, engine, board, stop)
        stop.raise_if_requested()
        failures = {name: f"{why}: {last_lines(log_file(out, name))}" for name, why in failed.items()}
        done = [job for job in jobs if job.name not in failures]
        return {job.name: speed(read_metrics(out / job.name), job.config) for job in done}, failures


def speed(lines: Sequence[Line], config: RunConfig) -> Speed:
    """The speed after the warm-up, by the clock in the metrics."""
    steps = config.evaluation_episodes * lines[-1].get("eval_length", 0.0)  # of an evaluation at the end
    first, last = lines[WARM_UP - 1], lines[-2] if steps else lines[-1]
    seconds = (last["seconds"] - first["seconds"]) / (last["iteration"] - first["iteration"])
    if not steps:  # an iteration is mostly steps
        return Speed(seconds, seconds / config.transitions_per_iteration)
    learning = seconds * (lines[-1]["iteration"] - last["iteration"])
    return Speed(seconds, max(0.0, lines[-1]["seconds"] - last["seconds"] - learning) / steps)


def time_left(config: RunConfig, speed: Speed, done: int) -> float:
    """Seconds for the iterations, and for evaluations whose episodes all last to their time limit."""
    share = 1 - min(1.0, done / config.transitions)
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
