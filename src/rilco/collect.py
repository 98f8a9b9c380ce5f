"""Demonstrations from policies: whole episodes, with everything that is known about them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rilco.demonstrations import Demonstrations
from rilco.policy.saved import Policy
from rilco.rollout.seeding import ACTION_NOISE, EVALUATION, RepositionedGenerator, generator
from rilco.tasks.table import Task

Progress = Callable[[int], None]


def collect(
    policy: Policy,
    task: Task,
    *,
    pairs: int = 10_000,
    seed: int = 0,
    deterministic: bool = True,
    expert: bool | None = None,
    name: str = "policy",
    num_envs: int = 4,
    progress: Progress = lambda pairs: None,
) -> Demonstrations:
    """At least `pairs` pairs in whole episodes, in order; the same arguments give the same bytes.

    A few environments play episodes side by side; an episode's start depends on its number alone.
    """
    batch = task.make_batch(num_envs)
    seeds = RepositionedGenerator(seed, EVALUATION)
    noise = generator(seed, ACTION_NOISE, 0)
    done: dict[int, dict[str, np.ndarray]] = {}
    playing = list(range(num_envs))
    open_episodes = [_Recording() for _ in playing]
    try:
        obs = batch.reset(range(num_envs), (seeds.at(episode) for episode in playing))
        # Episodes in order of their number until they hold enough; the last ones are played to their end.
        while _leading_pairs(done) < pairs:
            action = policy.predict(obs, deterministic=deterministic, rng=noise)
            outcome = batch.step(action)
            for row, recording in enumerate(open_episodes):
                ended = bool(outcome.terminated[row]), bool(outcome.truncated[row])
                recording.add(obs[row], action[row], outcome.reward[row], *ended)
            obs = outcome.obs.copy()
            for row in np.flatnonzero(outcome.terminated | outcome.truncated).tolist():
                done[playing[row]] = open_episodes[row].arrays()
                playing[row], open_episodes[row] = max(playing) + 1, _Recording()
                obs[row] = batch.reset([row], [seeds.at(playing[row])])[0]
            progress(min(pairs, _leading_pairs(done)))
    finally:
        batch.close()
    return _join(done, pairs, expert, name)


class _Recording:
    """One episode in the making."""

    def __init__(self) -> None:
        self.rows: list[tuple[np.ndarray, np.ndarray, float, bool, bool]] = []

    def add(
        self, obs: np.ndarray, action: np.ndarray, reward: float, terminated: bool, truncated: bool
    ) -> None:
        self.rows.append((obs.copy(), action.copy(), float(reward), terminated, truncated))

    def arrays(self) -> dict[str, np.ndarray]:
        names = ("obs", "action", "reward", "terminated", "truncated")
        return {
            name: np.array(column) for name, column in zip(names, zip(*self.rows, strict=True), strict=True)
        }


def _leading_pairs(done: dict[int, dict[str, np.ndarray]]) -> int:
    """Pairs in episodes 0, 1, 2, ... up to the first that is not finished."""
    total = episode = 0
    while episode in done:
        total += len(done[episode]["obs"])
        episode += 1
    return total


def _join(
    done: dict[int, dict[str, np.ndarray]], pairs: int, expert: bool | None, name: str
) -> Demonstrations:
    chosen: list[dict[str, np.ndarray]] = []
    total = 0
    while total < pairs:
        chosen.append(done[len(chosen)])
        total += len(chosen[-1]["obs"])
    columns = {key: np.concatenate([episode[key] for episode in chosen]) for key in chosen[0]}
    lengths = [len(episode["obs"]) for episode in chosen]
    return Demonstrations(
        columns["obs"],
        columns["action"],
        reward=columns["reward"],
        terminated=columns["terminated"],
        truncated=columns["truncated"],
        episode=np.repeat(np.arange(len(chosen)), lengths),
        expert=None if expert is None else np.full(total, expert),
        demonstrator_names=(name,),
    )
