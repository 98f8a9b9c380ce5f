"""Training: collect, learn the reward, relabel, learn the policy. The loop around it is `rilco.runs.loop`."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np

from rilco.bc.training import Cloner
from rilco.config import RunConfig
from rilco.data.record import Demonstrations
from rilco.data.run_data import Data, read_data
from rilco.errors import ConfigError, RunError, TrainingError
from rilco.learning import Learner, keep_compiled_programs, let_threads_sleep, run_key, to_experience
from rilco.methods import find, make_policy_learner, make_reward_learner
from rilco.normalizer import normalize, on_device, on_host, update_normalizer
from rilco.policy.saved import Policy, load_policy
from rilco.rewards.learner import DemoArrays, RewardLearner
from rilco.rollout.episodes import UnfinishedEpisodes
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import RolloutPool, Transitions
from rilco.runs.checkpoint import Checkpoint, flatten, unflatten
from rilco.runs.folder import Run, open_run
from rilco.runs.how import How
from rilco.runs.loop import Loop, check_finite, restore
from rilco.runs.paths import EVENTS
from rilco.runs.progress import Progress
from rilco.runs.standing import standing
from rilco.runs.tensorboard import TensorBoard
from rilco.seeding import DEMONSTRATIONS, generator
from rilco.tasks.actions import Actions
from rilco.tasks.observations import LARGEST_OBS

RECENT_EPISODES = 100  # in the mean that is logged


class Trainer:
    """Learning in progress; see `rilco.runs.loop.Training`. Acts in the environments of `pool`."""

    log_every = 1

    def __init__(self, config: RunConfig, data: Data, pool: RolloutPool) -> None:
        keep_compiled_programs()
        let_threads_sleep()
        self.config, self.data, self.pool = config, data, pool
        self.demos = _demo_arrays(data, pool.sizes.actions)
        makers, sizes = 1 if data.demos is None else len(data.demos.demonstrator_names), pool.sizes
        self.reward_learner = make_reward_learner(config, num_demonstrators=makers)
        self.learner = _learner(config, self.reward_learner, sizes.actions)
        self.key = run_key(config.seed)
        self.state = self.learner.init(self.key, sizes.obs_dim, sizes.action_dim, sizes.num_envs)
        self.policy: Policy = self.learner.policy(self.state)
        self.iteration, self.exact = 0, True
        self.episodes = UnfinishedEpisodes(pool.sizes.num_envs)
        self.recent: list[float] = []
        self.seconds: dict[str, float] = defaultdict(float)
        """Where the time went: `collect` and `learn`."""
        self._drawn: dict[int, Any] = {}  # demonstrations of an iteration to come
        self._values: dict[str, float] = {}  # of the newest iteration

    @functools.cached_property
    def fingerprint(self) -> str | None:
        return self.data.fingerprint()

    @property
    def finished(self) -> bool:
        return self.iteration >= self.config.iterations

    @property
    def transitions(self) -> int:
        return self.iteration * self.config.transitions_per_iteration

    def start(self) -> None:
        """Begin every environment's first episode, whose observations are the first that count, or the demonstrations'."""
        if self.config.start_from:
            self._begin_with(load_policy(self.config.start_from))
        first = self.pool.start()
        if not self.config.start_from:
            if self.config.freeze_normalizer_after == 0 and self.demos is not None:
                first = self.demos.obs
            statistics = update_normalizer(on_host(self.state.normalizer), first)
            self.state = self.state._replace(normalizer=on_device(statistics))
            self.policy = self.learner.policy(self.state)

    def _begin_with(self, policy: Policy) -> None:
        """Start from a given policy, in this run's units of actions."""
        ours, theirs = self.policy, policy.written_as(self.policy.actions)
        shapes = [(p.obs_dim, p.hidden_sizes, p.action_dim, p.actions) for p in (ours, theirs)]
        if shapes[0] != shapes[1]:
            raise ConfigError(
                f"--start-from {self.config.start_from}: is {theirs!r}, but this run's policy is {ours!r}. Choose a "
                "policy of the same environment and size, or set the sizes to its own."
            )
        self.state = self.learner.with_policy(self.state, theirs)
        self.policy = self.learner.policy(self.state)

    def advance(self, until: int | None = None) -> None:
        """One iteration, whatever comes after it: collect, then learn reward and policy."""
        begun = time.perf_counter()
        if self.iteration == self.learner.moving_iterations:
            self._prepare()
        transitions = self._collect()
        collected = time.perf_counter()
        if self.iteration not in self._drawn:  # the run just began
            self._drawn = {self.iteration: self._draw(self.iteration)}
        batches = self._drawn.pop(self.iteration)
        self.state, info = self.learner.learn(
            self.state, to_experience(transitions), batches, self.iteration, self.key
        )
        self._drawn = {self.iteration + 1: self._draw(self.iteration + 1)}  # while JAX learns on another core
        self.policy = self.learner.policy(self.state)
        self._values = {name: value.item() for name, value in info.items()}
        self.seconds["collect"] += collected - begun
        self.seconds["learn"] += time.perf_counter() - collected
        check_finite(self._values, self.iteration + 1)
        self.episodes.record(transitions)
        self.recent = [*self.recent, *transitions.episode_returns.tolist()][-RECENT_EPISODES:]
        self.iteration += 1

    def record(self) -> dict[str, Any]:
        """Metrics of the newest iteration."""
        episode_return = float(np.mean(self.recent)) if self.recent else None
        learned = {name: value for name, value in self._values.items() if not name.startswith("nonfinite")}
        return {"episode_return": episode_return, **learned}

    def _collect(self) -> Transitions:
        """Experience of one iteration; in the first ones every step's observations count at once."""
        if self.iteration >= self.learner.moving_iterations:
            return self.pool.collect(self.policy, self.iteration)
        statistics = on_host(self.state.normalizer)

        def observe(obs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            nonlocal statistics
            if (largest := np.abs(obs).max()) >= LARGEST_OBS:
                raise TrainingError(
                    f"Iteration {self.iteration + 1}: the environment showed {largest:g}; expected less than "
                    f"{LARGEST_OBS:g}, since squares of larger numbers overflow. Scale its observations."
                )
            statistics = update_normalizer(statistics, obs)
            return statistics.mean, statistics.var

        transitions = self.pool.collect(self.policy, self.iteration, observe)
        self.state = self.state._replace(normalizer=on_device(statistics))
        return transitions

    def _prepare(self) -> None:
        """Prepare the reward learner, once, now that the observation statistics are final."""
        if self.reward_learner is None or self.reward_learner.prepare is None or self.demos is None:
            return
        normalized = functools.partial(normalize, self.state.normalizer)
        reward = self.reward_learner.prepare(self.state.reward, self.demos, normalized, self.key)
        self.state = self.state._replace(reward=reward)

    def _draw(self, iteration: int) -> Any:
        if self.reward_learner is None or self.demos is None:
            return None
        rng = generator(self.config.seed, DEMONSTRATIONS, iteration)
        return jax.device_put(self.reward_learner.sample(self.demos, rng))

    def arrays(self) -> dict[str, np.ndarray]:
        recent = np.array(self.recent, np.float64)
        return {**flatten(self.state), **self.episodes.arrays(), "recent_returns": recent}

    def restore(self, checkpoint: Checkpoint) -> None:
        """Brings the environments back, too, by repeating their unfinished episodes."""
        self.state = unflatten(self.state, checkpoint.arrays)
        self.policy = self.learner.policy(self.state)
        self.iteration = checkpoint.iteration
        recent = checkpoint.arrays.get("recent_returns")  # None: from version 0.1
        self.recent = [] if recent is None else recent.tolist()
        self.episodes, self.exact = UnfinishedEpisodes.restore(checkpoint.arrays, self.pool)


def train_run(
    config: RunConfig, out: str | os.PathLike[str], *, how: How | None = None, resume: bool = False
) -> Run:
    """Train in the folder `out` and return the run. Ctrl-C leaves a checkpoint and raises KeyboardInterrupt."""
    with train_in(config, Path(out), how or How(), resume=resume):
        return Run(Path(out))


def train_if_needed(config: RunConfig, path: Path, how: How) -> Run:
    """Begin or resume the run in this folder, unless it is finished."""
    state = standing(config, path).state
    if state == "finished":
        return Run(path)
    return train_run(config, path, how=how, resume=state != "new")


@contextlib.contextmanager
def train_in(config: RunConfig, path: Path, how: How, *, resume: bool) -> Iterator[Trainer | Cloner]:
    """Train in a folder to the end. Inside of the context training can go on, in memory and in the same processes."""
    if find(config.method).runner == "several":
        raise ValueError(f"{config.method} is several runs: use rilco.api.train_config.")
    with how.stop:
        with how.stop.at_once():
            data = read_data(config, how.say)
        cloning = find(config.method).runner == "cloning"
        alone = cloning and config.evaluate_every < 0  # needs no environment
        with (
            open_run(path, config, resume=resume) as folder,
            contextlib.nullcontext() if alone else open_pool(config, data.demos, how.num_workers) as pool,
        ):
            how.stop.raise_if_requested()  # before anything is learned
            training = _cloner(config, data) if cloning or pool is None else Trainer(config, data, pool)
            with Progress(config, path, quiet=how.quiet) as progress:
                loop = Loop(config, training, folder, pool, progress)
                loop.begin(resume=resume)
                loop.run(how, [*_events(path, how), *how.callbacks])
            how.stop.raise_if_requested()
            yield training


def _cloner(config: RunConfig, data: Data) -> Cloner:
    if data.demos is None:
        raise ValueError(f"{config.method} clones nothing.")
    actions = run_actions(config, data.demos)
    return Cloner(config.bc, data.demos, seed=config.seed, iterations=config.iterations, actions=actions)


def _events(path: Path, how: How) -> list[TensorBoard]:
    """None without TensorBoard, unless a video was asked for, which is then an error."""
    wanted = how.video or (how.tensorboard and importlib.util.find_spec("tensorboard"))
    return [TensorBoard(path / EVENTS, video=how.video)] if wanted else []


@contextlib.contextmanager
def go_on(run: Run, how: How) -> Iterator[Trainer]:
    """A run of any method but cloning as its last checkpoint left it, to go on with in memory. Its folder is only read."""
    config = run.config
    data = read_data(config, how.say)
    with how.stop, open_pool(config, data.demos, how.num_workers) as pool:
        trainer = Trainer(config, data, pool)
        if restore(trainer, run.path, config)[0] is None:
            raise RunError(
                f"{run.path}: has no checkpoint to go on from. Was the folder thinned, or did training not begin? Expected "
                "the folder of `rilco train`."
            )
        yield trainer


def _learner(config: RunConfig, reward_learner: RewardLearner | None, actions: Actions) -> Learner:
    return Learner(
        # What is drawn on the host has no part in what is compiled.
        None if reward_learner is None else reward_learner._replace(sample=_not_drawn, prepare=None),
        make_policy_learner(config, actions),
        discount=config.policy_settings.discount,
        # A given policy's network goes with its statistics: imitation keeps both as they are.
        moving_iterations=0 if config.start_from else config.freeze_normalizer_after,
        hold_actor_for=config.hold_actor_for if config.start_from else 0,
        lasting_ends=config.lasting_ends,
        actions=actions,
    )


def _not_drawn(demos: DemoArrays, rng: np.random.Generator) -> Any:
    raise NotImplementedError


def open_pool(config: RunConfig, demos: Demonstrations | None, workers: int) -> RolloutPool:
    """A run's environments. Cloning only evaluates, so one for each worker is enough."""
    counts, hidden = (config.num_envs, config.num_steps), config.policy_settings.hidden_sizes
    if find(config.method).runner == "cloning":
        counts, hidden = (workers, 1), config.bc.hidden_sizes
    sizes = Sizes(*counts, config.task.dimensions()[0], run_actions(config, demos), hidden)
    return RolloutPool(config.task, sizes, seed=config.seed, num_workers=workers)


def run_actions(config: RunConfig, demos: Demonstrations | None) -> Actions:
    """A run's kind of actions. Where the environment has no units, those of the policy it starts from, or its data.

    Without an environment the data alone tell.
    """
    if not config.task.name and demos is not None:
        return Actions.of(demos.action, discrete=demos.discrete)
    actions = config.task.spaces().actions
    if config.start_from and 0.0 in actions.scale:
        theirs = load_policy(config.start_from).actions
        return theirs if theirs.shape == actions.shape else actions.fitted(None)
    return actions.fitted(None if demos is None else demos.action)


def _demo_arrays(data: Data, actions: Actions) -> DemoArrays | None:
    """Demonstrations as learners write them."""
    if data.demos is None:
        return None
    arrays = DemoArrays(data.demos.obs, actions.encode(data.demos.action), data.demos.demonstrator)
    if data.known is None:
        return arrays
    return arrays._replace(known_obs=data.known.obs, known_action=actions.encode(data.known.action))
