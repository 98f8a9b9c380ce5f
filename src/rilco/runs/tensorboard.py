"""TensorBoard events, where TensorBoard is installed."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rilco.config import RunConfig
from rilco.errors import require
from rilco.files import writing
from rilco.policy.saved import Policy
from rilco.tasks.table import Task
from rilco.video import check_drawable, frames, gif

INTERVAL = 10  # iterations between events; evaluations are always written
SHOWN, FPS = 300, 25  # steps of the video, every second of which is drawn, and frames a second


class TensorBoard:
    """A callback of `train` that writes a run's numbers and configuration as TensorBoard events.

    A run writes them into its own folder already, where TensorBoard is installed; this writes them elsewhere. With
    `video` the policy is shown at the end of the run, as a moving picture of one episode's first steps. An environment
    that cannot be drawn is then refused before anything is learned.

        >>> watch = rilco.TensorBoard("events/first")
        >>> rilco.train("runs/watched", env="Pendulum-v1", method="acktr", steps=2_000, callback=watch, quiet=True)
        Run(path=PosixPath('runs/watched'))
    """

    def __init__(self, folder: str | os.PathLike[str], *, video: bool = False) -> None:
        require("tensorboard", "TensorBoard events", "tensorboard")
        if video:
            require("PIL", "Moving pictures", "video")
        self.folder, self.video = Path(folder), video
        self._file: Path | None = None
        self._first, self._step = True, 0
        self._task = Task()

    def begin(self, config: RunConfig) -> None:
        """Write what is trained, as a text and as hyper-parameters to compare runs by; in a file of its own."""
        from tensorboard.plugins.hparams.summary_v2 import hparams_pb
        from tensorboard.plugins.text.summary_v2 import text_pb

        if self.video:
            check_drawable(config.task)
        self._file, self._first, self._task = None, True, config.task
        table = config.flat()
        rows = [f"| {name} | {value} |" for name, value in table.items()]
        self._add(summary=text_pb("configuration", "\n".join(["| setting | value |", "|---|---|", *rows])))
        plain = {
            name: value if isinstance(value, int | float) else str(value) for name, value in table.items()
        }
        self._add(summary=hparams_pb(plain))

    def end(self, policy: Policy) -> None:
        """Show the policy that a run ended with."""
        from tensorboard.compat.proto.summary_pb2 import Summary

        if not self.video:
            return
        shown = list(frames(policy, self._task, max_steps=SHOWN))[::2]
        height, width, _ = shown[0].shape
        picture = Summary.Image(
            height=height, width=width, colorspace=3, encoded_image_string=gif(shown, FPS)
        )
        self._add(step=self._step, summary=Summary(value=[Summary.Value(tag="policy", image=picture)]))

    def __call__(self, record: Mapping[str, Any]) -> None:
        from tensorboard.compat.proto.event_pb2 import SessionLog
        from tensorboard.compat.proto.summary_pb2 import Summary

        self._step = record["transitions"]
        if self._first:
            # Tells TensorBoard to forget what an interrupted process wrote after the checkpoint.
            self._add(step=record["transitions"], session_log=SessionLog(status=SessionLog.START))
            self._first = False
        if record["iteration"] % INTERVAL and "eval_return" not in record:
            return
        values = [
            Summary.Value(tag=_tag(name), simple_value=value)
            for name, value in record.items()
            if isinstance(value, float)
        ]
        self._add(step=record["transitions"], summary=Summary(value=values))

    def _add(self, **content: Any) -> None:
        """Append an event: what a killed run logged is there."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.summary.writer.record_writer import RecordWriter

        events = [Event(wall_time=time.time(), **content)]
        if self._file is None:
            self._file = self.folder / f"events.out.tfevents.{time.time_ns()}.rilco"
            events.insert(0, Event(wall_time=time.time(), file_version="brain.Event:2"))
        with writing(self._file):
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._file.open("ab") as opened:
                for event in events:
                    RecordWriter(opened).write(event.SerializeToString())


def _tag(name: str) -> str:
    """Evaluations, episodes and learning are a group each."""
    if name.startswith("eval_"):
        return f"evaluation/{name.removeprefix('eval_')}"
    return f"episodes/{name}" if name == "episode_return" else f"learning/{name}"
