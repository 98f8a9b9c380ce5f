"""The process of one run: `python -m rilco.experiment.runner`, with the request as a line of JSON on its input.

The sweep keeps the input open. When it closes, because the sweep wants the run to stop or has died, training ends
after the iteration with a checkpoint.
"""

from __future__ import annotations

import contextlib
import io
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

PATIENCE = 60.0  # seconds for the last iteration and checkpoint


class Log(io.TextIOBase):
    """Standard error, a file that may be on a full disk. What cannot be written is lost, and the run goes on."""

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError):
            os.write(2, text.encode(errors="replace"))
        return len(text)

    def fileno(self) -> int:
        return 2


def main() -> int:
    sys.stdout = sys.stderr = Log()
    request: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    folder = Path(request["folder"])
    _say(f"--- {time.strftime('%Y-%m-%d %H:%M:%S')} process {os.getpid()} on {platform.node()}: {folder}")
    try:
        with StopSignal(PATIENCE) as stop:
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
    from rilco.runs.how import How
    from rilco.runs.paths import holds_run
    from rilco.tasks.trust import trust

    config = RunConfig.from_json(request["config"], "the sweep's request")
    trust(config.task.name)  # the sweep has checked it
    _wait_for_lock(folder, stop)
    how = How(request["workers"], checkpoint_every=request["checkpoint_every"], stop=stop)
    train_config(config, folder, how=how, resume=holds_run(folder))


def _stop_at_end_of_input() -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)  # the signal that StopSignal waits for


def _wait_for_lock(folder: Path, stop: StopSignal) -> None:
    """Give an earlier process of this run time to write its checkpoint and end."""
    from rilco.runs.folder import is_locked

    until = time.monotonic() + PATIENCE
    while is_locked(folder) and time.monotonic() < until and not stop.requested:
        time.sleep(0.2)


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
