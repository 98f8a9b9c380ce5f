"""The page in a real Chromium: what a person does with it, by mouse, by keyboard and by ear."""

from __future__ import annotations

import csv
import io
import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.judging.browser import browser, downloads, emulate, needs_chromium  # noqa: F401 (fixtures)
from tests.judging.examples import make_audit, without_cut

from rilco.judging.page import write_page
from rilco.judging.pictures import Gallery, Moment, Pictures, encode
from rilco.judging.record import Audit, JudgedDemonstration

pytestmark = needs_chromium

HACK = "<img src=x onerror='window.hacked=1'></script><script>window.hacked=1</script>"
ORDER = "return [...document.querySelectorAll('#rows .row')].map(row => Number(row.dataset.index))"
COUNTS = """return ['kept', 'dropped'].flatMap(side => ['demonstrations', 'pairs'].map(what =>
    Number(document.getElementById(`${side}-${what}`).textContent.replace(/[^0-9]/g, ''))))"""
VERDICTS = """return Object.fromEntries([...document.querySelectorAll('#rows .row')].map(
    row => [row.dataset.index, row.querySelector('.pill').textContent]))"""
# Changes of the cut are drawn with the next frame.
FRAME = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"


class Page:
    """The page of an audit in the browser, and what tests ask it."""

    def __init__(self, driver: Any, folder: Path, audit: Audit, frames: Gallery | None = None) -> None:
        self.driver, self.audit = driver, audit
        path = folder / "audit.html"
        write_page(audit, path, frames)
        driver.get_log("browser")  # forget what earlier pages said
        driver.get(path.as_uri())

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def settle(self) -> None:
        self.driver.execute_async_script(FRAME)

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        actions = ActionChains(self.driver)
        for key in keys:
            actions.send_keys(key)
        actions.perform()
        self.settle()

    def drag(self, element: Any, start: float, end: float) -> None:
        """Press at a part of the element's width, and let go at another."""
        from selenium.webdriver import ActionChains

        width = element.rect["width"]
        actions = ActionChains(self.driver, duration=20)
        actions.move_to_element_with_offset(element, round((start - 0.5) * width), 0).click_and_hold()
        actions.move_by_offset(round((end - start) * width), 0).release().perform()
        self.settle()

    @property
    def order(self) -> list[int]:
        return self.run(ORDER)

    def expected_counts(self, cut: float | None) -> list[int]:
        demos = self.audit.demonstrations
        kept = [demo for demo in demos if cut is None or demo.score >= cut]
        kept_pairs, pairs = (sum(demo.pairs for demo in some) for some in (kept, demos))
        return [len(kept), kept_pairs, len(demos) - len(kept), pairs - kept_pairs]

    def slider_cut(self) -> float | None:
        """The cut that the slider's position stands for."""
        scores = [demo.score for demo in self.audit.demonstrations]
        room = 0.04 * (max(scores) - min(scores))
        place = self.run("return document.getElementById('cut').valueAsNumber") / 1000
        return None if place == 0 else min(scores) - room + place * (max(scores) - min(scores) + 2 * room)

    def check_counts(self, cut: float | None) -> None:
        expected = self.expected_counts(cut)
        assert self.run(COUNTS) == expected
        kept = {str(demo.index) for demo in self.audit.demonstrations if cut is None or demo.score >= cut}
        verdicts = self.run(VERDICTS)
        assert {index for index, verdict in verdicts.items() if verdict == "keep"} == kept
        spoken = self.run("return document.getElementById('cut').getAttribute('aria-valuetext')")
        assert f"{expected[0]:,} of {len(self.audit.demonstrations):,} demonstration" in spoken

    def check_quiet(self) -> None:
        assert self.driver.get_log("browser") == []


@pytest.fixture(scope="module")
def audit() -> Audit:
    return make_audit(experts=4, episode_pairs=200, others=3, pieces=12, labelled=True)


@pytest.fixture
def show(browser, tmp_path):  # noqa: F811 (the fixture imported above)
    emulate(browser, width=1360, height=900)

    def open_page(audit: Audit, frames: Gallery | None = None) -> Page:
        return Page(browser, tmp_path, audit, frames)

    return open_page


def ranked(audit: Audit, key: Any, *, reverse: bool = False) -> list[int]:
    """Indices by a key, equal ones by score; reversing does not turn the latter round."""
    demos = sorted(audit.demonstrations, key=lambda demo: (demo.score, demo.index))
    return [demo.index for demo in sorted(demos, key=key, reverse=reverse)]


def test_it_opens_without_a_complaint(show, audit):
    page = show(audit)
    assert page.order == ranked(audit, lambda demo: demo.score)
    assert page.text("h1").strip().endswith("look bad")
    assert page.text("#cut-value") == "0.40"
    page_counts = page.expected_counts(audit.verdict.cut)
    assert page.run(COUNTS) == page_counts
    assert page.text("#labels") == (
        "By the known labels, kept are 100% of the expert pairs and 0% of the non-expert pairs."
    )
    makers = [row.text.split()[0] for row in page.all("#demonstrators tbody tr:not(.ticks)")]
    assert makers == ["expert.npz", "non-expert-1.npz", "non-expert-2.npz", "non-expert-3.npz"]
    fetched = page.run("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [name for name in fetched if not name.startswith("data:")] == []
    page.check_quiet()


def test_strips_show_the_scores(show, audit):
    """Each pixel is a bin; one above the cut is bluer than red, one far below redder than blue."""
    page = show(audit)
    for place in (0, -1):
        index = page.order[place]
        # Strips are painted when they come into sight; 300 is the width of a canvas that nobody has touched.
        row = f"document.querySelector('[data-index=\"{index}\"]')"
        page.run(f"{row}.scrollIntoView()")
        wait_for(page, f"return {row}.querySelector('canvas').width !== 300")
        pixels = page.run(
            """const canvas = document.querySelector(`[data-index="${arguments[0]}"] canvas`);
            return [...canvas.getContext('2d').getImageData(0, 0, canvas.width, 1).data]""",
            index,
        )
        demo = audit.demonstrations[index]
        colours = np.reshape(pixels, (-1, 4))
        assert len(colours) == len(demo.strip)
        far = np.abs(np.array(demo.strip) - audit.verdict.cut) > 0.3
        assert far.any()
        blue = colours[:, 2] > colours[:, 0]
        assert np.array_equal(blue[far], (np.array(demo.strip) > audit.verdict.cut)[far])


def test_sorting(show, audit):
    page = show(audit)
    columns: dict[str, tuple[Any, bool]] = {
        "score": (lambda demo: demo.score, True),  # it is sorted by score already: the first click turns it
        "name": (lambda demo: (demo.demonstrator, demo.index), False),  # episode 10 comes after episode 2
        "return": (lambda demo: demo.episode_return, True),
        "length": (lambda demo: demo.pairs, True),
        "probability": (lambda demo: demo.expert_probability, False),
    }
    for name, (key, reverse) in columns.items():
        for turned in (reverse, not reverse):
            page.run("document.querySelector(arguments[0]).click()", f'#columns [data-sort="{name}"]')
            assert page.order == ranked(audit, key, reverse=turned), name
            sorted_by = page.run(
                "return [...document.querySelectorAll('[aria-sort]')].map(head => [head.textContent, head.ariaSort])"
            )
            assert [direction for _, direction in sorted_by] == ["descending" if turned else "ascending"]
    page.find('#columns [data-sort="name"]').click()
    assert page.run("return document.activeElement.dataset.sort") == "name"  # the keyboard stays where it was
    page.check_quiet()


def test_sorting_on_a_phone(show, audit):
    page = show(audit)
    emulate(page.driver, width=390, height=844, mobile=True)
    select = page.find("#sort")
    assert select.is_displayed()
    assert not page.find("#columns").is_displayed()
    names = [option.text for option in select.find_elements("css selector", "option")]
    assert {"score", "demonstration", "return", "pairs", "demonstrator"} <= set(names)
    page.run("arguments[0].value = 'demonstrator'; arguments[0].dispatchEvent(new Event('change'))", select)
    assert page.order == ranked(audit, lambda demo: demo.demonstrator)
    page.find("#direction").click()
    assert page.order == ranked(audit, lambda demo: demo.demonstrator, reverse=True)


def test_going_to_the_cut(show, audit):
    page = show(audit)
    first_kept = next(index for index in page.order if audit.keeps(audit.demonstrations[index]))
    page.find('#columns [data-sort="name"]').click()
    page.find("#to-cut").click()
    assert page.run("return Number(document.activeElement.dataset.index)") == first_kept
    assert page.run("return document.querySelector('.row.border') === document.activeElement")
    assert page.run(
        "const box = document.activeElement.getBoundingClientRect(); return 0 < box.top && box.bottom < innerHeight"
    )
    page.find("#search").send_keys("non-expert")
    assert not page.find("#to-cut").is_displayed()  # all that is listed is on one side
    assert page.all(".row.border") == []
    page.check_quiet()


def test_searching(show, audit):
    page = show(audit)
    box = page.find("#search")
    page.press("/")
    assert page.driver.switch_to.active_element == box
    box.send_keys("EPISODE 1 non-expert-2")
    found = [
        demo.index for demo in audit.demonstrations if demo.demonstrator == 2 and "episode 1" in demo.name
    ]
    assert sorted(page.order) == found
    assert page.text("#shown") == f"{len(found)} of {len(audit.demonstrations)} demonstrations"
    box.send_keys(" nowhere")
    assert page.order == []
    assert page.find("#empty").is_displayed()
    page.find("#clear").click()
    assert len(page.order) == len(audit.demonstrations)
    page.find("#demonstrators tbody button").click()
    assert {audit.demonstrations[index].demonstrator for index in page.order} == {0}
    page.find("#chips button").click()
    page.run(
        "const show = document.getElementById('show'); show.value = 'drop'; show.dispatchEvent(new Event('change'))"
    )
    assert sorted(page.order) == [
        demo.index for demo in audit.demonstrations if demo.score < audit.verdict.cut
    ]
    page.check_quiet()


def test_the_slider_by_keyboard(show, audit):
    from selenium.webdriver import Keys

    page = show(audit)
    slider = page.find("#cut")
    page.run("arguments[0].focus()", slider)
    before = page.run("return arguments[0].valueAsNumber", slider)
    page.press(Keys.ARROW_RIGHT)
    assert page.run("return arguments[0].valueAsNumber", slider) == before + 1
    page.press(*[Keys.PAGE_DOWN] * 2)
    assert page.run("return arguments[0].valueAsNumber", slider) < before - 100
    assert page.slider_cut() < audit.verdict.cut
    page.check_counts(page.slider_cut())
    assert page.text("#remark") == "This cut is yours."
    page.press(Keys.END)
    page.check_counts(np.inf)
    page.press(Keys.HOME)
    page.check_counts(None)
    assert page.text("#cut-value") == "none"
    page.find("#reset").click()
    page.settle()
    assert page.text("#cut-value") == "0.40"
    assert page.run(COUNTS) == page.expected_counts(audit.verdict.cut)
    verdicts = {str(demo.index): demo.verdict for demo in audit.demonstrations}
    assert page.run(VERDICTS) == verdicts
    wait_for(page, "return document.getElementById('status').textContent.startsWith('Cut 0.40: 4 of 40')")
    page.check_quiet()


def test_the_slider_and_the_histogram_by_mouse(show, audit):
    page = show(audit)
    slider = page.find("#cut")
    page.drag(slider, page.run("return arguments[0].valueAsNumber / 1000", slider), 0.25)
    cut = page.slider_cut()
    assert cut < audit.verdict.cut - 0.5
    page.check_counts(cut)
    histogram = page.find("#histogram")
    page.drag(histogram, 0.3, 0.6)
    width = histogram.rect["width"]
    scores = [demo.score for demo in audit.demonstrations]
    room = 0.04 * (max(scores) - min(scores))
    low, high = min(scores) - room, max(scores) + room
    shown = float(page.text("#cut-value").replace("−", "-"))
    assert shown == pytest.approx(low + (0.6 * width - 10) / (width - 20) * (high - low), abs=0.05)
    page.check_counts(page.slider_cut())
    page.check_quiet()


def test_a_demonstration_opens_and_closes(show, audit):
    from selenium.webdriver import Keys

    page = show(audit)
    order = page.order
    page.all(".row")[2].click()
    demo = audit.demonstrations[order[2]]
    assert page.run("return document.querySelector('dialog').matches(':modal')")
    check_detail(page, demo)
    page.press(Keys.ESCAPE)
    assert not page.run("return document.querySelector('dialog').open")
    assert page.run("return Number(document.activeElement.dataset.index)") == order[2]
    page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP, Keys.ENTER)
    check_detail(page, audit.demonstrations[order[3]])
    page.press(Keys.ARROW_RIGHT)
    check_detail(page, audit.demonstrations[order[4]])
    assert page.text("#position") == f"5 of {len(order)}"
    page.press(Keys.ARROW_RIGHT)
    page.find("#previous").click()
    check_detail(page, audit.demonstrations[order[4]])
    page.find("#close").click()
    # Not the row that was opened, but the one that was looked at last.
    assert page.run("return Number(document.activeElement.dataset.index)") == order[4]
    page.press(Keys.END, Keys.ARROW_UP, Keys.SPACE)
    page.find("#next").click()
    check_detail(page, audit.demonstrations[order[-1]])
    assert not page.find("#next").is_enabled()
    page.press(Keys.ARROW_LEFT)  # the keyboard did not stay on the button that was switched off
    check_detail(page, audit.demonstrations[order[-2]])
    page.check_quiet()


def check_detail(page: Page, demo: JudgedDemonstration) -> None:
    assert page.text("#detail-name") == demo.name + demo.verdict
    shown = page.run(
        "return [...document.querySelectorAll('.windows td.number')].map(cell => cell.textContent)"
    )
    assert [float(text.replace("−", "-")) for text in shown] == pytest.approx(demo.windows, abs=0.006)
    assert f"{demo.pairs:,}" in page.text(".properties")


def test_reading_a_score_off_the_chart(show, audit):
    from selenium.webdriver import ActionChains

    page = show(audit)
    index = page.order[-1]
    page.all(".row")[-1].click()
    strip = page.find(".chart canvas")
    ActionChains(page.driver).move_to_element_with_offset(strip, 1, 0).perform()
    demo = audit.demonstrations[index]
    half = demo.pairs // 2
    assert page.text(".reading") == f"Step {half}: score {demo.strip[half]:.2f}".replace("-", "−")


def test_pictures(show, audit):
    frame = np.zeros((150, 200, 3), np.uint8)
    moment = Moment((50, 62), (encode(frame), encode(frame)))
    lowest = ranked(audit, lambda demo: demo.score)[0]
    highest = ranked(audit, lambda demo: demo.score)[-1]
    gallery = Gallery({highest: Pictures(moment, moment), lowest: Pictures(moment, None)}, "Taken of two.")
    page = show(audit, gallery)
    page.all(".row")[-1].click()
    wait_for(
        page, "return [...document.querySelectorAll('.film img')].every(image => image.naturalWidth === 200)"
    )
    titles = [heading.text for heading in page.all(".moments h3")]
    assert [title.split(" steps")[0] for title in titles] == ["Worst moment", "Best moment"]
    assert len(page.all(".film img")) == 4
    assert page.find(".film img").accessible_name.endswith("at step 50")
    page.find("#previous").click()
    assert page.all(".film img") == []
    assert "No pictures here. Taken of two." in page.text("#detail-body")
    page.check_quiet()


def test_names_stay_text(show, audit):
    nasty = replace(
        audit,
        task=HACK,
        files=(HACK,),
        settings={HACK: {"nested": HACK}},
        verdict=replace(audit.verdict, sentence=HACK),
        demonstrators=tuple(replace(maker, name=HACK + str(maker.id)) for maker in audit.demonstrators),
        demonstrations=tuple(replace(demo, name=HACK) for demo in audit.demonstrations),
    )
    frame = encode(np.zeros((3, 4, 3), np.uint8))
    pictures = {demo.index: Pictures(Moment((0,), (frame,)), None) for demo in nasty.demonstrations}
    page = show(nasty, Gallery(pictures, HACK))
    page.find("#demonstrators tbody button").click()
    page.find("footer summary").click()
    page.find(".row").click()
    assert page.text(".who b") == HACK
    assert page.text(".lede") == HACK
    assert page.text("#detail-name").startswith(HACK)
    assert page.run("return typeof window.hacked") == "undefined"
    assert (
        page.run("return document.querySelectorAll('img:not([src^=\"data:image/jpeg;base64,\"])').length")
        == 0
    )
    assert page.run("return document.scripts.length") == 2
    page.check_quiet()


def test_the_policy_holds_even_if_markup_got_in(show, audit):
    """A script that was put into the document by whatever mistake does not run, though what would start it happens."""
    page = show(audit)
    page.run(
        "document.addEventListener('error', () => { window.failed = true }, true);"
        "document.body.insertAdjacentHTML('beforeend', \"<img src='data:,' onerror='window.hacked=1'>\")"
    )
    wait_for(page, "return window.failed === true")
    page.settle()
    assert page.run("return typeof window.hacked") == "undefined"


def test_a_thousand_demonstrations(show):
    from selenium.webdriver import Keys

    audit = make_audit(experts=200, others=4, pieces=200, episode_pairs=1000)
    page = show(audit)
    assert page.order == ranked(audit, lambda demo: demo.score)
    page.find('#columns [data-sort="return"]').click()
    assert page.order == ranked(audit, lambda demo: demo.episode_return, reverse=True)
    page.run("document.getElementById('cut').focus()")
    page.press(Keys.PAGE_UP)
    page.check_counts(page.slider_cut())
    page.find("#search").send_keys("episode 19 non-expert")
    assert len(page.order) == 48  # 19, 119 and 190 to 199 of four
    wait_for(page, "return document.querySelector('#rows canvas').width !== 300")
    page.check_quiet()


@pytest.mark.parametrize("kind", ["clean", "inseparable"])
def test_without_a_cut(show, audit, kind):
    from selenium.webdriver import Keys

    page = show(without_cut(audit, kind, "Because.", 0.7))
    assert page.text("#cut-value") == "none"
    assert page.run(COUNTS) == page.expected_counts(None)
    assert set(page.run(VERDICTS).values()) == {"keep" if kind == "clean" else "unsure"}
    reset = page.find("#reset")
    assert (reset.text, reset.is_enabled()) == ("Back to no cut", False)
    page.run("document.getElementById('cut').focus()")
    page.press(*[Keys.PAGE_UP] * 3)
    page.check_counts(page.slider_cut())
    reset.click()
    page.settle()
    assert page.run(COUNTS) == page.expected_counts(None)
    page.check_quiet()


def test_almost_all_is_not_called_all(show, audit):
    """A cut that drops a single piece of 50 pairs."""
    cut = sorted(demo.score for demo in audit.demonstrations)[1]
    demos = tuple(replace(demo, verdict="unsure") for demo in audit.demonstrations)
    page = show(replace(audit, verdict=replace(audit.verdict, cut=cut), demonstrations=demos))
    pairs = sum(demo.pairs for demo in demos)
    text = page.text(".counts")
    assert f"{50 / pairs:.1%}" in text
    assert f"{1 - 50 / pairs:.1%}" in text
    assert "100%" not in text


def test_the_least_there_can_be(show):
    """One demonstration of one pair, nobody known to have made it, no return, no label, no noise fraction."""
    demo = JudgedDemonstration.from_scores(
        5, "x" * 300, np.zeros(1), np.zeros(1), demonstrator=None, expert_probability=0.5, verdict="unsure"
    )
    audit = without_cut(make_audit(experts=1, others=0), "inseparable", "", None)
    page = show(replace(audit, demonstrators=(), demonstrations=(demo,), files=(), seeds=(), settings={}))
    assert page.order == [5]
    assert not page.find("#demonstrators").is_displayed()
    assert "Return" not in page.text("#columns")
    page.find(".row").click()
    assert page.text("#detail-name").startswith("xxx")
    page.check_quiet()


def test_the_list_as_a_file(show, audit, downloads):  # noqa: F811 (the fixture imported above)
    from selenium.webdriver import Keys

    awkward = 'a, "b"\nc'
    named = replace(
        audit, demonstrations=(replace(audit.demonstrations[0], name=awkward), *audit.demonstrations[1:])
    )
    page = show(named)
    page.run("document.getElementById('cut').focus()")
    page.press(Keys.PAGE_DOWN)
    page.find("#download").click()
    cut = page.slider_cut()
    path = downloads / f"audit-hopper-cut-{cut:.2f}.csv"
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(page.driver, 60).until(lambda _: path.exists())
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    assert [int(row["index"]) for row in rows] == [demo.index for demo in named.demonstrations]
    assert rows[0]["name"] == awkward
    for row, demo in zip(rows, named.demonstrations, strict=True):
        assert row["decision"] == ("keep" if demo.score >= cut else "drop")
        assert row["audit_verdict"] == demo.verdict
        assert float(row["score"]) == demo.score
        assert float(row["return"]) == demo.episode_return
        assert row["demonstrator"] == named.demonstrators[demo.demonstrator].name
    page.check_quiet()


def test_the_list_on_the_clipboard(show, audit):
    page = show(audit)
    page.find("#copy").click()
    wait_for(page, "return document.getElementById('status').textContent === 'The list was copied.'")
    page.run(
        "const area = document.createElement('textarea'); area.id = 'paste'; document.body.append(area); area.focus()"
    )
    from selenium.webdriver import ActionChains, Keys

    ActionChains(page.driver).key_down(Keys.CONTROL).send_keys("v").key_up(Keys.CONTROL).perform()
    pasted = page.run("return document.getElementById('paste').value")
    assert len(pasted.splitlines()) == len(audit.demonstrations) + 1
    assert pasted.startswith("index,name,")


def test_names_and_roles(show, audit):
    page = show(audit)
    assert page.find("html").get_attribute("lang") == "en"
    assert len(page.all("h1")) == 1
    for control in page.all("main button, main input, main select"):
        assert control.accessible_name or not control.is_displayed(), control.get_attribute("outerHTML")
    assert page.find("#cut").aria_role == "slider"
    assert page.find("#grid").aria_role == "grid"
    assert page.find("#grid").accessible_name == "Demonstrations"
    first = page.find("#rows .row")
    assert first.aria_role == "row"
    assert first.get_attribute("aria-rowindex") == "2"
    assert page.find("#histogram svg").accessible_name.startswith(
        "Histogram of the scores of 40 demonstrations"
    )
    assert {cell.aria_role for cell in page.all("#columns > *")} == {"columnheader"}
    assert page.run(
        "return [...document.querySelectorAll('table thead th')].every(head => head.scope === 'col')"
    )
    assert page.run("return document.querySelectorAll('#rows .row[tabindex=\"0\"]').length") == 1
    assert {region.get_attribute("role") for region in page.all("#status, #shown")} == {"status"}
    first.click()
    assert page.find("dialog").accessible_name.startswith(audit.demonstrations[page.order[0]].name)
    for control in page.all("dialog button, dialog svg[role=img]"):
        assert control.accessible_name
    headings = page.run(
        "return [...document.querySelectorAll('h1, h2, h3')].map(node => Number(node.tagName[1]))"
    )
    assert all(after <= before + 1 for before, after in itertools.pairwise(headings))


def test_everything_is_reached_by_tab(show, audit):
    from selenium.webdriver import Keys

    page = show(audit)
    reached = []
    for _ in range(40):
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
        reached.append(
            page.run("const at = document.activeElement; return at.id || at.className || at.tagName")
        )
        if reached[-1] == "SUMMARY":
            break
    for name in ("skip", "weight", "cut", "copy", "download", "search", "show", "scale", "row", "SUMMARY"):
        assert any(name in place.split() for place in reached), (name, reached)
    assert sum("row" in place.split() for place in reached) == 1


@pytest.mark.parametrize("width", [320, 390, 768, 1024, 1360, 1920])
def test_nothing_runs_off_the_side(show, audit, width):
    long = replace(audit.demonstrations[0], name="a-very-long-name-without-a-space-" * 8)
    page = show(replace(audit, demonstrations=(long, *audit.demonstrations[1:])))
    emulate(page.driver, width=width, height=900, mobile=width < 700)
    page.settle()
    wide = page.run(
        """const inside = (node) => node.scrollWidth <= node.clientWidth + 1;
        return [...document.querySelectorAll('html, header, aside, .card, .scroll, .toolbar, #grid, .counts')]
            .filter(node => node.clientWidth && !inside(node)).map(node => node.className || node.id)"""
    )
    assert wide == []
    page.run(f"document.querySelector('[data-index=\"{long.index}\"]').click()")
    assert page.run(
        "const dialog = document.querySelector('dialog'); return dialog.scrollWidth <= dialog.clientWidth"
    )


def test_the_dark(show, audit):
    page = show(audit)
    page.settle()
    look = """const canvas = document.querySelector('#legend');
        const middle = canvas.getContext('2d').getImageData(canvas.width / 2, 0, 1, 1).data;
        return [getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0], middle[0]]"""
    light = page.run(look)
    emulate(page.driver, width=1360, height=900, dark=True)
    page.settle()
    dark = page.run(look)
    assert min(light) > 200
    assert max(dark) < 80


def wait_for(page: Page, script: str) -> None:
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(page.driver, 60).until(lambda driver: driver.execute_script(script))
