"""Ends are compared: who stops elsewhere is doubted, and one that goes on in another demonstration is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rilco.data.record import Demonstrations
from rilco.judging.config import JudgingConfig
from rilco.judging.judges.endings import goes_on, judge_endings
from rilco.judging.material import Material, prepare
from rilco.judging.opinion import Opinion

STEPS, GOOD = 40, 20


def walks(aborted: int) -> Demonstrations:
    """To the origin from all around; the last ones stop half way."""
    rng = np.random.default_rng(0)
    starts = rng.standard_normal((GOOD + aborted, 3))
    starts *= 5.0 / np.linalg.norm(starts, axis=1, keepdims=True)
    length = [STEPS] * GOOD + [STEPS // 2] * aborted
    obs = [
        start * np.linspace(1.0, 0.0, STEPS)[:n, None] + 0.01 * rng.standard_normal((n, 3))
        for start, n in zip(starts, length, strict=True)
    ]
    states = np.concatenate(obs)
    return Demonstrations(states, -states[:, :2], episode=np.repeat(np.arange(len(length)), length))


def judged(demos: Demonstrations) -> tuple[Material, Opinion]:
    of_pair = np.asarray(demos.episode)
    count = int(of_pair.max()) + 1
    material = prepare(demos, of_pair, np.arange(count), JudgingConfig())
    return material, judge_endings(material, JudgingConfig(), apart=np.zeros(count, bool))


def test_who_stops_half_way_is_doubted() -> None:
    material, opinion = judged(walks(4))
    assert (opinion.good[material.order >= GOOD] < 0.5).all()
    assert (opinion.good[material.order < GOOD] == 0.5).all()


def test_nobody_is_dropped_by_the_end_alone() -> None:
    assert judged(walks(4))[1].good.min() > JudgingConfig().unsure_from


def test_one_cut_in_two_is_not_doubted() -> None:
    demos = walks(0)
    cut = np.where(np.arange(len(demos)) >= STEPS // 2, demos.episode + 1, demos.episode)
    _, opinion = judged(Demonstrations(demos.obs, demos.action, episode=cut))
    assert (opinion.good == 0.5).all()


def test_an_end_may_be_a_relation_between_dimensions() -> None:
    """All reach a goal of their own; the last ones stop beside theirs, at places where others' goals are."""
    rng = np.random.default_rng(1)
    goals, starts = rng.standard_normal((40, 2)), rng.standard_normal((40, 2))
    beside = np.where(np.arange(40) < 34, 0.0, 1.0)[:, None] * rng.choice([-1.0, 1.0], (40, 2))
    share = np.linspace(0.0, 1.0, STEPS)[:, None]
    obs = [
        np.hstack([(1 - share) * s + share * (g + b), np.tile(g, (STEPS, 1))])
        + 0.01 * rng.standard_normal((STEPS, 4))
        for s, g, b in zip(starts, goals, beside, strict=True)
    ]
    states = np.concatenate(obs)
    demos = Demonstrations(states, states[:, 2:] - states[:, :2], episode=np.repeat(np.arange(40), STEPS))
    material, opinion = judged(demos)
    assert (opinion.good[material.order >= 34] < 0.5).all()
    assert (opinion.good[material.order < 34] == 0.5).all()


def test_who_lives_apart_and_reaches_the_end_is_at_home() -> None:
    demos = walks(4)
    of_pair = np.asarray(demos.episode)
    material = prepare(demos, of_pair, np.arange(GOOD + 4), JudgingConfig())
    apart = np.isin(material.order, [0, 1, GOOD, GOOD + 1])
    home = judge_endings(material, JudgingConfig(), apart=apart).evidence["home"] > 0
    assert home[material.order < GOOD].all()
    assert not home[material.order >= GOOD].any()


def test_ends_are_compared_where_they_are_narrow() -> None:
    """Five goals of each one's own say nothing about who stops a little beside the sixth."""
    rng = np.random.default_rng(2)
    share = np.linspace(0.0, 1.0, STEPS)[:, None]
    ends = np.hstack([2.0 * rng.standard_normal((40, 5)), 0.1 * rng.standard_normal((40, 1))])
    ends[34:, 5] = 1.2
    obs = np.concatenate(
        [
            (1 - share) * start + share * end
            for start, end in zip(rng.standard_normal((40, 6)) * 3, ends, strict=True)
        ]
    )
    demos = Demonstrations(obs, obs[:, :2], episode=np.repeat(np.arange(40), STEPS))
    material, opinion = judged(demos)
    assert (opinion.good[material.order >= 34] < 0.5).all()
    assert (opinion.good[material.order < 34] == 0.5).all()


def test_going_on_must_fit_in_every_dimension() -> None:
    """A wide step in one dimension makes no start of what lies elsewhere in another."""
    way, jitter = np.linspace(0.0, 1.0, STEPS), np.resize([-1.0, 1.0], STEPS)
    obs = np.concatenate([np.stack([start + way, jitter], 1) for start in (0.0, 1.0, 2.0, 3.5)])
    material, _ = judged(Demonstrations(obs, obs, episode=np.repeat(np.arange(4), STEPS)))
    found = goes_on(material, np.arange(4), JudgingConfig())
    assert found[np.argsort(material.order)].tolist() == [True, True, False, False]
    assert goes_on(material, np.arange(4), replace(JudgingConfig(), goes_on=(1.5, 100.0))).all()
