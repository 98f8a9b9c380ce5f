"""TensorBoard events, where TensorBoard is installed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from rilco.files import cannot_write

INTERVAL = 10  # iterations between events; evaluations are always written


class EventWriter(Protocol):
    def write(self, record: Mapping[str, Any]) -> None:
        """Write an iteration's metrics as scalars over transitions."""


class NoEvents:
    def write(self, record: Mapping[str, Any]) -> None: ...


class Events:
    """Written record by record, without a thread: what a killed run logged is there."""

    def __init__(self, records: Any, file: Path, resumed_at: int) -> None:
        from tensorboard.compat.proto.event_pb2 import Event, SessionLog

        self._records, self._file = records, file
        self._add(Event(wall_time=time.time(), file_version="brain.Event:2"))
        # Tells TensorBoard to forget what an interrupted process wrote after the checkpoint.
        start = SessionLog(status=SessionLog.START)
        self._add(Event(wall_time=time.time(), step=resumed_at, session_log=start))

    def write(self, record: Mapping[str, Any]) -> None:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        if record["iteration"] % INTERVAL and "eval_return" not in record:
            return
        values = [
            Summary.Value(tag=_tag(name), simple_value=value)
            for name, value in record.items()
            if isinstance(value, float)
        ]
        self._add(Event(wall_time=time.time(), step=record["transitions"], summary=Summary(value=values)))

    def _add(self, event: Any) -> None:
        try:
            self._records.write(event.SerializeToString())
            self._records.flush()
        except OSError as error:
            raise cannot_write(self._file, error) from error


def _tag(name: str) -> str:
    """Evaluations, episodes and learning in a group each."""
    group = (
        "evaluation" if name.startswith("eval_") else "episodes" if name == "episode_return" else "learning"
    )
    return f"{group}/{name.removeprefix('eval_')}"


@contextlib.contextmanager
def open_events(folder: Path, *, resumed_at: int, wanted: bool) -> Iterator[EventWriter]:
    """Events in `folder`, or nothing where TensorBoard is missing or not wanted."""
    if not wanted:
        yield NoEvents()
        return
    try:
        from tensorboard.summary.writer.record_writer import RecordWriter
    except ImportError:
        yield NoEvents()
        return
    file = folder / f"events.out.tfevents.{time.time_ns()}.rilco"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        opened = file.open("xb")
    except OSError as error:
        raise cannot_write(file, error) from error
    with opened:
        yield Events(RecordWriter(opened), file, resumed_at)
