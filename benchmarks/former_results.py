"""Tables and figures of runs of version 0.1, for write_results.py."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from rilco.config import RunConfig
from rilco.experiment.published import POLICY, CellKey, load_published
from rilco.experiment.statistics import final_return
from rilco.reporting.style import in_order, method_style, task_label
from rilco.runs.results import RunRecord, read_results

STRETCH = 200_000
KINDS = ("plain", "growing lambda", "known non-experts")
STYLES: dict[str, dict[str, Any]] = {
    "plain": {"color": "#555555", "linestyle": "-"},
    "growing lambda": {"color": "#0072b2", "linestyle": "--"},
    "known non-experts": {"color": "#d55e00", "linestyle": "-."},
}


def method_table(results: Path) -> str:
    """Methods beside the published values, the best mean first. Ours are means over the last stretch."""
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


def millions_table(results: Path) -> str:
    """The mean of the evaluations in each million transitions, a row a run, beside the published mean of the last one."""
    runs = {place(run.config): run for run in read_results(results).runs}
    millions = range(max(int(run.transitions[-1] / 1e6) for run in runs.values()))
    heads = [f"{n} to {n + 1} M" for n in millions]
    lines = [
        f"| cell | method | {' | '.join(heads)} | best | published, {heads[-1]} |",
        "|---" * (4 + len(heads)) + "|",
    ]
    methods = in_order(method for _, _, method in runs)
    for task, rate, method in sorted(runs, key=lambda one: (one[0], -one[1], methods.index(one[2]))):
        run = runs[task, rate, method]
        # Evaluations come with whole iterations: the last one of a million may be a little later.
        inside = [np.ceil(np.round(run.transitions / 1e6, 2)) == n + 1 for n in millions]
        means = [f"{run.returns[here].mean():,.0f}" for here in inside]
        published = load_published()[CellKey(task, POLICY, rate, method)]
        there = published.over(1e6 * millions[-1], 1e6 * len(millions)).mean
        lines.append(
            f"| {task_label(task)}, {rate:g} | {method_style(method).label} | {' | '.join(means)} "
            f"| {run.returns.max():,.0f} | {there:,.0f} |"
        )
    return "\n".join(lines)


def place(config: RunConfig) -> tuple[str, float, str]:
    return config.task.name, config.noise_rate or 0.0, config.method


def extensions_table(results: Path) -> str:
    cells: dict[tuple[str, float | None], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for run in read_results(results).runs:
        place = run.config.task.name, run.config.noise_rate
        cells[place][kind(run.config)].append(final_return(run.transitions, run.returns))
    lines = [f"| task | noise rate | {' | '.join(KINDS)} |", f"{'|---' * (2 + len(KINDS))}|"]
    for (task, rate), finals in sorted(cells.items(), key=str):
        lines.append(f"| {task} | {rate:g} | {' | '.join(shown(finals[name]) for name in KINDS)} |")
    return "\n".join(lines)


def draw_extensions(results: Path, file: Path) -> None:
    """Learning curves, every seed a line."""
    runs = read_results(results).runs
    places = sorted({(run.config.task.name, run.config.noise_rate) for run in runs}, key=str)
    figure = Figure(figsize=(3.2 * len(places), 2.8), layout="constrained")
    panels = figure.subplots(1, len(places))
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
