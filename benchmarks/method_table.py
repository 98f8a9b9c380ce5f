"""A table of methods beside the published values, from runs of one task and noise rate.

    python benchmarks/method_table.py runs/methods/* --published published_curves.csv

Ours is the mean return of the evaluations in the last 200,000 transitions; the published curve is read at the run's
length. The CSV has the columns task, noise, noise_rate, method, transitions, mean and stderr.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from pathlib import Path

import numpy as np

from rilco.runs.folder import Run

STRETCH = 200_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--published", type=Path, required=True)
    arguments = parser.parse_args()
    runs = [Run(path) for path in arguments.runs if (path / "config.json").exists()]
    results: dict[str, dict[int, tuple[float, float]]] = defaultdict(dict)
    for run in runs:
        results[name_of(run)][run.config.seed] = final(run)
    seeds = sorted({run.config.seed for run in runs})
    published = read_published(arguments.published, runs[0])
    rows = sorted(results.items(), key=lambda row: -np.mean([mean for mean, _ in row[1].values()]))
    print(f"| method | {' | '.join(f'seed {seed}' for seed in seeds)} | mean | at the end | published |")
    print("|---" * (len(seeds) + 4) + "|")
    for name, by_seed in rows:
        cells = [f"{by_seed[seed][0]:,.0f}" if seed in by_seed else "" for seed in seeds]
        mean, last = np.mean(list(by_seed.values()), axis=0)
        print(f"| {name} | {' | '.join(cells)} | {mean:,.0f} | {last:,.0f} | {published.get(name, '')} |")


def name_of(run: Run) -> str:
    """The method, with the extensions that the run has."""
    config = run.config
    name = config.method
    if config.classifier.as_published:
        name += " as published"
    if config.classifier.lam_schedule != "constant":
        name += f", lambda {config.classifier.lam_schedule}"
    if config.nonexpert_demos:
        name += ", known non-experts" + ("" if config.classifier.pseudo_labels else " alone")
    return name if config.policy_learner == "acktr" else f"{name}, {config.policy_learner}"


def final(run: Run) -> tuple[float, float]:
    """Mean return over the last stretch, and the last evaluation."""
    points = run.evaluations()
    end = points[-1]["transitions"]
    return float(np.mean([p["eval_return"] for p in points if p["transitions"] > end - STRETCH])), points[-1][
        "eval_return"
    ]


def read_published(file: Path, run: Run) -> dict[str, str]:
    """Method -> mean and standard error of the published curve where the run ends."""
    config, curves = run.config, defaultdict(list)
    with file.open(newline="") as opened:
        for row in csv.DictReader(opened):
            ours = (config.task.name, config.demo_kind, config.noise_rate)
            if (row["task"], row["noise"], float(row["noise_rate"])) == ours:
                curves[row["method"]].append([float(row[c]) for c in ("transitions", "mean", "stderr")])
    found = {}
    for method, points in curves.items():
        x, mean, error = np.array(sorted(points)).T
        found[method] = f"{np.interp(config.steps, x, mean):,.0f} ± {np.interp(config.steps, x, error):,.0f}"
    found["ril-p as published"] = found.pop("ril-p", "")
    return found


if __name__ == "__main__":
    main()
