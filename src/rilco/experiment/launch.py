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
from typing import IO, Any, NamedTuple

from rilco.files import cannot_write

# One thread for BLAS and for XLA. Several runs that share a machine would only wait for each other's threads; and
# since XLA divides its work by the number of threads, a run has the same bytes on every machine only if that is fixed.
ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NPROC"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}
LOGS = "logs"


class Request(NamedTuple):
    """What a run's process is told."""

    config: str
    """The configuration as JSON."""
    folder: str
    """Where to train; goes on from what is there."""
    log: str
    """Takes all output, after what earlier attempts wrote."""
    workers: int
    checkpoint_every: int
    environment: Mapping[str, str]
    """Variables on top of the process's own."""


def start_run(request: Request) -> subprocess.Popen:
    """A process that trains. It stops with a checkpoint when its standard input closes, so also if we die."""
    log = Path(request.log)
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        output = log.open("ab")
    except OSError as error:
        raise cannot_write(log, error) from error
    with output as file:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "rilco.experiment.runner"],
            stdin=subprocess.PIPE,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={"JAX_PLATFORMS": "cpu", **os.environ, **_threads(), **request.environment},
            start_new_session=True,  # Ctrl-C reaches the sweep only, which then ends the runs
        )
    ask = {**request._asdict(), "environment": None}
    with contextlib.suppress(BrokenPipeError):  # it ended at once; its exit code will say so
        _input(process).write(json.dumps(ask).encode() + b"\n")
        _input(process).flush()
    return process


def ask_to_stop(process: subprocess.Popen) -> None:
    """Let the run end after its iteration, with a checkpoint."""
    with contextlib.suppress(BrokenPipeError):
        _input(process).close()


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


def last_lines(log: Path, count: int = 12) -> str:
    """The end of a log, for the report of a failure."""
    try:
        with log.open("rb") as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - 16_000))
            text = file.read().decode(errors="replace")
    except OSError as error:
        return f"(the log could not be read: {error.strerror})"
    return "\n".join(text.rstrip().splitlines()[-count:])


def search_path() -> dict[str, str]:
    """So that runs on this machine find the same modules as this process, a user's environments among them."""
    return {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


def _threads() -> dict[str, str]:
    """The settings above, XLA's behind what the user set."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} {ONE_THREAD['XLA_FLAGS']}".strip()
    return {**ONE_THREAD, "XLA_FLAGS": flags}


def _input(process: subprocess.Popen) -> IO[Any]:
    if process.stdin is None:
        raise RuntimeError("the process was started without an input")
    return process.stdin
