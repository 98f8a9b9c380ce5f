"""What runs look like: strips of rendered frames, and the videos that lie in run folders."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rilco.data.ladder import shipped_rung
from rilco.errors import ConfigError, RilcoError, RunError
from rilco.evaluation import check_fits
from rilco.experiment.published import POLICY, REFERENCE, TASKS, CellKey
from rilco.files import cannot_write
from rilco.policy.saved import Policy, load_policy
from rilco.reporting.cells import Cell
from rilco.reporting.html import data_uri
from rilco.reporting.style import millions, task_label
from rilco.reporting.summary import cell_name
from rilco.runs.paths import POLICIES, policy_file
from rilco.seeding import EVALUATION, RepositionedGenerator
from rilco.tasks.table import Task

Cells = Mapping[CellKey, Cell]
MOMENTS = (0, 25, 50, 75, 100)
"""Steps of which a frame is kept."""
GAP = 4  # white pixels between frames
CROP = (slice(45, 215), slice(47, 273))  # of a frame of 240 x 320: the robot and some ground
KINDS = {".mp4": "video/mp4", ".webm": "video/webm", ".gif": "image/gif"}
EMBEDDED = 2 * 2**20
"""Bytes up to which a video is part of the page; larger ones are copied next to it."""
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
    try:
        return "the expert", shipped_rung(task, 1)[0]
    except ConfigError as error:
        raise ConfigError("this version of rilco comes without it") from error


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
    frames, ended = moments(policy, Task(task=task))
    if ended is not None:
        caption += f" (the episode ended at step {ended})"
    image = Image.fromarray(side_by_side(frames))
    png, jpeg = io.BytesIO(), io.BytesIO()
    image.save(png, format="PNG", optimize=True)
    image.save(jpeg, format="JPEG", quality=85)
    name = f"strip-{task}-{'expert' if expert else 'ril-co'}"
    return Strip(name, task, expert, caption, png.getvalue(), jpeg.getvalue())


def moments(policy: Policy, task: Task, *, seed: int = 0) -> tuple[list[np.ndarray], int | None]:
    """A frame at each of `MOMENTS` of an evaluation episode, and the step at which it ended if it ended early."""
    check_fits(policy, task)
    batch = task.make_batch(1, render=True)
    frames = []
    try:
        obs = batch.reset([0], [RepositionedGenerator(seed, EVALUATION).at(0)])
        for step in range(MOMENTS[-1] + 1):
            if step in MOMENTS:
                frames.append(np.asarray(batch.render(0))[CROP])
            outcome = batch.step(policy.best(obs))
            obs = outcome.obs
            if outcome.terminated[0] or outcome.truncated[0]:
                return frames, step + 1
    finally:
        batch.close()
    return frames, None


def side_by_side(frames: Sequence[np.ndarray]) -> np.ndarray:
    """Frames [height, width, 3] in a row, white where an episode ended early."""
    height, width, _ = frames[0].shape
    picture = np.full((height, len(MOMENTS) * (width + GAP) - GAP, 3), 255, np.uint8)
    for i, frame in enumerate(frames):
        picture[:, i * (width + GAP) : i * (width + GAP) + width] = frame
    return picture


def find_videos(cells: Iterable[Cell], out: Path) -> tuple[list[Video], int]:
    """Videos of the runs, ready to be shown, and how many more there are."""
    found = [
        (f"{cell_name(cell.key)}, seed {run.config.seed}", file)
        for cell in cells
        for run in cell.runs
        for file in sorted([*run.path.glob("*.*"), *run.path.glob("video*/*.*")])
        if file.suffix.lower() in KINDS and file.is_file()
    ]
    videos = []
    for number, (caption, file) in enumerate(found[:MOST], start=1):
        kind = KINDS[file.suffix.lower()]
        if file.stat().st_size <= EMBEDDED:
            videos.append(Video(caption, kind, data_uri(kind, file.read_bytes())))
            continue
        target = out / "videos" / f"{number:02d}{file.suffix.lower()}"
        try:
            target.parent.mkdir(exist_ok=True)
            shutil.copyfile(file, target)
        except OSError as error:
            raise cannot_write(target, error) from error
        videos.append(Video(caption, kind, f"videos/{target.name}"))
    return videos, len(found) - len(videos)
