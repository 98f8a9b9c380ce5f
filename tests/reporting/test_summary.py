"""The sentences at the top of the page follow from the runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.reporting.runs import add_cells, write_run

from rilco.experiment.published import CellKey, load_published
from rilco.reporting.cells import Sorted, sort_results
from rilco.reporting.seeds import compare_seeds
from rilco.reporting.style import millions, number
from rilco.reporting.summary import caveats, summary
from rilco.runs.results import read_results
from rilco.words import listed


def found(root: Path) -> Sorted:
    return sort_results(read_results(root))


def sentences(root: Path) -> str:
    runs = found(root)
    return " ".join(summary(runs, compare_seeds(runs.cells)))


def final_runs(root: Path, task: str, rate: float, **finals: float) -> None:
    """Two seeds a method, a little apart, around these final returns."""
    for method, value in finals.items():
        for seed in (1, 2):
            name = method.replace("_", "-")
            write_run(
                root / f"{task}-{rate}-{name}-{seed}",
                [value + 10.0 * (-1) ** seed],
                task=task,
                noise_rate=rate,
                method=name,
                seed=seed,
            )


def test_extent(tmp_path: Path) -> None:
    add_cells(tmp_path, "ril-co", "gail-ap", seeds=(1, 2), evaluations=20)
    write_run(tmp_path / "more", [1.0] * 50, task="ant", demos=("policy.npz",))
    text = sentences(tmp_path)
    assert (
        "5 runs of 2 M to 5 M transitions cover 3 of the paper’s 206 cells, with 1 to 2 seeds a cell." in text
    )


def test_who_is_ahead_level_and_behind(tmp_path: Path) -> None:
    final_runs(tmp_path, "halfcheetah", 0.4, ril_co=2000.0, gail_logistic=1500.0, gail_ap=1700.0)
    final_runs(tmp_path, "hopper", 0.4, ril_co=2000.0, gail_ap=2005.0)
    final_runs(tmp_path, "ant", 0.4, ril_co=1000.0, gail_ap=2005.0)
    final_runs(tmp_path, "ant", 0.0, ril_co=3000.0, gail_ap=2005.0)
    text = sentences(tmp_path)
    assert (
        "At noise rate 0.4, among 3 methods run here, RIL-Co is ahead of every other on HalfCheetah (+300 against GAIL AP)"
        in text
    )
    assert "it is level on Hopper (−5 against GAIL AP)" in text
    assert "it is behind on Ant (−1,005 against GAIL AP)." in text
    assert "At noise rate 0, among 2 methods run here, RIL-Co is ahead of every other on Ant (+995" in text


def test_agreement_names_the_furthest(tmp_path: Path) -> None:
    for task, rate, shift in (("hopper", 0.4, 0.0), ("ant", 0.4, 9000.0), ("walker2d", 0.0, -4000.0)):
        key = CellKey(task, "policy", rate, "ril-co")
        for seed in (1, 2, 3, 4, 5):
            returns = [load_published()[key].seeds[seed - 1, 0] + shift] * 11
            write_run(tmp_path / f"{task}-{seed}", returns, task=task, noise_rate=rate, seed=seed)
    text = sentences(tmp_path)
    assert "Of 3 comparisons with the published runs: 1 reproduced, 1 above and 1 below." in text
    assert "Furthest off: RIL-Co on Ant at 0.4 (+9,000) and RIL-Co on Walker2D at 0 (−4,000)." in text


def test_what_is_missing(tmp_path: Path) -> None:
    add_cells(tmp_path, "ril-co", evaluations=2)
    text = sentences(tmp_path)
    assert "Not run here: 205 of the paper’s 206 cells." in text
    assert "tasks Hopper, Walker2D and Ant" in text
    assert "noise rates 0, 0.1, 0.2 and 0.3" in text
    assert "the Gaussian-noise experiment" in text
    assert "FAIRL" in text


def test_a_single_run(tmp_path: Path) -> None:
    write_run(tmp_path / "one", [1.0])
    assert "1 run of 0.1 M transitions covers 1" in sentences(tmp_path)
    assert "Cells with a single run, which has no spread: 1." in caveats(found(tmp_path))


def test_unequal_lengths_are_pointed_out(tmp_path: Path) -> None:
    write_run(tmp_path / "a", [1.0] * 20, method="ril-co")
    write_run(tmp_path / "b", [1.0] * 19, method="gail-ap")
    assert not any("longer than others" in sentence for sentence in caveats(found(tmp_path)))
    write_run(tmp_path / "c", [1.0] * 5, method="bc")
    assert not any("longer than others" in sentence for sentence in caveats(found(tmp_path))), (
        "it makes no transitions"
    )
    write_run(tmp_path / "d", [1.0] * 5, method="fairl")
    assert any("ran longer than others at HalfCheetah, 0.4:" in line for line in caveats(found(tmp_path)))


def test_nothing_evaluated_yet(tmp_path: Path) -> None:
    write_run(tmp_path / "begun", [], finished=False)
    assert "No run here has an evaluation" in sentences(tmp_path)
    assert "Runs that are left out of the comparison: 1." in caveats(found(tmp_path))


def test_only_other_environments(tmp_path: Path) -> None:
    write_run(tmp_path / "mine", [1.0], env="Pendulum-v1", noise_rate=None)
    assert "nothing to compare with the published" in sentences(tmp_path)


def test_unfinished_and_skipped_are_counted(tmp_path: Path) -> None:
    write_run(tmp_path / "a", [1.0], finished=False)
    (tmp_path / "x.txt").write_text("")
    assert "Runs that are not finished yet: 1." in caveats(found(tmp_path))
    assert "Entries of the results folder that could not be used: 1." in caveats(found(tmp_path))


@pytest.mark.parametrize(
    "value, text", [(1999.6, "2,000"), (-3.2, "−3"), (-0.2, "0"), (0.0, "0"), (-12345.0, "−12,345")]
)
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    "value, text",
    [
        (20_000_000, "20 M"),
        (4_999_680, "5 M"),
        (15_400_000, "15.4 M"),
        (99_840, "0.1 M"),
        (640, "640"),
        (0, "0"),
    ],
)
def test_transitions(value: int, text: str) -> None:
    assert millions(value) == text


def test_lists() -> None:
    assert [listed(x) for x in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
