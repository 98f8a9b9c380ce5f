"""From panels to the bytes of a figure, as PNG and SVG."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rilco.reporting.style import EXPERT_INK, EXPERT_LINE, HOLLOW, INK, PUBLISHED_LINE, method_style

STYLE = Path(__file__).with_name("assets") / "figures.mplstyle"
WIDTH, HEIGHT, LEGEND_LINE = 3.35, 2.75, 0.2  # of a panel, and of a line of the legend, in inches


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


class Drawn(NamedTuple):
    """A figure as bytes."""

    name: str
    alt: str
    png: bytes
    svg: bytes


def draw_figure(figure: Figure) -> Drawn:
    """All panels, with the legend below them."""
    import matplotlib
    from matplotlib.figure import Figure as Canvas

    columns = len(figure.panels) if len(figure.panels) <= 4 else 3
    rows = -(-len(figure.panels) // columns)
    with matplotlib.rc_context(fname=STYLE):
        handles = _handles(figure)
        height = rows * HEIGHT + LEGEND_LINE * -(-len(handles) // (columns + 1))
        canvas = Canvas(figsize=(columns * WIDTH, height), layout="constrained")
        places = canvas.subplots(rows, columns, squeeze=False).flat
        for axes in places[len(figure.panels) :]:
            axes.set_axis_off()
        for panel, axes in zip(figure.panels, places, strict=False):
            panel.draw(axes)
            axes.set_title(panel.title)
        if handles:
            canvas.legend(handles=handles, loc="outside lower center", ncols=columns + 1)
        png, svg = io.BytesIO(), io.BytesIO()
        canvas.savefig(png, format="png", metadata={"Software": None})
        canvas.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    alt = " ".join(panel.alt for panel in figure.panels)
    # Text was laid out in DejaVu Sans, which is wide; the reader's own sans-serif fits into its place.
    font = b"system-ui, 'Helvetica Neue', Arial, sans-serif"
    text = re.sub(rb"'DejaVu Sans'(, sans-serif)?", font, svg.getvalue())
    return Drawn(figure.name, alt, png.getvalue(), text)


def _handles(figure: Figure) -> list[Any]:
    """Of the legend: methods, then what ours and the published look like."""
    from matplotlib.lines import Line2D

    handles = []
    for method in figure.methods:
        style = method_style(method, figure.methods)
        handles.append(Line2D([], [], color=style.colour, marker=style.marker, label=style.label))
    if figure.methods and figure.published:
        handles += [
            Line2D([], [], color=INK, label="ours"),
            Line2D([], [], color=INK, label="published", **PUBLISHED_LINE),
            Line2D([], [], color=EXPERT_INK, label="the expert", **EXPERT_LINE),
        ]
    if figure.hollow:
        label = "published, as long as ours"
        handles.append(Line2D([], [], color=INK, label=label, marker="o", **HOLLOW))
    return handles
