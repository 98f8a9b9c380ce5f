"""Fits the weights of the judge of manner (`JudgingConfig.manner`), and judges each task with weights from the other tasks.

    python -m benchmarks.zoo.fit_manner zoo/design zoo/last-word

Logistic regression of *bad* on the traits' excesses. Weights are not negative: odd is never good. Each mixture counts alike, bad
ones twice. Mixtures in which most are bad are left out, since no trait can say so.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from benchmarks.judging_table import measure
from scipy.optimize import minimize

from rilco.data.formats import load_file
from rilco.judging.config import JudgingConfig
from rilco.judging.offline import judge_offline

RIDGE = 0.4


class Case(NamedTuple):
    """The demonstrations of one mixture that were heard."""

    file: Path
    task: str
    excess: np.ndarray
    """[H, T] of each trait."""
    bad: np.ndarray
    """[H] whether it is."""
    good: np.ndarray
    """[D] of all demonstrations whether they are good."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), help="judge only every so manieth task")
    options = parser.parse_args()
    traits = [name for name, _ in JudgingConfig().manner]
    cases = [read_case(file, traits) for folder in options.folders for file in sorted(folder.glob("*.npz"))]
    start, weight = fit(cases)
    print(f"manner_start = {start:.2f}")
    for place in np.argsort(-weight):
        print(f'("{traits[place]}", {weight[place]:.2f}),')
    kinds: Counter[str] = Counter()
    first, step = options.part
    for task in sorted({case.task for case in cases})[first::step]:
        start, weight = fit([case for case in cases if case.task != task])
        weights = tuple(zip(traits, weight.tolist(), strict=True))
        config = replace(JudgingConfig(), manner=weights, manner_start=start)
        for case in (case for case in cases if case.task == task):
            verdict = judge_offline(load_file(case.file), config)
            kind, numbers = measure(verdict, case.good, np.ones(len(case.good)))
            kinds[kind] += 1
            print(f"| {case.file.stem} | {kind} | {numbers} |", flush=True)
    print(
        "With weights from other tasks:", ", ".join(f"{kind}: {count}" for kind, count in kinds.most_common())
    )


def read_case(file: Path, traits: list[str]) -> Case:
    truth = json.loads(file.with_suffix(".truth.json").read_text())
    opinion = next(each for each in judge_offline(load_file(file)).opinions if each.judge == "manner")
    heard = np.flatnonzero(opinion.good != 0.5)
    excess = [opinion.evidence[name][heard] for name in traits if name in opinion.evidence]
    good = np.array([episode["good"] for episode in truth["episodes"]])
    stacked = np.stack(excess, 1) if excess else np.empty((0, len(traits)))
    return Case(file, truth["task"], stacked, ~good[heard], good)


def fit(cases: list[Case]) -> tuple[float, np.ndarray]:
    """The log-odds where all is usual, and [T] the weights."""
    cases = [case for case in cases if len(case.bad) and case.bad.mean() < 0.5]
    excess, bad = (np.concatenate([getattr(case, name) for case in cases]) for name in ("excess", "bad"))
    each = np.concatenate([np.full(len(case.bad), 1.0 / len(case.bad)) for case in cases])
    each *= np.where(bad, 2.0, 1.0)

    def loss(values: np.ndarray) -> tuple[float, np.ndarray]:
        logit = values[0] + excess @ values[1:]
        slope = each * (0.5 * (1.0 + np.tanh(0.5 * logit)) - bad)
        value = each @ (np.logaddexp(0.0, logit) - bad * logit) + 0.5 * RIDGE * np.square(values[1:]).sum()
        return float(value), np.concatenate([[slope.sum()], excess.T @ slope + RIDGE * values[1:]])

    bounds = [(None, None), *[(0.0, None)] * excess.shape[1]]
    begin = np.concatenate([[-2.0], np.full(excess.shape[1], 0.1)])
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=bounds)
    return float(found.x[0]), found.x[1:]


if __name__ == "__main__":
    main()
