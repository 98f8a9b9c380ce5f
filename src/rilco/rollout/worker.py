"""The worker process: `python -m rilco.rollout.worker SOCKET MEMORY PARENT`.

Started as a plain program rather than by `multiprocessing`, so that the user's script is not imported
again in every worker. Commands and answers are JSON; arrays travel through shared memory.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import json
import os
import signal
import sys
import traceback
from multiprocessing.connection import Connection
from typing import Any

from rilco.errors import RilcoError
from rilco.files import as_record
from rilco.rollout.actor import EnvironmentSlice
from rilco.rollout.layout import SharedArrays, Sizes
from rilco.tasks.table import Task

PR_SET_PDEATHSIG = 1  # from the system's prctl.h


def serve(connection: Connection, memory: int) -> None:
    """Answer commands until the learner closes its end."""
    worker: EnvironmentSlice | None = None
    try:
        while True:
            message = json.loads(connection.recv_bytes())
            try:
                if message["command"] == "setup":
                    worker, answer = set_up(memory, **message["arguments"]), None
                else:
                    answer = getattr(worker, message["command"])(**message["arguments"])
                reply = {"ok": True, "answer": answer}
            except RilcoError as error:  # what to do stands in it
                reply = {"ok": False, "said": str(error)}
            except Exception:
                reply = {"ok": False, "said": f"Its traceback:\n\n{traceback.format_exc().rstrip()}"}
            connection.send_bytes(json.dumps(reply).encode())
    except (EOFError, OSError):
        pass  # the learner has finished, or is gone
    finally:
        if worker is not None:
            worker.close()


def set_up(memory: int, task: dict[str, Any], sizes: dict[str, Any], **place: int) -> EnvironmentSlice:
    """The environments of this worker; `place` is the run's seed, and which environments they are."""
    known = as_record(Sizes, sizes, "sizes")
    return EnvironmentSlice(Task(**task), known, SharedArrays(known, memory), **place)


def die_with_parent() -> None:
    """Ask the system to kill this process when its parent ends, whatever it is doing then. Linux only."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(sys.argv[3]):
        sys.exit(1)  # it ended before it was asked for


def main() -> None:
    die_with_parent()
    faulthandler.enable()  # a crash inside the simulator still shows where
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the learner's to handle
    socket, memory = int(sys.argv[1]), int(sys.argv[2])
    serve(Connection(socket), memory)


if __name__ == "__main__":
    main()
