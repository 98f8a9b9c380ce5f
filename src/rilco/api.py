"""The Python face of the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rilco.config import RunConfig
from rilco.evaluation import evaluate
from rilco.methods import find
from rilco.options import make_config
from rilco.runs.folder import Run
from rilco.runs.how import How
from rilco.training import train_run

__all__ = ["evaluate", "train", "train_config"]


def train(
    out: str | os.PathLike[str],
    *,
    method: str | None = None,
    task: str | None = None,
    env: Any = None,
    env_kwargs: Mapping[str, Any] | None = None,
    demos: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    noise_rate: float | None = None,
    steps: float | None = None,
    seed: int | None = None,
    resume: bool = False,
    workers: int | None = None,
    quiet: bool = False,
    settings: dict[str, Any] | None = None,
) -> Run:
    """Train a policy in the folder `out`; the same as `rilco train`.

    Give a Bullet `task` or any Gymnasium `env`: an id, a class or function of a module with its `env_kwargs`, or an
    `EnvSpec`. Give `demos` for every method that imitates. `settings` reaches
    every other field of `RunConfig`: `{"classifier.lam": 0.3, "evaluate_every": 50_000}`. With `resume` the run
    in `out` goes on where its last checkpoint is; options left out are taken from it.
    """
    options = {
        "method": method,
        "task": task,
        "env": env,
        "env_kwargs": env_kwargs,
        "demos": demos,
        "noise_rate": noise_rate,
        "steps": None if steps is None else int(steps),
        "seed": seed,
        **(settings or {}),
    }
    config = make_config(options, stored=RunConfig.load(out) if resume else None)
    return train_config(config, out, how=How(workers=workers, quiet=quiet), resume=resume)


def train_config(
    config: RunConfig, out: str | os.PathLike[str], *, how: How | None = None, resume: bool = False
) -> Run:
    """Train what a configuration says: one run (`rilco.training.train_run`), or the phases of `ril-co-clean`."""
    if find(config.method).runner != "several":
        return train_run(config, out, how=how, resume=resume)
    from rilco.clean.phases import train_clean  # here, because the other methods do not need it

    return train_clean(config, Path(out), how or How(), resume=resume)
