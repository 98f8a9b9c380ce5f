"""The page: its sections put together into one HTML file that needs nothing beside it."""

from __future__ import annotations

from importlib import resources
from string import Template

from rilco import __version__
from rilco.report.content import Content
from rilco.report.html import element, joined
from rilco.report.sections import all_sections

TITLE = "Imitation from noisy demonstrations"
SUBTITLE = (
    "Runs of rilco beside the published results of Tangkaratt, Charoenphakdee and Sugiyama (AISTATS 2021)"
)


def make_page(content: Content) -> str:
    sections = all_sections(content)
    links = [element("li", element("a", section.title, href=f"#{section.name}")) for section in sections]
    main = [
        element("section", element("h2", section.title), *section.parts, id=section.name)
        for section in sections
    ]
    assets = resources.files("rilco.report") / "assets"
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
