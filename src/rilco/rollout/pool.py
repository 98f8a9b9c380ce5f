"""The learner's side of the workers: start them, give commands, and notice when one is lost."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from multiprocessing.connection import Connection, wait
from typing import IO, Any, NamedTuple

import numpy as np

from rilco.errors import ConfigError, WorkerError, whole
from rilco.policy.saved import Policy
from rilco.rollout.layout import SharedArrays, Sizes, total_bytes
from rilco.tasks.table import Task
from rilco.tasks.trust import require_trust

# Workers compute small matrix products: threads would only spin.
SINGLE_THREADED = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
PATIENCE = "RILCO_STEP_TIMEOUT"
Observe = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Shown every step's observations [B, obs_dim]; returns the mean and variance to normalise them by."""


class Transitions(NamedTuple):
    """One iteration's experience, raw (not normalised); views of shared memory until the next `collect`."""

    obs: np.ndarray  # [T + 1, B, obs_dim]; the last line is what the policy sees next
    obs_mean: np.ndarray  # [T + 1, obs_dim] by which each line was normalised for the policy
    obs_var: np.ndarray  # [T + 1, obs_dim]
    action: np.ndarray  # [T, B, action_dim] as learners write them (`rilco.tasks.actions`)
    reward: np.ndarray  # [T, B] the environment's own
    terminated: np.ndarray  # [T, B]
    truncated: np.ndarray  # [T, B]
    episode_returns: np.ndarray  # [n] of the episodes that ended, in order of time and environment


class Evaluation(NamedTuple):
    returns: np.ndarray  # [episodes]
    lengths: np.ndarray  # [episodes]


class _Process(NamedTuple):
    popen: subprocess.Popen
    connection: Connection
    errors: IO[bytes]


class RolloutPool:
    """Worker processes that hold the run's environments. Use as a context manager."""

    def __init__(self, task: Task, sizes: Sizes, *, seed: int, num_workers: int) -> None:
        require_trust(task.name, task.named_by)
        self.sizes = sizes
        num_workers = max(1, min(num_workers, sizes.num_envs))
        bounds = np.linspace(0, sizes.num_envs, num_workers + 1).astype(int).tolist()
        self._slices = list(itertools.pairwise(bounds))
        self._processes: list[_Process] = []
        self.patience = patience()
        with _anonymous_file(total_bytes(sizes)) as memory:
            self._shared = SharedArrays(sizes, memory.fileno())
            try:
                self._processes = [_start_process(memory.fileno()) for _ in self._slices]
                own = replace(task, named_by="")  # workers do as they are told
                common = {"task": asdict(own), "sizes": asdict(sizes), "seed": seed}
                self._command("setup", [{**common, "first": a, "last": b} for a, b in self._slices])
            except BaseException:
                self.close()
                raise

    @property
    def pids(self) -> list[int]:
        return [process.popen.pid for process in self._processes]

    def start(self) -> np.ndarray:
        """Begin the first episode of every environment; returns the observations."""
        self._command("start")
        return self._shared["obs"][0].copy()

    def collect(
        self, policy: Policy, iteration: int, observe: Observe | None = None, *, sampled: bool = True
    ) -> Transitions:
        """Let all environments act for `num_steps` steps with this policy, by samples or by its likeliest actions.

        With `observe` they wait for each other at every step, and the policy's observation statistics are what it
        returns. Without, the statistics stay and nobody waits.
        """
        shared, steps = self._shared, self.sizes.num_steps
        shared.write_policy(policy)
        stride = 1 if observe else steps
        mean, var = (np.tile(array, (steps + 1, 1)) for array in (policy.obs_mean, policy.obs_var))
        for first in range(0, steps, stride):
            arguments = {"iteration": iteration, "first": first, "last": first + stride, "sampled": sampled}
            self._command("collect", [arguments] * len(self._processes))
            if observe:
                mean[first + 1], var[first + 1] = observe(shared["obs"][first + 1])
                shared["obs_mean"][...], shared["obs_var"][...] = mean[first + 1], var[first + 1]
        terminated, truncated = shared["terminated"], shared["truncated"]
        returns = shared["episode_return"][terminated | truncated]
        return Transitions(
            shared["obs"], mean, var, shared["action"], shared["reward"], terminated, truncated, returns
        )

    def evaluate(self, policy: Policy, *, episodes: int, seed: int, occasion: int = 0) -> Evaluation:
        """Whole episodes with the deterministic policy; the training environments are not touched.

        Start states are keyed by `seed` and `occasion`: another occasion, other starts.
        """
        self._shared.write_policy(policy)
        bounds = np.linspace(0, episodes, len(self._processes) + 1).astype(int).tolist()
        ranges = list(itertools.pairwise(bounds))
        common = {"seed": seed, "occasion": occasion, "total": episodes}
        shares = [{**common, "episodes": [a, b]} for a, b in ranges]
        busy = [i for i, (a, b) in enumerate(ranges) if a < b]
        answers = self._command("evaluate", shares, busy)
        returns = [value for answer in answers for value in answer["returns"]]
        lengths = [value for answer in answers for value in answer["lengths"]]
        return Evaluation(np.array(returns), np.array(lengths))

    def replay(
        self, episode: np.ndarray, lengths: np.ndarray, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Restore every environment by repeating its episode so far; returns the observations and returns reached."""
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(int)
        arguments = [
            {
                "episode": episode[a:b].tolist(),
                "lengths": lengths[a:b].tolist(),
                "actions": np.ascontiguousarray(actions[offsets[a] : offsets[b]], np.float32).tobytes().hex(),
            }
            for a, b in self._slices
        ]
        self._command("replay", arguments)
        return self._shared["obs"][0].copy(), self._shared["episode_return"][0].copy()

    def mark(self) -> None:
        """For the benchmark: call before `collect` to be able to call `bare` after it."""
        self._command("mark")

    def bare(self) -> None:
        """For the benchmark: repeat the last `collect` with nothing but the simulator."""
        self._command("bare")

    # -- processes -------------------------------------------------------------------------------

    def _command(
        self,
        command: str,
        arguments: Sequence[dict[str, Any]] | None = None,
        workers: Sequence[int] | None = None,
    ) -> list[Any]:
        """Give a command to all workers or some, each with its arguments, and return their answers."""
        wanted = range(len(self._processes)) if workers is None else workers
        for i in wanted:
            given = {} if arguments is None else arguments[i]
            message = json.dumps({"command": command, "arguments": given}).encode()
            try:
                self._processes[i].connection.send_bytes(message)
            except OSError:
                raise self._lost(i, command) from None
        return self._receive(command, wanted)

    def _receive(self, command: str, wanted: Sequence[int]) -> list[Any]:
        """Wait for all answers, in whatever order they come; the first failure ends the pool."""
        answers: dict[int, Any] = {}
        pending = {self._processes[i].connection: i for i in wanted}
        seen = self._shared["beat"].copy()
        while pending:
            answered = wait(list(pending), timeout=self.patience)
            if not answered:
                for i in pending.values():
                    rows = slice(*self._slices[i])
                    if np.array_equal(seen[rows], self._shared["beat"][rows]):
                        raise self._hangs(i, command)
                seen = self._shared["beat"].copy()
            for ready in answered:
                i = pending.pop(ready)  # type: ignore[call-overload]
                try:
                    reply = json.loads(self._processes[i].connection.recv_bytes())
                except (EOFError, OSError):
                    raise self._lost(i, command) from None
                if not reply["ok"]:
                    raise self._stopped(i, f"raised during {command!r}; the run was stopped. {reply['said']}")
                answers[i] = reply["answer"]
        return [answers[i] for i in wanted]

    def _hangs(self, i: int, command: str) -> WorkerError:
        self._processes[i].popen.kill()
        return self._stopped(
            i,
            f"took no step for {self.patience:g} s during {command!r}: its environment hangs, or is slower than that; "
            f"the run was stopped. Set the environment variable {PATIENCE} to more seconds, or to 0 to wait forever.",
        )

    def _lost(self, i: int, command: str) -> WorkerError:
        """A worker died: say how, and what it last wrote to its standard error."""
        process = self._processes[i]
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.popen.wait(timeout=5)
        code = process.popen.returncode
        killed = f"was killed by {signal.Signals(-code).name}" if code and code < 0 else ""
        process.errors.seek(0)
        shown = process.errors.read().decode(errors="replace").strip()[-4000:]
        detail = (
            f"Its standard error ends:\n\n{shown}" if shown else "It wrote nothing to its standard error."
        )
        how = f"{killed or f'exited with code {code}'} during {command!r}"
        return self._stopped(i, f"{how}; the run was stopped. {detail}")

    def _stopped(self, i: int, what: str) -> WorkerError:
        """Ends the pool, because of one worker."""
        (a, b), pid = self._slices[i], self._processes[i].popen.pid
        self.close()
        return WorkerError(f"Worker {i} (environments {a} to {b - 1}, process {pid}) {what}")

    def close(self) -> None:
        """End all workers; safe to call twice."""
        for process in self._processes:
            process.connection.close()  # an idle worker sees the end of file and leaves
        for process in self._processes:
            try:
                process.popen.wait(timeout=2)
            except subprocess.TimeoutExpired:
                process.popen.kill()
                process.popen.wait()
            process.errors.close()
        self._processes = []

    def __enter__(self) -> RolloutPool:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def num_workers(wanted: int | None = None) -> int:
    """As many as are wanted, or one a core that this process may use."""
    if wanted is not None:
        return whole("workers", wanted)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def patience() -> float | None:
    """Seconds without a step after which an environment counts as hanging; None: never."""
    text = os.environ.get(PATIENCE, "600")
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not seconds >= 0:
        raise ConfigError(f"{PATIENCE}={text}: expected a number of seconds, or 0 to wait forever.")
    return seconds or None


def _start_process(memory: int) -> _Process:
    ours, theirs = socket.socketpair()
    errors = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
    # The workers find the same modules as this process, including a user's own environments.
    environment = {
        **os.environ,
        **SINGLE_THREADED,
        "PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path),
    }
    numbers = theirs.fileno(), memory, os.getpid()
    popen = subprocess.Popen(
        [sys.executable, "-P", "-m", "rilco.rollout.worker", *map(str, numbers)],
        pass_fds=(theirs.fileno(), memory),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        env=environment,
        start_new_session=True,  # Ctrl-C reaches the learner only, which then ends the workers
    )
    theirs.close()
    return _Process(popen, Connection(ours.detach()), errors)


def _anonymous_file(size: int) -> IO[bytes]:
    """A file without a name, in memory where the system has such a place."""
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()
    try:
        with contextlib.ExitStack() as unless_reserved:
            file = unless_reserved.enter_context(tempfile.TemporaryFile(dir=where))
            # Reserved at once where the system can: a write to memory that is not there would end the process.
            reserve = getattr(os, "posix_fallocate", lambda fd, _, size: os.truncate(fd, size))
            reserve(file.fileno(), 0, size)
            unless_reserved.pop_all()
            return file
    except OSError as error:
        raise WorkerError(
            f"{where}: the workers need {size:,} bytes there, to share with this process, and got none "
            f"({error.strerror}). Free some, or use fewer environments or steps."
        ) from error
