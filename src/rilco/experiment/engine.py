"""What an engine is: something that works on runs until they end. `local` and `cluster` are the two there are."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

from rilco.experiment.grid import Job
from rilco.experiment.launch import LOGS, Request


class Ended(NamedTuple):
    """How a run's process ended."""

    job: Job
    how: str
    """`finished`, `stopped` (on request, with a checkpoint), or why it failed."""


class Engine(Protocol):
    """Use as a context manager; leaving it ends whatever still runs."""

    first_state: str
    """What a run is once handed over: `started`, or `queued` where it may have to wait for a place."""

    def room(self) -> bool:
        """Whether another run can be started or queued."""

    def start(self, job: Job) -> None: ...

    def poll(self, seconds: float) -> list[Ended]:
        """Those that ended since the last call; waits up to so long for one."""

    def stop(self) -> None:
        """Ask all runs to end after their iteration; `poll` then tells when they have."""

    def kill(self) -> None:
        """End everything at once."""

    def __enter__(self) -> Engine: ...

    def __exit__(self, *exception: object) -> None: ...


class Settings(NamedTuple):
    """What both engines tell every run."""

    out: Path
    workers: int
    """Rollout processes of each run."""
    checkpoint_every: int = 100
    """Iterations."""

    def request(self, job: Job, environment: dict[str, str]) -> Request:
        return Request(
            config=job.config.to_json(),
            folder=str(self.out.resolve() / job.name),
            log=str(self.log(job).resolve()),
            workers=self.workers,
            checkpoint_every=self.checkpoint_every,
            environment=environment,
        )

    def log(self, job: Job) -> Path:
        return self.out / LOGS / f"{job.name}.log"
