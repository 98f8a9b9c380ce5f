"""Figures, legends, strips and videos as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from rilco.reporting.drawing import Figure, panel_svg
from rilco.reporting.html import Markup, data_uri, element
from rilco.reporting.media import MOMENTS, Strip, Video
from rilco.reporting.style import MARKERS, method_style, task_label

INK = "#444444"


def figure_block(figure: Figure, caption: str) -> Markup:
    """The panels of a figure, which flow with the width of the window, with a legend and links to its files."""
    images = [
        element("img", src=data_uri("image/svg+xml", panel_svg(figure, panel)), alt=panel.alt)
        for panel in figure.panels
    ]
    links = element(
        "span",
        "Files: ",
        element("a", "PNG", href=f"figures/{figure.name}.png"),
        ", ",
        element("a", "SVG", href=f"figures/{figure.name}.svg"),
        ".",
        class_="files",
    )
    return element(
        "figure",
        _legend(figure) if figure.methods else Markup(),
        element("div", *images, class_="panels four" if len(images) == 4 else "panels"),
        element("figcaption", caption + " ", links),
        class_="wide",
        id=f"figure-{figure.name}",
    )


def _legend(figure: Figure) -> Markup:
    items = []
    for method in figure.methods:
        style = method_style(method, figure.methods)
        items.append(element("li", swatch(style.colour, style.marker), style.label))
    if not figure.published:
        return element("ul", *items, class_="legend")
    items.append(element("li", class_="break", aria_hidden="true"))
    items.append(element("li", swatch(INK), "ours"))
    items.append(element("li", swatch(INK, dashed=True), "published"))
    if figure.hollow:
        hollow = swatch(INK, "o", hollow=True)
        items.append(element("li", hollow, "published, after as many transitions as ours"))
    items.append(element("li", swatch("#888888", dots=True), "the expert"))
    return element("ul", *items, class_="legend")


def swatch(
    colour: str, marker: str | None = None, *, dashed: bool = False, dots: bool = False, hollow: bool = False
) -> Markup:
    """A short line with a marker, as the figures draw it."""
    dashes = {"stroke_dasharray": "5 3"} if dashed else {"stroke_dasharray": "1.5 2.5"} if dots else {}
    width = "1.4" if dashed or dots else "2"
    line = element("line", x1="1", x2="31", y1="7", y2="7", stroke=colour, stroke_width=width, **dashes)
    shapes = [] if hollow else [line]
    if marker is not None:
        fill = "#ffffff" if hollow else colour
        if MARKERS[marker]:
            place = "translate(16 7) scale(4.6)"
            shapes.append(element("polygon", points=MARKERS[marker], transform=place, fill=fill))
        else:
            shapes.append(
                element("circle", cx="16", cy="7", r="4", fill=fill, stroke=colour, stroke_width="1.4")
            )
    return element("svg", *shapes, viewBox="0 0 32 14", aria_hidden="true")


def strip_blocks(strips: Sequence[Strip]) -> Markup:
    figures = []
    for strip in strips:
        text = f"{task_label(strip.task)}: {strip.caption}"
        times = [element("span", f"t = {step}") for step in MOMENTS]
        alt = f"{text}. Rendered frames at steps {', '.join(map(str, MOMENTS))} of an episode."
        figures.append(
            element(
                "figure",
                element("figcaption", element("strong", task_label(strip.task)), f", {strip.caption}"),
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
            shown = element(
                "video",
                src=video.address,
                preload="auto" if video.address.startswith("data:") else "metadata",
                aria_label=alt,
                **how,
            )
        figures.append(element("figure", shown, element("figcaption", video.caption)))
    return element("div", *figures, class_="videos wide")
