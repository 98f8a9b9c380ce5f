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
    """Measure each task with each method. Returns what `rilco bench --json` writes."""
    results: dict[str, Any] = {"methods": {}}
    for task in tasks:
        for method in methods:
            jax.clear_caches()
            if find(method).makes_transitions:
                measured = measure_task(task, iterations=iterations, workers=workers, method=method)
                results["methods"].setdefault(method, {})[task] = measured
            else:
                results["bc_steps_per_second"] = measure_cloning(task)
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


def measure_task(task: str, *, iterations: int, workers: int, method: str) -> dict[str, Any]:
    """Steps per second of `bare`, `pool` and `train`; milliseconds per iteration; peak memory in MB."""
    if (file := Path("/proc/self/clear_refs")).exists():
        file.write_text("5")  # the peak is this run's, not an earlier one's
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
        peak = peak_memory_mb([os.getpid(), *pool.pids])
    spent = {**trainer.seconds, "bare": bare_seconds, "rest": train_seconds - sum(trainer.seconds.values())}
    seconds = {"bare": bare_seconds, "pool": trainer.seconds["collect"], "train": train_seconds}
    transitions = iterations * config.transitions_per_iteration
    speeds = {name: transitions / taken for name, taken in seconds.items()}
    milliseconds = {name: 1e3 * taken / iterations for name, taken in spent.items()}
    return {**speeds, "ms_per_iteration": milliseconds, "peak_rss_mb": peak}


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
