"""What the panels draw, read back from their axes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.reporting.runs import EVERY, add_cells, write_run

from rilco.experiment.published import MAIN, CellKey, load_published
from rilco.reporting.aggregate import experts, scores_at
from rilco.reporting.cells import Cell, sort_results
from rilco.reporting.drawing import draw_figure
from rilco.reporting.figures import draw_curves, draw_finals, draw_scores, main_methods, report_figures
from rilco.reporting.style import in_order, method_style
from rilco.runs.results import read_results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

pytest.importorskip("matplotlib")
KEY = CellKey("hopper", "policy", 0.4, "ril-co")


@pytest.fixture
def axes() -> Axes:
    from matplotlib.figure import Figure

    return Figure().add_subplot()


def cells_of(root: Path) -> Mapping[CellKey, Cell]:
    return sort_results(read_results(root)).cells


def lines(axes: Axes, method: str, *, dashed: bool) -> list[np.ndarray]:
    """Points of the lines in a method's colour."""
    colour = method_style(method).colour
    return [
        np.column_stack(line.get_data())
        for line in axes.lines
        if line.get_color() == colour
        and (line.get_linestyle() == "--") == dashed
        and line.get_linestyle() != "None"
    ]


def markers(axes: Axes, method: str, *, hollow: bool = False) -> list[tuple[float, ...]]:
    style = method_style(method)
    return [
        tuple(point)
        for line in axes.lines
        if line.get_color() == style.colour
        and line.get_marker() == style.marker
        and (line.get_markerfacecolor() == "white") == hollow
        for point in zip(*line.get_data(), strict=True)
    ]


def test_final_panel_shows_ours_and_the_published(axes: Axes, tmp_path: Path) -> None:
    add_cells(tmp_path, "ril-co", tasks=("hopper",), rates=(0.0, 0.4))
    cells = cells_of(tmp_path)
    draw_finals(axes, "hopper", ["ril-co", "bc"], cells)
    ours = markers(axes, "ril-co")
    assert [y for _, y in ours] == [cells[KEY._replace(noise_rate=rate)].final.mean for rate in (0.0, 0.4)]
    np.testing.assert_allclose([x for x, _ in ours], [0.0, 0.4], atol=0.01)
    hollow = markers(axes, "ril-co", hollow=True)
    assert [y for _, y in hollow] == [
        cells[KEY._replace(noise_rate=r)].published_here.mean for r in (0.0, 0.4)
    ]
    (published,) = lines(axes, "bc", dashed=True)
    finals = [
        load_published()[KEY._replace(method="bc", noise_rate=r)].final.mean for r in (0, 0.1, 0.2, 0.3, 0.4)
    ]
    np.testing.assert_allclose(published[:, 1], finals)
    assert not markers(axes, "bc")


def test_methods_of_one_rate_stand_apart_and_beside_their_rate(axes: Axes, tmp_path: Path) -> None:
    methods = ["ril-co", "gail-logistic", "gail-ap", "gail-unhinged", "fairl", "vild", "bc"]
    for method in methods:
        add_cells(tmp_path, method, tasks=("hopper",), rates=(0.3, 0.4))
    draw_finals(axes, "hopper", [*methods, "ril-p"], cells_of(tmp_path))
    places = sorted(x for method in methods for x, _ in markers(axes, method))
    apart = np.diff(np.reshape(places, (2, len(methods))), axis=1)
    assert apart.min() > 0.0125  # about a marker's width
    np.testing.assert_allclose(np.mean(np.reshape(places, (2, len(methods))), axis=1), [0.3, 0.4])


def test_runs_as_long_as_the_papers_need_no_hollow_markers(axes: Axes, tmp_path: Path) -> None:
    write_run(tmp_path / "a", np.arange(40.0), every=499_200)
    draw_finals(axes, "halfcheetah", ["ril-co"], cells_of(tmp_path))
    assert markers(axes, "ril-co")
    assert not markers(axes, "ril-co", hollow=True)


def test_curve_panel_goes_as_far_as_ours(axes: Axes, tmp_path: Path) -> None:
    add_cells(tmp_path, "ril-co", tasks=("hopper",), evaluations=30)
    cells = cells_of(tmp_path)
    draw_curves(axes, "hopper", ("policy", 0.4), ["ril-co", "bc"], cells)
    (ours,) = lines(axes, "ril-co", dashed=False)
    x, mean, _ = cells[KEY].curve
    np.testing.assert_allclose(ours, np.column_stack([x / 1e6, mean]))
    (published,) = lines(axes, "ril-co", dashed=True)
    np.testing.assert_allclose(published[:, 1], load_published()[KEY].curve[: len(published), 0])
    end = 30 * EVERY / 1e6
    assert end <= axes.get_xlim()[1] < 1.1 * end
    assert published[-1, 0] >= end


def test_a_run_with_one_evaluation_can_be_drawn(axes: Axes, tmp_path: Path) -> None:
    write_run(tmp_path / "a", [5.0], task="hopper")
    draw_curves(axes, "hopper", ("policy", 0.4), ["ril-co"], cells_of(tmp_path))
    assert markers(axes, "ril-co") == [(EVERY / 1e6, 5.0)]


def test_score_panel(axes: Axes, tmp_path: Path) -> None:
    add_cells(tmp_path, "ril-co", "gail-ap", tasks=("hopper", "ant"))
    expert = experts()
    scores = scores_at(0.4, cells_of(tmp_path), expert)
    draw_scores(axes, scores)
    assert [label.get_text() for label in axes.get_yticklabels()] == [
        method_style(s.method).label for s in scores
    ]
    assert markers(axes, "ril-co") == [(pytest.approx(scores[0].iqm.value), 0)]


def test_scores_are_shares_of_the_experts_return(tmp_path: Path) -> None:
    expert = experts()
    for i, task in enumerate(("hopper", "ant")):
        for seed in (1, 2):
            write_run(tmp_path / f"r{i}{seed}", [expert[task] * 0.9], task=task, seed=seed)
            write_run(
                tmp_path / f"g{i}{seed}",
                [expert[task] * 0.4 * seed],
                task=task,
                seed=seed,
                method="gail-ap",
            )
    ours, gail = scores_at(0.4, cells_of(tmp_path), expert)
    assert (ours.method, ours.tasks, ours.runs) == ("ril-co", ("hopper", "ant"), 4)
    assert ours.iqm.value == pytest.approx(0.9)
    assert ours.iqm.interval == pytest.approx((0.9, 0.9))
    assert ours.improvement is None
    assert gail.mean == pytest.approx(0.6)
    assert gail.improvement.value == 1.0
    assert gail.published_mean is not None


def test_the_same_runs_give_the_same_bytes(tmp_path: Path) -> None:
    add_cells(tmp_path, "ril-co", tasks=("ant",), seeds=(1,), evaluations=5, noise="gaussian")
    first, second = (list(report_figures(cells_of(tmp_path), experts(), {}))[-1] for _ in range(2))
    assert first.name == "gaussian-0.4"
    assert draw_figure(first) == draw_figure(second)


def test_styles_tell_the_methods_of_a_figure_apart() -> None:
    for group in (MAIN, ("ril-co", "ril-co-logistic", "ril-p", "ril-p-logistic", "gail", "ril-co-clean")):
        styles = [method_style(method, group) for method in group]
        assert len({style.colour for style in styles}) == len(group)
        assert len({style.marker for style in styles}) == len(group)


def test_methods_that_the_paper_does_not_have_come_last_and_are_drawn() -> None:
    cells = dict.fromkeys([KEY._replace(method="zeta"), KEY._replace(method="ril-p"), KEY])
    assert main_methods(cells) == [*MAIN, "zeta"]
    assert in_order(["zeta", "ril-p", "bc", "ril-co"]) == ["ril-co", "bc", "ril-p", "zeta"]
