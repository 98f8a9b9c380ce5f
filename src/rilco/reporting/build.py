"""From a results folder to a report: read, sort, draw, and write one self-contained page."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from string import Template

from rilco import __version__
from rilco.errors import ConfigError, RunError, require
from rilco.experiment.published import RATES
from rilco.files import write_atomically
from rilco.reporting.aggregate import experts, scores_at
from rilco.reporting.cells import sort_results
from rilco.reporting.drawing import figure_files
from rilco.reporting.figures import other_figures, report_figures
from rilco.reporting.html import element, joined
from rilco.reporting.loss_figure import loss_figure
from rilco.reporting.media import Media, find_videos, make_strips
from rilco.reporting.sections import Content, all_sections
from rilco.reporting.seeds import compare_seeds, seeds_figures
from rilco.runs.paths import CONFIG, METRICS
from rilco.runs.results import Results, read_results

PAGE = "index.html"
FIGURES = ("final", "curves-", "ablation", "gaussian", "over-tasks", "seeds", "other-", "losses", "strip-")
"""Beginnings of the names of figures."""


def report(
    results: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    frames: bool = True,
    say: Callable[[str], None] = lambda text: None,
) -> Path:
    """Write a page about the runs below `results`; the same as `rilco report`. Returns the path of the page.

    `frames` renders what policies do, which takes a few seconds each. The page lists what could not be read, rendered
    or compared. Its figures are also files, as PNG and SVG, in the folder `figures` beside it.

        >>> rilco.report("runs", "report", frames=False)
        PosixPath('report/index.html')
    """
    root, folder = Path(results), Path(out)
    require("matplotlib", "The report's figures", "plot")
    read = read_results(root)
    _check_anything(read, root)
    _check_writable(folder)
    found = sort_results(read)
    cells = f"{len(found.cells)} of the paper's cells, {len(found.others)} others"
    say(f"{len(read.runs)} runs: {cells}, {len(found.aside)} left out; {len(read.skipped)} entries skipped")
    expert = experts()
    scores = {rate: rows for rate in RATES if (rows := scores_at(rate, found.cells, expert))}
    seeds = compare_seeds(found.cells)
    drawn = [
        *report_figures(found.cells, expert, scores),
        *other_figures(found.others),
        *seeds_figures(seeds),
        loss_figure(),
    ]
    figures = {figure.name: figure for figure in drawn}
    media = Media()
    if frames:
        say("rendering frames")
        media = make_strips(found.cells)
    _remove_old(folder)
    media.videos, media.more_videos = find_videos((*found.cells.values(), *found.others.values()))
    say(f"drawing {len(figures)} figures")
    for figure in figures.values():
        for ending, data in figure_files(figure).items():
            write_atomically(folder / "figures" / f"{figure.name}{ending}", data)
    for strip in media.strips:
        write_atomically(folder / "figures" / f"{strip.name}.png", strip.png)
    content = Content(root, found, figures, expert, scores, seeds, media)
    write_atomically(folder / PAGE, make_page(content).encode())
    return folder / PAGE


def _check_anything(read: Results, root: Path) -> None:
    if read.runs:
        return
    if not read.skipped:
        raise RunError(
            f"{root}: there is no run in this folder. A run is a folder with {CONFIG} and {METRICS}. Name the folder "
            "that was --out of `rilco sweep` or `rilco train`."
        )
    first = "; ".join(entry.reason for entry in read.skipped[:3])
    more = f" And {len(read.skipped) - 3} more." if len(read.skipped) > 3 else ""
    raise RunError(f"{root}: no run in this folder can be read, so there is nothing to report. {first}{more}")


def _check_writable(folder: Path) -> None:
    """Raises ConfigError, before minutes of drawing, if the folder cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ConfigError(
            f"--out {folder}: the report cannot be written there ({error.strerror or error}). Choose another folder; it "
            "is made if it does not exist."
        ) from error


def _remove_old(folder: Path) -> None:
    """Remove the figures of an earlier report, which may be out of date, and nothing else."""
    for file in (folder / "figures").glob("*"):
        if file.name.startswith(FIGURES) and file.suffix in (".png", ".svg"):
            with contextlib.suppress(OSError):
                file.unlink()


def make_page(content: Content) -> str:
    """The page as HTML."""
    links, main = [], []
    for name, (title, parts) in all_sections(content).items():
        links.append(element("li", element("a", title, href=f"#{name}")))
        main.append(element("section", element("h2", title), *parts, id=name))
    assets = resources.files("rilco.reporting") / "assets"
    return Template((assets / "page.html").read_text()).substitute(
        version=__version__,
        css=(assets / "page.css").read_text(),
        contents=element("ul", *links),
        main=joined(*main),
    )
