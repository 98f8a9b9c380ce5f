"""Who stops acting: shares that can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from tests.judging.probes import linear_demos

from rilco.data.record import Demonstrations
from rilco.judging.config import JudgingConfig
from rilco.judging.judges.held import held_shares, judge_held
from rilco.judging.material import Material, prepare
from rilco.judging.offline import judge_offline

CONFIG = JudgingConfig()
LENGTH = 40


def acting(count: int, holding: dict[int, int], seed: int = 0) -> Demonstrations:
    """Random actions; demonstration i holds its first action for `holding[i]` further steps."""
    rng = np.random.default_rng(seed)
    obs, action = rng.standard_normal((count, LENGTH, 3)), rng.uniform(-1, 1, (count, LENGTH, 2))
    for i, steps in holding.items():
        action[i, : steps + 1] = 0.1 * action[i, 0]
    episode = np.repeat(np.arange(count), LENGTH)
    return Demonstrations(obs.reshape(-1, 3), action.reshape(-1, 2), episode=episode)


def material(demos: Demonstrations) -> Material:
    of_pair = demos.index.place
    return prepare(demos, of_pair, np.arange(of_pair.max() + 1), CONFIG)


def test_the_share_of_repeated_actions_is_counted() -> None:
    given = material(acting(8, {2: 10, 5: 30}))
    expected = np.zeros(8)
    expected[[2, 5]] = 10 / LENGTH, 30 / LENGTH
    share, on_the_way = held_shares(given, CONFIG)
    assert share == pytest.approx(expected[given.order])
    assert on_the_way == pytest.approx(share)


def test_full_throttle_may_last() -> None:
    """The largest action of all, step after step, is no sign of idleness."""
    demos = acting(8, {})
    action = demos.action.copy()
    action[:30], action[40:70] = 1.0, -1.0
    share, _ = held_shares(material(Demonstrations(demos.obs, action, episode=demos.episode)), CONFIG)
    assert share.max() == 0.0


def test_a_long_hold_is_a_charge_and_a_short_one_a_doubt() -> None:
    given = material(acting(12, {0: 30, 1: 9, 2: 4}))
    opinion = judge_held(given, CONFIG)
    good = dict(zip(given.order.tolist(), opinion.good.tolist(), strict=True))
    assert good[0] == pytest.approx(0.5 - CONFIG.proven)
    assert CONFIG.unsure_from < good[1] < 0.5
    assert {good[i] for i in range(2, 12)} == {0.5}
    assert "75% of its time" in opinion.reasons[given.order.tolist().index(0)]


def test_who_rests_to_the_end_may_have_finished() -> None:
    """A pendulum that stands needs no more torque."""
    demos = acting(12, {})
    action = demos.action.copy()
    action[LENGTH // 2 : LENGTH] = 0.1  # the first one's second half
    given = material(Demonstrations(demos.obs, action, episode=demos.episode))
    opinion, place = judge_held(given, CONFIG), given.order.tolist().index(0)
    assert opinion.good[place] == pytest.approx(CONFIG.alone)
    assert "to its end" in opinion.reasons[place]
    assert held_shares(given, CONFIG)[1].max() == 0.0


def test_where_most_pause_it_is_no_fault() -> None:
    opinion = judge_held(material(acting(12, dict.fromkeys(range(8), 15))), CONFIG)
    assert opinion.standing == 0.0
    assert set(opinion.good.tolist()) == {0.5}


def test_the_verdict_drops_the_idle_ones_and_says_why() -> None:
    demos = linear_demos(20, 4, seed=1)
    action = demos.action.copy()
    for i in range(20, 24):
        own = np.flatnonzero(demos.episode == i)
        action[own[: len(own) // 2]] = 0.0
    verdict = judge_offline(Demonstrations(demos.obs, action, episode=demos.episode))
    assert verdict.decisions.tolist() == ["keep"] * 20 + ["drop"] * 4
    assert "repeats the same action" in verdict.demonstrations[-1].reason
