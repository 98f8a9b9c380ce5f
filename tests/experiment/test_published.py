"""The quoted results: complete, true to their source, and averaged rightly."""

from __future__ import annotations

import csv
import itertools
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from rilco.experiment.published import (
    ABLATION,
    GAUSSIAN,
    MAIN,
    POLICY,
    RATES,
    TASKS,
    CellKey,
    PublishedCell,
    load_published,
)
from rilco.experiment.statistics import Estimate


def test_every_cell_of_the_paper_is_there() -> None:
    grid = {
        CellKey(task, POLICY, rate, m)
        for task, rate, m in itertools.product(TASKS, RATES, {*MAIN, *ABLATION})
    }
    gaussian = {CellKey("ant", GAUSSIAN, 0.4, method) for method in MAIN if method != "bc"}
    assert set(load_published()) == grid | gaussian
    assert all(cell.curve.shape == (50, 2) and cell.final.runs == 5 for cell in load_published().values())
    assert all(np.isfinite(cell.curve).all() for cell in load_published().values())


def test_the_file_names_its_source() -> None:
    text = (resources.files("rilco.experiment") / "published.csv").read_text()
    assert "Tangkaratt" in text[:200]
    assert "AISTATS 2021" in text[:300]


def test_quoted_as_published(shared_dir: Path) -> None:
    with (shared_dir / "paper" / "published_finals.csv").open() as file:
        finals = list(csv.DictReader(file))
    with (shared_dir / "paper" / "published_curves.csv").open() as file:
        curves = list(csv.DictReader(file))

    def key(row: dict[str, str]) -> CellKey:
        return CellKey(row["task"], row["noise"], float(row["noise_rate"]), row["method"])

    assert {key(row) for row in finals} == set(load_published())
    for row in finals:
        final = load_published()[key(row)].final
        assert final == (float(row["final_mean"]), float(row["final_stderr"]), int(row["seeds"]))
    for row in curves:
        cell = load_published()[key(row)]
        place = int(float(row["transitions"]) // 400_000)
        assert cell.transitions[place] == float(row["transitions"])
        mean, stderr = cell.curve[place]
        assert abs(mean - float(row["mean"])) <= 0.5
        assert abs(stderr - float(row["stderr"])) <= 0.5


@pytest.fixture
def cell() -> PublishedCell:
    """Stretch i has mean i and standard error i / 10."""
    curve = np.stack([np.arange(50.0), np.arange(50.0) / 10], axis=1)
    return PublishedCell(Estimate(49.0, 4.9, 5), curve, np.zeros((5, 20)))


@pytest.mark.parametrize(
    "start, end, mean",
    [
        (0.4e6, 0.8e6, 1.0),  # one stretch
        (0.4e6, 1.2e6, 1.5),  # two
        (0.7e6, 0.9e6, 1.5),  # half of each
        (0.16e6, 0.8e6, (0.24 * 0 + 0.4 * 1) / 0.64),  # the last 640 k
        (-0.64e6, 0.1e6, 0.0),  # a run that is shorter than the window
        (19.6e6, 30e6, 49.0),  # one that is longer than the paper's
        (25e6, 26e6, 49.0),
    ],
)
def test_average_over_any_stretch(cell: PublishedCell, start: float, end: float, mean: float) -> None:
    found = cell.over(start, end)
    assert found.mean == pytest.approx(mean)
    assert found.stderr == pytest.approx(mean / 10)
    assert found.runs == 5


def test_every_published_run_is_quoted(shared_dir: Path) -> None:
    with (shared_dir / "paper" / "published_seeds.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 20 * sum(len(cell.seeds) for cell in load_published().values())
    for row in rows:
        key = CellKey(row["task"], row["noise"], float(row["noise_rate"]), row["method"])
        million = int(row["to_transitions"]) // 1_000_000 - 1
        quoted = load_published()[key].seeds[int(row["seed"]) - 1, million]
        assert quoted == pytest.approx(float(row["mean"]), abs=0.5)
