"""What the two extensions of RIL-Co change: final returns by task and noise rate, from thinned or whole runs.

    python benchmarks/extensions_table.py results/extensions

A final return is the mean of the evaluations of the last 640,000 transitions, as in the report.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np

from rilco.config import RunConfig
from rilco.experiment.results import read_results
from rilco.report.statistics import final_return

KINDS = ("plain", "growing lambda", "known non-experts")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path)
    options = parser.parse_args()
    cells: dict[tuple[str, float | None], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in read_results(options.results).runs:
        place = run.config.task.name, run.config.noise_rate
        cells[place][kind(run.config)].append(final_return(run.transitions, run.returns))
    print(f"| task | noise rate | {' | '.join(KINDS)} |\n{'|---' * (2 + len(KINDS))}|")
    for (task, rate), finals in sorted(cells.items(), key=str):
        print(f"| {task} | {rate:g} | {' | '.join(shown(finals[name]) for name in KINDS)} |")


def kind(config: RunConfig) -> str:
    if config.nonexpert_demos:
        return KINDS[2]
    return KINDS[0] if config.classifier.lam_schedule == "constant" else KINDS[1]


def shown(finals: list[float]) -> str:
    """The mean over seeds, and each of them."""
    return f"{np.mean(finals):,.0f} ({', '.join(f'{one:,.0f}' for one in finals)})" if finals else ""


if __name__ == "__main__":
    main()
