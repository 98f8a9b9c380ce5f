"""Runs as Ray tasks, with their folders on a file system that all nodes share.

A task starts the same process as the local engine, and waits for it. If the node is lost, Ray starts the task
elsewhere, and the run resumes from its last checkpoint. Ray's workers import this module, so it imports nothing heavy.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rilco import __version__
from rilco.errors import RunError, require
from rilco.experiment.launch import Settings, ask_to_stop, how_it_ended, search_path, start_run
from rilco.outside import MODULES

if TYPE_CHECKING:
    from rilco.experiment.grid import Job

RETRIES = 100  # after lost nodes; a run that fails by itself is not retried
STOPPING = 120.0  # seconds for a run to write its checkpoint


class Preempted(Exception):
    """Somebody else stopped a run, such as a scheduler that takes the node back."""


class ClusterEngine:
    """Runs as tasks on the Ray cluster at `address`, or on a new one of this machine."""

    first_state = "queued"

    def __init__(self, settings: Settings, address: str | None = None, jobs: int | None = None) -> None:
        self.settings, self.jobs = settings, jobs
        passed_on = {name: os.environ[name] for name in (MODULES, "RILCO_CACHE") if name in os.environ}
        self._environment = passed_on | ({} if address else search_path())
        require("ray", "Sweeps on a cluster", "ray")
        import ray

        self._ray: Any = ray
        self._tasks: dict[Any, Job] = {}
        self._stopping = False
        self._token = settings.out / f".sweep-{uuid.uuid4().hex[:12]}"
        _connect(self._ray, address, None if address or jobs is None else jobs * settings.workers)
        self._task = self._ray.remote(
            num_cpus=settings.workers,
            max_retries=RETRIES,
            retry_exceptions=[Preempted],
            scheduling_strategy="SPREAD",
        )(run_on_node)

    def room(self) -> bool:
        return self.jobs is None or len(self._tasks) < self.jobs

    def start(self, job: Job) -> None:
        told = (self.settings.request(job), self._environment, str(self._token.resolve()), __version__)
        task = self._task.remote(*told)
        self._tasks[task] = job

    def poll(self, seconds: float) -> list[tuple[Job, str]]:
        if not self._tasks:
            return []
        ready, _ = self._ray.wait(list(self._tasks), num_returns=1, timeout=seconds)
        more, _ = self._ray.wait(list(self._tasks), num_returns=len(self._tasks), timeout=0)
        return [(self._tasks.pop(task), self._outcome(task)) for task in {*ready, *more}]

    def _outcome(self, task: Any) -> str:
        from ray.exceptions import RayError, TaskCancelledError

        try:
            return self._ray.get(task)
        except TaskCancelledError:
            return "stopped"
        except RayError as error:
            return "stopped" if self._stopping else f"{type(error).__name__}: {error}"

    def stop(self) -> None:
        self._stopping = True
        for task in self._tasks:
            self._ray.cancel(task, recursive=False)

    def __enter__(self) -> ClusterEngine:
        self.settings.out.mkdir(parents=True, exist_ok=True)
        self._token.touch()
        return self

    def __exit__(self, *exception: object) -> None:
        for task in self._tasks:
            with contextlib.suppress(Exception):
                self._ray.cancel(task, force=True)
        self._token.unlink(missing_ok=True)
        self._ray.shutdown()


def run_on_node(request: Mapping[str, Any], environment: Mapping[str, str], token: str, version: str) -> str:
    """The task: train one run to its end. Returns how it ended."""
    if version != __version__:
        return f"this node has rilco {__version__}, the sweep {version}: install the same on all nodes"
    if not Path(token).exists():
        return f"this node does not see {Path(token).parent}: --out must be on a file system that all nodes share"
    process = start_run(request, environment)
    try:
        while process.poll() is None:
            # Ray cancels a task by raising KeyboardInterrupt in it, which must find the interpreter awake.
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.5)
        how = how_it_ended(process)
        if how == "stopped":
            raise Preempted(request["folder"])
        return how
    except BaseException:
        ask_to_stop(process)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=STOPPING)
        raise
    finally:
        if process.poll() is None:
            process.kill()


def _connect(ray: Any, address: str | None, cpus: int | None) -> None:
    """Join a cluster, or start one on this machine, without usage statistics."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_raylet_start_wait_time_s", "120")  # 30 are too few on a busy machine
    own = {} if address else {"num_cpus": cpus, "include_dashboard": False}
    try:
        _knock(address)
        ray.init(address=address, log_to_driver=False, **own)
    except Exception as error:  # Ray raises all kinds, plain Exception among them
        what = f"--address {address}: no Ray cluster could be joined" if address else "Ray did not start"
        raise RunError(
            f"{what} ({str(error).strip().splitlines()[0]}). Start a cluster with `ray start --head`, and use "
            "--address auto on one of its machines. If the cluster asks for a token, set RAY_AUTH_MODE=token. "
            "Or use --engine local."
        ) from error


def _knock(address: str | None) -> None:
    """Raises OSError if nothing listens there: Ray itself would try for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host, int(port)), timeout=20).close()
