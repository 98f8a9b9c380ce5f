"""Behaviour cloning from start to end: in memory (`clone`), or in the loop of a run.

No transitions are made. An iteration is a few gradient steps. It stands for the transitions of an iteration of other
methods, so that lengths, intervals and logs line up.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from rilco.bc.config import BcConfig
from rilco.bc.data import prepare
from rilco.bc.learner import INTERVAL, BcLearner, BcState, judge
from rilco.data.fitting import load_for
from rilco.data.loading import Given
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError, whole
from rilco.policy.heads import make_head
from rilco.policy.saved import Policy
from rilco.runs.checkpoint import Checkpoint, flatten, unflatten
from rilco.runs.loop import check_finite
from rilco.runs.metrics import STOPPED
from rilco.tasks.actions import Actions
from rilco.tasks.table import Task

MOST_CHOICES = 10_000
"""Each is an output of the policy."""


def clone(
    demos: Given,
    config: BcConfig = BcConfig(),
    *,
    gradient_steps: int = 50_000,
    seed: int = 1,
    weights: Sequence[float] | np.ndarray | None = None,
    task: Task | str | None = None,
    env: Any = None,
    env_kwargs: Mapping[str, Any] | None = None,
) -> Policy:
    """Clone demonstrations, files of them, or arrays as `train` takes them, without a run folder.

    `weights` [N], 0 or more, say how much each pair counts. The number of gradient steps is rounded up to whole
    iterations. With a `task` or `env`, those of `train`, demonstrations are checked against it, and the policy is that of
    `rilco train --method bc` with this seed. Without one, actions are told from the demonstrations alone.

        >>> policy = rilco.clone(rilco.load_demonstrations("mine.hdf5"), gradient_steps=500)
        >>> policy.predict(np.array([1.0, 0.0, 0.0])).shape
        (1,)
    """
    actions, card = None, {}
    if task is None and env is None:
        given = load_for(Task(), demos)
    else:
        place = Task.of(task, env, env_kwargs)
        actions, card = place.spaces().actions, place.card()
        given = load_for(place, demos)
    iterations = -(-whole("gradient-steps", gradient_steps) // config.steps_per_iteration)
    cloner = Cloner(config, given, seed=seed, iterations=iterations, weights=weights, actions=actions)
    while not cloner.finished:
        cloner.advance(iterations)
    return replace(cloner.policy, card={**card, "method": "bc", "seed": seed})


class Cloner:
    """Cloning in progress; see `rilco.runs.loop.Training`."""

    log_every = INTERVAL
    exact = True

    def __init__(
        self,
        config: BcConfig,
        demos: Demonstrations,
        *,
        seed: int,
        iterations: int,
        weights: Sequence[float] | np.ndarray | None = None,
        actions: Actions | None = None,
    ) -> None:
        self.config, self.iterations = config, iterations
        given = Actions.of(demos.action, discrete=demos.discrete) if actions is None else actions
        if max(given.choices, default=0) > MOST_CHOICES:
            raise DemonstrationError(
                f"The actions are choices up to {demos.action.max():g}; at most {MOST_CHOICES:,} values are told apart. Number "
                "them from 0; if they are quantities, store them as floating-point numbers."
            )
        self.actions = given.fitted(demos.action)
        self.data = prepare(demos, config, seed, weights, self.actions)
        self._demos = demos
        self.learner = BcLearner(config, make_head(self.actions))
        self.key = jax.random.key(seed)
        self.state: BcState = self.learner.init(self.key, demos.obs_dim, self.actions.width)
        self.iteration = 0

    @functools.cached_property
    def fingerprint(self) -> str:
        """Digest of the demonstrations, of what is held out, and of the weights."""
        depends = hashlib.sha256(np.asarray(self.data.trained_rows).tobytes())
        if self.data.weight is not None:
            depends.update(np.asarray(self.data.weight).tobytes())
        return self._demos.fingerprint() + depends.hexdigest()

    @property
    def policy(self) -> Policy:
        return self.learner.policy(self.state, self.data, self.actions)

    @property
    def finished(self) -> bool:
        return self.iteration >= self.iterations or self.learner.stopped(self.state)

    def start(self) -> None:
        """Nothing: no environment has to be ready."""

    def advance(self, until: int) -> None:
        """Train up to an iteration or the next validation, and validate where that counts towards stopping early."""
        until = min(until, (self.iteration // INTERVAL + 1) * INTERVAL)
        self.state, nonfinite = self.learner.train(self.state, self.data, self.iteration, until, self.key)
        check_finite({"nonfinite_policy": nonfinite.item()}, until)
        self.iteration = until
        if self.config.patience and self.iteration % INTERVAL == 0:
            self.state = judge(self.state, self.learner.loss(self.state, self.data))

    def record(self) -> dict[str, Any]:
        """The training loss is the mean since the line before."""
        total, count = self.state.loss_sum, self.state.loss_count
        losses = {"train_loss": (total / count.astype(total.dtype)).item()}
        self.state = self.state._replace(loss_sum=jnp.zeros_like(total), loss_count=jnp.zeros_like(count))
        if self.config.validation:
            losses["validation_loss"] = self.learner.loss(self.state, self.data).item()
        check_finite(losses, self.iteration)
        early = {STOPPED: True} if self.learner.stopped(self.state) else {}
        return {"gradient_steps": self.iteration * self.config.steps_per_iteration, **losses, **early}

    def arrays(self) -> dict[str, np.ndarray]:
        return flatten(self.state)

    def restore(self, checkpoint: Checkpoint) -> None:
        self.state = unflatten(self.state, checkpoint.arrays)
        self.iteration = checkpoint.iteration
