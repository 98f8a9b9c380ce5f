"""The process of one run: `python -m rilco.experiment.runner`, with the request as a line of JSON on its input.

The input stays open for as long as whoever asked wants the run: when it closes, because the sweep asks the run to stop
or has died, training ends after the iteration with a checkpoint.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from rilco.errors import RilcoError
from rilco.runs.interrupt import StopSignal, exit_code

PATIENCE = 60.0  # seconds to wait for a process that had the run before and is still ending


def main() -> int:
    request: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    folder = Path(request["folder"])
    _say(f"--- {time.strftime('%Y-%m-%d %H:%M:%S')} process {os.getpid()} on {platform.node()}: {folder}")
    try:
        with StopSignal() as stop:
            threading.Thread(target=_stop_at_end_of_input, daemon=True).start()
            _train(request, folder, stop)
    except KeyboardInterrupt as interrupt:
        _say("Stopped.")
        return exit_code(interrupt)
    except RilcoError as error:
        _say(f"rilco: {error}")
        return 1
    return 0


def _train(request: dict[str, Any], folder: Path, stop: StopSignal) -> None:
    from rilco.api import train_config
    from rilco.config import RunConfig

    config = RunConfig.from_json(request["config"], "the sweep's request")
    _wait_for_lock(folder, stop)
    train_config(
        config,
        folder,
        resume=(folder / "config.json").exists(),
        workers=request["workers"],
        checkpoint_every=request["checkpoint_every"],
        stop=stop,
    )


def _stop_at_end_of_input() -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)  # the signal that StopSignal waits for


def _wait_for_lock(folder: Path, stop: StopSignal) -> None:
    """Give an earlier process of this run time to write its checkpoint and go; training then takes the lock."""
    file = folder / ".lock"
    until = time.monotonic() + PATIENCE
    while file.exists() and time.monotonic() < until and not stop.requested:
        try:
            with file.open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(0.2)
        except OSError:
            return  # a file system without locks, or the file went away


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
