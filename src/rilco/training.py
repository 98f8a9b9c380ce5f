"""Training: collect, learn the reward, relabel, learn the policy, log; now and then evaluate and checkpoint."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from rilco.checkpoint import Checkpoint, clean_up, flatten, load_checkpoint, save_checkpoint, unflatten
from rilco.clock import Clock
from rilco.config import RunConfig
from rilco.demonstrations import Demonstrations, load_demonstrations
from rilco.errors import RunError, TrainingError
from rilco.interrupt import StopSignal
from rilco.learning import Learner, LearnerState, make_learner, to_experience
from rilco.methods import make_reward_learner, num_classifiers
from rilco.policy.acktr import acktr
from rilco.policy.saved import Policy
from rilco.progress import Progress, make_progress
from rilco.rewards.learner import DemoArrays, RewardLearner
from rilco.rollout.episodes import UnfinishedEpisodes
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import RolloutPool, default_workers
from rilco.rollout.seeding import DEMONSTRATIONS, generator
from rilco.run import Run, RunFolder, open_run
from rilco.tensorboard import EventWriter, open_events

RECENT_EPISODES = 100  # the logged episode return is the mean over so many
EVALUATION_SEED_OFFSET = 1_000_000_007  # evaluation episodes never coincide with another run's training


class Trainer:
    """One run in progress. `run()` is the loop; the rest is what it takes to stop and go on."""

    def __init__(
        self,
        config: RunConfig,
        demos: Demonstrations | None,
        pool: RolloutPool,
        folder: RunFolder,
        progress: Progress,
    ) -> None:
        self.config, self.pool, self.folder, self.progress = config, pool, folder, progress
        self.demos = None if demos is None else DemoArrays(demos.obs, demos.action, demos.demonstrator)
        self.fingerprint = None if demos is None else demos.fingerprint()
        self.reward_learner: RewardLearner | None = make_reward_learner(
            config.method, config.classifier, config.seed
        )
        self.learner: Learner = make_learner(
            self.reward_learner,
            acktr(config.acktr),
            discount=config.acktr.discount,
            freeze_normalizer_after=config.freeze_normalizer_after,
        )
        self.key = jax.random.key(config.seed)
        sizes = pool.sizes
        self.state: LearnerState = self.learner.init(
            self.key, sizes.obs_dim, sizes.action_dim, sizes.num_envs
        )
        self.policy: Policy = self.learner.policy(self.state)
        self.iteration = 0
        self._drawn: dict[int, Any] = {}  # demonstrations of an iteration to come
        self.clock = Clock()
        self.episodes = UnfinishedEpisodes(sizes.num_envs)
        self.recent: list[float] = []
        self.best_return = -math.inf

    def run(self, stop: StopSignal, events: EventWriter, checkpoint_every: int) -> None:
        """Iterate until done or asked to stop; leaves a checkpoint either way."""
        while self.iteration < self.config.iterations and not stop.requested:
            record = self.iterate()
            if self._due(self.config.evaluate_every, last=self.config.evaluate_every >= 0):
                record |= self._evaluate()
            self.folder.append_metrics(_rounded(record | {"seconds": self.clock.total}))
            events.write(record)
            self.progress.update(record)
            if self._due(self.config.snapshot_every, last=self.config.snapshot_every > 0):
                self._save_policy(f"snapshots/{self.transitions:010d}")
            if self.iteration % checkpoint_every == 0 and self.iteration < self.config.iterations:
                self.save()
        self.save()

    def iterate(self) -> dict[str, Any]:
        """One iteration: collect, then learn reward and policy. Returns what to log."""
        self.clock.lap("other")
        transitions = self.pool.collect(self.policy, self.iteration)
        self.clock.lap("collect")
        batches = self._demonstrations(self.iteration)
        self.state, info = self.learner.learn(
            self.state, to_experience(transitions), batches, self.iteration, self.key
        )
        self._drawn = {self.iteration + 1: self._draw(self.iteration + 1)}  # while JAX learns on another core
        self.policy = self.learner.policy(self.state)
        values = {name: value.item() for name, value in info.items()}
        self.clock.lap("learn")
        _check_finite(values, self.iteration, self.folder.path)
        self.episodes.record(transitions)
        self.recent = [*self.recent, *transitions.episode_returns.tolist()][-RECENT_EPISODES:]
        self.iteration += 1
        return {
            "iteration": self.iteration,
            "transitions": self.transitions,
            "episode_return": float(np.mean(self.recent)) if self.recent else None,
            **{name: value for name, value in values.items() if not name.startswith("nonfinite")},
        }

    @property
    def transitions(self) -> int:
        return self.iteration * self.config.transitions_per_iteration

    def _demonstrations(self, iteration: int) -> Any:
        """What an iteration learns from, drawn already during the one before unless the run just began."""
        return self._drawn.pop(iteration) if iteration in self._drawn else self._draw(iteration)

    def _draw(self, iteration: int) -> Any:
        if self.reward_learner is None or self.demos is None:
            return None
        rng = generator(self.config.seed, DEMONSTRATIONS, iteration)
        return jax.device_put(self.reward_learner.sample(self.demos, rng))

    def _due(self, interval: int, *, last: bool = False) -> bool:
        """Whether something that happens every `interval` transitions happens now; 0 or less is never."""
        if last and self.iteration == self.config.iterations:
            return True
        return interval > 0 and self.iteration % self.config.every(interval) == 0

    def _evaluate(self) -> dict[str, Any]:
        """The deterministic policy's return; always on the same start states, so that evaluations compare."""
        outcome = self.pool.evaluate(
            self.policy,
            episodes=self.config.evaluation_episodes,
            seed=self.config.seed + EVALUATION_SEED_OFFSET,
        )
        mean = float(outcome.returns.mean())
        if mean > self.best_return:
            self.best_return = mean
            self._save_policy("best", mean)
        return {
            "eval_return": mean,
            "eval_std": float(outcome.returns.std()),
            "eval_length": float(outcome.lengths.mean()),
        }

    def _save_policy(self, name: str, mean_return: float | None = None) -> None:
        card = {
            "task": self.config.task.task,
            "env": self.config.task.env,
            "method": self.config.method,
            "seed": self.config.seed,
            "transitions": self.transitions,
            "return": mean_return,
        }
        self.folder.save_policy(name, dataclasses.replace(self.policy, card=card))

    # -- stopping and going on -------------------------------------------------------------------

    def save(self) -> None:
        self._save_policy("last")
        facts = {
            "metrics_bytes": self.folder.sync_metrics(),
            "best_return": None if math.isinf(self.best_return) else self.best_return,
            "recent_returns": self.recent,
            "demonstrations": self.fingerprint,
            "seconds": self.clock.total,
        }
        arrays = {**flatten(self.state), **self.episodes.arrays()}
        save_checkpoint(self.folder.checkpoints, Checkpoint(self.iteration, arrays, facts))

    def restore(self) -> None:
        """Go back to the newest whole checkpoint, or to the beginning where there is none."""
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
            self.pool.start()
            self.progress.note("No checkpoint to resume from yet: starting from the beginning.")
            return
        if checkpoint.facts["demonstrations"] != self.fingerprint:
            raise RunError(
                f"{self.folder.path}: the demonstrations are not those that this run began with (their content "
                "changed). Restore the files, or start a new run in another folder."
            )
        self.state = unflatten(self.state, checkpoint.arrays)
        self.policy = self.learner.policy(self.state)
        self.clock = Clock(checkpoint.facts["seconds"])
        self.iteration = checkpoint.iteration
        self.recent = list(checkpoint.facts["recent_returns"])
        best = checkpoint.facts["best_return"]
        self.best_return = -math.inf if best is None else best
        self.episodes, exact = UnfinishedEpisodes.restore(checkpoint.arrays, self.pool)
        if not exact:
            self.progress.note(
                "The environments did not return to exactly where they were: this environment does not repeat an "
                "episode from its seed and actions. Training goes on, but not bit-identically."
            )
        self.folder.cut_metrics(checkpoint.facts["metrics_bytes"])
        clean_up(self.folder.checkpoints, checkpoint.iteration)
        self.progress.note(f"Resuming after {self.transitions:,} transitions.")


def train_run(
    config: RunConfig,
    out: str | os.PathLike[str],
    *,
    resume: bool = False,
    workers: int | None = None,
    checkpoint_every: int = 100,
    quiet: bool = False,
    tensorboard: bool = True,
    stop: StopSignal | None = None,
) -> Run:
    """Train in the folder `out` and return the run. Ctrl-C leaves a checkpoint and raises KeyboardInterrupt.

    `workers` and `checkpoint_every` (iterations) change how fast and how safe a run is, not its result. A caller
    that already listens for signals gives its `stop`.
    """
    path = Path(out)
    demos = read_demonstrations(config)
    obs_dim, action_dim = config.task.dimensions()
    if demos is not None:
        demos.check_dimensions(obs_dim, action_dim, config.task.name)
        _warn_if_few(demos, config)
    sizes = Sizes(config.num_envs, config.num_steps, obs_dim, action_dim, config.acktr.hidden_sizes)
    workers = workers or default_workers()
    with (
        StopSignal() if stop is None else contextlib.nullcontext(stop) as stop,
        open_run(path, config, resume=resume) as folder,
        make_progress(config, path, quiet=quiet) as progress,
        RolloutPool(config.task, sizes, seed=config.seed, num_workers=workers) as pool,
    ):
        stop.raise_if_requested()  # before anything is learned
        trainer = Trainer(config, demos, pool, folder, progress)
        if resume:
            trainer.restore()
        else:
            pool.start()
        with open_events(path / "events", resumed_at=trainer.transitions, wanted=tensorboard) as events:
            trainer.run(stop, events, checkpoint_every)
    stop.raise_if_requested()
    return Run(path)


def read_demonstrations(config: RunConfig) -> Demonstrations | None:
    return load_demonstrations(config.demos, config.noise_rate) if config.demos else None


def _warn_if_few(demos: Demonstrations, config: RunConfig) -> None:
    wanted, each = config.classifier.batch, len(demos) // num_classifiers(config.method)
    if each < wanted:
        warnings.warn(
            f"Only {len(demos)} demonstration pairs, {each} for each classifier, fewer than one mini-batch of "
            f"{wanted}: they are drawn with replacement, and a classifier may learn them by heart.",
            stacklevel=3,
        )


def _check_finite(values: Mapping[str, float], iteration: int, path: Path) -> None:
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


def _rounded(record: Mapping[str, Any]) -> dict[str, Any]:
    """Five significant digits are enough to plot and keep a line of metrics small; JSON has no NaN."""
    rounded = dict(record)
    for name, value in record.items():
        if isinstance(value, float):
            rounded[name] = float(f"{value:.5g}") if math.isfinite(value) else None
    return rounded
