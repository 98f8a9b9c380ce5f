"""The page in a real Chromium: what a person does with it, by mouse and by keyboard."""

from __future__ import annotations

import csv
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.judging.browser import browser, downloads, emulate, needs_chromium  # noqa: F401 (fixtures)
from tests.judging.examples import make_audit

from rilco.data.formats import load_file, save_demonstrations
from rilco.judging.audit import Audit, load_audit
from rilco.judging.page import render_page
from rilco.judging.pictures import Film, Gallery
from rilco.judging.record import read_decisions

pytestmark = needs_chromium

HACK = "<img src=x onerror='window.hacked=1'></script><script>window.hacked=1</script>"
# Changes of decisions are drawn with the next frame.
FRAME = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"


class Page:
    """The page of an audit in the browser, and what tests ask it."""

    def __init__(self, driver: Any, folder: Path, audit: Audit, gallery: Gallery) -> None:
        self.driver, self.audit = driver, audit
        path = folder / "audit.html"
        path.write_text(render_page(audit, gallery))
        driver.get_log("browser")  # forget what earlier pages said
        driver.get(path.as_uri())
        self.settle()  # rows are drawn once more when the page has its size

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def visible(self, selector: str) -> bool:
        return self.run("return document.querySelector(arguments[0]).getClientRects().length > 0", selector)

    def click(self, selector: str) -> None:
        found = self.driver.find_element("css selector", selector)
        self.run("arguments[0].scrollIntoView({ block: 'center' })", found)
        found.click()
        self.settle()

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        actions = ActionChains(self.driver)
        for key in keys:
            actions.send_keys(key)
        actions.perform()
        self.settle()

    def settle(self) -> None:
        self.driver.execute_async_script(FRAME)

    def decisions(self) -> list[str]:
        """Of all demonstrations in their order: read off the rows, with all of them drawn as for printing."""
        self.run("dispatchEvent(new Event('beforeprint'))")
        found = self.run(
            "return Object.fromEntries([...document.querySelectorAll('#rows .row')].map("
            "row => [row.dataset.index, row.querySelector('.pill').textContent]))"
        )
        self.run("dispatchEvent(new Event('afterprint'))")
        return [found[str(i)] for i in range(len(found))]

    def counts(self) -> dict[str, int]:
        return {word: int(self.text(f"#head-{word}").replace(",", "")) for word in ("keep", "drop", "unsure")}

    def check_quiet(self) -> None:
        assert self.driver.get_log("browser") == []


Show = Callable[..., Page]


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Show:  # noqa: F811 (the fixture imported above)
    emulate(browser, width=1440, height=900)

    def open_page(audit: Audit, gallery: Gallery = Gallery()) -> Page:
        return Page(browser, tmp_path, audit, gallery)

    return open_page


# --- what it shows


def test_the_verdict_is_there_and_nothing_complains(show: Show) -> None:
    page = show(make_audit())
    assert page.text("h1") == "6 of 18 demonstrations look bad"
    assert page.counts() == {"keep": 12, "drop": 6, "unsure": 0}
    assert page.decisions() == ["keep"] * 12 + ["drop"] * 6
    assert page.run("return document.querySelectorAll('.family').length") == 2
    assert "12 demonstrations" in page.text("[data-family='0'] .size")
    assert "taken to be good" in page.text("[data-family='0']")
    assert page.run("return document.querySelectorAll('[data-family=\"1\"] .member').length") == 2
    page.check_quiet()


def test_who_spoke_and_why(show: Show) -> None:
    page = show(make_audit())
    assert "Families" in page.text("#judges li:first-child")
    assert "decided 18" in page.text("#judges li:first-child")
    assert "abstains" in page.text("#judges li:last-child")
    assert "too few states" in page.text("#judges li:last-child")


def test_names_are_text_and_long_ones_are_not_cut(show: Show) -> None:
    long = "a-very-long-name-of-a-recording-" * 6
    page = show(make_audit(names={0: HACK, 1: long}))
    assert page.run("return window.hacked") is None
    page.run("document.getElementById('search').value = 'very-long'")
    page.run("document.getElementById('search').dispatchEvent(new Event('input'))")
    assert page.text("#rows .row .who b") == long
    hidden = page.run(
        "const who = document.querySelector('#rows .row .who'), row = who.closest('.row');"
        "return who.scrollHeight > row.clientHeight || who.scrollWidth > who.clientWidth + 1"
    )
    assert not hidden
    page.check_quiet()


def test_the_count_at_the_axis_is_not_covered_by_a_bar(show: Show) -> None:
    page = show(make_audit())
    overlaps = page.run(
        "const boxes = s => [...document.querySelectorAll(s)].map(node => node.getBoundingClientRect());"
        "const labels = [...document.querySelectorAll('#histogram text:not(.keep):not(.drop)')].map(n => n.getBoundingClientRect());"
        "return labels.some(a => boxes('#histogram rect').some(b => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom))"
    )
    assert not overlaps


def test_unsure_has_no_probability_beside_it(show: Show) -> None:
    page = show(make_audit(decisions=["keep"] * 12 + ["unsure"] * 6))
    page.run("document.getElementById('show').value = 'unsure'")
    page.run("document.getElementById('show').dispatchEvent(new Event('change'))")
    page.click("#rows .row .who")
    assert "unsure" in page.text("#detail-name")
    assert "How likely" not in page.text("#detail-body")
    assert "no say" in page.text(".opinions"), "nor is a judge unsure who has nothing to say"
    page.press("\ue00c")  # Escape
    page.run("document.getElementById('show').value = 'keep'")
    page.run("document.getElementById('show').dispatchEvent(new Event('change'))")
    page.click("#rows .row .who")
    assert "How likely good97% (dropped up to 30%, kept from 65%)" in page.text(".properties")


def test_no_number_of_a_chart_is_cut_off(show: Show) -> None:
    page = show(make_audit())
    page.click("#rows .row")
    outside = """return [...document.querySelectorAll('.signal svg')].flatMap((svg) => {
        const room = svg.getBoundingClientRect();
        return [...svg.querySelectorAll('text')].filter((text) => {
            const box = text.getBoundingClientRect();
            return box.left < room.left || box.right > room.right;
        }).map((text) => text.textContent);
    })"""
    assert page.run(outside) == []


def test_the_panel_is_never_empty(show: Show) -> None:
    """Without pictures there are signals, this demonstration against its family."""
    page = show(make_audit(), Gallery({0: Film((1, 2, 3), (b"a", b"b", b"c"))}))
    page.click("#rows .row .who")
    assert page.run("return document.querySelectorAll('.signal svg path.line').length") == 4
    assert page.run("return document.querySelectorAll('.signal svg path.band').length") == 4
    assert "What each judge says" in page.text("#detail-body")
    page.run("document.getElementById('close').click()")
    page.click("[data-family='0'] .member")
    assert page.run("return document.querySelectorAll('.film img').length") == 3


# --- what a person says


def test_a_good_family_turns_everything_round_at_once(show: Show) -> None:
    page = show(make_audit())
    page.click("[data-family='1'] .marks .good")
    assert page.decisions() == ["drop"] * 12 + ["keep"] * 6
    assert page.text("h1") == "You keep 6 and drop 12 of 18 demonstrations"
    assert "You called family B good" in page.text("#yours-text")
    assert "--good 'ben.npz #13'" in page.text("#command")
    assert not page.visible("#own-words"), "the former summary would say otherwise"
    assert not page.visible("[data-family='0'] .tag")
    assert not page.visible("#sure-fact")
    assert (
        page.run("return document.querySelector('.cutline').closest('g').getAttribute('visibility')")
        == "hidden"
    )
    page.click("[data-family='1'] .marks .good")
    assert page.decisions() == ["keep"] * 12 + ["drop"] * 6, "the same click takes it back"
    assert not page.visible("#yours")
    page.check_quiet()


def test_one_good_demonstration_vouches_for_its_family(show: Show) -> None:
    page = show(make_audit(small=2))
    page.click("#rows .row[data-index='13'] .marks .good")
    assert page.decisions() == ["drop"] * 12 + ["keep"] * 4 + ["drop"] * 2
    page.click("#undo")
    assert page.decisions() == ["keep"] * 12 + ["drop"] * 6


def test_a_bad_majority_hands_over_to_the_next_family(show: Show) -> None:
    page = show(make_audit(small=2))
    page.click("[data-family='0'] .marks .bad")
    assert page.decisions() == ["drop"] * 12 + ["keep"] * 4 + ["drop"] * 2
    assert page.text("#command").endswith(" --bad anna.npz"), "all that she made is in the family"
    page.click("[data-family='2'] .marks .bad")
    assert page.text("#command").endswith(" --bad anna.npz --bad 'ben.npz #17' --bad 'ben.npz #18'")


def test_one_bad_demonstration_is_only_itself(show: Show) -> None:
    page = show(make_audit())
    page.click("#rows .row:last-child .marks .bad")
    assert page.counts() == {"keep": 11, "drop": 7, "unsure": 0}


def test_a_demonstrator_can_be_called_good(show: Show) -> None:
    page = show(make_audit())
    page.click("#demonstrators [data-maker='1'] .marks .good")
    assert page.decisions() == ["drop"] * 12 + ["keep"] * 6
    assert "--good ben.npz" in page.text("#command")


def test_where_all_live_together_the_page_claims_no_more_than_it_does(show: Show) -> None:
    made = make_audit()
    silent = dataclasses.replace(made.verdict.opinions[0], standing=0.0)
    page = show(dataclasses.replace(made, verdict=dataclasses.replace(made.verdict, opinions=(silent,))))
    page.click("#demonstrators [data-maker='0'] .marks .good")
    assert "little else changes here" in page.text("#yours-text")
    assert page.decisions() == ["keep"] * 12 + ["drop"] * 6


def test_a_judge_who_agrees_with_the_reader_is_still_heard(show: Show) -> None:
    """Of the family that is called good, one acts unlike the others; the judge who says so was not contradicted."""
    said = [0.9] * 12 + [0.9] * 5 + [0.1]
    page = show(make_audit(consensus=said))
    page.click("#rows .row[data-index='12'] .marks .good")
    assert page.decisions() == ["drop"] * 12 + ["keep"] * 5 + ["drop"]


# --- the cut


def test_the_cut_moves_and_goes_back(show: Show) -> None:
    page = show(make_audit())
    page.click("#cut-heading")
    page.run("document.getElementById('cut').focus()")
    page.press("\ue010")  # End
    assert page.counts()["drop"] == 18
    assert "This cut is yours" in page.text("#remark")
    page.press("\ue011")  # Home
    assert page.counts()["keep"] == 18
    page.click("#reset")
    assert page.decisions() == ["keep"] * 12 + ["drop"] * 6
    page.check_quiet()


def test_the_unsure_are_not_said_to_be_dropped_by_the_cut(show: Show) -> None:
    page = show(make_audit(decisions=["keep"] * 12 + ["unsure"] * 2 + ["drop"] * 4))
    assert page.text("#cut-value")
    assert "grey is unsure, on either side" in page.text("#remark")


def test_where_scores_do_not_part_the_two_there_is_no_cut_line(show: Show) -> None:
    mixed = ["keep", "drop"] * 9
    page = show(make_audit(decisions=mixed))
    assert (
        page.run("return document.querySelector('.cutline').closest('g').getAttribute('visibility')")
        == "hidden"
    )
    assert "without one cut" in page.text("#remark")
    assert page.decisions() == mixed


# --- decisions


def wait_for(file: Path) -> Path:
    for _ in range(100):
        if file.exists() and file.stat().st_size:
            return file
        time.sleep(0.1)
    raise AssertionError(f"{file} did not come")


def test_decisions_are_downloaded_and_applied(show: Show, downloads: Path, tmp_path: Path) -> None:  # noqa: F811
    made = make_audit(names={0: 'with "quotes", and a comma'})
    made.save(tmp_path / "audit", pictures=False)
    page = show(made)
    page.click("[data-family='1'] .marks .good")
    page.click("#rows .row[data-index='17'] .marks .bad")
    page.click("#download")
    file = wait_for(downloads / "decisions.csv")
    assert page.visible("#next-step")
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert [row["decision"] for row in rows] == ["drop"] * 12 + ["keep"] * 5 + ["drop"]
    again = load_audit(tmp_path / "audit", made.demonstrations)
    decided = again.decided(read_decisions(file, again.verdict))
    assert decided.kept is not None
    save_demonstrations(decided.kept, tmp_path / "kept.npz")
    assert len(load_file(tmp_path / "kept.npz")) == 5 * 40


# --- finding one's way


def test_of_many_demonstrations_few_are_drawn_at_once(show: Show) -> None:
    page = show(make_audit(good=6000, bad=4000, pairs=5))
    for _ in range(200):  # rows are drawn when the browser has time
        if page.text("#shown"):
            break
        time.sleep(0.1)
    assert page.text("#shown") == "10,000 demonstrations"
    drawn = "return document.querySelectorAll('#rows .row').length"
    assert page.run(drawn) < 60
    page.run("scrollTo(0, document.body.scrollHeight)")
    page.settle()
    assert 0 < page.run(drawn) < 60
    assert (
        page.run("return [...document.querySelectorAll('#rows .row')].at(-1).getAttribute('aria-rowindex')")
        == "10001"
    )
    page.click("[data-family='1'] .marks .good")
    assert page.counts() == {"keep": 4000, "drop": 6000, "unsure": 0}
    page.check_quiet()


def test_the_list_by_keyboard(show: Show) -> None:
    page = show(make_audit())
    page.run("document.querySelector('#rows .row').focus()")
    focused = "return document.activeElement.getAttribute('aria-rowindex')"
    page.press("\ue015")  # down
    assert page.run(focused) == "3"
    page.press("\ue010")  # End
    assert page.run(focused) == "19"
    page.press("\ue007")  # Enter
    assert page.visible("#detail")
    page.press("\ue00c")  # Escape
    assert page.run(focused) == "19"
    page.check_quiet()


def test_search_sort_and_families_choose_what_is_listed(show: Show) -> None:
    page = show(make_audit())
    page.click("[data-family='1'] .link")
    assert page.text("#shown") == "6 of 18 demonstrations"
    page.click("#chips button")
    assert page.text("#shown") == "18 demonstrations"
    page.click("#columns [data-sort='name']")
    page.click("#columns [data-sort='name']")
    assert page.text("#rows .row .who b") == "ben.npz #18"
    page.run("document.getElementById('search').value = 'nobody'")
    page.run("document.getElementById('search').dispatchEvent(new Event('input'))")
    assert page.visible("#empty")


@pytest.mark.parametrize(("width", "dark"), [(390, False), (800, True), (1360, True)])
def test_it_fits_every_window(show: Show, browser: Any, width: int, dark: bool) -> None:  # noqa: F811
    emulate(browser, width=width, height=900, dark=dark, mobile=width < 500)
    page = show(make_audit())
    emulate(browser, width=width, height=900, dark=dark, mobile=width < 500)
    page.settle()
    assert page.run("return document.documentElement.scrollWidth <= innerWidth + 1")
    emulate(browser, width=width, height=6000, dark=dark, mobile=width < 500)
    page.settle()
    assert page.run("return document.querySelectorAll('#rows .row').length") == 18, (
        "a higher window has more rows"
    )
    page.check_quiet()


def test_no_families_and_nobody_sure(show: Show) -> None:
    made = make_audit(decisions=["unsure"] * 18)
    without = Audit(
        made.demonstrations,
        type(made.verdict)(**{**vars(made.verdict), "families": (), "opinions": ()}),
        made.source,
    )
    page = show(without)
    assert page.text("h1") == "No judge can tell good from bad here"
    assert not page.visible("#families")
    page.click("#rows .row .who")
    assert page.run("return document.querySelectorAll('.signal').length") == 4
    page.check_quiet()
