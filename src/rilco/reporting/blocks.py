"""Figures, legends, strips and videos as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rilco.reporting.drawing import Figure, panel_svg
from rilco.reporting.html import Markup, data_uri, element
from rilco.reporting.media import MOMENTS, Strip, Video
from rilco.reporting.style import EXPERT_INK, INK, method_style, task_label

DASHED, DOTTED = "5 3", "1.5 2.5"


def figure_block(figure: Figure, caption: str) -> Markup:
    """The panels of a figure, which flow with the width of the window, with a legend and links to its files."""
    images = [
        element("img", src=data_uri("image/svg+xml", panel_svg(figure, panel)), alt=panel.alt)
        for panel in figure.panels
    ]
    png = element("a", "PNG", href=f"figures/{figure.name}.png")
    svg = element("a", "SVG", href=f"figures/{figure.name}.svg")
    return element(
        "figure",
        _legend(figure) if figure.methods else Markup(),
        element("div", *images, class_="panels four" if len(images) == 4 else "panels"),
        element("figcaption", caption + " ", element("span", "Files: ", png, ", ", svg, ".", class_="files")),
        class_="wide",
        id=f"figure-{figure.name}",
    )


def _legend(figure: Figure) -> Markup:
    items = []
    for method in figure.methods:
        style = method_style(method, figure.methods)
        items.append(element("li", swatch(style.colour, style.marker), style.label))
    if figure.published:
        items.append(element("li", class_="break", aria_hidden="true"))
        items.append(element("li", swatch(INK), "ours"))
        items.append(element("li", swatch(INK, dashes=DASHED), "published"))
        if figure.hollow:
            hollow = swatch(INK, "o", hollow=True)
            items.append(element("li", hollow, "published, after as many transitions as ours"))
        items.append(element("li", swatch(EXPERT_INK, dashes=DOTTED), "the expert"))
    return element("ul", *items, class_="legend")


def swatch(colour: str, marker: str | None = None, *, dashes: str = "", hollow: bool = False) -> Markup:
    """A short line with a marker, as the figures draw it."""
    look: dict[str, Any] = {"stroke": colour, "stroke_width": "1.4" if dashes or hollow else "2"}
    shapes = []
    if not hollow:
        shapes.append(
            element("line", x1="1", x2="31", y1="7", y2="7", stroke_dasharray=dashes or False, **look)
        )
    if marker is not None:
        ink = {"fill": "#ffffff", **look} if hollow else {"fill": colour}
        shapes.append(element("polygon", points=_corners(marker), **ink))
    return element("svg", *shapes, viewBox="0 0 32 14", aria_hidden="true")


def _corners(marker: str) -> str:
    """A marker of matplotlib's in the middle of a swatch."""
    from matplotlib.markers import MarkerStyle

    shape = MarkerStyle(marker)
    outline: Any = shape.get_path().transformed(shape.get_transform()).to_polygons()[0]
    return " ".join(f"{16 + 9 * x:.1f},{7 - 9 * y:.1f}" for x, y in outline)


def strip_blocks(strips: Sequence[Strip]) -> Markup:
    figures = []
    for strip in strips:
        task = task_label(strip.task)
        steps = ", ".join(map(str, MOMENTS))
        alt = f"{task}: {strip.caption}. Rendered frames at steps {steps} of an episode."
        times = [element("span", f"t = {step}") for step in MOMENTS]
        figures.append(
            element(
                "figure",
                element("figcaption", element("strong", task), f", {strip.caption}"),
                element("img", src=data_uri("image/jpeg", strip.jpeg), alt=alt),
                element("div", *times, class_="times", aria_hidden="true"),
                class_="expert" if strip.expert else "learned",
            )
        )
    return element("div", *figures, class_="strips wide")


def video_blocks(videos: Sequence[Video]) -> Markup:
    figures = []
    for video in videos:
        alt = f"Video: {video.caption}"
        if video.kind.startswith("image/"):
            shown = element("img", src=video.address, alt=alt)
        else:
            how = {"controls": True, "loop": True, "muted": True, "playsinline": True}
            shown = element("video", src=video.address, aria_label=alt, **how)
        figures.append(element("figure", shown, element("figcaption", video.caption)))
    return element("div", *figures, class_="videos wide")
