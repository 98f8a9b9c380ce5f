"""A table of methods beside the published values, from runs of one task and noise rate.

    python benchmarks/method_table.py results/authors-files

Ours is the mean return of the evaluations in the last 200,000 transitions; the published curve is read at the run's
length.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np

from rilco.config import RunConfig
from rilco.experiment.published import POLICY, CellKey, load_published
from rilco.runs.results import RunRecord, read_results

STRETCH = 200_000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=Path)
    print(method_table(parser.parse_args().results))


def method_table(results: Path) -> str:
    """The best mean first."""
    runs = read_results(results).runs
    found: dict[str, dict[int, tuple[float, float]]] = defaultdict(dict)
    published = {}
    for run in runs:
        found[name_of(run.config)][run.config.seed] = final(run)
        published[name_of(run.config)] = published_at_the_end(run.config)
    seeds = sorted({run.config.seed for run in runs})
    lines = [
        f"| method | {' | '.join(f'seed {seed}' for seed in seeds)} | mean | at the end | published |",
        "|---" * (len(seeds) + 4) + "|",
    ]
    for name, by_seed in sorted(
        found.items(), key=lambda row: -np.mean([mean for mean, _ in row[1].values()])
    ):
        cells = [f"{by_seed[seed][0]:,.0f}" if seed in by_seed else "" for seed in seeds]
        mean, last = np.mean(list(by_seed.values()), axis=0)
        lines.append(f"| {name} | {' | '.join(cells)} | {mean:,.0f} | {last:,.0f} | {published[name]} |")
    return "\n".join(lines)


def name_of(config: RunConfig) -> str:
    name = f"{config.method} as published" if config.classifier.as_published else config.method
    return name if config.policy_learner == "acktr" else f"{name}, {config.policy_learner.upper()}"


def final(run: RunRecord) -> tuple[float, float]:
    """Mean return over the last stretch, and the last evaluation."""
    late = run.transitions > run.transitions[-1] - STRETCH
    return float(run.returns[late].mean()), float(run.returns[-1])


def published_at_the_end(config: RunConfig) -> str:
    """Of the same method: the authors' RIL-P is not the paper's, and they did not run PPO."""
    cell = load_published().get(CellKey(config.task.name, POLICY, config.noise_rate, config.method))
    if cell is None or config.policy_learner != "acktr":
        return ""
    if config.method == "ril-p" and not config.classifier.as_published:
        return ""
    mean, error = (np.interp(config.steps, cell.transitions, cell.curve[:, i]) for i in (0, 1))
    return f"{mean:,.0f} ± {error:,.0f}"


if __name__ == "__main__":
    main()
