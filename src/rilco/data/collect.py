"""Demonstrations from policies: whole episodes, with everything that is known about them."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rilco.data.record import Demonstrations
from rilco.errors import ConfigError, RilcoError, TaskError, whole
from rilco.evaluation import check_fits, task_of
from rilco.policy.saved import Policy, load_policy
from rilco.seeding import ACTION_NOISE, EVALUATION, RepositionedGenerator, generator
from rilco.tasks.table import Task

Progress = Callable[[int], None]

GAUSSIAN_FRACTIONS = tuple(published / 3500 for published in (1500, 1000, 800, 500, 400))
"""Returns of the paper's five Gaussian non-experts as fractions of the expert's (Tangkaratt et al. 2021, Table 2,
row Ant (Gaussian))."""

ROUNDS = 10  # of bisection, at most
TOLERANCE = 0.02  # of the return without noise: how near a fraction is near enough
VARIANCES = (1e-3, 1e2)
"""Where a variance is looked for. In its units an action is of order 1: the least is no disturbance, the largest drowns
it."""


def collect(
    policy: Policy | str | os.PathLike[str],
    task: Task | str | None = None,
    *,
    env: Any = None,
    env_kwargs: Mapping[str, Any] | None = None,
    trust_env: bool = False,
    pairs: int = 10_000,
    episodes: int | None = None,
    seed: int = 0,
    deterministic: bool = True,
    action_noise: float = 0.0,
    expert: bool | None = None,
    name: str = "policy",
    num_envs: int = 4,
    progress: Progress = lambda done: None,
) -> Demonstrations:
    """Play at least `pairs` pairs in whole episodes, or this number of `episodes`; the same arguments give the same bytes.

    `policy` may be anything that `load_policy` takes, and plays in its own environment, unless `task` or `env` says
    otherwise. They, `env_kwargs` and `trust_env` are those of `evaluate`.
    `num_envs` environments play side by side. An episode's start and its noise depend on its number alone.
    `action_noise` is the variance of Gaussian noise on every action, in units of the policy's actions. Actions are
    recorded with their noise, before the environment cuts them to its bounds. `progress` is told how many pairs, or episodes, are finished.

        >>> rilco.collect("runs/mine", episodes=2)
        Demonstrations(obs=[400, 3], action=[400, 1], episodes=2, demonstrators=1, known=[reward, terminated, truncated])
    """
    pairs, num_envs = whole("pairs", pairs), whole("num-envs", num_envs)
    episodes = None if episodes is None else whole("episodes", episodes)
    if not 0.0 <= action_noise < math.inf:
        raise ConfigError(f"--action-noise {action_noise}: expected a variance, a number of at least 0.")
    policy = load_policy(policy)
    place = task_of(policy, task=task, env=env, env_kwargs=env_kwargs, trust_env=trust_env)
    std = _action_std(policy, deterministic, action_noise)
    wanted = pairs if episodes is None else episodes
    chosen, done = [], 0
    num_envs = num_envs if episodes is None else min(num_envs, episodes)
    with contextlib.closing(_play(policy, place, std, seed, num_envs)) as played:
        for columns in played:
            chosen.append(columns)
            done += len(columns[0]) if episodes is None else 1
            progress(min(done, wanted))
            if done >= wanted:
                break
    obs, action, reward, terminated, truncated = map(np.concatenate, zip(*chosen, strict=True))
    return Demonstrations(
        obs,
        action,
        discrete=bool(policy.actions.choices),
        reward=reward,
        terminated=terminated,
        truncated=truncated,
        episode=np.repeat(np.arange(len(chosen)), [len(columns[0]) for columns in chosen]),
        expert=None if expert is None else np.full(len(obs), expert),
        demonstrator_names=(name,),
    )


class _Playing(NamedTuple):
    """One episode in the making."""

    episode: int
    rng: np.random.Generator  # of the noise on its actions
    steps: list[tuple[np.ndarray, np.ndarray, float, bool, bool]]


def _play(
    policy: Policy, task: Task, std: np.ndarray | None, seed: int, num_envs: int
) -> Generator[list[np.ndarray], None, None]:
    """Whole episodes in the order of their numbers: obs, action, reward, terminated and truncated of each."""
    seeds = RepositionedGenerator(seed, EVALUATION)
    playing = [_Playing(k, generator(seed, ACTION_NOISE, k), []) for k in range(num_envs)]
    ended: dict[int, list[np.ndarray]] = {}  # that wait for an earlier one
    next_number = 0
    with _environment_of(task), contextlib.closing(task.make_batch(num_envs)) as batch:
        check_fits(policy, task)
        obs = batch.reset(range(num_envs), (seeds.at(one.episode) for one in playing))
        while True:
            noise = None if std is None else np.stack([policy.actions.noise(one.rng) for one in playing])
            output = policy.actions.act(policy.mean(obs), noise, 0.0 if std is None else std)
            action = policy.actions.decode(output)
            outcome = batch.step(action)
            for row, one in enumerate(playing):
                ends = bool(outcome.terminated[row]), bool(outcome.truncated[row])
                one.steps.append((obs[row].copy(), action[row].copy(), float(outcome.reward[row]), *ends))
            obs = outcome.obs.copy()
            for row in np.flatnonzero(outcome.terminated | outcome.truncated).tolist():
                ended[playing[row].episode] = list(map(np.array, zip(*playing[row].steps, strict=True)))
                k = 1 + max(one.episode for one in playing)
                playing[row] = _Playing(k, generator(seed, ACTION_NOISE, k), [])
                obs[row] = batch.reset([row], [seeds.at(k)])[0]
            while next_number in ended:
                yield ended.pop(next_number)
                next_number += 1


def find_variances(
    policy: Policy, task: Task, fractions: Sequence[float] = GAUSSIAN_FRACTIONS, *, episodes: int = 6
) -> list[float]:
    """For each fraction of the policy's own return, a variance of action noise that brings it there.

    Bisection of the variance's logarithm, until the return of a few episodes is within TOLERANCE of it. Every trial
    plays the same episodes with the same noise, scaled, and serves all fractions. Where episodes are too few for that,
    the nearest trial is taken.
    """

    def play(variance: float) -> float:
        reward = collect(policy, task, episodes=episodes, action_noise=variance).reward
        return float(np.sum(np.asarray(reward), dtype=np.float64)) / episodes

    best = play(0.0)
    if not best > 0.0:
        raise TaskError(
            f"{task.name}: without noise the policy's return over {episodes} episodes is {best:,.1f}; fractions "
            "of it mean something only if it is positive. Choose a better policy."
        )
    least, most = VARIANCES
    tried = {least: best, most: play(most)}  # the least is as good as none, and not played
    found = []
    for fraction in fractions:
        target = fraction * best
        if not tried[most] < target < best:
            raise TaskError(
                f"{task.name}: no noise brings the return from {best:,.1f} to {fraction:.2f} of that; at the "
                f"variance {most:g} it is {tried[most]:,.1f}. Choose fractions between "
                f"{tried[most] / best:.2f} and 1."
            )
        for _ in range(ROUNDS):
            if min(abs(value - target) for value in tried.values()) <= TOLERANCE * best:
                break
            # Between the least variance that is too much and the one tried below it, the return passes the target.
            ordered = sorted(tried)
            above = next(i for i, variance in enumerate(ordered) if tried[variance] < target)
            variance = math.sqrt(ordered[above - 1] * ordered[above])
            tried[variance] = play(variance)
        found.append(min(tried, key=lambda variance: abs(tried[variance] - target)))
    return found


def _action_std(policy: Policy, deterministic: bool, action_noise: float) -> np.ndarray | None:
    """[action_dim]: of the policy's own noise and of what is added, or None if there is neither. Choices have none."""
    if policy.actions.choices:
        if action_noise:
            raise ConfigError(
                f"--action-noise {action_noise}: has no meaning for {policy!r}, whose actions are choices. Sample them "
                "instead: --stochastic."
            )
        return None if deterministic else np.zeros(0, np.float32)
    own = np.zeros(policy.action_dim) if deterministic else np.exp(2.0 * policy.log_std)
    variance = own + action_noise
    return np.sqrt(variance).astype(np.float32) if variance.any() else None


@contextlib.contextmanager
def _environment_of(task: Task) -> Iterator[None]:
    """An environment of the user's may raise anything; the error says whose it is."""
    try:
        yield
    except RilcoError:
        raise
    except Exception as error:
        raise TaskError(
            f"{task.name}: the environment raised {type(error).__name__}: {error}. Nothing was "
            "collected. Fix the environment."
        ) from error
