"""The loop of every run: advance, evaluate, log, save policies and checkpoints, and resume."""

from __future__ import annotations

import dataclasses
import math
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from rilco.config import RunConfig, in_words
from rilco.errors import RunError, TrainingError
from rilco.policy.saved import Policy, load_policy
from rilco.rollout.pool import Evaluation, RolloutPool
from rilco.runs.checkpoint import Checkpoint, clean_up, load_checkpoint, save_checkpoint
from rilco.runs.folder import RunFolder, changes
from rilco.runs.how import Callback, How
from rilco.runs.metrics import INEXACT
from rilco.runs.paths import CHECKPOINTS, CONFIG, policy_file, snapshot_name
from rilco.runs.progress import Progress, measure_of
from rilco.runs.results import portable

EVALUATION_SEED_OFFSET = 1_000_000_007  # evaluation episodes never coincide with another run's training


class Training(Protocol):
    """Learning that can be stopped after any iteration and resumed bit-exactly. Knows nothing of folders."""

    log_every: int
    """Iterations between lines of metrics."""

    @property
    def iteration(self) -> int:
        """Iterations done."""

    @property
    def policy(self) -> Policy: ...

    @property
    def fingerprint(self) -> str | None:
        """Digest of the data: a run resumes only with the same data."""

    @property
    def exact(self) -> bool:
        """Whether everything is where it would be without an interruption."""

    @property
    def finished(self) -> bool: ...

    def start(self) -> None:
        """Prepare the first iteration."""

    def advance(self, until: int) -> None:
        """Do at least one iteration, and none after `until`."""

    def record(self) -> dict[str, Any]:
        """Numbers to log, since the last record."""

    def arrays(self) -> dict[str, np.ndarray]:
        """The whole state, for a checkpoint."""

    def restore(self, checkpoint: Checkpoint) -> None:
        """Take the state of a checkpoint."""


class Loop:
    """The loop of one run. `pool` is for evaluations; without one there are none."""

    def __init__(
        self,
        config: RunConfig,
        training: Training,
        folder: RunFolder,
        pool: RolloutPool | None,
        progress: Progress,
    ) -> None:
        self.config, self.training, self.folder = config, training, folder
        self.pool, self.progress = pool, progress
        self._begun = time.perf_counter()
        self._best_return = -math.inf

    # -- beginning ---------------------------------------------------------------------------------

    def begin(self, *, resume: bool) -> None:
        """Begin at the newest whole checkpoint, or from the start without one."""
        if not resume:
            self.training.start()
            return
        checkpoint, complaints = restore(self.training, self.folder.path, self.config)
        for complaint in complaints:
            self.progress.note(complaint)
        if checkpoint is not None:
            self._go_on_from(checkpoint)
        else:
            self.folder.cut_metrics(0, None)
            self.progress.note("There is no checkpoint to resume yet: starting from the beginning.")
            self.training.start()
        self.folder.save_config(self.config)  # the run may be longer than before

    def _go_on_from(self, checkpoint: Checkpoint) -> None:
        """Remove what came after a checkpoint, whose state is restored."""
        facts = checkpoint.facts
        if facts["best_return"] is not None:
            self._best_return = facts["best_return"]
            # Training may never write it again, so it must be whole.
            load_policy(policy_file(self.folder.path, "best"))
        self.folder.cut_metrics(facts["metrics_bytes"], facts.get("metrics_sha256"))
        clean_up(self.folder.checkpoints, checkpoint.iteration)
        self._begun = time.perf_counter() - facts["seconds"]
        measure = measure_of(self.config)
        self.progress.note(f"Resuming after {self.transitions * measure.each:,.0f} {measure.words}.")
        if not self.training.exact:
            warnings.warn(
                "The environments are not exactly where they were: this environment does not repeat an episode from its "
                "seed and actions. Training goes on, but not bit-identically. The run's metrics say so, too "
                f"({INEXACT}).",
                stacklevel=5,
            )
        if self.training.finished and self.training.iteration < self.config.iterations:
            self.progress.note(
                "This run has finished early: the loss on held-out demonstrations no longer fell."
            )

    # -- running ----------------------------------------------------------------------------------

    def run(self, how: How, callbacks: Sequence[Callback]) -> None:
        """Advance until the end, or until asked to stop. Leaves a checkpoint either way."""
        for callback in callbacks:
            if begin := getattr(callback, "begin", None):
                begin(self.config)
        training, inexact = self.training, not self.training.exact
        going = True
        while going and not training.finished and not how.stop.requested:
            training.advance(self._next_stop(how.checkpoint_every))
            last = training.finished
            if last or training.iteration % training.log_every == 0 or self._evaluation_due(last=last):
                record = self._log({INEXACT: True} if inexact else {}, last=last)
                going = False not in [callback(record) for callback in callbacks]
                inexact = False
            self._snapshot(last=last)
            if training.iteration % how.checkpoint_every == 0 and not last:
                self._save()
        self._save()
        for callback in callbacks if training.finished else ():
            if end := getattr(callback, "end", None):
                end(training.policy)

    @property
    def transitions(self) -> int:
        return self.training.iteration * self.config.transitions_per_iteration

    @property
    def seconds(self) -> float:
        """Time that the run took so far, over all its processes."""
        return time.perf_counter() - self._begun

    def _next_stop(self, checkpoint_every: int) -> int:
        """The iteration after which something has to be done."""
        now, config = self.training.iteration, self.config
        wanted = (config.evaluate_every, config.snapshot_every)
        intervals = [config.every(interval) for interval in wanted if interval > 0]
        intervals += [self.training.log_every, checkpoint_every]
        return min(config.iterations, *((now // n + 1) * n for n in intervals))

    def _due(self, interval: int) -> bool:
        """Whether something that happens every `interval` transitions happens now; 0 or less is never."""
        return interval > 0 and self.training.iteration % self.config.every(interval) == 0

    def _evaluation_due(self, *, last: bool) -> bool:
        interval = self.config.evaluate_every
        return (last and interval >= 0) or self._due(interval)

    def _log(self, remarks: Mapping[str, Any], *, last: bool) -> dict[str, Any]:
        """Write an iteration's numbers, with an evaluation where one is due. `last`: no iteration follows."""
        record = {"iteration": self.training.iteration, "transitions": self.transitions}
        record |= {**self.training.record(), **remarks}
        if self.pool is not None and self._evaluation_due(last=last):
            record |= self._evaluate(self.pool, last=last)
        self.folder.append_metrics(rounded(record | {"seconds": self.seconds}))
        self.progress.update(record)
        return record

    def _evaluate(self, pool: RolloutPool, *, last: bool) -> dict[str, Any]:
        """Evaluate the deterministic policy, with new start states each time: fixed ones would bias a run."""
        config = self.config
        outcome = pool.evaluate(
            self.training.policy,
            episodes=config.final_episodes if last else config.evaluation_episodes,
            seed=config.seed + EVALUATION_SEED_OFFSET,
            occasion=self.training.iteration,
        )
        mean = float(outcome.returns.mean())
        if mean > self._best_return:
            self._best_return = mean
            self._save_policy("best", mean)
        return evaluation_record(outcome)

    # -- keeping -----------------------------------------------------------------------------------

    def _snapshot(self, *, last: bool) -> None:
        """Save the policy for good, where a snapshot is due."""
        if (last and self.config.snapshot_every > 0) or self._due(self.config.snapshot_every):
            self._save_policy(snapshot_name(self.transitions))

    def _save(self) -> None:
        """Write a checkpoint, and the policy as the last one."""
        self._save_policy("last")
        size, sha256 = self.folder.sync_metrics()
        facts = {
            "config": self.config.to_json(),
            "metrics_bytes": size,
            "metrics_sha256": sha256,
            "best_return": None if math.isinf(self._best_return) else self._best_return,
            "demonstrations": self.training.fingerprint,
            "seconds": self.seconds,
        }
        checkpoint = Checkpoint(self.training.iteration, self.training.arrays(), facts)
        save_checkpoint(self.folder.checkpoints, checkpoint)

    def _save_policy(self, name: str, mean_return: float | None = None) -> None:
        card = {
            **self.config.task.card(),
            "method": self.config.method,
            "seed": self.config.seed,
            "transitions": self.transitions,
            "return": mean_return,
        }
        self.folder.save_policy(name, dataclasses.replace(self.training.policy, card=card))


def restore(training: Training, path: Path, config: RunConfig) -> tuple[Checkpoint | None, Sequence[str]]:
    """Give training the state of a run's newest whole checkpoint. Returns what `checkpoint_of` does."""
    checkpoint, complaints = checkpoint_of(path, config)
    if checkpoint is None:
        return None, complaints
    if checkpoint.facts["demonstrations"] != training.fingerprint:
        raise RunError(
            f"{path}: the demonstrations are not those that this run began with (their content changed). Restore the "
            "files, or start a new run in another folder."
        )
    training.restore(checkpoint)
    return checkpoint, complaints


def checkpoint_of(path: Path, config: RunConfig) -> tuple[Checkpoint | None, Sequence[str]]:
    """A run's newest whole checkpoint, or None where it has not begun; and complaints about newer ones.

    Raises RunError unless it is of this configuration.
    """
    checkpoint, complaints = load_checkpoint(path / CHECKPOINTS)
    if checkpoint is None and complaints:
        raise RunError(
            f"{path}: no checkpoint is whole, so the run cannot go on. {' '.join(complaints)} Nothing was changed. "
            "Restore the folder from a backup, or start a new run with another --out."
        )
    if checkpoint is None or checkpoint.iteration == 0:
        return None, complaints
    if "config" in checkpoint.facts:  # those of version 0.1 have none
        stored = RunConfig.from_json(checkpoint.facts["config"], f"{path / CHECKPOINTS}")
        if different := changes(portable(stored), portable(config)):
            raise RunError(
                f"{path / CONFIG}: was changed after the run began, so resuming would mix two runs. Different: "
                f"{in_words(different)}. Restore the file, or start a new run with another --out."
            )
    return checkpoint, complaints


def evaluation_record(outcome: Evaluation) -> dict[str, float]:
    """An evaluation as a line of metrics has it."""
    return {
        "eval_episodes": len(outcome.returns),
        "eval_return": float(outcome.returns.mean()),
        "eval_std": float(outcome.returns.std()),
        "eval_length": float(outcome.lengths.mean()),
    }


def check_finite(values: Mapping[str, float], iteration: int) -> None:
    """Raises TrainingError where a number, or one of those that were counted as `nonfinite`, is not finite."""
    bad = [
        name.removeprefix("nonfinite_")
        for name, value in values.items()
        if not math.isfinite(value) or ("nonfinite" in name and value)
    ]
    if bad:
        raise TrainingError(
            f"Iteration {iteration}: NaN or infinity in {', '.join(bad)}, so training was stopped. Earlier checkpoints "
            "are whole. Look for extreme values in the demonstrations or in the environment's observations, or lower "
            "the learning rate."
        )


def rounded(record: Mapping[str, Any]) -> dict[str, Any]:
    """Five significant digits keep a line of metrics small, and are enough to plot. JSON has no NaN."""
    return {name: _rounded(value) if isinstance(value, float) else value for name, value in record.items()}


def _rounded(value: float) -> float | None:
    return float(f"{value:.5g}") if math.isfinite(value) else None
