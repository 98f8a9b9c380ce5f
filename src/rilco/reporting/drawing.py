"""From panels to bytes: whole figures as PNG and SVG files, single panels as SVG for the page.

On the page the panels flow: four in a row on a wide screen, one below the other on a phone.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rilco.reporting.style import EXPERT_LINE, FIGURE_STYLE, PUBLISHED_LINE, method_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

WIDTH, HEIGHT = 3.35, 2.75  # of a panel, in inches
RIGHT, BOTTOM, TOP = 0.10, 0.47, 0.32  # margins around its axes
LEGEND_LINE = 0.27


class Panel(NamedTuple):
    """One set of axes and what it shows, in words."""

    title: str
    alt: str
    draw: Callable[[Any], None]


class Figure(NamedTuple):
    """A figure of the report, before it is drawn."""

    name: str
    """Of its files."""
    panels: Sequence[Panel]
    methods: Sequence[str] = ()
    """In the legend; none for a figure that needs no legend."""
    hollow: bool = False
    """Whether hollow markers are explained in the legend."""
    published: bool = True
    """Whether there are published curves and an expert, for the legend."""
    left: float = 0.72
    """Margin for the labels of the vertical axis, in inches."""


def panel_svg(figure: Figure, panel: Panel) -> bytes:
    """One panel by itself, for the page."""
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    with matplotlib.rc_context(FIGURE_STYLE):
        canvas = Canvas(figsize=(WIDTH, HEIGHT))
        _draw(canvas, panel, figure.left, (0.0, 0.0))
        return _svg(canvas)


def figure_files(figure: Figure) -> dict[str, bytes]:
    """The whole figure, with its legend, by file ending."""
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    columns = len(figure.panels) if len(figure.panels) <= 4 else 3
    rows = -(-len(figure.panels) // columns)
    lines = _legend_lines(figure, columns) if figure.methods else []
    legend = LEGEND_LINE * len(lines) + 0.05 * bool(lines)
    with matplotlib.rc_context(FIGURE_STYLE):
        canvas = Canvas(figsize=(columns * WIDTH, rows * HEIGHT + legend))
        for i, panel in enumerate(figure.panels):
            corner = (i % columns * WIDTH, (rows - 1 - i // columns) * HEIGHT + legend)
            _draw(canvas, panel, figure.left, corner)
        _draw_legend(canvas, lines)
        png = io.BytesIO()
        canvas.savefig(png, format="png", metadata={"Software": None})
        return {".png": png.getvalue(), ".svg": _svg(canvas)}


def _draw(canvas: Canvas, panel: Panel, left: float, corner: tuple[float, float]) -> None:
    """Axes with the same margins in inches everywhere, so that panels line up wherever they stand."""
    width, height = canvas.get_size_inches()
    axes = canvas.add_axes(
        (
            (corner[0] + left) / width,
            (corner[1] + BOTTOM) / height,
            (WIDTH - left - RIGHT) / width,
            (HEIGHT - BOTTOM - TOP) / height,
        )
    )
    panel.draw(axes)
    axes.set_title(panel.title)


def _legend_lines(figure: Figure, columns: int) -> list[list[Any]]:
    """Handles line by line: the methods, then what ours and the published look like."""
    from matplotlib.lines import Line2D

    methods = []
    for method in figure.methods:
        style = method_style(method, figure.methods)
        methods.append(Line2D([], [], color=style.colour, marker=style.marker, label=style.label))
    if not figure.published:
        return [methods[i : i + 2 * columns] for i in range(0, len(methods), 2 * columns)]
    kinds = [
        Line2D([], [], color="#444444", label="ours"),
        Line2D([], [], color="#444444", label="published", **PUBLISHED_LINE),
    ]
    kinds.append(Line2D([], [], color="#444444", label="the expert", **EXPERT_LINE))
    if figure.hollow:
        label = "published, after as many transitions as ours"
        kinds.append(
            Line2D([], [], color="#444444", label=label, marker="o", markerfacecolor="white", linestyle="")
        )
    return [*(methods[i : i + 2 * columns] for i in range(0, len(methods), 2 * columns)), kinds]


def _draw_legend(canvas: Canvas, lines: Sequence[Sequence[Any]]) -> None:
    height = canvas.get_size_inches()[1]
    for i, handles in enumerate(lines):
        y = (len(lines) - 1 - i) * LEGEND_LINE / height
        canvas.legend(handles=list(handles), loc="lower center", bbox_to_anchor=(0.5, y), ncols=len(handles))


def _svg(canvas: Canvas) -> bytes:
    file = io.BytesIO()
    canvas.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    # Text was laid out in DejaVu Sans, which is wide; the reader's own sans-serif fits into its place.
    return re.sub(
        rb"'DejaVu Sans'(, sans-serif)?", b"system-ui, 'Helvetica Neue', Arial, sans-serif", file.getvalue()
    )
