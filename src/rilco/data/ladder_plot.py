"""Ladders as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rilco.data.ladder import PUBLISHED_RETURNS, Rung
from rilco.data.views import save_figure


def draw_ladders(ladders: Sequence[Sequence[Rung]], file: Path) -> None:
    """Returns of six policies beside the published ones, a panel a task."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(6.0, 3.2 * len(ladders)), 3.2), layout="constrained")
    for axes, rungs in zip(figure.subplots(1, len(ladders), squeeze=False)[0], ladders, strict=True):
        places = [rung.rung for rung in rungs]
        axes.bar(
            places,
            [rung.mean_return for rung in rungs],
            yerr=[rung.std_return for rung in rungs],
            color="#4477aa",
            capsize=3,
            label="ours",
        )
        published = PUBLISHED_RETURNS[rungs[0].task]
        axes.scatter(places, published, color="black", marker="_", s=250, label="published", zorder=3)
        axes.axhline(0.0, color="grey", linewidth=0.8)
        axes.set(xlabel="snapshot", title=rungs[0].task)
    figure.axes[0].set_ylabel("return")
    figure.axes[0].legend(frameon=False)
    save_figure(figure, file)
