"""What runs look like: strips of rendered frames, and the videos that lie in run folders."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rilco.data.ladder import shipped_rung
from rilco.errors import RilcoError, RunError
from rilco.experiment.published import POLICY, REFERENCE, TASKS, CellKey
from rilco.policy.saved import Policy, load_policy
from rilco.reporting.cells import Cell
from rilco.reporting.html import data_uri
from rilco.reporting.style import millions, task_label
from rilco.reporting.summary import cell_name
from rilco.runs.paths import POLICIES, policy_file
from rilco.tasks.table import Task
from rilco.video import frames

Cells = Mapping[CellKey, Cell]
MOMENTS = (0, 25, 50, 75, 100)
"""Steps of which a frame is kept."""
GAP = 4  # white pixels between frames
CROP = (slice(45, 215), slice(47, 273))  # of a frame of 240 x 320: the robot and some ground
KINDS = {".mp4": "video/mp4", ".webm": "video/webm", ".gif": "image/gif"}
EMBEDDED = 2 * 2**20
"""Bytes up to which a video is part of the page."""
MOST = 24
"""Videos on the page."""


class Strip(NamedTuple):
    """Frames side by side, and what they show."""

    name: str
    """The stem of its file."""
    task: str
    expert: bool
    """Whether it is the expert's; RIL-Co's otherwise."""
    caption: str
    png: bytes
    jpeg: bytes
    """The same, a tenth the size, for the page."""


class Video(NamedTuple):
    caption: str
    kind: str
    address: str


@dataclass
class Media:
    """The pictures of a report."""

    strips: list[Strip] = field(default_factory=list)
    complaints: dict[str, list[str]] = field(default_factory=dict)
    """Whose frames could not be rendered, by reason."""
    videos: list[Video] = field(default_factory=list)
    more_videos: int = 0
    """Videos that are not on the page."""


def make_strips(cells: Cells) -> Media:
    """The expert and the RIL-Co policy of each task, as far as there are policies."""
    media = Media()
    for task in TASKS:
        for who, make in (("the expert", _expert), ("RIL-Co", _learned)):
            try:
                caption, policy = make(task, cells)
                media.strips.append(_strip(task, caption, policy, expert=make is _expert))
            except RilcoError as error:
                media.complaints.setdefault(str(error), []).append(f"{who} on {task_label(task)}")
    return media


def _expert(task: str, cells: Cells) -> tuple[str, Policy]:
    return "the expert", shipped_rung(task, 1)[0]


def _learned(task: str, cells: Cells) -> tuple[str, Policy]:
    """The policy of RIL-Co at the highest noise rate, of the first seed."""
    found = [
        run
        for key, cell in cells.items()
        if (key.task, key.noise, key.method) == (task, POLICY, REFERENCE)
        for run in cell.runs
        if (run.path / POLICIES).is_dir()
    ]
    if not found:
        raise RunError("no run folder holds a policy")
    run = min(found, key=lambda run: (-(run.config.noise_rate or 0.0), run.config.seed))
    rate, length = run.config.noise_rate, millions(int(run.transitions[-1]))
    caption = f"RIL-Co at noise rate {rate:g}, seed {run.config.seed}, after {length} transitions"
    last = policy_file(run.path, "last")  # final returns are of the last policies, too
    return caption, load_policy(last if last.exists() else run.path)


def _strip(task: str, caption: str, policy: Policy, *, expert: bool) -> Strip:
    from PIL import Image  # comes with matplotlib

    # The task is the run's, never the one that a stranger's policy file names: that could be a module to import.
    shown, ended = moments(policy, Task(task=task))
    if ended is not None:
        caption += f" (the episode ended at step {ended})"
    image = Image.fromarray(side_by_side(shown))
    png, jpeg = io.BytesIO(), io.BytesIO()
    image.save(png, format="PNG", optimize=True)
    image.save(jpeg, format="JPEG", quality=85)
    name = f"strip-{task}-{'expert' if expert else 'ril-co'}"
    return Strip(name, task, expert, caption, png.getvalue(), jpeg.getvalue())


def moments(policy: Policy, task: Task) -> tuple[list[np.ndarray], int | None]:
    """A frame at each of `MOMENTS` of an evaluation episode, and the step at which it ended if it ended early."""
    drawn = list(frames(policy, task, max_steps=MOMENTS[-1]))
    shown = [np.asarray(drawn[step])[CROP] for step in MOMENTS if step < len(drawn)]
    return shown, None if len(drawn) > MOMENTS[-1] else len(drawn) - 1


def side_by_side(frames: Sequence[np.ndarray]) -> np.ndarray:
    """Frames [height, width, 3] in a row, white where an episode ended early."""
    height, width, _ = frames[0].shape
    picture = np.full((height, len(MOMENTS) * (width + GAP) - GAP, 3), 255, np.uint8)
    for i, frame in enumerate(frames):
        picture[:, i * (width + GAP) : i * (width + GAP) + width] = frame
    return picture


def find_videos(cells: Iterable[Cell]) -> tuple[list[Video], int]:
    """Videos of the runs for the page, and the number of those that are too many or too large for it."""
    found = [
        (f"{cell_name(cell.key)}, seed {run.config.seed}", file)
        for cell in cells
        for run in cell.runs
        for file in sorted([*run.path.glob("*.*"), *run.path.glob("video*/*.*")])
        if file.suffix.lower() in KINDS and file.is_file()
    ]
    videos = []
    for caption, file in [pair for pair in found if pair[1].stat().st_size <= EMBEDDED][:MOST]:
        kind = KINDS[file.suffix.lower()]
        videos.append(Video(caption, kind, data_uri(kind, file.read_bytes())))
    return videos, len(found) - len(videos)
