"""Training: collect, learn the reward, relabel, learn the policy, log; now and then evaluate and checkpoint."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from rilco.bc.training import Cloner
from rilco.clean import config as cleaning
from rilco.config import RunConfig
from rilco.data.fitting import fit
from rilco.data.loading import load_demonstrations
from rilco.data.record import Demonstrations, by_episode
from rilco.data.standard import Say, standard_files
from rilco.errors import ConfigError, RunError
from rilco.learning import Learner, LearnerState, make_learner, to_experience
from rilco.methods import (
    check_actions,
    make_policy_learner,
    make_reward_learner,
    needs_demonstrations,
    num_classifiers,
)
from rilco.normalizer import normalize, on_device, on_host, update_normalizer
from rilco.policy.saved import Policy, load_policy
from rilco.rewards.learner import DemoArrays, RewardLearner
from rilco.rollout.episodes import UnfinishedEpisodes
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import RolloutPool, Transitions, default_workers
from rilco.runs.books import Bookkeeper, check_finite
from rilco.runs.checkpoint import flatten, load_checkpoint, unflatten
from rilco.runs.clock import Clock
from rilco.runs.folder import Run, RunFolder, open_run
from rilco.runs.interrupt import StopSignal
from rilco.runs.progress import Progress, make_progress
from rilco.runs.tensorboard import EventWriter, open_events
from rilco.seeding import DEMONSTRATIONS, generator
from rilco.tasks.actions import Actions

RECENT_EPISODES = 100  # the logged episode return is the mean over so many


class Trainer:
    """One run in progress. `run()` is the loop; the rest is what it takes to stop and go on."""

    def __init__(
        self,
        config: RunConfig,
        demos: Demonstrations | None,
        known: Demonstrations | None,
        pool: RolloutPool,
        folder: RunFolder,
        progress: Progress,
    ) -> None:
        self.config, self.pool, self.folder, self.progress = config, pool, folder, progress
        self.demos = None if demos is None else _arrays(demos, known, pool.sizes.actions)
        self.books = Bookkeeper(config, pool, folder, progress, _fingerprint(demos, known))
        self.reward_learner: RewardLearner | None = make_reward_learner(
            config, num_demonstrators=1 if demos is None else len(demos.demonstrator_names)
        )
        self.learner: Learner = _make_learner(config, self.reward_learner, pool.sizes.actions)
        self.key = jax.random.key(config.seed)
        sizes = pool.sizes
        self.state: LearnerState = self.learner.init(
            self.key, sizes.obs_dim, sizes.action_dim, sizes.num_envs
        )
        self.policy: Policy = self.learner.policy(self.state)
        self.iteration = 0
        self._drawn: dict[int, Any] = {}  # demonstrations of an iteration to come
        self.episodes = UnfinishedEpisodes(sizes.num_envs)
        self.recent: list[float] = []

    def _begin_with(self, policy: Policy) -> None:
        """Start from a policy that there is."""
        ours, theirs = self.policy, policy
        shapes = [(p.obs_dim, p.hidden_sizes, p.action_dim, p.actions) for p in (ours, theirs)]
        if shapes[0] != shapes[1]:
            raise ConfigError(
                f"--start-from {self.config.start_from}: is {theirs!r}, but this run's policy is {ours!r}. Choose a "
                "policy of the same environment, units of actions and size, or set the sizes to its own."
            )
        self.state = self.learner.with_policy(self.state, policy)
        self.policy = self.learner.policy(self.state)

    def run(self, stop: StopSignal, events: EventWriter, checkpoint_every: int) -> None:
        """Iterate until done or asked to stop; leaves a checkpoint either way."""
        while self.iteration < self.config.iterations and not stop.requested:
            record = self.iterate()
            last = self.iteration == self.config.iterations
            self.books.log(record, self.policy, events, last=last)
            self.books.snapshot(self.iteration, self.policy, last=last)
            if self.iteration % checkpoint_every == 0 and not last:
                self.save()
        self.save()

    def iterate(self) -> dict[str, Any]:
        """One iteration: collect, then learn reward and policy. Returns what to log."""
        self.clock.lap("other")
        if self.iteration == self.learner.moving_iterations:
            self._prepare()
        transitions = self._collect()
        self.clock.lap("collect")
        batches = self._demonstrations(self.iteration)
        self.state, info = self.learner.learn(
            self.state, to_experience(transitions), batches, self.iteration, self.key
        )
        self._drawn = {self.iteration + 1: self._draw(self.iteration + 1)}  # while JAX learns on another core
        self.policy = self.learner.policy(self.state)
        values = {name: value.item() for name, value in info.items()}
        self.clock.lap("learn")
        check_finite(values, self.iteration, self.folder.path)
        self.episodes.record(transitions)
        self.recent = [*self.recent, *transitions.episode_returns.tolist()][-RECENT_EPISODES:]
        self.iteration += 1
        return {
            "iteration": self.iteration,
            "transitions": self.transitions,
            "episode_return": float(np.mean(self.recent)) if self.recent else None,
            **{name: value for name, value in values.items() if not name.startswith("nonfinite")},
        }

    def _collect(self) -> Transitions:
        """Experience of one iteration; in the first ones every step's observations count at once."""
        if self.iteration >= self.learner.moving_iterations:
            return self.pool.collect(self.policy, self.iteration)
        statistics = on_host(self.state.normalizer)

        def observe(obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            nonlocal statistics
            statistics = update_normalizer(statistics, obs)
            return statistics.mean, statistics.var

        transitions = self.pool.collect(self.policy, self.iteration, observe)
        self.state = self.state._replace(normalizer=on_device(statistics))
        return transitions

    def _prepare(self) -> None:
        """What a reward learner does once, now that the observation statistics are final."""
        if self.reward_learner is None or self.reward_learner.prepare is None or self.demos is None:
            return
        normalized = functools.partial(normalize, self.state.normalizer)
        reward = self.reward_learner.prepare(self.state.reward, self.demos, normalized, self.key)
        self.state = self.state._replace(reward=reward)

    @property
    def clock(self) -> Clock:
        return self.books.clock

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

    # -- stopping and going on -------------------------------------------------------------------

    def save(self) -> None:
        arrays = {**flatten(self.state), **self.episodes.arrays()}
        self.books.save(self.iteration, self.policy, arrays, {"recent_returns": self.recent})

    def start(self) -> None:
        """Begin every environment's first episode, whose observations are the first that count."""
        if self.config.start_from:
            self._begin_with(load_policy(self.config.start_from))
        first = self.pool.start()
        if not self.config.start_from:
            statistics = update_normalizer(on_host(self.state.normalizer), first)
            self.state = self.state._replace(normalizer=on_device(statistics))
            self.policy = self.learner.policy(self.state)

    def restore(self) -> None:
        """Go back to the newest whole checkpoint, or to the beginning where there is none."""
        checkpoint = self.books.newest_checkpoint()
        if checkpoint is None:
            self.start()
            return
        self.state = unflatten(self.state, checkpoint.arrays)
        self.policy = self.learner.policy(self.state)
        self.iteration = checkpoint.iteration
        self.recent = list(checkpoint.facts["recent_returns"])
        self.episodes, exact = UnfinishedEpisodes.restore(checkpoint.arrays, self.pool)
        if not exact:
            self.progress.note(
                "The environments did not return to exactly where they were: this environment does not repeat an "
                "episode from its seed and actions. Training goes on, but not bit-identically."
            )
        self.books.go_on_from(checkpoint)


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
    if config.method == cleaning.METHOD:
        raise ValueError(f"{config.method} is several runs: use rilco.api.train_config.")
    say = (lambda line: None) if quiet else functools.partial(print, file=sys.stderr)
    check_actions(config.method, config.task.spaces().actions)
    demos, known = read_demonstrations(config, say), read_known(config)
    if demos is not None and config.method != "bc":
        _warn_if_few(demos, config)
    workers = workers or default_workers()
    sizes = pool_sizes(config, demos, workers)
    with (
        StopSignal() if stop is None else contextlib.nullcontext(stop) as stop,
        open_run(path, config, resume=resume) as folder,
        make_progress(config, path, quiet=quiet) as progress,
        RolloutPool(config.task, sizes, seed=config.seed, num_workers=workers) as pool,
    ):
        stop.raise_if_requested()  # before anything is learned
        trainer: Trainer | Cloner
        if config.method == "bc" and demos is not None:
            trainer = Cloner(config, demos, pool, folder, progress)
        else:
            trainer = Trainer(config, demos, known, pool, folder, progress)
        if resume:
            trainer.restore()
        else:
            trainer.start()
        with open_events(path / "events", resumed_at=trainer.transitions, wanted=tensorboard) as events:
            trainer.run(stop, events, checkpoint_every)
    stop.raise_if_requested()
    return Run(path)


def load_state(run: Run) -> LearnerState:
    """What a run has learned by its last checkpoint."""
    config = run.config
    obs_dim, action_dim = config.task.dimensions()
    actions = config.task.spaces().actions
    learner = _make_learner(config, make_reward_learner(config, num_demonstrators=1), actions)
    template = learner.init(jax.random.key(config.seed), obs_dim, action_dim, config.num_envs)
    checkpoint, complaints = load_checkpoint(run.path / "checkpoints")
    if checkpoint is None:
        raise RunError(
            f"{run.path}: has no checkpoint to read. {' '.join(complaints)} Train first, or again."
        )
    return unflatten(template, checkpoint.arrays)


def _make_learner(config: RunConfig, reward_learner: RewardLearner | None, actions: Actions) -> Learner:
    return make_learner(
        reward_learner,
        make_policy_learner(config, actions),
        actions=actions,
        discount=config.policy_settings.discount,
        # A given policy's network goes with its statistics: imitation keeps both as they are.
        freeze_normalizer_after=0 if config.start_from else config.freeze_normalizer_after,
        hold_actor_for=config.hold_actor_for if config.start_from else 0,
    )


def read_demonstrations(config: RunConfig, say: Say = lambda line: None) -> Demonstrations | None:
    """The demonstrations that a run learns from, as its environment would show them: its files, or the task's
    standard dataset."""
    if not needs_demonstrations(config.method):
        return None
    files = config.demos or standard_files(config.task, config.demo_kind, say=say)
    demos = _load(config, files, config.noise_rate)
    return by_episode(demos) if config.episodes_as_demonstrators else demos


def read_known(config: RunConfig) -> Demonstrations | None:
    """Pairs that are known to be non-expert, if there are any."""
    if not config.nonexpert_demos:
        return None
    return _load(config, config.nonexpert_demos)


def _load(config: RunConfig, files: Sequence[str], noise_rate: float | None = None) -> Demonstrations:
    """Files, of whose named parts of observations those are used that the environment shows."""
    spaces = config.task.spaces()
    names = spaces.observations.names
    keys: dict[str, Any] = {"obs_keys": names, "flat_too": True} if names else {"obs_keys": config.obs_keys}
    demos = load_demonstrations(files, noise_rate, seed=config.seed, **keys)
    return fit(demos, spaces, config.task.name)


def _arrays(demos: Demonstrations, known: Demonstrations | None, actions: Actions) -> DemoArrays:
    arrays = DemoArrays(demos.obs, actions.encode(demos.action), demos.demonstrator)
    if known is None:
        return arrays
    return arrays._replace(known_obs=known.obs, known_action=actions.encode(known.action))


def _fingerprint(demos: Demonstrations | None, known: Demonstrations | None) -> str | None:
    """Of all that training reads of the data; a run can only go on with the same."""
    return (
        None if demos is None else "".join(part.fingerprint() for part in (demos, known) if part is not None)
    )


def run_actions(config: RunConfig, demos: Demonstrations | None) -> Actions:
    """A run's kind of actions. Where the environment has no units, those of the policy it starts from, or its data."""
    actions = config.task.spaces().actions
    if config.start_from and 0.0 in actions.scale:
        theirs = load_policy(config.start_from).actions
        return theirs if theirs.shape == actions.shape else actions.fitted(None)
    return actions.fitted(None if demos is None else demos.action)


def pool_sizes(config: RunConfig, demos: Demonstrations | None, workers: int) -> Sizes:
    """What the workers hold; cloning only evaluates, so an environment for each of them is enough."""
    obs_dim, actions = config.task.dimensions()[0], run_actions(config, demos)
    if config.method == "bc":
        return Sizes(workers, 1, obs_dim, actions, config.bc.hidden_sizes)
    return Sizes(config.num_envs, config.num_steps, obs_dim, actions, config.policy_settings.hidden_sizes)


def _warn_if_few(demos: Demonstrations, config: RunConfig) -> None:
    wanted, each = config.classifier.batch, len(demos) // num_classifiers(config.method)
    if each < wanted:
        warnings.warn(
            f"Only {len(demos)} demonstration pairs, {each} for each classifier, fewer than one mini-batch of "
            f"{wanted}: they are drawn with replacement, and a classifier may learn them by heart.",
            stacklevel=3,
        )
