"""Videos that lie in run folders: small ones go into the page, large ones beside it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from rilco.files import cannot_write
from rilco.report.cells import Cell
from rilco.report.html import data_uri
from rilco.report.summary import cell_name

KINDS = {".mp4": "video/mp4", ".webm": "video/webm", ".gif": "image/gif"}
EMBEDDED = 2 * 2**20
"""Bytes up to which a video is part of the page; larger ones are copied next to it."""
MOST = 24
"""Videos on the page; every run may have several, and a page of a hundred helps nobody."""


class Video(NamedTuple):
    caption: str
    kind: str
    address: str


def find_videos(cells: Iterable[Cell], out: Path) -> tuple[list[Video], int]:
    """Videos of the runs, ready to be shown, and how many more there are."""
    found = [
        (cell, run, file)
        for cell in cells
        for run in cell.runs
        for file in sorted([*run.path.glob("*.*"), *run.path.glob("video*/*.*")])
        if file.suffix.lower() in KINDS and file.is_file()
    ]
    videos = []
    for number, (cell, run, file) in enumerate(found[:MOST], start=1):
        kind = KINDS[file.suffix.lower()]
        caption = f"{cell_name(cell.key)}, seed {run.config.seed}"
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
