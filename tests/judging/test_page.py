"""The page as a file: whole, safe, small enough, and without contradictions."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from tests.judging.examples import make_audit, two_kinds

from rilco.cli.audit import describe
from rilco.judging.audit import Audit
from rilco.judging.opinion import OWN
from rilco.judging.page import headline, page_data, percent, render_page
from rilco.judging.pictures import Film, Gallery
from rilco.judging.record import Source
from rilco.judging.signals import choose_signals

HACK = "</script><script>alert(1)</script><b>&amp;"


def data_of(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="audit">(.*?)</script>', text, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_it_needs_nothing_from_outside() -> None:
    text = render_page(make_audit())
    assert not re.search(r"https?://(?!www\.w3\.org)", text)
    assert "default-src 'none'" in text
    assert "{{" not in text


def test_every_judge_has_a_name_and_a_question_on_the_page() -> None:
    script = (files("rilco.judging") / "assets" / "3-groups.js").read_text()
    table = script[script.index("const JUDGES") : script.index("};")]
    assert set(re.findall(r'^  "?([a-z-]+)"?: \["', table, re.MULTILINE)) == set(OWN)


def test_names_cannot_break_out() -> None:
    text = render_page(make_audit(names={0: HACK}))
    assert "alert(1)</script>" not in text
    assert data_of(text)["demos"]["name"][0] == HACK


def test_the_head_says_it_without_a_script() -> None:
    text = render_page(make_audit())
    assert "6 of 18 demonstrations look bad" in text
    assert "Most demonstrations are good. Family A is the largest." in text
    assert "<b>Assumed:</b>" in text


def test_of_many_files_the_first_are_named_and_the_others_counted() -> None:
    source = Source(files=tuple(f"/data/{name}.npz" for name in "abcde"))
    text = render_page(dataclasses.replace(make_audit(), source=source))
    assert "<title>Audit of a.npz, b.npz, c.npz and 2 more</title>" in text


def test_where_the_majority_is_in_doubt_nothing_says_sure(capsys: pytest.CaptureFixture[str]) -> None:
    made = make_audit()
    doubted = dataclasses.replace(made.verdict.majority, agree=False)
    verdict = dataclasses.replace(made.verdict, majority=doubted, confidence=0.8)
    text = render_page(dataclasses.replace(made, verdict=verdict))
    assert "<strong>Not sure</strong> <span></span>" in text
    describe(dataclasses.replace(made, verdict=verdict))
    assert "% sure" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("decisions", "words"),
    [
        (["keep"] * 17 + ["drop"], "1 of 18 demonstrations looks bad"),
        (["keep"] * 18, "These demonstrations look clean"),
        (["keep"] * 17 + ["unsure"], "Doubtful: 1 of 18 demonstrations"),
        (["keep"] * 16 + ["unsure"] * 2, "Doubtful: 2 of 18 demonstrations"),
        (["unsure"] * 18, "No judge can tell good from bad here"),
    ],
)
def test_headlines(decisions: list[Any], words: str) -> None:
    made = make_audit(decisions=decisions)
    assert headline(made.verdict) == words
    if decisions == ["unsure"] * 18:
        assert "95%" not in render_page(made).split("<noscript>")[0], "no probability beside undecided"


def test_a_verdict_that_is_not_sure_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    made = make_audit()
    verdict = dataclasses.replace(made.verdict, confidence=0.8, sure=False)
    text = render_page(dataclasses.replace(made, verdict=verdict))
    assert ">Probably bad: 6 of 18 demonstrations, 33.3% of the pairs</h1>" in text
    assert "<strong>Not sure</strong> <span>confidence 80%</span>" in text
    describe(dataclasses.replace(made, verdict=verdict))
    assert "(not sure, confidence 80%)" in capsys.readouterr().out


def test_pictures_travel_inside() -> None:
    text = render_page(make_audit(), Gallery({0: Film((3, 9), (b"jpeg", b"more"))}))
    film = data_of(text)["films"]["0"]
    assert film["steps"] == [3, 9]
    assert base64.b64decode(film["images"][0].removeprefix("data:image/jpeg;base64,")) == b"jpeg"


def test_ten_thousand_demonstrations_make_a_page_that_can_be_sent() -> None:
    text = render_page(make_audit(good=6000, bad=4000, pairs=5))
    assert len(text) < 8_000_000
    assert len(data_of(text)["demos"]["name"]) == 10_000


def test_percentages_never_round_to_all_or_none() -> None:
    assert [percent(share) for share in (0.0, 0.0001, 0.5, 0.9999, 1.0)] == [
        "0%",
        "<0.1%",
        "50%",
        ">99.9%",
        "100%",
    ]


# --- signals


def test_the_signals_that_tell_kept_from_dropped_come_first() -> None:
    made = make_audit(pairs=200)
    signals = choose_signals(made.demonstrations, made.verdict)
    assert signals.names[0] == "observation 0", "the two kinds circle about different places there"
    assert len(signals.names) == 4
    assert signals.values.shape == (18, 4, 160)


def test_signals_are_those_of_the_demonstration() -> None:
    made = make_audit(pairs=160)
    signals = choose_signals(made.demonstrations, made.verdict)
    s = signals.names.index("action 1")
    back = signals.low[s] + signals.values[:, s] / 255 * (signals.high[s] - signals.low[s])
    truth = made.demonstrations.action[:, 1].reshape(18, 160)
    inside = (truth > signals.low[s]) & (truth < signals.high[s])
    np.testing.assert_allclose(back[inside], truth[inside], atol=0.02)
    assert inside.mean() > 0.99


def test_short_demonstrations_and_constant_signals_are_drawn_too() -> None:
    demos = two_kinds(3, 3, pairs=1)
    made = make_audit(3, 3, pairs=1)
    constant = Audit(type(demos)(np.ones_like(demos.obs), demos.action, episode=demos.episode), made.verdict)
    data = page_data(constant, Gallery())
    assert data["signals"]["points"] == 160


def test_the_classifiers_scores_are_a_signal() -> None:
    made = make_audit()
    scored = Audit(
        made.demonstrations, made.verdict, made.source, scores=np.linspace(0, 1, len(made.demonstrations))
    )
    assert page_data(scored, Gallery())["signals"]["names"][-1] == "RIL-Co's classifiers"
