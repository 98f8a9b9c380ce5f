"""The worker process: `python -m rilco.rollout.worker SOCKET MEMORY PARENT`.

Started as a plain program rather than by `multiprocessing`, so that the user's script is not imported
again in every worker. Commands and answers are JSON; arrays travel through shared memory.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import functools
import json
import os
import signal
import sys
import traceback
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import numpy as np

from rilco.policy.saved import Policy
from rilco.rollout.actor import EnvironmentSlice, evaluate
from rilco.rollout.layout import SharedArrays, Sizes
from rilco.tasks.table import Task

if TYPE_CHECKING:
    from rilco.rollout.bare import BareReplay


PR_SET_PDEATHSIG = 1  # from the system's prctl.h


class Worker:
    """Answers one command at a time."""

    def __init__(self, setup: dict[str, Any], memory: int) -> None:
        sizes = Sizes.from_json(setup["sizes"])
        self.task, self.seed = Task(**setup["task"]), setup["seed"]
        self.shared = SharedArrays(sizes, memory)
        self.slice = EnvironmentSlice(self.task, sizes, self.seed, setup["first"], setup["last"])

    def start(self) -> None:
        self.slice.start(self.shared)

    def collect(self, iteration: int, first: int, last: int, sampled: bool) -> None:
        self.slice.collect(iteration, range(first, last), self.shared, sampled)

    def replay(self, episode: list[int], lengths: list[int], actions: str) -> None:
        flat = np.frombuffer(bytes.fromhex(actions), np.float32).reshape(-1, self.slice.sizes.action_dim)
        self.slice.replay(np.array(episode), np.array(lengths), flat, self.shared)
        self.shared["obs"][0, self.slice.rows] = self.slice.obs[self.slice.rows]
        self.shared["episode_return"][0, self.slice.rows] = self.slice.episode_return

    def evaluate(self, seed: int, occasion: int, episodes: list[int], total: int) -> dict[str, Any]:
        policy: Policy = self.shared.read_policy()
        returns, lengths = evaluate(
            self.task, policy, (seed, occasion), range(*episodes), total, self.shared["beat"][self.slice.rows]
        )
        return {"returns": returns, "lengths": lengths}

    def mark(self) -> None:
        """For the benchmark: prepare to repeat the next `collect`."""
        self.bare_replay.mark(self.slice.episode)

    def bare(self) -> None:
        """For the benchmark: repeat the last `collect` with the simulator alone."""
        self.bare_replay.replay(self.shared)

    @functools.cached_property
    def bare_replay(self) -> BareReplay:
        from rilco.rollout.bare import BareReplay

        return BareReplay(self.slice.batch, self.seed, self.slice.first)

    def close(self) -> None:
        self.slice.close()


def serve(connection: Connection, memory: int) -> None:
    """Answer commands until the learner closes its end."""
    worker: Worker | None = None
    try:
        while True:
            message = json.loads(connection.recv_bytes())
            try:
                if message["command"] == "setup":
                    worker, answer = Worker(message["arguments"], memory), None
                else:
                    answer = getattr(worker, message["command"])(**message["arguments"])
                reply = {"ok": True, "answer": answer}
            except Exception:
                reply = {"ok": False, "traceback": traceback.format_exc()}
            connection.send_bytes(json.dumps(reply).encode())
    except (EOFError, OSError):
        pass  # the learner has finished, or is gone
    finally:
        if worker is not None:
            worker.close()


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
