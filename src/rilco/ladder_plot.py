"""A ladder as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rilco.ladder import PUBLISHED_RETURNS, Rung


def draw_ladder(rungs: Sequence[Rung], file: Path) -> None:
    """Returns of the six policies beside the published ones."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.add_subplot()
    places = [rung.rung for rung in rungs]
    axes.bar(
        places,
        [rung.mean_return for rung in rungs],
        yerr=[rung.std_return for rung in rungs],
        color="#4477aa",
        capsize=3,
        label="ours",
    )
    axes.scatter(
        places, PUBLISHED_RETURNS[rungs[0].task], color="black", marker="_", s=300, label="published"
    )
    axes.axhline(0.0, color="grey", linewidth=0.8)
    axes.set(xlabel="snapshot", ylabel="return", title=rungs[0].task)
    axes.legend(frameon=False)
    figure.savefig(file, dpi=120)
