"""What `ril-co-clean` runs reach, beside the expert: the first clone, the mean of the last ones, and a finish if there is one.

    python benchmarks/clean_table.py runs/clean/* --episodes 100
    python benchmarks/clean_table.py runs/clean/walker2d-s1 --rounds    # all of its clones, round by round

Runs whose names differ by their ending -sSEED are averaged below. All policies play from the same start states. The expert
is the policy that comes with rilco where the run learned from its demonstrations, else the mean return of the expert's
episodes in the files.
"""

from __future__ import annotations

import argparse
import functools
import re
from pathlib import Path

import numpy as np

from rilco.data.run_data import read_demonstrations
from rilco.evaluation import evaluate
from rilco.policy.saved import Policy, load_policy, shipped_rung
from rilco.runs.folder import Run
from rilco.tasks.table import Task

SEED = 5
COLUMNS = 9


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument(
        "--rounds", action="store_true", help="All clones of one run, round by round, instead."
    )
    options = parser.parse_args()
    if options.rounds:
        if len(options.runs) > 1:
            parser.error("--rounds shows one run")
        show_rounds(Run(options.runs[0]), options.episodes)
        return
    print("| run | transitions | expert | first clone | share | policy | share | finish | share |")
    print("|---" * COLUMNS + "|")
    shares: dict[tuple[str, int], list[list[float]]] = {}
    for path in options.runs:
        if not (path / "metrics.jsonl").exists():
            continue
        run, phases = Run(path), path / "phases"
        expert = expert_return(run, options.episodes)
        cells = [path.name, f"{run.metrics()[-1]['transitions']:,}", f"{expert:,.0f}"]
        first = Run(phases / "3-clones" / "0" / "1").last_policy
        policies = [first, load_policy(phases / "3-policy.safetensors")]
        if run.config.clean.finish != "none":
            policies.append(run.last_policy)
        of_run = []
        for policy in policies:
            returns = played(policy, run, options.episodes)
            of_run.append(returns.mean() / expert)
            cells += [f"{returns.mean():,.0f} ± {returns.std():,.0f}", f"{of_run[-1]:.1%}"]
        shares.setdefault((re.sub(r"-s\d+$", "", path.name), len(policies)), []).append(of_run)
        print(row(cells), flush=True)
    for (name, _), of_seeds in shares.items():
        cells = [f"{name}, mean of {len(of_seeds)}", "", ""]
        for mean in np.mean(of_seeds, axis=0):
            cells += ["", f"{mean:.1%}"]
        print(row(cells))


def show_rounds(run: Run, episodes: int) -> None:
    """Returns of all clones, and from how many starts each of them falls: its episode ends before the longest."""
    print("| rounds of practice | returns | falls |\n|---|---|---|")
    folders = sorted((run.path / "phases" / "3-clones").iterdir())
    for folder in folders:
        clones = [Run(path).last_policy for path in sorted(folder.iterdir())]
        outcomes = [evaluate(clone, task=run.config.task, episodes=episodes, seed=SEED) for clone in clones]
        longest = max(int(outcome.lengths.max()) for outcome in outcomes)
        returns = ", ".join(f"{outcome.returns.mean():,.0f}" for outcome in outcomes)
        falls = ", ".join(f"{np.sum(outcome.lengths < longest)}" for outcome in outcomes)
        print(f"| {folder.name} | {returns} | {falls} |", flush=True)
    last = load_policy(run.path / "phases" / "3-policy.safetensors")
    outcome = evaluate(last, task=run.config.task, episodes=episodes, seed=SEED)
    print(f"| the mean | {outcome.returns.mean():,.0f} | {np.sum(outcome.lengths < longest)} |")
    print(f"| the expert | {expert_return(run, episodes):,.0f} | |")


def row(cells: list[str]) -> str:
    return f"| {' | '.join(cells + [''] * (COLUMNS - len(cells)))} |"


def expert_return(run: Run, episodes: int) -> float:
    if not run.config.demos and run.config.task.task is not None:
        return shipped_return(run.config.task.task, episodes)
    demos = read_demonstrations(run.config)
    if demos is None or demos.expert is None or demos.reward is None:
        return float("nan")
    expert = demos.select(demos.expert)
    return float(np.mean([one.reward.sum() for one in expert.episodes() if one.reward is not None]))


@functools.cache
def shipped_return(name: str, episodes: int) -> float:
    expert = shipped_rung(name, 1)[0]
    return float(evaluate(expert, task=Task(task=name), episodes=episodes, seed=SEED).returns.mean())


def played(policy: Policy, run: Run, episodes: int) -> np.ndarray:
    return evaluate(policy, task=run.config.task, episodes=episodes, seed=SEED).returns


if __name__ == "__main__":
    main()
