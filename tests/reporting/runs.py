"""Run folders for the report's tests, made by code from seeded random numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rilco.config import RunConfig
from rilco.experiment.published import POLICY, CellKey, load_published
from rilco.tasks.table import Task

EVERY = 99_840  # transitions between evaluations: a whole number of iterations


def write_run(
    folder: Path,
    returns: Sequence[float] | np.ndarray,
    *,
    every: int = EVERY,
    finished: bool = True,
    env: str | None = None,
    task: str = "halfcheetah",
    **settings: Any,
) -> Path:
    """A thinned run folder with these evaluations, `every` transitions apart."""
    done = every * max(1, len(returns))
    config = RunConfig(
        task=Task(env=env) if env else Task(task=task),
        steps=done if finished else 2 * done,
        **{"method": "ril-co", "demos": ("demos.npz",), "noise_rate": 0.4, "seed": 1, **settings},
    )
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(config.to_json())
    lines = [
        {"transitions": (i + 1) * every, "eval_return": float(value), "eval_std": 1.0}
        for i, value in enumerate(returns)
    ]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def near_published(key: CellKey, evaluations: int, seed: int, spread: float = 60.0) -> np.ndarray:
    """Returns that scatter around the published curve of a cell, so that figures look like real ones."""
    entropy = [seed, round(10 * (key.noise_rate or 0.0)), *key.task.encode(), *key.method.encode()]
    rng = np.random.default_rng(entropy)
    published = load_published()[key]
    x = np.arange(1, evaluations + 1) * EVERY
    curve = np.interp(x, published.transitions, published.curve[:, 0])
    return curve + rng.normal(0.0, spread) + rng.normal(0.0, spread, evaluations)


def add_cells(
    root: Path,
    *methods: str,
    tasks: Sequence[str] = ("halfcheetah",),
    rates: Sequence[float] = (0.4,),
    seeds: Sequence[int] = (1, 2),
    evaluations: int = 20,
    noise: str = POLICY,
) -> Path:
    """Runs of whole cells."""
    for task in tasks:
        for rate in rates:
            for method in methods:
                for seed in seeds:
                    write_run(
                        root / f"{task}-{noise}-{rate}-{method}-{seed}",
                        near_published(CellKey(task, noise, rate, method), evaluations, seed),
                        task=task,
                        method=method,
                        noise_rate=rate,
                        seed=seed,
                        demos=(f"{noise}.npz",),
                    )
    return root
