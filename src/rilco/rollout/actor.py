"""A worker's environments: act for a while, evaluate, replay. Runs inside the worker process."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rilco.policy.saved import Policy
from rilco.rollout.layout import SharedArrays, Sizes
from rilco.rollout.seeding import ACTION_NOISE, EPISODE, EVALUATION, generator
from rilco.tasks.table import Task

MAX_EVALUATION_STEPS = 10_000  # an environment without a time limit must not hang the run


class EnvironmentSlice:
    """Environments `first` to `last` of the run, with the episode that each of them is in.

    The policy is always evaluated on the whole run's batch, a row for each environment, with zeros in the
    rows of other workers: a matrix product may round differently for another number of rows, and results
    must not depend on how environments are dealt out.
    """

    def __init__(self, task: Task, sizes: Sizes, seed: int, first: int, last: int) -> None:
        self.task, self.sizes, self.seed = task, sizes, seed
        self.rows = slice(first, last)
        self.first = first
        self.batch = task.make_batch(last - first)
        self.obs = np.zeros((sizes.num_envs, sizes.obs_dim), np.float32)
        self.episode = np.zeros(last - first, np.int64)
        self.episode_return = np.zeros(last - first)

    def start(self) -> None:
        """Begin episode 0 everywhere."""
        self.obs[self.rows] = self._reset(range(self.batch.num_envs))

    def collect(self, iteration: int, shared: SharedArrays) -> None:
        """Act for `num_steps` steps and write the transitions into this slice's rows."""
        steps, rows, sizes = self.sizes.num_steps, self.rows, self.sizes
        policy = shared.read_policy()
        noise = generator(self.seed, ACTION_NOISE, iteration).standard_normal(
            (steps, sizes.num_envs, sizes.action_dim), np.float32
        )[:, rows]
        noise = noise * np.exp(policy.log_std)
        for t in range(steps):
            action = policy.mean(self.obs)[rows] + noise[t]
            shared["obs"][t, rows] = self.obs[rows]
            shared["action"][t, rows] = action
            self._step(action, t, shared)
        shared["obs"][steps, rows] = self.obs[rows]

    def _step(self, action: np.ndarray, t: int, shared: SharedArrays) -> None:
        obs, reward, terminated, truncated = self.batch.step(action)
        shared["reward"][t, self.rows] = reward
        shared["terminated"][t, self.rows] = terminated
        shared["truncated"][t, self.rows] = truncated
        self.episode_return += reward
        self.obs[self.rows] = obs
        ended = np.flatnonzero(terminated | truncated)
        if len(ended):
            shared["episode_return"][t, self.first + ended] = self.episode_return[ended]
            self.episode_return[ended] = 0.0
            self.episode[ended] += 1
            self.obs[self.first + ended] = self._reset(ended.tolist())

    def _reset(self, rows: Sequence[int]) -> np.ndarray:
        """Start the episode that `self.episode` says, in each of `rows`."""
        rngs = [generator(self.seed, EPISODE, self.first + row, int(self.episode[row])) for row in rows]
        if not any(self.episode[row] == 0 for row in rows):
            return self.batch.reset(rows, rngs)
        # Episode 0 differs in one reward (see BulletBatch.reset), so reset row by row.
        starts = [
            self.batch.reset([r], [g], first=bool(self.episode[r] == 0))
            for r, g in zip(rows, rngs, strict=True)
        ]
        return np.concatenate(starts)

    def replay(self, episode: np.ndarray, lengths: np.ndarray, actions: np.ndarray) -> None:
        """Return to where a checkpoint was: restart each episode and repeat its actions so far.

        `actions` [sum of lengths, action_dim] holds the environments' actions one after the other.
        """
        self.episode[:] = episode
        self.obs[self.rows] = self._reset(range(self.batch.num_envs))
        self.episode_return[:] = 0.0
        offsets = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(int)
        for t in range(int(lengths.max(initial=0))):
            rows = np.flatnonzero(lengths > t)
            outcome = self.batch.step(actions[offsets[rows] + t], rows.tolist())
            self.obs[self.first + rows] = outcome.obs
            self.episode_return[rows] += outcome.reward

    def close(self) -> None:
        self.batch.close()


def evaluate(
    task: Task, policy: Policy, seed: int, episodes: range, total: int
) -> tuple[list[float], list[int]]:
    """Returns and lengths of whole episodes with the deterministic policy.

    `episodes` are this worker's, of `total`; the policy sees a batch of `total` rows (see EnvironmentSlice).
    """
    batch = task.make_batch(len(episodes))
    try:
        obs = np.zeros((total, policy.obs_dim), np.float32)
        rngs = [generator(seed, EVALUATION, episode) for episode in episodes]
        obs[episodes.start : episodes.stop] = batch.reset(range(len(episodes)), rngs)
        returns, lengths = np.zeros(len(episodes)), np.zeros(len(episodes), int)
        running = np.arange(len(episodes))
        for _ in range(MAX_EVALUATION_STEPS):
            action = policy.mean(obs)[episodes.start + running]
            outcome = batch.step(action, running.tolist())
            obs[episodes.start + running] = outcome.obs
            returns[running] += outcome.reward
            lengths[running] += 1
            running = running[~(outcome.terminated | outcome.truncated)]
            if not len(running):
                break
        return returns.tolist(), lengths.tolist()
    finally:
        batch.close()
