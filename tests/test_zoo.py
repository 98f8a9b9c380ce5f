"""The zoo: its table, its files and its faults. Only tasks that need no further packages are made."""

import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.zoo import draw
from benchmarks.zoo.chores import Juggler, Mower, Valve
from benchmarks.zoo.controllers import tuned
from benchmarks.zoo.crafts import Bicycle, Satellite
from benchmarks.zoo.faults import FAULTS, RECORDING_FAULTS, Body
from benchmarks.zoo.make import make
from benchmarks.zoo.mixtures import FIFTH, FOURTH, LAST_WORD, MIXTURES, Mixture, read
from benchmarks.zoo.movers import Capsule, Rower, WheelPendulum
from benchmarks.zoo.recording import Manner, record
from benchmarks.zoo.rigs import Furuta, Swing
from benchmarks.zoo.tasks import TASKS
from benchmarks.zoo.works import FloatingBall

from rilco.data.loading import load_demonstrations

# A wrong sign or order is only ever a mistake of the recording: who acts so sees it at once.
KINDS = {*FAULTS, *RECORDING_FAULTS, "aborted", "weak policy"} - {"sign", "swapped"}
BODY = Body(action_dim=2, limit=2.0, goal=(0, 1), goal_span=1.0)
CHEAP = [m for m in MIXTURES if not TASKS[m.task].extra and sum(part.count for part in m.parts) <= 60]


def mixture(name: str) -> Mixture:
    return next(m for m in MIXTURES if m.name == name)


def test_table_is_as_large_and_as_varied_as_promised() -> None:
    assert len(MIXTURES) >= 24
    assert len({m.name for m in MIXTURES}) == len(MIXTURES)
    assert len({m.task for m in MIXTURES}) >= 8
    counts = [sum(part.count for part in m.parts) for m in MIXTURES]
    assert min(counts) == 8
    assert max(counts) == 300


@pytest.mark.parametrize("half", ["design", "last-word"])
def test_each_half_holds_every_kind_of_fault_and_clean_sets(half: str) -> None:
    mine = [m for m in MIXTURES if TASKS[m.task].half == half]
    assert len({m.task for m in mine}) >= 8
    assert {part.manner.kind for m in mine for part in m.parts} - {""} == KINDS
    assert sum(all(part.manner.good for part in m.parts) for m in mine) >= 5


def test_every_manner_names_a_controller_of_its_task() -> None:
    wrong = [
        (m.name, part.manner.controller)
        for m in MIXTURES
        for part in m.parts
        if part.manner.controller not in TASKS[m.task].controllers
    ]
    assert wrong == []


def test_same_mixture_has_same_bytes(tmp_path: Path) -> None:
    for folder in ("once", "again"):
        make(mixture("point-mass-wrong-goal-person"), tmp_path / folder)
    names = sorted(file.name for file in (tmp_path / "once" / "design").iterdir())
    assert names == ["point-mass-wrong-goal-person.npz", "point-mass-wrong-goal-person.truth.json"]
    for name in names:
        once, again = ((tmp_path / folder / "design" / name).read_bytes() for folder in ("once", "again"))
        assert once == again


@pytest.mark.parametrize("chosen", CHEAP, ids=lambda m: m.name)
def test_truth_agrees_with_the_file(chosen: Mixture, tmp_path: Path) -> None:
    make(chosen, tmp_path)
    half, task = TASKS[chosen.task].half, TASKS[chosen.task]
    truth = json.loads((tmp_path / half / f"{chosen.name}.truth.json").read_text())
    demos = load_demonstrations(tmp_path / half / f"{chosen.name}.npz")
    assert demos.expert is None
    assert demos.reward is None
    assert set(demos.demonstrator_names) == {e["demonstrator"] for e in truth["episodes"]}
    assert all(name.startswith("person ") for name in demos.demonstrator_names)
    for episode, found in zip(truth["episodes"], demos.episodes(), strict=True):
        assert found.episode[0] == episode["episode"]
        assert len(found) == episode["pairs"]
        assert demos.demonstrator_names[found.demonstrator[0]] == episode["demonstrator"]
        assert episode["good"] == (episode["fault"] == "")
        lost = episode["score_without_fault"] - episode["score"]
        assert lost == 0 if episode["good"] else lost >= task.margin - 1e-5
    good = np.repeat([e["good"] for e in truth["episodes"]], [e["pairs"] for e in truth["episodes"]])
    assert truth["bad_by_pairs"] == pytest.approx(1 - good.mean(), abs=1e-4)
    assert truth["assumption_holds"] == (max(truth["bad_by_pairs"], truth["bad_by_demonstrations"]) < 0.5)
    if truth["faults"]:
        assert truth["score"]["good"] > truth["score"]["bad"]


def test_order_of_episodes_says_nothing(tmp_path: Path) -> None:
    truth = make(mixture("point-mass-noisy"), tmp_path)
    places = [e["episode"] for e in truth["episodes"] if not e["good"]]
    assert 0 < np.mean(places) / (truth["demonstrations"] - 1) < 1
    assert np.diff(places).max() > 1


def test_last_word_is_new_and_its_tasks_share_no_shape() -> None:
    drawn = read(LAST_WORD)
    assert len(drawn) >= 32
    assert {TASKS[m.task].half for m in drawn} == {"last-word"}
    assert {TASKS[m.task].half for m in (*read(FOURTH), *read(FIFTH))} == {"design"}
    assert {m.task for m in drawn} == {task.name for task in TASKS.values() if task.half == "last-word"}
    hard = [(m.task, m.hard, m.piece, sum(part.count for part in m.parts)) for m in drawn]
    assert len(set(hard)) == len(hard)


def test_drawn_mixture_is_the_same_when_it_is_read_again(tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    mixtures = [
        mixture("two-link-arm-units-person"),
        mixture("half-cheetah-pieces"),
        mixture("pendulum-starts-noisy"),
    ]
    draw.write(mixtures, table)
    assert read(table) == tuple(mixtures)


def test_drawn_fault_is_the_least_on_its_ladder_that_makes_most_demonstrations_bad(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    task = TASKS["peg"]
    found = draw.least(task, Manner(), "laggy")
    steps = draw.LADDERS["laggy"]
    assert found.size in steps[1:]
    monkeypatch.setitem(draw.LADDERS, "laggy", steps[: steps.index(found.size)])
    assert draw.least(task, Manner(), "laggy") is None
    assert draw.least(TASKS["swing"], Manner(), "wrong goal") is None  # it has no goal
    assert draw.least(TASKS["swing"], Manner(), "columns swapped") is None  # it has one column


def test_gains_are_a_little_off_and_what_is_named_is_as_given() -> None:
    rule = tuned(lambda obs, gain, *, named: [gain, named])
    taken = np.array([rule(2.0, named=2.0)(np.random.default_rng(k))(np.zeros(1)) for k in range(50)])
    assert 1.9 <= taken[:, 0].min() < 1.95 < 2.05 < taken[:, 0].max() <= 2.1
    assert (taken[:, 1] == 2.0).all()


def test_what_moves_by_itself_loses_about_what_friction_takes() -> None:
    def furuta(obs: np.ndarray) -> tuple[float, float]:
        _, _, cos, sin, turn, fall = obs
        moving = (0.02 + 0.00225 * sin**2) * turn**2 + 0.003 * fall**2 - 0.006 * cos * turn * fall
        return moving / 2 + 0.147 * cos, 0.02 * (0.001 * turn**2 + 0.0001 * fall**2)

    def swing(obs: np.ndarray) -> tuple[float, float]:
        cos, _, speed, length = obs
        return (length * speed) ** 2 / 2 - 9.8 * length * cos, 0.05 * 0.02 * (length * speed) ** 2

    for simulator, energy, start in ((Furuta(), furuta, "up"), (Swing(), swing, "pushed")):
        begin, _ = energy(simulator.reset(3, start))
        held, work = np.array([energy(simulator.step(np.zeros(1))[0]) for _ in range(150)]).T
        # Steps of 5 ms are coarse for a pendulum that falls; a wrong sign in any term is farther off.
        assert np.abs(begin - held - np.cumsum(work)).max() < 0.37 * work.sum()


def test_satellite_that_is_left_alone_keeps_its_momentum_and_its_energy() -> None:
    satellite = Satellite()
    seen = [satellite.reset(3, "tumbling")]
    seen += [satellite.step(np.zeros(3))[0] for _ in range(120)]
    scalar, axis, rate = np.split(np.array(seen), [1, 4], axis=1)
    within = satellite.inertia * rate
    momentum = within + 2 * np.cross(axis, np.cross(axis, within) + scalar * within)  # seen from outside
    energy = (within * rate).sum(1)
    # Steps of 0.25 s are coarse: in a minute a few percent are lost or gained.
    assert np.linalg.norm(momentum - momentum[0], axis=1).max() < 0.1 * np.linalg.norm(momentum[0])
    assert np.abs(energy - energy[0]).max() < 0.1 * energy[0]


def test_what_is_balanced_stays_and_what_is_not_falls() -> None:
    ball, bicycle = FloatingBall(), Bicycle()
    for simulator, start in ((ball, "low"), (bicycle, "leaning")):
        simulator.reset(0, start)
        assert any(simulator.step(np.zeros(1))[2] for _ in range(200))
    ball.reset(0, "")
    ball.gap, ball.speed, ball.current = 12.0, 0.0, 1.0
    bicycle.reset(0, "")
    bicycle.lean = 0.0
    assert ball.step(np.zeros(1))[0][:3] == pytest.approx([12, 0, 1])
    assert bicycle.step(np.zeros(1))[0][:4] == pytest.approx(np.zeros(4))


def test_capsule_that_is_left_alone_keeps_what_an_orbit_keeps() -> None:
    capsule = Capsule()
    seen = [capsule.reset(3, "drifting")]
    seen += [capsule.step(np.zeros(2))[0] for _ in range(60)]
    out, _, *speed = np.array(seen).T[:4]
    kept = (np.array(speed) ** 2).sum(0) - 3 * 0.00113**2 * out**2
    assert np.ptp((np.array(speed) ** 2).sum(0)) > 0.5 * kept[0]  # what is kept is more than its speed
    assert np.ptp(kept) < 0.05 * kept[0]


def test_wheel_takes_the_momentum_that_its_pendulum_loses() -> None:
    machine = WheelPendulum()
    machine.reset(0, "up")
    machine.angle = machine.turn = machine.wheel = 0.0
    machine.step(np.full(1, 0.1))
    # In 20 ms the weight has hardly begun to pull.
    assert 0.02 * machine.turn == pytest.approx(-0.0005 * machine.wheel, rel=0.02)
    for _ in range(50):
        machine.step(np.full(1, 0.3))
    assert machine.wheel == pytest.approx(300, abs=5)


def test_ball_comes_back_from_the_racket_with_part_of_its_speed() -> None:
    game = Juggler()
    game.reset(0, "")
    game.ball, game.wishes = np.array([0.0, 0.5]), np.full(2, 0.5)
    heights = [game.step(np.zeros(3))[0][1] for _ in range(50)]
    again = max(heights[25:])  # it falls for 0.32 s
    assert again == pytest.approx(0.64 * 0.5, abs=0.02)
    game.reset(0, "")
    game.ball = np.array([0.5, 0.5])
    assert any(game.step(np.zeros(3))[2] for _ in range(50))


def test_what_is_done_by_strokes_is_not_done_without_grip_or_blade() -> None:
    valve, boat, mower = Valve(), Rower(), Mower()
    for grip in (0.0, 1.0):
        valve.reset(0, "")
        valve.grip = grip
        now = valve.step(np.array([3.0, 0.0]))[0][3]
        assert (now > 0) == (grip == 1)
    for dip in (np.zeros(2), np.ones(2), np.array([1.0, 0.0])):
        boat.reset(0, "")
        boat.dip = dip
        seen = boat.step(np.array([-2.0, -2.0, 0.0, 0.0]))[0]
        assert (seen[4] > 0) == dip.any()
        assert (seen[5] < 0) == (dip[0] != dip[1])  # what pushes on the left turns it to the right
    mower.reset(0, "")
    mower.place, mower.heading = np.array([-0.3, 0.5]), 0.0
    mown = [mower.step(np.array([1.0, 0.0])) for _ in range(60)]
    assert mown[-1][1] == pytest.approx(0.25)  # one lane of four
    assert mown[-1][0][9:11] == pytest.approx([0, 0])
    assert mown[-1][0][7] == pytest.approx(0.05)


def act_with(fault: str, size: float, steps: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """What a faulty controller does whose faultless action is the observation itself."""
    faulty = FAULTS[fault](lambda obs: obs, size, BODY, np.random.default_rng(0))
    obs = np.random.default_rng(1).uniform(-1, 1, (steps, 2))
    return obs, np.array([faulty(row) for row in obs])


def test_noise_and_wander_have_the_size_that_was_asked_for() -> None:
    for fault in ("noisy", "sloppy"):
        obs, action = act_with(fault, 0.3)
        assert (action - obs).std() == pytest.approx(0.3 * BODY.limit, rel=0.1)


def test_each_action_may_have_a_limit_of_its_own() -> None:
    body = Body(action_dim=2, limit=np.array([300.0, 0.5]), goal=(), goal_span=1.0)
    still = FAULTS["noisy"](lambda obs: np.zeros(2), 0.1, body, np.random.default_rng(0))
    assert np.std([still(np.zeros(2)) for _ in range(3000)], axis=0) == pytest.approx([30, 0.05], rel=0.1)
    task = TASKS["boat"]
    taken = record(task, task.simulator(), Manner(fault="noisy", size=5.0), seed=0, fault_seed=0)
    assert np.abs(taken.action).max(0) == pytest.approx(task.simulator().limit)


def test_offset_is_constant_and_wrong_goal_moves_what_is_seen() -> None:
    for fault, length in (("offset", 0.3 * BODY.limit), ("wrong goal", 0.3 * BODY.goal_span)):
        obs, action = act_with(fault, 0.3)
        shift = (action - obs).round(9)
        assert len(np.unique(shift, axis=0)) == 1
        assert np.linalg.norm(shift[0]) == pytest.approx(length)


def test_lag_sign_swap_and_gain() -> None:
    obs, action = act_with("laggy", 3)
    assert not action[:3].any()
    assert (action[3:] == obs[:-3]).all()
    obs, action = act_with("sign", 1)
    assert (action == obs * [1, -1]).all()
    obs, action = act_with("swapped", 1)
    assert (action == obs[:, ::-1]).all()
    obs, action = act_with("gain", 0.1)
    assert action == pytest.approx(0.1 * obs)


def test_idle_and_stuck_last_as_long_as_was_asked_for() -> None:
    _, action = act_with("idle", 0.4, steps=30_000)
    assert (action == 0).all(1).mean() == pytest.approx(0.4, abs=0.05)
    _, action = act_with("stuck", 0.4, steps=30_000)
    assert (np.diff(action, axis=0) == 0).all(1).mean() == pytest.approx(0.4, abs=0.05)
