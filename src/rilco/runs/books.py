"""What every run does besides learning: evaluate, log, keep policies and checkpoints, and find its way back."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rilco.config import RunConfig
from rilco.errors import RunError, TrainingError
from rilco.policy.saved import Policy
from rilco.rollout.pool import Evaluation, RolloutPool
from rilco.runs.checkpoint import Checkpoint, clean_up, load_checkpoint, save_checkpoint
from rilco.runs.clock import Clock
from rilco.runs.folder import RunFolder
from rilco.runs.progress import Progress
from rilco.runs.tensorboard import EventWriter

EVALUATION_SEED_OFFSET = 1_000_000_007  # evaluation episodes never coincide with another run's training


class Bookkeeper:
    """Keeps one run's books; whoever trains says after which iteration it is, and with which policy.

    `fingerprint` is of the data: a run can only go on with the same.
    """

    def __init__(
        self,
        config: RunConfig,
        pool: RolloutPool,
        folder: RunFolder,
        progress: Progress,
        fingerprint: str | None,
    ) -> None:
        self.config, self.pool, self.folder, self.progress = config, pool, folder, progress
        self.fingerprint = fingerprint
        self.clock = Clock()
        self.best_return = -math.inf

    def evaluation_due(self, iteration: int, *, last: bool) -> bool:
        interval = self.config.evaluate_every
        return (last and interval >= 0) or self._due(interval, iteration)

    def log(self, record: dict[str, Any], policy: Policy, events: EventWriter, *, last: bool) -> None:
        """Write an iteration's numbers, with an evaluation where one is due; `last` says that none follows."""
        if self.evaluation_due(record["iteration"], last=last):
            record |= self._evaluate(policy, record["iteration"], last=last)
        self.folder.append_metrics(rounded(record | {"seconds": self.clock.total}))
        events.write(record)
        self.progress.update(record)

    def snapshot(self, iteration: int, policy: Policy, *, last: bool) -> None:
        """Keep the policy for good, where a snapshot is due."""
        interval = self.config.snapshot_every
        if (last and interval > 0) or self._due(interval, iteration):
            self._save_policy(f"snapshots/{self._transitions(iteration):010d}", policy, iteration)

    def save(
        self,
        iteration: int,
        policy: Policy,
        arrays: Mapping[str, np.ndarray],
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        """Write a checkpoint, of the state as `arrays` and `facts`, and the policy as the last one."""
        self._save_policy("last", policy, iteration)
        table = {
            "metrics_bytes": self.folder.sync_metrics(),
            "best_return": None if math.isinf(self.best_return) else self.best_return,
            "demonstrations": self.fingerprint,
            "seconds": self.clock.total,
            **(facts or {}),
        }
        save_checkpoint(self.folder.checkpoints, Checkpoint(iteration, arrays, table))

    def newest_checkpoint(self) -> Checkpoint | None:
        """The newest whole checkpoint, or None to begin from the beginning; the folder still has what came later."""
        checkpoint, complaints = load_checkpoint(self.folder.checkpoints)
        if checkpoint is None and complaints:
            raise RunError(
                f"{self.folder.path}: no checkpoint is whole, so the run cannot go on. {' '.join(complaints)} Nothing "
                "was changed. Restore the folder from a backup, or start a new run with another --out."
            )
        for complaint in complaints:
            self.progress.note(complaint)
        if checkpoint is None or checkpoint.iteration == 0:
            self.folder.cut_metrics(0)
            self.progress.note("No checkpoint to resume from yet: starting from the beginning.")
            return None
        if checkpoint.facts["demonstrations"] != self.fingerprint:
            raise RunError(
                f"{self.folder.path}: the demonstrations are not those that this run began with (their content "
                "changed). Restore the files, or start a new run in another folder."
            )
        return checkpoint

    def go_on_from(self, checkpoint: Checkpoint) -> None:
        """Forget what came after a checkpoint, once its state is restored."""
        best = checkpoint.facts["best_return"]
        self.best_return = -math.inf if best is None else best
        self.clock = Clock(checkpoint.facts["seconds"])
        self.folder.cut_metrics(checkpoint.facts["metrics_bytes"])
        clean_up(self.folder.checkpoints, checkpoint.iteration)
        self.progress.note(f"Resuming after {self._transitions(checkpoint.iteration):,} transitions.")

    def _due(self, interval: int, iteration: int) -> bool:
        """Whether something that happens every `interval` transitions happens now; 0 or less is never."""
        return interval > 0 and iteration % self.config.every(interval) == 0

    def _evaluate(self, policy: Policy, iteration: int, *, last: bool) -> dict[str, Any]:
        """The deterministic policy's return, each time from start states of its own: fixed ones would bias a run."""
        config = self.config
        outcome = self.pool.evaluate(
            policy,
            episodes=config.final_episodes if last else config.evaluation_episodes,
            seed=config.seed + EVALUATION_SEED_OFFSET,
            occasion=iteration,
        )
        mean = float(outcome.returns.mean())
        if mean > self.best_return:
            self.best_return = mean
            self._save_policy("best", policy, iteration, mean)
        return evaluation_record(outcome)

    def _save_policy(
        self, name: str, policy: Policy, iteration: int, mean_return: float | None = None
    ) -> None:
        card = {
            "task": self.config.task.task,
            "env": self.config.task.env,
            "method": self.config.method,
            "seed": self.config.seed,
            "transitions": self._transitions(iteration),
            "return": mean_return,
            **self.config.task.details(),
        }
        self.folder.save_policy(name, dataclasses.replace(policy, card=card))

    def _transitions(self, iteration: int) -> int:
        return iteration * self.config.transitions_per_iteration


def evaluation_record(outcome: Evaluation) -> dict[str, float]:
    """An evaluation as a line of metrics has it."""
    return {
        "eval_episodes": len(outcome.returns),
        "eval_return": float(outcome.returns.mean()),
        "eval_std": float(outcome.returns.std()),
        "eval_length": float(outcome.lengths.mean()),
    }


def check_finite(values: Mapping[str, float], iteration: int, path: Path) -> None:
    """Raises TrainingError where a number is not finite, or a count of numbers that are not is above 0."""
    bad = [name for name, value in values.items() if not math.isfinite(value)]
    bad += [
        name.removeprefix("nonfinite_") for name, count in values.items() if "nonfinite" in name and count
    ]
    if bad:
        raise TrainingError(
            f"Iteration {iteration + 1}: NaN or infinity in {', '.join(bad)}, so training was stopped. Checkpoints in "
            f"{path / 'checkpoints'}, if any, are from before that and whole; look for extreme values in the "
            "demonstrations or in the environment's observations."
        )


def rounded(record: Mapping[str, Any]) -> dict[str, Any]:
    """Five significant digits are enough to plot and keep a line of metrics small; JSON has no NaN."""
    rounded = dict(record)
    for name, value in record.items():
        if isinstance(value, float):
            rounded[name] = float(f"{value:.5g}") if math.isfinite(value) else None
    return rounded
