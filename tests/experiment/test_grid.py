"""Grids: what they yield, what runs are called, and the paper's."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tests.experiment.tiny import tiny

from rilco.config import RunConfig
from rilco.errors import ConfigError
from rilco.experiment import Grid
from rilco.experiment.grid import make_jobs, run_name
from rilco.experiment.published import paper


def test_a_grid_is_all_combinations_the_last_fastest() -> None:
    grid = Grid(seed=range(1, 3), task="hopper", noise_rate=[0.0, 0.4], method="ril-co", steps=2e6)
    configs = list(grid)
    assert [(c.seed, c.noise_rate) for c in configs] == [(1, 0.0), (1, 0.4), (2, 0.0), (2, 0.4)]
    assert all(c.steps == 2_000_000 and c.task.task == "hopper" for c in configs)


def test_settings_with_a_dot_and_values_that_are_tuples() -> None:
    grid = Grid(
        {"classifier.lam": [0.25, 0.75], "acktr.hidden_sizes": (8, 8)},
        task="ant",
        noise_rate=0.4,
        method="ril-co",
    )
    assert [c.classifier.lam for c in grid] == [0.25, 0.75]
    assert {c.acktr.hidden_sizes for c in grid} == {(8, 8)}


def test_an_axis_without_values_is_refused() -> None:
    with pytest.raises(ConfigError, match="seed has no values"):
        Grid(seed=[], task="ant")


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"task": "ant", "noise_rate": 0.4, "method": "ril-co", "seed": 1}, "ant/noise-0.4/ril-co/seed-1"),
        (
            {"task": "hopper", "noise_rate": 0.0, "method": "gail-ap", "seed": 3},
            "hopper/noise-0/gail-ap/seed-3",
        ),
        (
            {"task": "ant", "noise_rate": 0.4, "demo_kind": "gaussian", "method": "vild"},
            "ant/gaussian-0.4/vild/seed-1",
        ),
        (
            {"task": "ant", "noise_rate": 0.4, "lam": 0.25, "steps": 1000},
            "ant/noise-0.4/ril-co,classifier.lam=0.25/seed-1",
        ),
        ({"task": "ant", "demos": ("x/a.npz", "x/b.h5")}, "ant/a+b/ril-co/seed-1"),
        ({"env": "my.module:Pole-v1", "method": "acktr"}, "my.module-Pole-v1/acktr/seed-1"),
        ({"env": "a/../b-v1", "method": "acktr"}, "a-..-b-v1/acktr/seed-1"),
    ],
)
def test_names_say_what_a_run_is(options: dict[str, Any], name: str) -> None:
    assert [job.name for job in make_jobs([options])] == [name]


def test_long_names_are_cut_and_stay_different() -> None:
    widths = [(64,) * 60 + (last,) for last in (1, 2)]
    names = [run_name(tiny(**{"acktr.hidden_sizes": width})) for width in widths]
    assert names[0] != names[1]
    assert all(len(part) <= 100 for name in names for part in name.split("/"))


def test_names_do_not_depend_on_length_and_evaluation() -> None:
    assert run_name(tiny()) == run_name(tiny(steps=400, evaluate_every=20, evaluation_episodes=1))


def test_grids_may_name_their_runs() -> None:
    jobs = make_jobs([("a/first", tiny()), ("a/second", {"env": "X-v0", "method": "acktr", "steps": 2e3})])
    assert [(job.name, job.config.steps) for job in jobs] == [("a/first", 200), ("a/second", 2000)]


@pytest.mark.parametrize("name", ["", "/abs", "../up", "a/../../b", 3])
def test_names_outside_the_folder_are_refused(name: object) -> None:
    with pytest.raises(ConfigError, match="below the sweep's folder"):
        make_jobs([(name, tiny())])


def test_duplicates_are_refused() -> None:
    with pytest.raises(ConfigError, match="yields this run twice"):
        make_jobs([tiny(), tiny()])
    with pytest.raises(ConfigError, match=r"share this folder.*steps: 200 -> 400"):
        make_jobs([tiny(), tiny(steps=400)])


def test_what_is_no_run_is_refused() -> None:
    with pytest.raises(ConfigError, match="A grid yields a RunConfig"):
        make_jobs(["ant"])


def test_flat_has_every_setting() -> None:
    table = tiny().flat()
    assert table["acktr.hidden_sizes"] == (8, 8)
    assert table["task"] == "tests.environments:Drift-v0"
    assert table["noise_rate"] is None


# -- the paper -----------------------------------------------------------------------------------


def test_the_paper_is_a_thousand_runs_and_the_gaussian_ones() -> None:
    configs = list(paper())
    jobs = make_jobs(configs)
    assert len(jobs) == 4 * 5 * 10 * 5 + 6 * 5
    assert jobs[0].name == "halfcheetah/noise-0/ril-co/seed-1"
    assert [c.seed for c in configs] == sorted(c.seed for c in configs)  # seed by seed
    assert {c.steps for c in configs} == {20_000_000}
    assert all(c.demos == () for c in configs)
    usual = RunConfig(noise_rate=0.4)
    assert all((c.classifier, c.acktr, c.bc) == (usual.classifier, usual.acktr, usual.bc) for c in configs)


@pytest.mark.parametrize(
    ("part", "runs"),
    [("main", 4 * 5 * 7 * 5), ("ablation", 4 * 5 * 4 * 5), ("gaussian", 30), ("headline", 140)],
)
def test_parts_of_the_paper(part: str, runs: int) -> None:
    configs = list(paper((part,)))
    assert len(configs) == runs
    assert Counter(c.seed for c in configs) == dict.fromkeys((1, 2, 3, 4, 5), runs // 5)
    if part in ("headline", "gaussian"):
        assert {c.noise_rate for c in configs} == {0.4}
    if part == "gaussian":
        assert {(c.task.task, c.demo_kind) for c in configs} == {("ant", "gaussian")}
        assert "bc" not in {c.method for c in configs}


def test_unknown_part() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'ablation'"):
        list(paper(("ablations",)))
