"""Starting the process of a run, the same way on this machine and on a cluster's. Imports nothing heavy."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rilco.files import writing

if TYPE_CHECKING:
    from rilco.experiment.grid import Job

# One thread each for BLAS and XLA. Runs that share a machine would only wait for each other's threads. XLA also
# divides its work by the number of threads: a run has the same bytes on every machine only if that number is fixed.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC"), "1")
XLA_ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"
LOGS = "logs"
LAST = 12  # lines of a log in the report of a failure


class Settings(NamedTuple):
    """What an engine tells every run."""

    out: Path
    workers: int
    """Rollout processes of each run."""
    checkpoint_every: int = 100
    """Iterations between checkpoints."""

    def request(self, job: Job) -> dict[str, Any]:
        """What the process of a run is told. A run that is in the folder is resumed; the log is appended to."""
        out = self.out.resolve()
        files = {"folder": str(out / job.name), "log": str(log_file(out, job.name))}
        how = {"workers": self.workers, "checkpoint_every": self.checkpoint_every}
        return {"config": job.config.to_json(), **files, **how}


def log_file(out: Path, name: str) -> Path:
    """The log of a sweep's run."""
    return out / LOGS / f"{name}.log"


def start_run(request: Mapping[str, Any], environment: Mapping[str, str]) -> subprocess.Popen:
    """A process that trains, with more environment variables than ours.

    It stops with a checkpoint when its standard input closes, so also if we die.
    """
    log = Path(request["log"])
    with writing(log):
        log.parent.mkdir(parents=True, exist_ok=True)
        output = log.open("ab")
    flags = f"{os.environ.get('XLA_FLAGS', '')} {XLA_ONE_THREAD}".strip()
    threads = {**ONE_THREAD, "XLA_FLAGS": flags}
    with output:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "rilco.experiment.runner"],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={"JAX_PLATFORMS": "cpu", **os.environ, **threads, **environment},
            start_new_session=True,  # Ctrl-C reaches the sweep only, which then ends the runs
        )
    with contextlib.suppress(BrokenPipeError):  # it ended at once; its exit code will say so
        process.stdin.write(json.dumps(request).encode() + b"\n")  # type: ignore[union-attr]
        process.stdin.flush()  # type: ignore[union-attr]
    return process


def ask_to_stop(process: subprocess.Popen) -> None:
    """Let the run end after its iteration, with a checkpoint."""
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()  # type: ignore[union-attr]


def how_it_ended(process: subprocess.Popen) -> str:
    """`finished`, `stopped`, or why it failed."""
    code = process.wait()
    if code == 0:
        return "finished"
    if code in (128 + signal.SIGTERM, 128 + signal.SIGINT, -signal.SIGTERM):
        return "stopped"
    if code < 0:
        name = signal.Signals(-code).name
        return f"killed by {name}" + (" (out of memory?)" if name == "SIGKILL" else "")
    return f"exit code {code}"


def last_lines(log: Path) -> str:
    """The end of a log, for the report of a failure."""
    try:
        text = log.read_text(errors="replace")
    except OSError as error:
        return f"(the log could not be read: {error.strerror})"
    return "\n".join(text.rstrip().splitlines()[-LAST:])


def search_path() -> dict[str, str]:
    """Lets runs on this machine import what this process can, such as a user's environments."""
    return {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
