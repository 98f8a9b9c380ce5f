"""Throughput of training and rollouts against the bare simulator, all in one run.

A machine's speed drifts from second to second. So three things are measured in turn: a method's whole iteration, its
rollouts, and the same motions repeated by the simulator alone. Compare the ratios of the sums.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from rilco.config import RunConfig
from rilco.data.record import Demonstrations
from rilco.methods import find
from rilco.tasks.robots import ROBOTS
from rilco.tasks.table import Task
from rilco.training import Data, Trainer, open_pool

WARM_UP = 20  # iterations: compilation, and the normaliser's first statistics
PAIRS = 17_500  # demonstrations at noise rate 0.4
DEMONSTRATORS = 6
CLONING_ITERATIONS = 2000


def run_benchmark(
    tasks: Sequence[str] = tuple(ROBOTS),
    *,
    methods: Sequence[str] = ("ril-co",),
    iterations: int = 150,
    workers: int = 2,
) -> dict[str, Any]:
    """Measure each task with each method. Returns what `rilco bench --json` writes.

    `tasks` and `phases_ms` are of the first method; `methods` has the speeds of all.
    """
    results: dict[str, Any] = {"tasks": {}, "phases_ms": {}, "methods": {}, "peak_rss_mb": 0.0}
    for task in tasks:
        for method in methods:
            jax.clear_caches()
            if not find(method).makes_transitions:
                results["bc_steps_per_second"] = measure_cloning(task)
                continue
            _forget_peak_memory()  # the peak is this run's, not an earlier one's
            speeds, phases, peak = measure_task(task, iterations=iterations, workers=workers, method=method)
            results["tasks"].setdefault(task, speeds)
            results["phases_ms"].setdefault(task, phases)
            results["methods"].setdefault(method, {})[task] = speeds
            results["peak_rss_mb"] = max(results["peak_rss_mb"], peak)
    return results


def measure_cloning(task: str) -> float:
    """Gradient steps per second of behaviour cloning."""
    from rilco.bc.config import BcConfig
    from rilco.bc.training import Cloner

    demos, config = _random_demonstrations(*Task(task=task).dimensions()), BcConfig()
    cloner = Cloner(config, demos, seed=0, iterations=2 * CLONING_ITERATIONS)
    while not cloner.finished:
        if cloner.iteration == CLONING_ITERATIONS:  # the first half compiles
            start = time.perf_counter()
        cloner.advance(cloner.iterations)
    return CLONING_ITERATIONS * config.steps_per_iteration / (time.perf_counter() - start)


def measure_task(
    task: str, *, iterations: int, workers: int, method: str
) -> tuple[dict[str, float], dict[str, float], float]:
    """Steps per second of `bare`, `pool` and `train`; milliseconds per iteration by phase; peak memory in MB."""
    config = RunConfig(method=method, task=Task(task=task), demos=("benchmark",), evaluate_every=-1)
    with open_pool(config, None, workers) as pool:
        demos = _random_demonstrations(pool.sizes.obs_dim, pool.sizes.action_dim)
        trainer = Trainer(config, Data(demos), pool)
        trainer.start()
        bare_seconds = train_seconds = 0.0
        for i in range(WARM_UP + iterations):
            if i == WARM_UP:
                trainer.seconds.clear()
                bare_seconds = train_seconds = 0.0
            pool.mark()
            start = time.perf_counter()
            trainer.advance()
            json.dumps(trainer.record())
            middle = time.perf_counter()
            pool.bare()
            train_seconds += middle - start
            bare_seconds += time.perf_counter() - middle
        phases = dict(trainer.seconds)
        peak = peak_memory_mb([os.getpid(), *pool.pids])
    transitions = iterations * config.transitions_per_iteration
    speeds = {
        "bare": transitions / bare_seconds,
        "pool": transitions / phases["collect"],
        "train": transitions / train_seconds,
    }
    milliseconds = {name: 1e3 * phases[name] / iterations for name in ("collect", "learn")}
    milliseconds["rest"] = 1e3 * train_seconds / iterations - sum(milliseconds.values())
    milliseconds["bare"] = 1e3 * bare_seconds / iterations
    return speeds, milliseconds, peak


def _forget_peak_memory() -> None:
    if (file := Path("/proc/self/clear_refs")).exists():
        file.write_text("5")


def peak_memory_mb(pids: Sequence[int]) -> float:
    """The sum of the processes' largest resident sizes, or 0 where the system has no /proc."""
    files = [Path(f"/proc/{pid}/status") for pid in pids]
    peaks = [re.search(r"VmHWM:\s*(\d+)", file.read_text()) for file in files if file.exists()]
    return sum(int(peak[1]) for peak in peaks if peak) / 1024


def _random_demonstrations(obs_dim: int, action_dim: int) -> Demonstrations:
    """Demonstrations without a file: learning takes the same time whatever they are."""
    rng = np.random.default_rng(0)
    obs = rng.standard_normal((PAIRS, obs_dim), np.float32)
    action = rng.standard_normal((PAIRS, action_dim), np.float32)
    return Demonstrations(
        obs, action, episode=np.arange(PAIRS) // 1000, demonstrator=np.arange(PAIRS) % DEMONSTRATORS
    )
