"""The page in a real browser: headless Chromium, where there is one."""

from __future__ import annotations

from typing import Any

import pytest
from tests.judging.browser import browser, downloads, emulate, needs_chromium  # noqa: F401 (fixtures)
from tests.reporting.conftest import Report

pytestmark = [pytest.mark.slow, needs_chromium]


@pytest.fixture(params=[390, 800, 1600])
def page(request: pytest.FixtureRequest, browser: Any, report: Report) -> Any:  # noqa: F811 (the fixture imported above)
    """The report's page in a window of a phone's, a tablet's and a desk's width."""
    emulate(browser, width=request.param, height=900)
    browser.get(report.page.as_uri())
    return browser


def test_nothing_sticks_out_sideways(page: Any) -> None:
    width, inner = page.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert width <= inner
    # Nor is anything cut off: whatever is wider than the window scrolls in a box of its own.
    outside = page.execute_script(
        """return [...document.querySelectorAll('main *, header *, nav *')]
             .filter(e => !e.closest('.scroll') && e.getBoundingClientRect().right > window.innerWidth + 1)
             .map(e => e.tagName)"""
    )
    assert outside == []


def test_no_complaint_in_the_console(page: Any) -> None:
    assert [entry for entry in page.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []


def test_every_image_is_drawn_and_described(page: Any) -> None:
    broken = page.execute_script(
        "return [...document.images].filter(i => !i.complete || !i.naturalWidth || !i.alt).length"
    )
    assert broken == 0
    assert page.execute_script("return document.images.length") > 8


def test_tables_scroll_inside_their_box_by_keyboard_too(page: Any) -> None:
    boxes = page.execute_script(
        """return [...document.querySelectorAll('.scroll')].map(
             e => [e.scrollWidth > e.clientWidth + 1, getComputedStyle(e).overflowX, e.tabIndex])"""
    )
    assert all(overflow == "auto" and index == 0 for _, overflow, index in boxes)
    if page.execute_script("return window.innerWidth") == 390:
        assert any(scrolls for scrolls, _, _ in boxes)


def test_anchors_lead_to_their_section(page: Any) -> None:
    links = page.find_elements("css selector", "nav a")
    assert len(links) > 8
    for link in (links[0], links[-1], links[2]):
        page.execute_script("arguments[0].click()", link)
        target = link.get_attribute("href").split("#")[1]
        top, height = page.execute_script(
            "return [document.getElementById(arguments[0]).getBoundingClientRect().top, window.innerHeight]",
            target,
        )
        assert -2 <= top < height


def test_text_has_enough_contrast(page: Any) -> None:
    """WCAG AA: 4.5 to 1 for all text on the page's white."""
    ratios = page.execute_script(
        """const light = c => { const v = c / 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 };
           const luminance = ([r, g, b]) => .2126 * light(r) + .7152 * light(g) + .0722 * light(b);
           const numbers = text => text.match(/[0-9.]+/g).map(Number);
           return [...document.querySelectorAll('p, li, th, td, figcaption, caption, a, h1, h2, h3')].map(e => {
             const style = getComputedStyle(e), ink = numbers(style.color), paper = numbers(style.backgroundColor);
             const back = paper.length === 4 && paper[3] === 0 ? [255, 255, 255] : paper;
             return (luminance(back) + .05) / (luminance(ink) + .05); })"""
    )
    assert min(ratios) >= 4.5
