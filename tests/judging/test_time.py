"""Who runs out of time: lengths that say so, and lengths that do not."""

from __future__ import annotations

import numpy as np
import pytest
from tests.judging.probes import linear_demos

from rilco.data.record import Demonstrations
from rilco.judging.config import JudgingConfig
from rilco.judging.judges.time import judge_time
from rilco.judging.material import Material, prepare
from rilco.judging.offline import judge_offline

CONFIG = JudgingConfig()
VARIED = [21, 24, 26, 30, 33, 35, 38, 40, 43, 47]


def of_lengths(lengths: list[int]) -> Material:
    rng = np.random.default_rng(0)
    total = sum(lengths)
    episode = np.repeat(np.arange(len(lengths)), lengths)
    demos = Demonstrations(rng.standard_normal((total, 2)), rng.standard_normal((total, 1)), episode=episode)
    return prepare(demos, demos.index.place, np.arange(len(lengths)), CONFIG)


def ranking(given: Material, odd: list[int]) -> np.ndarray:
    """[D] with the given demonstrations `odd` above all others."""
    return np.isin(given.order, odd).astype(np.float64)


def test_who_ends_at_the_limit_is_doubted_and_who_finishes_is_praised() -> None:
    given = of_lengths([*VARIED, 60, 60, 60])
    opinion = judge_time(given, CONFIG, ranking(given, [10, 11, 12]))
    late = given.order >= 10
    assert opinion.good[late] == pytest.approx(CONFIG.alone)
    assert opinion.good[~late] == pytest.approx(0.5 + CONFIG.in_time)
    assert CONFIG.unsure_from < CONFIG.alone < CONFIG.unsure_to <= 0.5 + CONFIG.in_time


@pytest.mark.parametrize(
    "lengths",
    [
        [*VARIED, 60],  # one alone is the longest of any list
        [*range(51, 61), 60],  # two alike among ten that are nearly as long
        [60] * 10,
        [*VARIED[:4], 60, 60, 60, 60, 60],  # most reach the limit: who ends before may have fallen
        [*VARIED, 400, 400],  # most of what was recorded
    ],
)
def test_other_lengths_say_nothing(lengths: list[int]) -> None:
    given = of_lengths(lengths)
    longest = np.flatnonzero(np.array(lengths) == max(lengths)).tolist()
    opinion = judge_time(given, CONFIG, ranking(given, longest))
    assert opinion.standing == 0.0
    assert set(opinion.good.tolist()) == {0.5}


def test_without_a_limit_a_group_of_long_ones_is_doubted() -> None:
    lengths = [30, 31, 32, 33, 34, 35, 36, 37, 38, 30, 31, 32, 33, 34, 35, 66, 70, 74]
    given = of_lengths(lengths)
    opinion = judge_time(given, CONFIG, ranking(given, [15, 16, 17]))
    assert sorted(given.order[opinion.good < 0.5].tolist()) == [15, 16, 17]


def test_where_most_fall_those_that_go_on_are_not_doubted() -> None:
    """The best are cut off by the limit, and nobody finds them odd: the falls are."""
    given = of_lengths([*VARIED, 60, 60, 60])
    assert judge_time(given, CONFIG, ranking(given, list(range(10)))).standing == 0.0
    assert judge_time(given, CONFIG, np.zeros(given.count)).standing == 0.0


def test_the_verdict_says_that_time_ran_out() -> None:
    """A sixth goes on to the limit, with a trembling hand."""
    demos, rng = linear_demos(24, 0, steps=60), np.random.default_rng(1)
    keep, action = np.ones(len(demos), bool), demos.action.copy()
    for i, own in enumerate(np.split(np.arange(len(demos)), 24)):
        if i < 20:
            keep[own[int(rng.integers(25, 50)) :]] = False
        else:
            action[own] += 0.12 * rng.standard_normal(action[own].shape)
    cut = Demonstrations(demos.obs[keep], action[keep], episode=demos.episode[keep])
    verdict = judge_offline(cut)
    assert verdict.decisions.tolist() == ["keep"] * 20 + [verdict.decisions[-1]] * 4
    assert verdict.decisions[-1] != "keep"
    opinion = next(each for each in verdict.opinions if each.judge == "time")
    assert "times as long as is usual" in opinion.reasons[-1]
