"""From a results folder to a report: read, sort, draw, and write one page that needs nothing beside it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from string import Template

from rilco import __version__
from rilco.errors import ConfigError, RunError, require
from rilco.experiment.published import RATES
from rilco.files import write_atomically
from rilco.reporting.aggregate import Expert, MethodScore, experts, scores_at
from rilco.reporting.cells import Sorted, sort_results
from rilco.reporting.content import Content
from rilco.reporting.drawing import Figure, figure_files
from rilco.reporting.figures import curve_figure, report_figures
from rilco.reporting.html import element, joined
from rilco.reporting.loss_figure import loss_figure
from rilco.reporting.media import Strip, find_videos, make_strips
from rilco.reporting.sections import all_sections
from rilco.reporting.seeds import compare_seeds, seeds_figures
from rilco.reporting.style import in_order, tasks_in_order
from rilco.runs.paths import CONFIG, METRICS
from rilco.runs.results import Results, read_results

PAGE = "index.html"
TITLE = "Imitation from noisy demonstrations"
SUBTITLE = (
    "Runs of rilco beside the published results of Tangkaratt, Charoenphakdee and Sugiyama (AISTATS 2021)"
)


def report(
    results: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    frames: bool = True,
    say: Callable[[str], None] = lambda text: None,
) -> Path:
    """Write the page and the figures of whatever runs are below `results`; returns the page's path.

    The same as `rilco report`. `frames` renders the strips, which takes a few seconds a policy. What cannot be read,
    rendered or compared is listed on the page. The figures are beside the page, in `figures`, as PNG and SVG.

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
    figures = {figure.name: figure for figure in (*_figures(found, expert, scores), *seeds_figures(seeds))}
    complaints: dict[str, list[str]] = {}
    strips: list[Strip] = []
    if frames:
        say("rendering frames")
        strips = list(make_strips(found.cells, complaints))
    _remove_old(folder)
    videos, more = find_videos([*found.cells.values(), *found.others.values()], folder)
    say(f"drawing {len(figures)} figures")
    for figure in figures.values():
        for ending, data in figure_files(figure).items():
            write_atomically(folder / "figures" / f"{figure.name}{ending}", data)
    for strip in strips:
        write_atomically(folder / "figures" / f"{strip.name}.png", strip.png)
    content = Content(root, found, figures, expert, scores, seeds, strips, videos, more, complaints)
    write_atomically(folder / PAGE, make_page(content).encode())
    return folder / PAGE


def _figures(
    found: Sorted, expert: dict[str, Expert], scores: dict[float, list[MethodScore]]
) -> Iterator[Figure]:
    yield from report_figures(found.cells, expert, scores)
    places = {(key.noise, key.noise_rate) for key in found.others}
    for number, (noise, rate) in enumerate(
        sorted(places, key=lambda place: (place[0], place[1] or 0.0)), start=1
    ):
        keys = [key for key in found.others if (key.noise, key.noise_rate) == (noise, rate)]
        tasks = tasks_in_order(key.task for key in keys)
        methods = in_order(key.method for key in keys)
        yield curve_figure(
            f"other-{number}", rate, methods, found.others, {}, tasks=tasks, noise=noise, published=False
        )
    yield loss_figure()


def _check_anything(read: Results, root: Path) -> None:
    if read.runs:
        return
    if not read.skipped:
        raise RunError(
            f"{root}: there is no run in this folder. A run is a folder with {CONFIG} and {METRICS}; name "
            "the folder that was given as --out to `rilco sweep` or `rilco train`."
        )
    first = "; ".join(entry.reason for entry in read.skipped[:3])
    more = f" And {len(read.skipped) - 3} more." if len(read.skipped) > 3 else ""
    raise RunError(f"{root}: no run in this folder can be read, so there is nothing to report. {first}{more}")


def _check_writable(folder: Path) -> None:
    """Refuses, before minutes of drawing, a folder that cannot be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ConfigError(
            f"--out {folder}: the report cannot be written there ({error.strerror or error}). Name a folder that may be "
            "written to; it is made if it does not exist."
        ) from error


def _remove_old(folder: Path) -> None:
    """Take away the figures of an earlier report, which may show what is no longer true; nothing else."""
    for prefix in (
        "final",
        "curves-",
        "ablation",
        "gaussian",
        "over-tasks",
        "seeds",
        "other-",
        "losses",
        "strip-",
    ):
        for file in (folder / "figures").glob(f"{prefix}*"):
            if file.suffix in (".png", ".svg"):
                with contextlib.suppress(OSError):
                    file.unlink()


def make_page(content: Content) -> str:
    """The sections, put together."""
    sections = all_sections(content)
    links = [element("li", element("a", section.title, href=f"#{section.name}")) for section in sections]
    main = [
        element("section", element("h2", section.title), *section.parts, id=section.name)
        for section in sections
    ]
    assets = resources.files("rilco.reporting") / "assets"
    return Template((assets / "page.html").read_text()).substitute(
        title=TITLE,
        subtitle=SUBTITLE,
        version=__version__,
        css=(assets / "page.css").read_text(),
        contents=element("ul", *links),
        main=joined(*main),
        footer=element(
            "p", f"Made by rilco {__version__}; the figures are also files in the folder “figures”."
        ),
    )
