"""Behaviour cloning as a run: the same folder, evaluations and checkpoints as methods that act.

No transitions are made. An iteration is a few gradient steps and stands for the transitions that the other methods
make in one, so that lengths, intervals and logs line up.
"""

from __future__ import annotations

import hashlib
from typing import Any

import jax
import numpy as np

from rilco.bc.data import prepare, start_weights
from rilco.bc.learner import INTERVAL, BcLearner, BcState, bc, forget_losses
from rilco.config import RunConfig
from rilco.data.record import Demonstrations
from rilco.policy.heads import make_head
from rilco.policy.saved import Policy
from rilco.rollout.pool import RolloutPool
from rilco.runs.books import Bookkeeper, check_finite
from rilco.runs.checkpoint import flatten, unflatten
from rilco.runs.folder import RunFolder
from rilco.runs.interrupt import StopSignal
from rilco.runs.progress import Progress
from rilco.runs.tensorboard import EventWriter


class Cloner:
    """One run in progress. The pool only evaluates; its training environments never move."""

    def __init__(
        self,
        config: RunConfig,
        demos: Demonstrations,
        pool: RolloutPool,
        folder: RunFolder,
        progress: Progress,
    ) -> None:
        self.config, self.folder, self.progress = config, folder, progress
        starts = start_weights(demos.episode, config.bc.start_weight, config.bc.start_steps)
        self.actions = pool.sizes.actions
        self.data = prepare(demos, config.bc.validation, config.seed, starts=starts, actions=self.actions)
        # What is held out and what weighs more depends on the episodes too, which the demonstrations' own
        # fingerprint leaves out.
        depends = hashlib.sha256(np.asarray(self.data.trained_rows).tobytes())
        if self.data.weight is not None:
            depends.update(np.asarray(self.data.weight).tobytes())
        self.books = Bookkeeper(config, pool, folder, progress, demos.fingerprint() + depends.hexdigest())
        self.learner: BcLearner = bc(config.bc, make_head(self.actions))
        self.key = jax.random.key(config.seed)
        self.state: BcState = self.learner.init(self.key, demos.obs_dim, self.actions.width)
        self.policy: Policy = self.learner.policy(self.state, self.data, self.actions)
        self.iteration = 0

    def run(self, stop: StopSignal, events: EventWriter, checkpoint_every: int) -> None:
        """Clone until done or asked to stop; leaves a checkpoint either way."""
        while not self.finished and not stop.requested:
            self.advance(self._next_event(checkpoint_every))
            last = self.finished
            if last or self.iteration % INTERVAL == 0 or self.books.evaluation_due(self.iteration, last=last):
                self.books.log(self._record(), self.policy, events, last=last)
            self.books.snapshot(self.iteration, self.policy, last=last)
            if self.iteration % checkpoint_every == 0 and not last:
                self.save()
        self.save()

    def advance(self, until: int) -> None:
        """Train up to an iteration, and validate where that counts towards stopping early."""
        self.state, nonfinite = self.learner.train(self.state, self.data, self.iteration, until, self.key)
        check_finite({"nonfinite_policy": nonfinite.item()}, until - 1, self.folder.path)
        self.iteration = until
        if self.config.bc.patience and self.iteration % INTERVAL == 0:
            self.state = self.learner.judge(self.state, self.learner.loss(self.state, self.data))
        self.policy = self.learner.policy(self.state, self.data, self.actions)

    @property
    def finished(self) -> bool:
        return self.iteration >= self.config.iterations or self.learner.stopped(self.state)

    @property
    def transitions(self) -> int:
        return self.iteration * self.config.transitions_per_iteration

    def _next_event(self, checkpoint_every: int) -> int:
        """The iteration after which something has to be done; how far one call of the compiled loop goes."""
        every = self.config.every
        wanted = (self.config.evaluate_every, self.config.snapshot_every)
        intervals = [INTERVAL, checkpoint_every, *(every(interval) for interval in wanted if interval > 0)]
        return min(self.config.iterations, *((self.iteration // n + 1) * n for n in intervals))

    def _record(self) -> dict[str, Any]:
        """What to log; the training loss is the mean since the line before."""
        losses = {"train_loss": (self.state.loss_sum / self.state.loss_count).item()}
        self.state = forget_losses(self.state)
        if self.config.bc.validation:
            losses["validation_loss"] = self.learner.loss(self.state, self.data).item()
        check_finite(losses, self.iteration - 1, self.folder.path)
        early = self.learner.stopped(self.state)
        return {
            "iteration": self.iteration,
            "transitions": self.transitions,
            "gradient_steps": self.iteration * self.config.bc.steps_per_iteration,
            **losses,
            **({"stopped_early": True} if early else {}),
        }

    # -- stopping and going on -------------------------------------------------------------------

    def save(self) -> None:
        self.books.save(self.iteration, self.policy, flatten(self.state))

    def start(self) -> None:
        """Nothing: no environment has to be ready."""

    def restore(self) -> None:
        """Go back to the newest whole checkpoint, or to the beginning where there is none."""
        checkpoint = self.books.newest_checkpoint()
        if checkpoint is None:
            return
        self.state = unflatten(self.state, checkpoint.arrays)
        self.policy = self.learner.policy(self.state, self.data, self.actions)
        self.iteration = checkpoint.iteration
        self.books.go_on_from(checkpoint)
        if self.learner.stopped(self.state):
            self.progress.note(
                "This run has finished: it stopped early, because the loss on held-out demonstrations no longer fell."
            )
