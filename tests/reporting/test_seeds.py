"""Our runs against the published ones, seed by seed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.reporting.runs import write_run

from rilco.experiment.published import POLICY, CellKey, load_published
from rilco.reporting.cells import sort_results
from rilco.reporting.seeds import SeedComparison, compare_seeds, seeds_figures
from rilco.runs.results import read_results

KEY = CellKey("hopper", POLICY, 0.4, "ril-co")
EVERY = 40_320  # a whole number of iterations


def compared(
    root: Path, shift: float, *, seeds: int = 5, evaluations: int = 50, scatter: float = 0.0
) -> SeedComparison:
    """Runs as good as the published ones in their second million, but for a shift."""
    rng = np.random.default_rng(0)
    for seed in range(1, seeds + 1):
        level = load_published()[KEY].seeds[seed - 1, 1] + shift + scatter * rng.normal()
        early = np.full(25, -1000.0)  # another million than the one that is compared
        returns = np.concatenate([early[: 1_000_000 // EVERY], np.full(evaluations, level)])[:evaluations]
        write_run(root / f"run-{seed}", returns, every=EVERY, task="hopper", seed=seed)
    (row,) = compare_seeds(sort_results(read_results(root)).cells)
    return row


@pytest.mark.parametrize("shift, verdict", [(0.0, "reproduced"), (-600.0, "below"), (600.0, "above")])
def test_verdicts(tmp_path: Path, shift: float, verdict: str) -> None:
    row = compared(tmp_path, shift)
    assert (row.million, row.verdict) == (2, verdict)
    assert row.ours == pytest.approx(row.published + shift)
    assert "published 1,601" in next(seeds_figures([row])).panels[0].alt


def test_a_difference_that_many_cells_hide_is_no_agreement(tmp_path: Path) -> None:
    row = replace(compared(tmp_path, -600.0), p_value=0.2)
    assert row.verdict == "undecided"


def test_runs_that_scatter_show_nothing(tmp_path: Path) -> None:
    assert compared(tmp_path, 0.0, scatter=1000.0).verdict == "undecided"


def test_a_single_run_shows_nothing(tmp_path: Path) -> None:
    row = compared(tmp_path, 900.0, seeds=1)
    assert row.verdict == "undecided"
    assert row.p_value is None


def test_runs_shorter_than_a_million_are_not_compared(tmp_path: Path) -> None:
    write_run(tmp_path / "run", np.ones(5), task="hopper", seed=1)
    assert compare_seeds(sort_results(read_results(tmp_path)).cells) == []


def test_long_runs_are_compared_in_two_millions(tmp_path: Path) -> None:
    """All of them in the second, and the long ones where the second longest ends."""
    for seed, evaluations in enumerate([50, 75, 75, 125], start=1):
        returns = np.full(evaluations, 100.0 * seed)
        write_run(tmp_path / f"run-{seed}", returns, every=EVERY, task="hopper", seed=seed)
    early, late = compare_seeds(sort_results(read_results(tmp_path)).cells)
    assert (early.million, early.ours.tolist()) == (2, [100.0, 200.0, 300.0, 400.0])
    assert (late.million, late.ours.tolist()) == (3, [200.0, 300.0, 400.0])
    shutil.rmtree(tmp_path / "run-1")  # also where none is short
    assert [row.million for row in compare_seeds(sort_results(read_results(tmp_path)).cells)] == [2, 3]
    assert late.published.tolist() == load_published()[KEY].seeds[:, 2].tolist()


def test_many_cells_make_a_test_harder_to_pass(tmp_path: Path) -> None:
    (alone,) = compare_seeds(sort_results(read_results(_shifted(tmp_path / "one", ["ril-co"]))).cells)
    both = compare_seeds(sort_results(read_results(_shifted(tmp_path / "two", ["ril-co", "gail-ap"]))).cells)
    together = next(row for row in both if row.key == KEY)
    assert alone.p_value is not None
    assert together.p_value is not None
    assert together.p_value > alone.p_value


def _shifted(root: Path, methods: list[str]) -> Path:
    for method in methods:
        for seed in (1, 2, 3):
            level = load_published()[KEY._replace(method=method)].seeds[seed - 1, 1] + 300.0
            write_run(
                root / f"{method}-{seed}",
                np.full(50, level),
                every=EVERY,
                task="hopper",
                seed=seed,
                method=method,
            )
    return root
