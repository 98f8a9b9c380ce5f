"""A run is a folder: configuration, metrics, checkpoints and policies. Opening one executes nothing."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rilco.clean import config as cleaning
from rilco.config import VERSION, RunConfig
from rilco.errors import RunError
from rilco.files import cannot_write, write_atomically
from rilco.policy.saved import Policy, load_policy


@dataclass(frozen=True)
class Run:
    """A finished or interrupted run, for reading."""

    path: Path

    @property
    def config(self) -> RunConfig:
        return RunConfig.load(self.path)

    @property
    def policy(self) -> Policy:
        """The best policy by evaluated return, or the last where nothing was evaluated."""
        return load_policy(self.path)

    @property
    def last_policy(self) -> Policy:
        return load_policy(self.path / "policy" / "last.safetensors")

    def metrics(self) -> list[dict[str, Any]]:
        """A record an iteration, in order."""
        return read_metrics(self.path)

    def evaluations(self) -> list[dict[str, Any]]:
        """The records of the iterations that were evaluated."""
        return [record for record in self.metrics() if "eval_return" in record]


def read_metrics(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The lines of `metrics.jsonl`; a last line that a crash left unfinished is passed over."""
    file = Path(folder) / "metrics.jsonl"
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError as error:
        raise RunError(f"{file}: could not be read ({error.strerror}).") from error
    return [json.loads(line) for line in lines[:-1]]


class RunFolder:
    """The writing side. Use `open_run`, which also keeps other processes out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoints = path / "checkpoints"
        self._metrics = path / "metrics.jsonl"

    def has_begun(self) -> bool:
        """Whether there is anything to go on from: by itself, or in the phases of a run that has them."""
        return any(part.exists() for part in (self._metrics, self.checkpoints, self.path / cleaning.PHASES))

    def save_policy(self, name: str, policy: Policy) -> None:
        policy.save(self.path / "policy" / f"{name}.safetensors")

    def append_metrics(self, record: Mapping[str, Any]) -> None:
        line = json.dumps(record, separators=(",", ":")) + "\n"
        try:
            with self._metrics.open("ab") as file:
                file.write(line.encode())
        except OSError as error:
            raise cannot_write(self._metrics, error) from error

    def sync_metrics(self) -> int:
        """Bring the metrics to disk and return their size, for a checkpoint to remember."""
        try:
            with self._metrics.open("ab") as file:
                os.fsync(file.fileno())
                return file.tell()
        except OSError as error:
            raise cannot_write(self._metrics, error) from error

    def cut_metrics(self, size: int) -> None:
        """Forget what came after a checkpoint."""
        if not self._metrics.exists() and size == 0:
            return
        if not self._metrics.exists() or self._metrics.stat().st_size < size:
            raise RunError(
                f"{self._metrics}: shorter than at the checkpoint ({size} bytes were written then). The file was "
                "changed since; restore it, or start a new run in another folder."
            )
        try:
            os.truncate(self._metrics, size)
        except OSError as error:
            raise cannot_write(self._metrics, error) from error


@contextlib.contextmanager
def open_run(path: Path, config: RunConfig, *, resume: bool) -> Iterator[RunFolder]:
    """Create a run folder, or open the one to resume; refuses whatever would lose or mix up results.

    A new run that fails before its first iteration leaves nothing behind.
    """
    if resume:
        _check_same_configuration(RunConfig.load(path), config, path)
    elif path.exists() and not path.is_dir():
        raise RunError(f"{path}: is a file; --out names a folder.")
    existed = path.exists()
    with _locked(path):
        stored = path / "config.json"
        if not resume and stored.exists():
            raise RunError(
                f"{path}: this folder holds a run already. Continue it with --resume, choose another --out, or "
                "remove the folder first."
            )
        folder = RunFolder(path)
        try:
            write_atomically(stored, config.to_json().encode())
            yield folder
        except BaseException:
            if not resume and not folder.has_begun():
                _remove_new(path, whole=not existed)
            raise


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes out of a folder; the system forgets the lock however this one ends."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        lock = (path / ".lock").open("w")
    except OSError as error:
        raise cannot_write(path, error) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunError(f"{path}: another process is training in this folder right now.") from error
        except OSError:
            pass  # some network file systems have no locks; the run is then merely not protected
        yield


def _check_same_configuration(stored: RunConfig, asked: RunConfig, path: Path) -> None:
    if stored.version != VERSION:
        raise RunError(
            f"{path}: was begun by an earlier version of rilco, whose first iteration learned from raw observations. "
            "Going on would mix two methods. Start it again with another --out; its results can still be read."
        )
    changes = stored.difference(asked)
    if asked.steps > stored.steps and not stored.policy_settings.total_updates:
        # Going on for longer changes nothing that was computed, unless something was to end with the run.
        changes = [line for line in changes if not line.startswith("steps:")]
    if changes:
        raise RunError(
            f"{path}: cannot resume with a changed configuration, since the result would be neither run's. "
            f"Different: {'; '.join(changes)}. Leave these options out to continue as begun (only --steps may "
            "grow, where the learning rate does not decay), or start a new run with another --out."
        )


def _remove_new(path: Path, *, whole: bool) -> None:
    """Take back what a run wrote that never began."""
    shutil.rmtree(path / "events", ignore_errors=True)
    for name in ("config.json", ".lock"):
        with contextlib.suppress(OSError):
            (path / name).unlink()
    if whole:
        with contextlib.suppress(OSError):
            path.rmdir()
