"""Only like is averaged with like, and nothing disappears without a word."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.reporting.runs import EVERY, add_cells, write_run

from rilco.experiment.published import CellKey, load_published, paper
from rilco.reporting.cells import Sorted, cell_key, changed_settings, sort_results
from rilco.runs.results import read_results

KEY = CellKey("halfcheetah", "policy", 0.4, "ril-co")


def sort(root: Path) -> Sorted:
    return sort_results(read_results(root))


def reasons(found: Sorted) -> dict[str, str]:
    return {run.path.name: reason for run, reason in found.aside}


def test_seeds_of_a_cell_are_put_together(tmp_path: Path) -> None:
    write_run(tmp_path / "a", [0.0] * 13 + [10.0] * 7, seed=1)
    write_run(tmp_path / "b", [0.0] * 13 + [20.0] * 7, seed=2)
    write_run(tmp_path / "c", [1.0], seed=1, method="gail-ap")
    found = sort(tmp_path)
    assert set(found.cells) == {KEY, KEY._replace(method="gail-ap")}
    cell = found.cells[KEY]
    # 7 evaluations lie within the last 640,000 transitions, since they are 99,840 apart
    mean, stderr, seeds = cell.final
    assert (mean, seeds) == (15.0, 2)
    assert stderr == pytest.approx(5.0)
    assert cell.lengths == [20 * EVERY] * 2
    assert not found.aside


def test_the_published_curve_is_taken_at_our_length(tmp_path: Path) -> None:
    add_cells(tmp_path, "ril-co", seeds=(1,), evaluations=20)
    (cell,) = sort(tmp_path).cells.values()
    end = 20 * EVERY
    assert cell.published_here == load_published()[KEY].over(end - 640_000, end)


def test_runs_of_different_length_are_compared_each_at_its_own_end(tmp_path: Path) -> None:
    write_run(tmp_path / "a", [0.0] * 10, seed=1)
    write_run(tmp_path / "b", [0.0] * 40, seed=2)
    (cell,) = sort(tmp_path).cells.values()
    published = load_published()[KEY]
    ends = [published.over(n * EVERY - 640_000, n * EVERY).mean for n in (10, 40)]
    assert cell.published_here.mean == pytest.approx(np.mean(ends))


def test_curve_is_averaged_as_the_published_one(tmp_path: Path) -> None:
    # 4 evaluations in each of the first stretches of 400,000 transitions
    write_run(tmp_path / "a", [1.0, 2.0, 3.0, 4.0, 50.0], seed=1)
    write_run(tmp_path / "b", [3.0, 4.0, 5.0, 6.0], seed=2)
    (cell,) = sort(tmp_path).cells.values()
    x, mean, error = cell.curve
    np.testing.assert_allclose(x, [2.5 * EVERY, 5 * EVERY])
    np.testing.assert_allclose(mean, [3.5, 50.0])  # the second stretch has one run only
    np.testing.assert_allclose(error, [1.0, 0.0])


def test_other_settings_are_left_out_and_named(tmp_path: Path) -> None:
    write_run(tmp_path / "plain", [1.0])
    write_run(tmp_path / "wide", [9.0], num_envs=16)
    found = sort(tmp_path)
    assert found.cells[KEY].final.mean == 1.0
    assert "num_envs = 16" in reasons(found)["wide"]


def test_other_settings_are_left_out_even_if_there_is_nothing_else(tmp_path: Path) -> None:
    write_run(tmp_path / "wide", [9.0], num_envs=16)
    found = sort(tmp_path)
    assert not found.cells
    assert "than the paper's: num_envs = 16" in reasons(found)["wide"]


def test_settings_inside_a_part_are_named_in_full(tmp_path: Path) -> None:
    from rilco.config import RunConfig
    from rilco.rewards.config import ClassifierConfig

    config = RunConfig(
        demos=("d.npz",), classifier=ClassifierConfig(lam=0.3), steps=7, seed=9, evaluate_every=0
    )
    assert changed_settings(config) == ["classifier.lam = 0.3"]


def test_settings_that_a_method_does_not_use_do_not_count(tmp_path: Path) -> None:
    from rilco.config import RunConfig
    from rilco.rewards.config import ClassifierConfig, VildConfig

    config = RunConfig(
        demos=("d.npz",), vild=VildConfig(cloning_steps=7), classifier=ClassifierConfig(lam=0.3)
    )
    assert changed_settings(config) == ["classifier.lam = 0.3"]
    assert changed_settings(dataclasses.replace(config, method="gail-ap")) == []
    assert changed_settings(dataclasses.replace(config, method="vild")) == ["vild.cloning_steps = 7"]


def test_the_demonstrations_that_most_runs_have_are_compared(tmp_path: Path) -> None:
    write_run(tmp_path / "a", [1.0], demos=("here/ours.npz",), seed=1)
    write_run(tmp_path / "b", [2.0], demos=("there/ours.npz",), seed=2)  # same name: only the folder differs
    write_run(tmp_path / "c", [9.0], demos=("theirs.npz",), seed=3)
    found = sort(tmp_path)
    assert found.cells[KEY].final.mean == 1.5
    assert "theirs.npz" in reasons(found)["c"]


def test_of_two_runs_of_a_seed_the_longer_counts(tmp_path: Path) -> None:
    write_run(tmp_path / "short", [1.0], demos=("x/d.npz",))
    write_run(tmp_path / "long", [2.0, 2.0], demos=("y/d.npz",))
    found = sort(tmp_path)
    assert found.cells[KEY].final == (2.0, None, 1)
    assert "second run of seed 1" in reasons(found)["short"]


@pytest.mark.parametrize(
    "settings", [{"demos": ("data/Ant-Gaussian.npz",)}, {"demos": (), "demo_kind": "gaussian"}]
)
def test_gaussian_noise_is_a_cell_of_its_own(tmp_path: Path, settings: dict[str, Any]) -> None:
    write_run(tmp_path / "a", [1.0], task="ant")
    write_run(tmp_path / "b", [2.0], task="ant", **settings)
    finals = {key.noise: cell.final.mean for key, cell in sort(tmp_path).cells.items()}
    assert finals == {"policy": 1.0, "gaussian": 2.0}


def test_matched_non_experts_are_a_cell_of_their_own(tmp_path: Path) -> None:
    write_run(tmp_path / "a", [1.0], demos=())
    write_run(tmp_path / "b", [2.0], demos=(), demo_kind="matched")
    found = sort(tmp_path)
    assert found.cells[KEY].final.mean == 1.0
    assert {key.task: cell.final.mean for key, cell in found.others.items()} == {f"{KEY.task}, matched": 2.0}


def test_experts_and_unevaluated_runs_are_left_out(tmp_path: Path) -> None:
    write_run(tmp_path / "expert", [1.0], method="acktr", demos=(), noise_rate=None)
    write_run(tmp_path / "begun", [], finished=False)
    found = sort(tmp_path)
    assert not found.cells
    assert reasons(found) == {"begun": "not evaluated yet", "expert": "learns from the true reward"}


def test_other_environments_and_data_are_kept_apart(tmp_path: Path) -> None:
    write_run(tmp_path / "env", [1.0], env="Pendulum-v1", noise_rate=None, num_envs=4)
    write_run(tmp_path / "as-given", [2.0], noise_rate=None)
    found = sort(tmp_path)
    assert not found.cells
    assert not found.aside
    assert {key[:3] for key in found.others} == {
        ("Pendulum-v1", "policy", None),
        ("halfcheetah", "policy", None),
    }
    assert all(cell.published_here is None for cell in found.others.values())


def test_runs_of_the_first_version_are_cells_of_their_own(tmp_path: Path) -> None:
    write_run(tmp_path / "new", [1.0], task="hopper")
    write_run(tmp_path / "old", [2.0], task="hopper", version=1)
    found = sort_results(read_results(tmp_path))
    assert [(key.task, cell.final.mean) for key, cell in found.cells.items()] == [("hopper", 1.0)]
    assert [(key.task, cell.final.mean) for key, cell in found.others.items()] == [
        ("hopper, former start-up", 2.0)
    ]


def test_unfinished_runs_count_and_are_marked(tmp_path: Path) -> None:
    write_run(tmp_path / "a", [1.0, 2.0], finished=False)
    write_run(tmp_path / "b", [3.0, 4.0], seed=2)
    (cell,) = sort(tmp_path).cells.values()
    assert cell.unfinished == 1
    assert cell.final.runs == 2


def test_every_run_of_the_paper_has_its_published_cell() -> None:
    configs = list(paper(seeds=(1,)))
    assert {cell_key(config) for config in configs} == set(load_published())
    assert len(configs) == len(load_published())


def test_the_papers_runs_have_the_papers_settings() -> None:
    assert [line for config in paper(seeds=(1,)) for line in changed_settings(config)] == []
