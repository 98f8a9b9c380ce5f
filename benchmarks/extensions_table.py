"""What the two extensions of RIL-Co change: final returns by task and noise rate, from thinned or whole runs.

    python benchmarks/extensions_table.py results/extensions --figure docs/figures/extensions.png

A final return is the mean of the evaluations of the last 640,000 transitions, as in the report.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from rilco.config import RunConfig
from rilco.experiment.statistics import final_return
from rilco.runs.results import RunRecord, read_results

KINDS = ("plain", "growing lambda", "known non-experts")
STYLES: dict[str, dict[str, Any]] = {
    "plain": {"color": "#555555", "linestyle": "-"},
    "growing lambda": {"color": "#0072b2", "linestyle": "--"},
    "known non-experts": {"color": "#d55e00", "linestyle": "-."},
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path)
    parser.add_argument("--figure", type=Path, help="Learning curves, every seed a line.")
    options = parser.parse_args()
    print(extensions_table(options.results))
    if options.figure:
        draw(read_results(options.results).runs, options.figure)


def extensions_table(results: Path) -> str:
    cells: dict[tuple[str, float | None], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in read_results(results).runs:
        place = run.config.task.name, run.config.noise_rate
        cells[place][kind(run.config)].append(final_return(run.transitions, run.returns))
    lines = [f"| task | noise rate | {' | '.join(KINDS)} |", f"{'|---' * (2 + len(KINDS))}|"]
    for (task, rate), finals in sorted(cells.items(), key=str):
        lines.append(f"| {task} | {rate:g} | {' | '.join(shown(finals[name]) for name in KINDS)} |")
    return "\n".join(lines)


def draw(runs: list[RunRecord], file: Path) -> None:
    places = sorted({(run.config.task.name, run.config.noise_rate) for run in runs}, key=str)
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(places), figsize=(3.2 * len(places), 2.8), layout="constrained")
    for panel, (task, rate) in zip(panels, places, strict=True):
        panel.set_title(f"{task}, noise rate {rate:g}", fontsize=9)
        panel.set_xlabel("transitions, millions", fontsize=8)
        for run in runs:
            if (run.config.task.name, run.config.noise_rate) == (task, rate):
                style = STYLES[kind(run.config)]
                panel.plot(run.transitions / 1e6, run.returns, linewidth=1.3, label=kind(run.config), **style)
        panel.tick_params(labelsize=7)
        panel.grid(alpha=0.25)
    panels[0].set_ylabel("return", fontsize=8)
    named = dict(zip(*reversed(panels[0].get_legend_handles_labels()), strict=True))
    figure.legend(
        [named[name] for name in KINDS], KINDS, loc="outside lower center", ncols=3, fontsize=8, frameon=False
    )
    figure.savefig(file, dpi=150)


def kind(config: RunConfig) -> str:
    if config.nonexpert_demos:
        return KINDS[2]
    return KINDS[0] if config.classifier.lam_schedule == "constant" else KINDS[1]


def shown(finals: list[float]) -> str:
    """The mean over seeds, and each of them."""
    return f"{np.mean(finals):,.0f} ({', '.join(f'{one:,.0f}' for one in finals)})" if finals else ""


if __name__ == "__main__":
    main()
