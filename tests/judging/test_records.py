"""Records are held against what happened next: who wrote actions down wrongly is named, whoever acted well."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from rilco.data.record import Demonstrations
from rilco.judging.config import JudgingConfig
from rilco.judging.judges.records import judge_records
from rilco.judging.material import Material, prepare
from rilco.judging.opinion import Opinion

GOOD, BAD, STEPS = 18, 6, 60
Wrong = Callable[[np.ndarray], np.ndarray]


def pushes(wrong: Wrong) -> Demonstrations:
    """A mass on a plane is pushed about; the last ones write their pushes down through `wrong`."""
    rng = np.random.default_rng(0)
    obs, action = [], []
    for k in range(GOOD + BAD):
        place, speed, push = rng.standard_normal(2), np.zeros(2), np.zeros(2)
        states, pushed = [], []
        for _ in range(STEPS):
            push = 0.7 * push - 0.3 * place - 0.3 * speed + 0.5 * rng.standard_normal(2)
            states.append(np.concatenate([place, speed]))
            pushed.append(push)
            speed = speed + 0.1 * push
            place = place + 0.1 * speed
        obs.append(np.array(states))
        action.append(np.array(pushed) if k < GOOD else wrong(np.array(pushed)))
    return Demonstrations(
        np.concatenate(obs), np.concatenate(action), episode=np.repeat(np.arange(GOOD + BAD), STEPS)
    )


def judged(demos: Demonstrations, config: JudgingConfig = JudgingConfig()) -> tuple[Material, Opinion]:
    count = int(np.asarray(demos.episode).max()) + 1
    material = prepare(demos, np.asarray(demos.episode), np.arange(count), config)
    return material, judge_records(material, config, apart=np.zeros(count, bool))


FAULTS: dict[str, tuple[Wrong, str]] = {
    "sign": (lambda a: a * np.array([1.0, -1.0]), "Action 1 has the wrong sign"),
    "both signs": (lambda a: -a, "has the wrong sign"),
    "units": (lambda a: 0.1 * a, "0.1 times"),
    "columns": (lambda a: a[:, ::-1], "Action"),
    "late": (lambda a: np.roll(a, 4, axis=0), "written down 4 steps late"),
    "early": (lambda a: np.roll(a, -1, axis=0), "written down 1 step early"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_record_is_charged_and_named(fault: str) -> None:
    wrong, words = FAULTS[fault]
    material, opinion = judged(pushes(wrong))
    bad = material.order >= GOOD
    assert (opinion.good[bad] < 0.5).all()
    assert (opinion.good[~bad] == 0.5).all()
    assert all(words in opinion.reasons[k] for k in np.flatnonzero(bad))


def test_how_much_nearer_says_whether_a_wrong_time_is_a_doubt_or_a_fault() -> None:
    late = pushes(lambda a: np.roll(a, 4, axis=0))
    for bounds, good, said in (
        ((0.2, 0.5), 0.5 - JudgingConfig().proven, "were written down 4 steps late"),
        ((0.2, 50.0), JudgingConfig().alone, "may have been written down 4 steps late"),
    ):
        material, opinion = judged(late, JudgingConfig(record_late=bounds))
        bad = material.order >= GOOD
        assert np.allclose(opinion.good[bad], good)
        assert all(said in opinion.reasons[k] for k in np.flatnonzero(bad))


def test_a_time_beyond_those_that_are_tried_is_not_named() -> None:
    material, opinion = judged(pushes(lambda a: np.roll(a, 6, axis=0)), JudgingConfig(record_steps=4))
    assert (opinion.good[material.order < GOOD] == 0.5).all()
    assert not any("6 steps" in reason for reason in opinion.reasons)


def test_where_all_write_down_late_nobody_is_charged() -> None:
    demos = pushes(lambda a: a)
    _, opinion = judged(Demonstrations(demos.obs, np.roll(demos.action, 2, axis=0), episode=demos.episode))
    assert (opinion.good == 0.5).all()


def test_a_few_pairs_tell_no_time() -> None:
    demos = pushes(lambda a: np.roll(a, 4, axis=0))
    _, opinion = judged(demos.select(np.flatnonzero(np.arange(len(demos)) % STEPS < 6)))
    assert not opinion.evidence or (opinion.evidence["late"] == 0.0).all()


def test_a_right_record_is_neither_charged_nor_praised() -> None:
    _, opinion = judged(pushes(lambda a: a))
    assert (opinion.good == 0.5).all()


def test_a_bad_hand_is_no_fault_of_the_record() -> None:
    demos = pushes(lambda a: a)
    rng = np.random.default_rng(2)
    still = np.asarray(demos.episode) >= GOOD
    # Who pushes at random is pushed about at random: the record is right.
    obs, action = demos.obs.copy(), demos.action.copy()
    action[still] = rng.standard_normal((int(still.sum()), 2)).astype(action.dtype)
    for k in range(GOOD, GOOD + BAD):
        rows = np.flatnonzero(np.asarray(demos.episode) == k)
        for one, following in pairwise(rows):
            obs[following, 2:] = obs[one, 2:] + 0.1 * action[one]
            obs[following, :2] = obs[one, :2] + 0.1 * obs[following, 2:]
    _, opinion = judged(Demonstrations(obs, action, episode=demos.episode))
    assert (opinion.good == 0.5).all()


def test_where_actions_do_nothing_the_judge_is_silent() -> None:
    demos = pushes(lambda a: a)
    noise = np.random.default_rng(3).standard_normal(demos.action.shape)
    _, opinion = judged(Demonstrations(demos.obs, noise, episode=demos.episode))
    assert opinion.standing == 0.0
    assert "badly" in opinion.why
