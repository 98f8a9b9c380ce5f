"""Fits the weights of the judge of manner (`JudgingConfig.manner`) to the design half, and says how they do on tasks left out.

    python -m benchmarks.zoo.fit_manner zoo/design

Logistic regression of *bad* on the traits' excesses. Weights are not negative: odd is never good. Each mixture counts alike, bad
ones twice. Mixtures in which most are bad are left out, since no trait can say so.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from rilco.data.formats import load_file
from rilco.judging.config import JudgingConfig
from rilco.judging.offline import judge_offline

RIDGE, FOLDS = 0.4, 6


class Case(NamedTuple):
    """The demonstrations of one mixture that were heard."""

    task: str
    excess: np.ndarray
    """[H, T] of each trait."""
    bad: np.ndarray
    """[H] whether it is."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    traits = [name for name, _ in JudgingConfig().manner]
    cases = [read_case(file, traits) for file in sorted(parser.parse_args().folder.glob("*.npz"))]
    report([case for case in cases if len(case.bad) and case.bad.mean() < 0.5], traits)


def read_case(file: Path, traits: list[str]) -> Case:
    truth = json.loads(file.with_suffix(".truth.json").read_text())
    opinion = next(each for each in judge_offline(load_file(file)).opinions if each.judge == "manner")
    heard = np.flatnonzero(opinion.good != 0.5)
    excess = [opinion.evidence[name][heard] for name in traits if name in opinion.evidence]
    bad = np.array([not episode["good"] for episode in truth["episodes"]])
    return Case(truth["task"], np.stack(excess, 1) if excess else np.empty((0, len(traits))), bad[heard])


def report(cases: list[Case], traits: list[str]) -> None:
    """Prints the area under the curve on tasks left out, and the weights from all tasks."""
    tasks = sorted({case.task for case in cases})
    areas = []
    for fold in range(FOLDS):
        start, weight = fit([case for case in cases if tasks.index(case.task) % FOLDS != fold])
        for case in cases:
            if tasks.index(case.task) % FOLDS == fold and case.bad.any():
                score = start + case.excess @ weight
                difference = score[case.bad][:, None] - score[~case.bad]
                areas.append((difference > 0).mean() + 0.5 * (difference == 0).mean())
    print(f"AUROC on tasks left out, mean of {len(areas)} mixtures: {np.mean(areas):.3f}")
    start, weight = fit(cases)
    print(f"manner_start = {start:.2f}")
    for place in np.argsort(-weight):
        print(f'("{traits[place]}", {weight[place]:.2f}),')


def fit(cases: list[Case]) -> tuple[float, np.ndarray]:
    """The log-odds where all is usual, and [T] the weights."""
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
