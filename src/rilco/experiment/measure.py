"""How fast runs are on this machine: a few iterations of each kind, really run.

What counts is processor time, where the system tells it: a measurement beside other work is then still about right.
"""

from __future__ import annotations

import itertools
import os
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rilco.config import RunConfig
from rilco.experiment.engine import Settings
from rilco.experiment.grid import Job
from rilco.experiment.launch import last_lines
from rilco.experiment.local import LocalEngine
from rilco.files import scratch
from rilco.runs.interrupt import StopSignal
from rilco.runs.metrics import read_metrics, read_progress

# Lines of metrics: the first iterations compile, and K-FAC's costly ones are every tenth.
WARM_UP, MEASURED = 5, 30
POLL = 0.1  # seconds


class Speed(NamedTuple):
    """Of one kind of run, had it a core for every process."""

    seconds_per_iteration: float
    seconds_per_step: float
    """Of an evaluation."""
    measured: str = ""
    """Under what circumstances, in words."""


class Sample(NamedTuple):
    """Processor seconds of a run so far."""

    iteration: int
    learner: float
    rollouts: float
    """Of all its rollout processes together."""


def measure(
    kinds: Mapping[str, RunConfig], side_by_side: int, workers: int, stop: StopSignal
) -> tuple[dict[str, Speed], dict[str, str]]:
    """Run each kind, as many at a time as the sweep would; returns speeds, and reasons where there is none."""
    speeds: dict[str, Speed] = {}
    failures: dict[str, str] = {}
    samples: dict[str, list[Sample]] = defaultdict(list)
    with scratch("estimate") as folder:
        settings = Settings(folder, workers, checkpoint_every=10_000)
        waiting = [Job(name, config) for name, config in reversed(list(kinds.items()))]
        with LocalEngine(settings, side_by_side) as engine:
            while (waiting or engine.processes()) and not stop.requested:
                while waiting and engine.room():
                    engine.start(waiting.pop())
                for name, pid in engine.processes().items():
                    iteration = (
                        read_progress(settings.out / name).done // kinds[name].transitions_per_iteration
                    )
                    samples[name].append(Sample(iteration, *cpu_seconds(pid)))
                for job, how in engine.poll(POLL):
                    if how != "finished":
                        failures[job.name] = f"{how}: {last_lines(settings.log(job), 3)}"
                        continue
                    lines = read_metrics(settings.out / job.name)
                    speeds[job.name] = speed(lines, samples[job.name], job.config, workers)
        stop.raise_if_requested()
    return speeds, failures


def speed(lines: list[dict[str, Any]], samples: list[Sample], config: RunConfig, workers: int) -> Speed:
    """From processor time if the run lasted long enough to be sampled, else from the clock in its metrics."""
    whole = itertools.takewhile(lambda pair: _grew(*pair), itertools.pairwise(samples))  # until processes end
    warm = [sample for _, sample in whole if sample.iteration >= lines[WARM_UP - 1]["iteration"]]
    made = config.transitions_per_iteration
    # Of the evaluation at the end, if there is one.
    steps = config.evaluation_episodes * lines[-1].get("eval_length", 0.0)
    iterations = warm[-1].iteration - warm[0].iteration if warm else 0
    if iterations == 0 or iterations < 0.5 * (lines[-1]["iteration"] - warm[0].iteration):
        return _by_the_clock(lines, steps, made)
    learning = (warm[-1].learner - warm[0].learner) / iterations
    acting = (warm[-1].rollouts - warm[0].rollouts) / workers
    if steps:  # behaviour cloning acts in evaluations only
        return Speed(learning, acting / steps)
    return Speed(learning + acting / iterations, acting / iterations / made)


def _grew(before: Sample, after: Sample) -> bool:
    return after.learner >= before.learner and after.rollouts >= before.rollouts


def _by_the_clock(lines: list[dict[str, Any]], steps: float, made: int) -> Speed:
    first, last = lines[WARM_UP - 1], lines[-2] if steps else lines[-1]
    seconds = (last["seconds"] - first["seconds"]) / (last["iteration"] - first["iteration"])
    if not steps:  # an iteration is mostly steps too
        return Speed(seconds, seconds / made)
    learning = seconds * (lines[-1]["iteration"] - last["iteration"])
    return Speed(seconds, max(0.0, lines[-1]["seconds"] - last["seconds"] - learning) / steps)


def cpu_seconds(pid: int) -> tuple[float, float]:
    """Processor time of a process, and of those that it started; zeros where the system does not tell."""
    own, below = 0.0, 0.0
    try:
        # After the command's name, which may hold anything: fields 14 and 15 of proc(5) are user and system time.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        for task in Path(f"/proc/{pid}/task").iterdir():
            below += sum(sum(cpu_seconds(int(child))) for child in (task / "children").read_text().split())
    except (OSError, ValueError, IndexError):
        pass  # it ended meanwhile, or there is no /proc
    return own, below
