"""Runs side by side on this machine, each a process of its own."""

from __future__ import annotations

import subprocess
import time

from rilco.experiment.grid import Job
from rilco.experiment.launch import Settings, ask_to_stop, how_it_ended, search_path, start_run
from rilco.rollout.pool import num_workers


class LocalEngine:
    """At most `jobs` runs at a time."""

    first_state = "started"

    def __init__(self, settings: Settings, jobs: int) -> None:
        self.settings, self.jobs = settings, jobs
        self.running: dict[str, tuple[Job, subprocess.Popen]] = {}

    def room(self) -> bool:
        return len(self.running) < self.jobs

    def start(self, job: Job) -> None:
        self.running[job.name] = job, start_run(self.settings.request(job), search_path())

    def poll(self, seconds: float) -> list[tuple[Job, str]]:
        until = time.monotonic() + seconds
        over: list[tuple[Job, subprocess.Popen]] = []
        while not over and time.monotonic() < until:
            time.sleep(0.05)
            over = [(job, process) for job, process in self.running.values() if process.poll() is not None]
        for job, process in over:
            ask_to_stop(process)  # closes our end
            del self.running[job.name]
        return [(job, how_it_ended(process)) for job, process in over]

    def stop(self) -> None:
        for _, process in self.running.values():
            ask_to_stop(process)

    def __enter__(self) -> LocalEngine:
        return self

    def __exit__(self, *exception: object) -> None:
        for _, process in self.running.values():
            process.kill()  # its rollout workers see that and leave
        for _, process in self.running.values():
            process.wait()
            ask_to_stop(process)
        self.running = {}


def share_cores(runs: int, jobs: int | None, workers: int | None) -> tuple[int, int]:
    """The number of runs side by side, and of rollout processes in each.

    A run with one rollout process keeps about one core busy, since it either learns or acts. So there are as many
    runs as cores. A run has more processes only where there are fewer runs.
    """
    cores = num_workers()
    if jobs is None:
        jobs = max(1, cores // workers) if workers else cores
    jobs = max(1, min(jobs, runs))
    return jobs, workers or max(1, cores // jobs)
