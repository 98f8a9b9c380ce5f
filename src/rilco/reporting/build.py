"""From a results folder to a report: read, sort, draw, and write one self-contained page."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from string import Template

from rilco import __version__
from rilco.errors import RunError, require
from rilco.experiment.published import RATES
from rilco.files import write_atomically
from rilco.reporting.aggregate import experts, scores_at
from rilco.reporting.cells import sort_results
from rilco.reporting.drawing import draw_figure
from rilco.reporting.figures import other_figures, report_figures
from rilco.reporting.html import element, joined
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
    say: Callable[[str], None] = lambda text: None,
) -> Path:
    """Write a page about the runs below `results`; the same as `rilco report`. Returns the path of the page.

    The page lists what could not be read or compared. Its figures are also files, as PNG and SVG, in the folder
    `figures` beside it.

        >>> rilco.report("runs", "report")
        PosixPath('report/index.html')
    """
    root, folder = Path(results), Path(out)
    require("matplotlib", "The report's figures", "plot")
    read = read_results(root)
    _check_anything(read, root)
    found = sort_results(read)
    cells = f"{len(found.cells)} of the paper's cells, {len(found.others)} others"
    say(f"{len(read.runs)} runs: {cells}, {len(found.aside)} left out; {len(read.skipped)} entries skipped")
    expert = experts()
    scores = {rate: rows for rate in RATES if (rows := scores_at(rate, found.cells, expert))}
    seeds = compare_seeds(found.cells)
    figures = [
        *report_figures(found.cells, expert, scores),
        *other_figures(found.others),
        *seeds_figures(seeds),
    ]
    say(f"drawing {len(figures)} figures")
    drawn = {figure.name: draw_figure(figure) for figure in figures}
    _remove_old(folder)
    for name, figure in drawn.items():
        write_atomically(folder / "figures" / f"{name}.png", figure.png)
        write_atomically(folder / "figures" / f"{name}.svg", figure.svg)
    content = Content(root, found, drawn, expert, scores, seeds)
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
