"""The table of windows."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from tests.judging.test_judging import audited, make_demos, mixture

from rilco.judging.windows import window_rows, windows_csv


def test_windows_are_consecutive_pairs_of_one_demonstration():
    levels, demos, _ = mixture()
    audit, pairs = audited(levels, demos)
    rows = window_rows(audit)
    assert len(rows) == 10 * 8 + 40
    assert sum(row["pairs"] for row in rows) == len(demos)
    assert [row["first_step"] for row in rows[:9]] == [*range(0, 400, 50), 0]
    of_windows = pairs.grouping.window_scores(pairs.score)
    np.testing.assert_allclose([row["score"] for row in rows], of_windows, atol=1e-3)
    assert (rows[0]["demonstration_verdict"], rows[-1]["demonstration_verdict"]) == ("keep", "drop")


def test_a_last_window_may_be_short():
    audit, _ = audited([[1.0, 1.0]] * 2, make_demos([120, 7]))
    assert [(row["demonstration"], row["first_step"], row["pairs"]) for row in window_rows(audit)] == [
        (0, 0, 50),
        (0, 50, 50),
        (0, 100, 20),
        (1, 0, 7),
    ]


def test_a_window_is_as_probable_as_demonstrations_of_its_score():
    """And where it is a demonstration of its own, nearly as probable as that."""
    levels, demos, truth = mixture(others=150)
    audit, _ = audited(levels, demos)
    rows = window_rows(audit)
    scores, probability = (np.array([row[name] for row in rows]) for name in ("score", "expert_probability"))
    assert (np.diff(probability[np.argsort(scores)]) >= 0).all()
    by_demo = np.array([demo.expert_probability for demo in audit.demonstrations])
    pieces = np.array([row["demonstration"] for row in rows]) >= truth.sum()
    np.testing.assert_allclose(probability[pieces], by_demo[~truth], atol=0.1)
    weight = [row["pairs"] for row in rows]
    of_pairs = np.average(by_demo, weights=[demo.pairs for demo in audit.demonstrations])
    assert np.average(probability, weights=weight) == pytest.approx(of_pairs, abs=0.01)


def test_windows_count_by_their_pairs():
    """Fifty pairs of an expert's and ten of another's have the same score."""
    audit, _ = audited([[1.0, 1.0]] * 2, make_demos([50, 10]))
    demos = tuple(
        replace(demo, windows=(1.0,), expert_probability=float(demo.index == 0))
        for demo in audit.demonstrations
    )
    rows = window_rows(replace(audit, demonstrations=demos))
    assert [row["expert_probability"] for row in rows] == pytest.approx([5 / 6, 5 / 6])


def test_the_table_is_what_it_says():
    levels, demos, _ = mixture()
    audit, _ = audited(levels, demos)
    read = list(csv.DictReader(io.StringIO(windows_csv(audit))))
    assert [float(row["score"]) for row in read] == [row["score"] for row in window_rows(audit)]
    assert list(read[0]) == list(window_rows(audit)[0])
