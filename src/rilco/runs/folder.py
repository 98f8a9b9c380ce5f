"""A run is a folder: configuration, metrics, checkpoints and policies. Opening one executes nothing."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rilco.config import VERSION, RunConfig, in_words
from rilco.errors import RunError
from rilco.files import remove_unfinished, write_atomically, writing
from rilco.policy.saved import Policy, load_policy
from rilco.runs.checkpoint import Extent
from rilco.runs.metrics import Line, read_metrics
from rilco.runs.paths import (
    CHECKPOINTS,
    CONFIG,
    EVENTS,
    LOCK,
    METRICS,
    PHASES,
    POLICIES,
    SNAPSHOTS,
    holds_run,
    policy_file,
)


@dataclass(frozen=True)
class Run:
    """A finished or interrupted run, for reading.

    >>> run = rilco.load_run("runs/mine")
    >>> run.policy, run.metrics()[-1]["transitions"]
    (Policy(Pendulum-v1, 3 -> 64 -> 64 -> 1), 2560)
    """

    path: Path

    def __fspath__(self) -> str:
        """A run may be given wherever the path of its folder may."""
        return str(self.path)

    @property
    def config(self) -> RunConfig:
        return RunConfig.load(self.path)

    @property
    def policy(self) -> Policy:
        """The best policy by evaluated return, or the last where nothing was evaluated."""
        return load_policy(self.path)

    @property
    def last_policy(self) -> Policy:
        return load_policy(policy_file(self.path, "last"))

    def metrics(self) -> list[Line]:
        """All records, in order."""
        return read_metrics(self.path)

    def evaluations(self) -> list[Line]:
        """The records of the iterations that were evaluated."""
        return [record for record in self.metrics() if "eval_return" in record]


class RunFolder:
    """A run that is being written. `open_run` makes one, and keeps other processes out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoints = path / CHECKPOINTS
        self._metrics = path / METRICS
        self._digest = hashlib.sha256()  # of the metrics so far

    def has_begun(self) -> bool:
        """Whether there is anything to resume, also in the phases of a run that has them."""
        return any(part.exists() for part in (self._metrics, self.checkpoints, self.path / PHASES))

    def save_config(self, config: RunConfig) -> None:
        write_atomically(self.path / CONFIG, config.to_json().encode())

    def save_policy(self, name: str, policy: Policy) -> None:
        policy.save(policy_file(self.path, name))

    def append_metrics(self, record: Mapping[str, Any]) -> None:
        line = (json.dumps(record, separators=(",", ":")) + "\n").encode()
        with writing(self._metrics), self._metrics.open("ab") as file:
            file.write(line)
        self._digest.update(line)

    def sync_metrics(self) -> Extent:
        """Write the metrics to disk. A checkpoint remembers how much there was."""
        with writing(self._metrics), self._metrics.open("ab") as file:
            os.fsync(file.fileno())
            return Extent(file.tell(), self._digest.hexdigest())

    def cut_metrics(self, size: int, sha256: str | None) -> None:
        """Remove what came after a checkpoint. What came before must match its digest, if that is known."""
        if not self._metrics.exists() and size == 0:
            return
        try:
            with self._metrics.open("rb") as file:
                before = file.read(size)
        except OSError:
            before = b""
        self._digest = hashlib.sha256(before)
        if len(before) < size or (sha256 is not None and self._digest.hexdigest() != sha256):
            raise RunError(
                f"{self._metrics}: its first {size} bytes are not those that the run wrote before its checkpoint. "
                "Restore the file, or start a new run in another folder."
            )
        with writing(self._metrics):
            os.truncate(self._metrics, size)


def check_free(path: Path) -> None:
    """Raises RunError where a folder holds a run."""
    if holds_run(path):
        raise RunError(
            f"{path}: this folder holds a run already. Continue it with --resume, choose another --out, or "
            "remove the folder first."
        )


@contextlib.contextmanager
def open_run(path: Path, config: RunConfig, *, resume: bool) -> Iterator[RunFolder]:
    """Create a run folder, or open the one to resume. Raises RunError if results would be lost or mixed.

    A resumed run may be longer than before. Its caller stores the new configuration once training can go on. A new
    run that fails before its first iteration leaves nothing behind.
    """
    if resume:
        _check_same_configuration(RunConfig.load(path), config, path)
    elif path.exists() and not path.is_dir():
        raise RunError(f"{path}: is a file; --out names a folder.")
    existed = path.exists()
    with _locked(path):
        if not resume:
            check_free(path)
        folder = RunFolder(path)
        policies = path / POLICIES
        remove_unfinished(path, path / PHASES, folder.checkpoints, policies, policies / SNAPSHOTS)
        try:
            if not resume:
                folder.save_config(config)
            yield folder
        except BaseException:
            if not resume and not folder.has_begun():
                _remove_new(path, whole=not existed)
            raise


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes out of a folder. The system releases the lock however this process ends."""
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
        lock = (path / LOCK).open("w")
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunError(f"{path}: another process is training in this folder right now.") from error
        except OSError:
            pass  # some network file systems have no locks
        yield


def is_locked(path: Path) -> bool:
    """Whether another process is training in a folder. Never on a file system without locks."""
    try:
        with (path / LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def changes(stored: RunConfig, asked: RunConfig, *, covered: bool = False) -> dict[str, tuple[Any, Any]]:
    """Differences that make it another run.

    A longer run is the same run, unless a schedule ends with it. So is a shorter one, if `covered`: if the stored run
    has come as far as is asked.
    """
    found = stored.difference(asked)
    if (covered or asked.steps > stored.steps) and not asked.policy_settings.total_updates:
        found.pop("steps", None)
    return found


def _check_same_configuration(stored: RunConfig, asked: RunConfig, path: Path) -> None:
    if stored.version != VERSION:
        raise RunError(
            f"{path}: was begun by an earlier version of rilco, whose first iteration learned from raw observations. "
            "Resuming would mix two methods. Start a new run with another --out; the results can still be read."
        )
    if different := changes(stored, asked):
        raise RunError(
            f"{path}: cannot resume with a changed configuration, since the result would be neither run's. "
            f"Different: {in_words(different)}. Leave these options out to continue as begun (only --steps may "
            "grow, where the learning rate does not decay), or start a new run with another --out."
        )


def _remove_new(path: Path, *, whole: bool) -> None:
    """Remove what a run wrote that never began."""
    shutil.rmtree(path / EVENTS, ignore_errors=True)
    with contextlib.suppress(OSError):
        (path / CONFIG).unlink(missing_ok=True)
        (path / LOCK).unlink(missing_ok=True)
        if whole:
            path.rmdir()
