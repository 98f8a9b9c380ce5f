"""Runs that take a moment, and run folders that nobody trained, for the tests of training, grids and engines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.environments import env_id

from rilco.config import RunConfig
from rilco.options import make_config

SMALL: dict[str, Any] = {
    "num_envs": 4,
    "num_steps": 5,
    "evaluate_every": 60,
    "evaluation_episodes": 3,
    "final_episodes": 3,
    "acktr.hidden_sizes": (8, 8),
}
RIL_CO: dict[str, Any] = {
    **SMALL,
    "classifier.hidden": (8, 8),
    "classifier.batch": 16,
    "classifier.candidates": 32,
    "classifier.selected": 8,
}


def tiny(env: str = "Drift", **options: Any) -> RunConfig:
    """ACKTR with 20 transitions an iteration."""
    return make_config({**SMALL, "env": env_id(env), "method": "acktr", "steps": 200, "seed": 1, **options})


def metrics_line(config: RunConfig, iteration: int, eval_return: float | None = None) -> dict[str, Any]:
    line: dict[str, Any] = {
        "iteration": iteration,
        "transitions": iteration * config.transitions_per_iteration,
        "policy_loss": 0.5,
    }
    if eval_return is not None:
        line |= {"eval_return": eval_return, "eval_std": 1.5, "eval_length": 10.0}
    return {**line, "seconds": iteration / 10}


def fake_run(folder: Path, config: RunConfig, iterations: int | None = None, every: int = 3) -> Path:
    """A run folder as training leaves it, evaluated every so many iterations and at its end."""
    iterations = config.iterations if iterations is None else iterations
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(config.to_json())
    lines = [
        metrics_line(config, i, 10.0 * i if i % every == 0 or i == config.iterations else None)
        for i in range(1, iterations + 1)
    ]
    (folder / "metrics.jsonl").write_text(
        "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    )
    (folder / "checkpoints").mkdir()
    (folder / "checkpoints" / f"{iterations:08d}.json").write_text("{}")
    return folder
