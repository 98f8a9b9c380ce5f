"""Estimates of how long a grid takes."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.experiment.tiny import fake_run, tiny

from rilco.config import RunConfig
from rilco.experiment import Grid, cost
from rilco.experiment.cost import Speed, estimate, kind, label, makespan, measure, speed, time_left
from rilco.experiment.grid import Job, make_jobs
from rilco.experiment.published import paper
from rilco.experiment.sweep import survey
from rilco.runs.interrupt import StopSignal


def test_makespan_starts_each_run_when_there_is_room() -> None:
    assert makespan([3.0, 1.0, 1.0, 1.0], 2) == 3.0
    assert makespan([1.0, 1.0, 1.0, 3.0], 2) == 4.0
    assert makespan([2.0, 5.0], 10) == 5.0
    assert makespan([], 4) == 0.0


def test_time_is_iterations_and_evaluations_and_only_what_is_left() -> None:
    config = tiny(steps=2000, evaluate_every=200)  # 100 iterations, 10 evaluations of 3 episodes
    speed = Speed(seconds_per_iteration=0.5, seconds_per_step=0.001)
    whole = 100 * 0.5 + 10 * 3 * 1000 * 0.001
    assert time_left(config, speed, 0) == pytest.approx(whole)
    assert time_left(config, speed, 500) == pytest.approx(0.75 * whole)
    assert time_left(config, speed, 2000) == 0.0
    uneven = dataclasses.replace(config, evaluate_every=600)  # after 30, 60, 90 iterations, and at the end
    assert time_left(uneven, speed, 0) == pytest.approx(100 * 0.5 + 4 * 3)
    once = dataclasses.replace(config, evaluate_every=0)
    assert time_left(once, speed, 0) == pytest.approx(50 + 3)
    never = dataclasses.replace(config, evaluate_every=-1)
    assert time_left(never, speed, 0) == pytest.approx(50)


def test_the_papers_runs_are_of_few_kinds() -> None:
    labels = {label(config) for config in paper()}
    methods = ("ril-co", "ril-p", "gail-logistic", "vild", "bc")
    usual = {
        f"{task}/noise-0.4/{m}" for task in ("halfcheetah", "hopper", "walker2d", "ant") for m in methods
    }
    gaussian = {f"ant/gaussian-0.4/{m}" for m in ("ril-co", "gail-logistic", "vild")}
    assert labels == usual | gaussian


def test_runs_of_other_sizes_are_of_another_kind() -> None:
    grid = Grid(num_envs=[8, 32], task="ant", method=["fairl", "gail-ap"], noise_rate=[0.0, 0.4], seed=[1, 2])
    assert len({label(config) for config in grid}) == 2
    assert all(kind(config).steps == 35 * config.transitions_per_iteration for config in grid)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, RunConfig]]:
    """Instead of measuring: what was asked for, and answers."""
    asked = []

    def answer(
        kinds: Mapping[str, RunConfig], side_by_side: int, workers: int, stop: StopSignal
    ) -> tuple[dict[str, Speed], dict[str, str]]:
        asked.append(dict(kinds))
        speeds = {name: Speed(1.0, 0.0) for name in kinds if "bad" not in name}
        return speeds, {name: "exit code 1" for name in kinds if "bad" in name}

    monkeypatch.setattr(cost, "measure", answer)
    return asked


def estimate_of(jobs: list[Job], out: Path) -> tuple[dict[str, float], dict[str, str]]:
    return estimate(jobs, survey(jobs, out), side_by_side=2, workers=1, stop=StopSignal())


def test_each_kind_is_measured_once(tmp_path: Path, measured: list[dict[str, RunConfig]]) -> None:
    jobs = make_jobs([tiny(seed=seed) for seed in (1, 2)])
    seconds, _ = estimate_of(jobs, tmp_path)
    assert seconds == {job.name: 10.0 for job in jobs}
    assert [len(kinds) for kinds in measured] == [1]


def test_finished_runs_cost_nothing_and_interrupted_ones_what_is_left(
    tmp_path: Path, measured: list[dict[str, RunConfig]]
) -> None:
    jobs = make_jobs([(f"run{seed}", tiny(seed=seed)) for seed in range(3)])
    fake_run(tmp_path / "run0", jobs[0].config)
    fake_run(tmp_path / "run1", jobs[1].config, iterations=4)
    assert estimate_of(jobs, tmp_path)[0] == pytest.approx({"run1": 6.0, "run2": 10.0})


def test_a_kind_that_cannot_be_measured_is_said_so(
    tmp_path: Path, measured: list[dict[str, RunConfig]]
) -> None:
    jobs = make_jobs([tiny(), tiny("bad")])
    seconds, failures = estimate_of(jobs, tmp_path)
    assert list(seconds) == [jobs[0].name]
    assert list(failures.values()) == ["exit code 1"]


@pytest.mark.slow
def test_a_real_measurement(tmp_path: Path) -> None:
    jobs = make_jobs([tiny(steps=2_000_000), tiny("Raises", steps=2_000_000)])
    seconds, failures = estimate_of(jobs, tmp_path)
    assert seconds[jobs[0].name] > 0
    assert "the gripper is stuck" in "".join(failures.values())
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_while_measuring_ends_it() -> None:
    stop = StopSignal()
    stop.signum = 2
    with pytest.raises(KeyboardInterrupt):
        measure({"run": tiny()}, 1, 1, stop)


# -- measuring -----------------------------------------------------------------------------------

LINES = [{"iteration": i, "transitions": 20 * i, "seconds": 100.0 + 2.0 * i} for i in range(1, 36)]


def test_speed_by_the_clock() -> None:
    found = speed(LINES, tiny())
    assert found.seconds_per_iteration == pytest.approx(2.0)
    assert found.seconds_per_step == pytest.approx(0.1)


def test_speed_of_what_acts_only_in_evaluations() -> None:
    lines = [{"iteration": 100 * i, "seconds": float(i)} for i in range(1, 35)]
    lines.append({"iteration": 3500, "seconds": 65.0, "eval_length": 10.0})  # 3 episodes
    found = speed(lines, tiny())
    assert found.seconds_per_iteration == pytest.approx(0.01)
    assert found.seconds_per_step == pytest.approx(30.0 / 30)
