"""The record of an audit: what it computes, what it stores, and what it refuses."""

from __future__ import annotations

import copy
import csv
import io
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging.examples import make_audit, windows_of

from rilco.errors import RilcoError
from rilco.judging.checks import AuditError
from rilco.judging.record import Audit, Conclusion, JudgedDemonstration, NoiseFraction

JUDGEMENT: dict[str, Any] = {"demonstrator": None, "expert_probability": 0.5, "verdict": "unsure"}


def judge(scores: Any, **changes: Any) -> JudgedDemonstration:
    scores = np.asarray(scores)
    return JudgedDemonstration.from_scores(0, "one", scores, windows_of(scores), **{**JUDGEMENT, **changes})


@pytest.fixture(scope="module")
def audit() -> Audit:
    return make_audit(experts=2, episode_pairs=120, others=2, pieces=3)


def test_a_window_is_judged_by_its_best_pairs():
    """An expert's start: most of its pairs are a beginner's, the last are not."""
    start = np.repeat([-2.0, 3.0], [35, 15])
    assert judge(start).windows == (3.0,)
    assert judge(start[::-1]).score == 3.0, "in whatever order"
    assert judge(np.repeat([-2.0, 3.0], [38, 12])).score == pytest.approx((12 * 3.0 - 3 * 2.0) / 15)
    assert judge(np.repeat([-2.0, 3.0], [6, 6])).score == 0.5, (
        "the mean, where there are no more than fifteen"
    )
    assert judge(np.concatenate([start, np.full(25, 1.0)])).score == pytest.approx((50 * 3.0 + 25) / 75)


def test_scores_over_time_are_of_windows_and_means_of_bins():
    scores = np.repeat([1.0, -3.0, 2.0, 9.0], [50, 50, 50, 10])
    demo = judge(scores)
    assert demo.pairs == 160
    assert demo.score == pytest.approx((50 - 150 + 100 + 90) / 160)
    assert demo.windows == (1.0, -3.0, 2.0, 9.0)
    assert demo.strip_pairs == 1
    assert demo.strip == tuple(scores)
    # The last ten pairs are too few to be the best moment.
    assert (demo.worst_step, demo.best_step) == (50, 100)


def test_the_last_window_counts_from_half_its_length_on():
    assert judge(np.repeat([1.0, 9.0], [50, 24])).best_step == 0
    assert judge(np.repeat([1.0, 9.0], [50, 25])).best_step == 50
    assert judge([3.0, 4.0]).best_step == 0


@given(pairs=st.integers(1, 2500))
def test_a_strip_has_at_most_200_bins_and_the_score_is_the_windows_weighted_mean(pairs):
    scores = np.random.default_rng(pairs).normal(size=pairs)
    demo = judge(scores)
    assert len(demo.strip) <= 200
    sizes = [min(demo.strip_pairs, pairs - k * demo.strip_pairs) for k in range(len(demo.strip))]
    assert np.average(demo.strip, weights=sizes) == pytest.approx(scores.mean(), abs=1e-3)
    sizes = [min(50, pairs - 50 * k) for k in range(len(demo.windows))]
    best = [np.sort(scores[50 * k : 50 * k + 50])[-15:].mean() for k in range(len(demo.windows))]
    np.testing.assert_allclose(demo.windows, best, rtol=1e-3)
    assert np.average(demo.windows, weights=sizes) == pytest.approx(demo.score, abs=1e-3)
    assert demo.worst_step < pairs


def test_what_is_stored_is_what_is_read(audit):
    text = audit.to_json()
    assert json.loads(text)["format"] == "rilco-audit-1"
    assert Audit.from_json(text) == audit


def test_numpy_numbers_become_plain_ones():
    demo = judge([0.0, 1.0], expert_probability=np.float32(0.25), demonstrator=np.int32(0))
    assert type(demo.expert_probability) is float
    assert type(demo.demonstrator) is int
    NoiseFraction(np.float64(0.2), np.float32(0.0), 1)
    settings = {"steps": 3, "nested": {"list": [1, 2]}}
    audit = replace(make_audit(experts=1, others=0), settings=settings)
    assert Audit.from_json(audit.to_json()).settings == settings


def test_a_cut_decides_and_verdicts_must_agree_with_it(audit):
    kept = next(demo for demo in audit.demonstrations if audit.keeps(demo))
    assert kept.score >= audit.verdict.cut
    wrong = (replace(kept, verdict="drop"),)
    with pytest.raises(AuditError, match=r"the verdict is 'drop', but its score is .* and the cut is 0\.4"):
        replace(audit, demonstrations=wrong)
    replace(audit, demonstrations=(replace(kept, verdict="unsure"),))
    at_the_cut = replace(audit.verdict, cut=kept.score)
    assert replace(audit, verdict=at_the_cut, demonstrations=(kept,)).keeps(kept)
    no_cut = replace(audit, verdict=Conclusion("clean", "One group.", 0.9, None), demonstrations=(kept,))
    assert no_cut.keeps(kept)


def test_the_csv_has_a_row_a_demonstration(audit):
    awkward = 'a, "b"\nand </td>;=1+1'
    demos = (replace(audit.demonstrations[0], name=awkward), *audit.demonstrations[1:])
    rows = list(csv.DictReader(io.StringIO(replace(audit, demonstrations=demos).to_csv(), newline="")))
    assert len(rows) == len(audit.demonstrations)
    assert rows[0]["name"] == awkward
    assert float(rows[3]["score"]) == audit.demonstrations[3].score
    assert float(rows[3]["return"]) == audit.demonstrations[3].episode_return
    assert rows[3]["verdict"] == audit.demonstrations[3].verdict
    assert rows[0]["demonstrator"] == "expert.npz"
    assert int(rows[0]["worst_step"]) == audit.demonstrations[0].worst_step
    assert rows[0]["truth"] == ""


def test_names_that_are_no_text_can_be_written(audit):
    odd = replace(audit.demonstrations[0], name="demo-\udcff.npz")
    odd_audit = replace(audit, demonstrations=(odd,))
    assert "demo-?.npz" in odd_audit.to_csv().encode().decode()
    assert Audit.from_json(odd_audit.to_json().encode().decode()) == odd_audit


# -- what is refused ----------------------------------------------------------------------------------------------


def put(path: str, value: Any):
    def change(table: dict[str, Any]) -> None:
        *way, last = path.split(".")
        for step in way:
            table = table[int(step) if isinstance(table, list) else step]
        table[int(last) if isinstance(table, list) else last] = value

    return change


def remove(path: str):
    def change(table: dict[str, Any]) -> None:
        *way, last = path.split(".")
        for step in way:
            table = table[int(step) if isinstance(table, list) else step]
        del table[last]

    return change


@pytest.mark.parametrize(
    "change, complaint",
    [
        (put("format", "rilco-audit-2"), "not an audit of format 'rilco-audit-1'"),
        (remove("verdict"), "verdict is None; expected an object"),
        (remove("transitions"), "has no entry 'transitions'"),
        (put("extra", 1), "unknown entry 'extra'"),
        (put("verdict.kind", "mixd"), "Did you mean 'mixed'"),
        (put("verdict.cut", None), "verdict.cut is missing"),
        (put("verdict.confidence", 1.5), r"verdict.confidence is 1\.5; expected a number from 0 to 1"),
        (put("verdict.confidence", None), "verdict.confidence is missing; expected a number"),
        (put("verdict.confidence", True), "verdict.confidence is True; expected a finite number"),
        (put("verdict.sentence", 3), "verdict.sentence is 3; expected text"),
        (put("noise_fraction.low", 0.99), "outside of its interval"),
        (put("noise_fraction", [1]), r"noise_fraction is \[1\]; expected an object"),
        (put("files", "one"), "files is 'one'; expected a list"),
        (put("seeds.0", 1.5), "seeds is 1.5; expected a whole number"),
        (put("transitions", -1), "transitions is -1"),
        (put("settings", 3), "settings is 3"),
        (put("demonstrations", []), "not a single demonstration"),
        (put("demonstrations.1.index", 0), "two demonstrations have the index 0"),
        (put("demonstrators.1.id", 0), "two demonstrators have the id 0"),
        (put("demonstrators.0.pairs", 0), "demonstrator 0: pairs is 0"),
        (put("demonstrations.1.demonstrator", 7), "demonstration 1: its demonstrator 7 is not among"),
        (put("demonstrations.1.score", "high"), "demonstration 1: score is 'high'"),
        (put("demonstrations.1.score", float("nan")), "demonstration 1: score is nan"),
        (put("demonstrations.1.score", 10**400), "demonstration 1: score is 1000"),
        (put("demonstrations.1.verdict", "bad"), "demonstration 1: verdict is 'bad'"),
        (put("demonstrations.1.truth", "both"), "demonstration 1: truth is 'both'"),
        (put("demonstrations.1.strip", [1.0]), "strip: there are 1 numbers; expected 120"),
        (put("demonstrations.1.strip", None), "strip is None"),
        (put("demonstrations.1.windows", [1.0, 2.0]), "windows: there are 2 numbers; expected 3"),
        (put("demonstrations.1.worst_step", 120), "worst_step is 120, but it has 120 pairs"),
        (put("demonstrations.1.pairs", 100_000), "the strip has 100000 bins; expected at most 200"),
        (remove("demonstrations.1.name"), r"demonstrations\[1\] has no entry 'name'"),
    ],
)
def test_damage_is_named(audit, change, complaint):
    table = json.loads(audit.to_json())
    change(table)
    with pytest.raises(AuditError, match=complaint) as caught:
        Audit.from_json(json.dumps(table), "there/audit.json")
    assert str(caught.value).startswith("there/audit.json: ")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"format": null}', "[" * 100_000])
def test_text_that_is_no_audit(text):
    with pytest.raises(AuditError, match=r"audit\.json"):
        Audit.from_json(text, "audit.json")


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.integers(), max_size=3),
)
SMALL = json.loads(make_audit(experts=1, episode_pairs=3, others=1, pieces=1, piece_pairs=2).to_json())


@given(data=st.data(), junk=st.one_of(JUNK, st.dictionaries(st.text(max_size=3), JUNK, max_size=2)))
def test_any_other_damage_is_refused_or_harmless(data, junk):
    table = copy.deepcopy(SMALL)
    place: Any = table
    while True:
        keys = list(range(len(place))) if isinstance(place, list) else list(place)
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], list | dict) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = junk
    try:
        audit = Audit.from_json(json.dumps(table))
    except RilcoError:
        return
    assert Audit.from_json(audit.to_json()) == audit
    audit.to_csv()


def test_files(tmp_path, audit):
    path = tmp_path / "audit.json"
    path.write_text(audit.to_json())
    assert Audit.load(path) == audit
    with pytest.raises(AuditError, match="could not be read"):
        Audit.load(tmp_path / "none.json")
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(AuditError, match="could not be read"):
        Audit.load(path)


def test_nothing_to_judge():
    with pytest.raises(AuditError, match="without a single pair"):
        judge(np.zeros(0))
