"""From panels to bytes: whole figures as PNG and SVG files, single panels as SVG for the page.

On the page the panels flow: four in a row on a wide screen, one below the other on a phone.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rilco.reporting.style import EXPERT_INK, EXPERT_LINE, HOLLOW, INK, PUBLISHED_LINE, method_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

STYLE = Path(__file__).with_name("assets") / "figures.mplstyle"
WIDTH, HEIGHT = 3.35, 2.75  # of a panel, in inches
RIGHT, BOTTOM, TOP = 0.10, 0.47, 0.32  # margins around its axes
LEGEND_LINE = 0.27


class Panel(NamedTuple):
    """One set of axes, with a description for those who do not see it."""

    title: str
    alt: str
    draw: Callable[[Any], None]


class Figure(NamedTuple):
    """A figure of the report, before it is drawn."""

    name: str
    """The stem of its files."""
    panels: Sequence[Panel]
    methods: Sequence[str] = ()
    """Methods in the legend; without any there is no legend."""
    hollow: bool = False
    """Whether the legend explains hollow markers."""
    published: bool = True
    """Whether the legend explains published curves and the expert's line."""
    left: float = 0.72
    """Margin for the labels of the vertical axis, in inches."""


def panel_svg(figure: Figure, panel: Panel) -> bytes:
    """One panel by itself, for the page."""
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    with matplotlib.rc_context(fname=STYLE):
        canvas = Canvas(figsize=(WIDTH, HEIGHT))
        _draw(canvas, panel, figure.left, (0.0, 0.0))
        return _svg(canvas)


def figure_files(figure: Figure) -> dict[str, bytes]:
    """The whole figure, with its legend, by file ending."""
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    columns = len(figure.panels) if len(figure.panels) <= 4 else 3
    rows = -(-len(figure.panels) // columns)
    lines = _legend_lines(figure, 2 * columns) if figure.methods else []
    legend = LEGEND_LINE * len(lines) + 0.05 * bool(lines)
    with matplotlib.rc_context(fname=STYLE):
        canvas = Canvas(figsize=(columns * WIDTH, rows * HEIGHT + legend))
        for i, panel in enumerate(figure.panels):
            corner = (i % columns * WIDTH, (rows - 1 - i // columns) * HEIGHT + legend)
            _draw(canvas, panel, figure.left, corner)
        for i, handles in enumerate(reversed(lines)):
            place = (0.5, i * LEGEND_LINE / canvas.get_size_inches()[1])
            canvas.legend(handles=handles, loc="lower center", bbox_to_anchor=place, ncols=len(handles))
        png = io.BytesIO()
        canvas.savefig(png, format="png", metadata={"Software": None})
        return {".png": png.getvalue(), ".svg": _svg(canvas)}


def _draw(canvas: Canvas, panel: Panel, left: float, corner: tuple[float, float]) -> None:
    """Axes with the same margins in inches everywhere, so that panels line up wherever they stand."""
    width, height = canvas.get_size_inches()
    x, y = (corner[0] + left) / width, (corner[1] + BOTTOM) / height
    axes = canvas.add_axes((x, y, (WIDTH - left - RIGHT) / width, (HEIGHT - BOTTOM - TOP) / height))
    panel.draw(axes)
    axes.set_title(panel.title)


def _legend_lines(figure: Figure, most: int) -> list[list[Any]]:
    """Handles by line: methods, at most `most` in each, then what ours and the published look like."""
    from matplotlib.lines import Line2D

    methods = []
    for method in figure.methods:
        style = method_style(method, figure.methods)
        methods.append(Line2D([], [], color=style.colour, marker=style.marker, label=style.label))
    lines = [methods[i : i + most] for i in range(0, len(methods), most)]
    if not figure.published:
        return lines
    kinds = [
        Line2D([], [], color=INK, label="ours"),
        Line2D([], [], color=INK, label="published", **PUBLISHED_LINE),
        Line2D([], [], color=EXPERT_INK, label="the expert", **EXPERT_LINE),
    ]
    if figure.hollow:
        label = "published, after as many transitions as ours"
        kinds.append(Line2D([], [], color=INK, label=label, marker="o", **HOLLOW))
    return [*lines, kinds]


def _svg(canvas: Canvas) -> bytes:
    file = io.BytesIO()
    canvas.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    # Text was laid out in DejaVu Sans, which is wide; the reader's own sans-serif fits into its place.
    font = b"system-ui, 'Helvetica Neue', Arial, sans-serif"
    return re.sub(rb"'DejaVu Sans'(, sans-serif)?", font, file.getvalue())
