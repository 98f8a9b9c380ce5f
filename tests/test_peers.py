"""The judges that ours is compared with, on tiny data."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.judges.measuring import auroc, best_share, measure
from benchmarks.judges.peers import JUDGES, Scores
from benchmarks.judges.sets import LabelledSet, in_order, windows

from rilco.data.record import Demonstrations

GOOD = np.arange(20) % 4 != 3


def demonstrations() -> Demonstrations:
    """20 of 40 pairs; every fourth one is elsewhere and acts at random."""
    rng = np.random.default_rng(0)
    episode = np.repeat(np.arange(20), 40)
    bad = ~GOOD[episode]
    obs = rng.normal(size=(800, 3)) + 1.5 * bad[:, None]
    action = np.where(bad[:, None], rng.normal(size=(800, 2)), 0.5 * obs[:, :2])
    return Demonstrations(obs, action, episode=episode)


@pytest.mark.parametrize("name", JUDGES)
def test_each_judge_scores_every_demonstration(name: str) -> None:
    if name.startswith("rilco"):
        pytest.importorskip("rilco.judging.offline")
    pytest.importorskip("sklearn")
    said = JUDGES[name](demonstrations())
    assert said.score.shape == GOOD.shape
    assert np.isfinite(said.score).all()
    if name not in ("length", "speed", "random"):
        assert auroc(said.score, GOOD) > 0.95


def test_auroc_counts_ties_half_and_needs_both_kinds() -> None:
    assert auroc(np.array([3.0, 2.0, 1.0]), np.array([True, False, False])) == 1.0
    assert auroc(np.array([1.0, 1.0]), np.array([True, False])) == 0.5
    assert auroc(np.array([1.0, 2.0]), np.array([True, True])) is None


def test_ties_are_not_decided_by_the_order_of_the_demonstrations() -> None:
    keep = best_share(np.zeros(100), np.full(100, 5), 250)
    assert keep.sum() == 50
    assert 10 < keep[:50].sum() < 40


def test_windows_are_equal_and_never_pass_the_end_of_an_episode() -> None:
    demos = Demonstrations(
        np.arange(230)[:, None], np.zeros((230, 1)), episode=np.repeat([7, 3, 5], [120, 30, 80])
    )
    cut = windows(demos)
    np.testing.assert_array_equal(np.bincount(cut.episode), [50, 50, 50])
    np.testing.assert_array_equal(cut.obs[::50, 0], [0, 50, 150])


def test_episodes_are_numbered_by_first_appearance() -> None:
    demos = Demonstrations(np.arange(4)[:, None], np.zeros((4, 1)), episode=[9, 2, 9, 2])
    ordered = in_order(demos)
    np.testing.assert_array_equal(ordered.episode, [0, 0, 1, 1])
    np.testing.assert_array_equal(ordered.obs[:, 0], [0, 2, 1, 3])


def test_controls_get_the_sign_that_fits_and_a_verdict_keeps_its_own() -> None:
    data = LabelledSet("tiny", replace(demonstrations()), GOOD)
    assert measure("speed", Scores(-GOOD.astype(float)), data)[0]["auroc"] == 1.0
    assert measure("BCND's weights", Scores(-GOOD.astype(float)), data)[0]["auroc"] == 0.0
    numbers, keep = measure("rilco audit, offline", Scores(GOOD.astype(float), np.ones(20, bool)), data)
    assert keep.all()
    assert numbers == {"auroc": 1.0, "good_kept": 1.0, "bad_kept": 1.0, "right": False}
