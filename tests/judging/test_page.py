"""The text of the page: self-contained, escaped, and readable without its scripts."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from dataclasses import replace

import pytest
from tests.judging.examples import make_audit, without_cut

from rilco.errors import RunError
from rilco.judging.page import render_page, write_page
from rilco.judging.pictures import Gallery, Moment, Pictures
from rilco.judging.record import NoiseFraction

NASTY = "</script><script>hacked=1</script><img src=x onerror=hacked=1>&amp;{{script}}\u2028\"'"


def embedded(page: str) -> dict:
    """What the page's script reads."""
    (data,) = re.findall(r'<script type="application/json" id="audit">(.*?)</script>', page, re.S)
    return json.loads(data)


def head(page: str) -> str:
    """The text of the page's head, as a reader sees it."""
    (part,) = re.findall(r"<header.*?</header>", page, re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", part)).split())


@pytest.fixture(scope="module")
def audit():
    return make_audit(experts=2, others=2, pieces=3)


def test_nothing_is_fetched(audit):
    page = render_page(audit)
    addresses = set(re.findall(r"https?://[^\s\"'%]*", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of a namespace
    outside = [
        link for link in re.findall(r"(?:src|href)=\"([^\"]*)\"", page) if not link.startswith(("data:", "#"))
    ]
    assert outside == []
    assert "@import" not in page
    assert "url(" not in page.replace("url(#", "")


def test_the_whole_record_is_in_the_page(audit):
    data = embedded(render_page(audit))
    stored = json.loads(audit.to_json())
    del stored["format"]
    assert {name: data[name] for name in stored} == stored
    assert data["pictures"] == {}


def test_pictures_are_embedded(audit):
    picture = Moment((3, 9), (b"\xff\xd8one", b"\xff\xd8two"))
    data = embedded(render_page(audit, Gallery({1: Pictures(picture, None)}, "Some.")))
    assert data["pictures_note"] == "Some."
    assert data["pictures"]["1"]["best"] is None
    assert data["pictures"]["1"]["worst"]["steps"] == [3, 9]
    address = data["pictures"]["1"]["worst"]["images"][1]
    assert base64.b64decode(address.removeprefix("data:image/jpeg;base64,")) == b"\xff\xd8two"


def test_nothing_from_the_data_becomes_markup(audit):
    nasty = replace(
        audit,
        task=NASTY,
        files=(NASTY,),
        settings={NASTY: NASTY},
        verdict=replace(audit.verdict, sentence=NASTY),
        demonstrators=tuple(replace(maker, name=NASTY) for maker in audit.demonstrators),
        demonstrations=tuple(replace(demo, name=NASTY) for demo in audit.demonstrations),
    )
    page = render_page(nasty)
    plain = render_page(audit)
    for tag in ("<script", "</script", "<img", "<style"):
        assert page.count(tag) == plain.count(tag)
    assert "hacked=1>" not in page
    data = embedded(page)
    assert data["task"] == data["demonstrations"][0]["name"] == data["settings"][NASTY] == NASTY
    assert html.unescape(re.findall(r"<title>(.*?)</title>", page, re.S)[0]) == f"Audit of {NASTY}"


def test_the_policy_allows_the_pages_own_script_and_style_only(audit):
    page = render_page(audit)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    for name, content in (
        ("script-src", re.findall(r"<script>(.*?)</script>", page, re.S)),
        ("style-src", re.findall(r"<style>(.*?)</style>", page, re.S)),
    ):
        (text,) = content
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}';" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_the_head_says_it_all_without_a_script(audit):
    text = head(render_page(audit))
    dropped = sum(demo.score < audit.verdict.cut for demo in audit.demonstrations)
    assert f"{dropped} of {len(audit.demonstrations)} demonstrations look bad" in text
    assert audit.verdict.sentence in text
    assert "Very sure 97%" in text
    assert "Noise fraction 13% 11.2% to 15.2%" in text
    assert "8 demonstrations 2,300 pairs, 3 demonstrators" in text
    assert "300,160 transitions 3 seeds" in text


@pytest.mark.parametrize(
    "confidence, words",
    [(1.0, "Almost certain 100%"), (0.9999, "Almost certain >99.9%"), (0.95, "Very sure 95%"), (0.8, "Fairly sure"),
     (0.79, "Not very sure 79%"), (0.1, "Unsure 10%"), (0.0, "Unsure 0%")],
)  # fmt: skip
def test_how_sure(audit, confidence, words):
    page = render_page(replace(audit, verdict=replace(audit.verdict, confidence=confidence)))
    assert f"How sure {words}" in head(page)


@pytest.mark.parametrize(
    "kind, words",
    [
        ("clean", "These demonstrations look clean"),
        ("inseparable", "Good and bad cannot be told apart here"),
        ("majority-bad", "Most of this data may be bad"),
    ],
)
def test_verdicts_without_a_cut(audit, kind, words):
    text = head(render_page(without_cut(audit, kind, "Because.", 0.7)))
    assert f"{words} Because. How sure Not very sure 70%" in text
    assert ("Noise fraction unknown Judged" in text) == (kind == "inseparable")


def test_one_of_a_thing_is_one(audit):
    one = replace(audit, demonstrations=audit.demonstrations[-1:], seeds=(1,), transitions=1)
    text = head(render_page(replace(one, demonstrators=audit.demonstrators[-1:])))
    assert "1 of 1 demonstration looks bad" in text
    assert "1 demonstration 50 pairs, 1 demonstrator Trained with 1 transition 1 seed" in text


def test_small_shares_are_not_rounded_away(audit):
    text = head(render_page(replace(audit, noise_fraction=NoiseFraction(0.0002, 0.0, 0.9999))))
    assert "Noise fraction <0.1% 0% to >99.9%" in text


def test_writing(tmp_path, audit):
    odd = replace(
        audit, task="hopper-\udcff"
    )  # a byte that is no text, as Python reads it from a file's name
    write_page(odd, tmp_path / "new" / "audit.html")
    assert "Audit of hopper-?" in (tmp_path / "new" / "audit.html").read_text(encoding="utf-8")
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="could not be written"):
        write_page(audit, tmp_path / "file" / "audit.html")


# -- colours, by the rules for readable text -------------------------------------------------------------------------


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    dark, bright = sorted((luminance(one), luminance(other)))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1, 2], ids=["light", "dark", "print"])
def test_text_stands_out_from_what_is_behind_it(audit, theme):
    blocks = re.findall(r":root \{(.*?)\}", render_page(audit), re.S)
    assert len(blocks) == 3
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", blocks[theme]))
    behind = ["paper", "card", "faint"]
    pairs = [(text, back) for text in ("ink", "quiet", "keep", "drop", "unsure") for back in behind]
    pairs += [(verdict, f"{verdict}-tint") for verdict in ("keep", "drop", "unsure")]
    faint = {pair: round(contrast(*(colours[name] for name in pair)), 2) for pair in pairs}
    assert {pair: ratio for pair, ratio in faint.items() if ratio < 4.5} == {}
