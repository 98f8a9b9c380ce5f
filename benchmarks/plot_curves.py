"""Learning curves of runs beside a published one.

    python benchmarks/plot_curves.py runs/a runs/b --published published_curves.csv --out docs/figures/curve.png

The CSV has the columns task, noise, noise_rate, method, transitions, mean and stderr; the line of the first run's
task, noise rate and method is drawn.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from matplotlib.figure import Figure

from rilco.runs.folder import Run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--published", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    runs = [Run(path) for path in arguments.runs]
    config = runs[0].config
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    for run in runs:
        points = run.evaluations()
        x, y = [p["transitions"] / 1e6 for p in points], [p["eval_return"] for p in points]
        axes.plot(x, y, linewidth=2, label=f"rilco, seed {run.config.seed}")
        near = {target: min(points, key=lambda p: abs(p["transitions"] - target)) for target in (1e6, 2e6)}
        print(
            run.path,
            {f"{t:.0e}": (p["transitions"], p["eval_return"]) for t, p in near.items()},
            "final",
            y[-1],
        )
    furthest = max(run.config.steps for run in runs)
    with arguments.published.open() as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if _matches(row, config) and int(row["transitions"]) <= furthest
        ]
    x = [int(row["transitions"]) / 1e6 for row in rows]
    mean, error = ([float(row[name]) for row in rows] for name in ("mean", "stderr"))
    axes.plot(x, mean, color="black", linestyle="--", label="published, mean of 5 runs")
    low, high = zip(*[(m - e, m + e) for m, e in zip(mean, error, strict=True)], strict=True)
    axes.fill_between(x, low, high, color="black", alpha=0.15, label="published, standard error")
    title = f"{config.method}, {config.task.name}, noise rate {config.noise_rate}"
    axes.set(xlabel="million transitions", ylabel="return, deterministic policy", title=title)
    axes.legend(frameon=False)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(arguments.out, dpi=120)


def _matches(row: dict[str, str], config) -> bool:
    wanted = (config.task.name, "policy", config.method)
    return (row["task"], row["noise"], row["method"]) == wanted and float(
        row["noise_rate"]
    ) == config.noise_rate


if __name__ == "__main__":
    main()
