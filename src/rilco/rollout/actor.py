"""A worker's environments: act for a while, evaluate, replay. Runs inside the worker process."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from rilco.errors import ConfigError, TaskError
from rilco.policy.saved import Policy
from rilco.rollout.layout import SharedArrays, Sizes
from rilco.seeding import ACTION_NOISE, EPISODE, EVALUATION, RepositionedGenerator, generator
from rilco.tasks.table import Task

MAX_EVALUATION_STEPS = 10_000  # an environment without a time limit must not hang the run
EVALUATION_ENVS = 2  # a worker: a Bullet client takes 30 MB


class EnvironmentSlice:
    """Environments `first` to `last` of the run, with the episode that each of them is in.

    Its public methods are the commands that `RolloutPool` sends. The policy is always evaluated on the whole run's
    batch, a row for each environment, with zeros in the rows of other workers. A matrix product may round differently
    for another number of rows, and results must not depend on how environments are dealt out.
    """

    def __init__(
        self, task: Task, sizes: Sizes, shared: SharedArrays, *, seed: int, first: int, last: int
    ) -> None:
        self.task, self.sizes, self.shared, self.seed = task, sizes, shared, seed
        self.seeds = RepositionedGenerator(seed, EPISODE)
        self.rows = slice(first, last)
        self.first = first
        self.batch = task.make_batch(last - first)
        ours, theirs = (sizes.obs_dim, sizes.actions.size), (self.batch.obs_dim, self.batch.action_dim)
        if ours != theirs:
            raise TaskError(
                f"{task.name}: made again, it has {theirs[0]} observation and {theirs[1]} action dimensions, but "
                f"{ours[0]} and {ours[1]} are expected. Its spaces must not change."
            )
        self.obs = np.zeros((sizes.num_envs, sizes.obs_dim), np.float32)
        self.episode = np.zeros(last - first, np.int64)
        self.episode_return = np.zeros(last - first)

    def start(self) -> None:
        """Begin episode 0 everywhere, and show where."""
        self.obs[self.rows] = self._reset(list(range(self.batch.num_envs)))
        self.shared["obs"][0, self.rows] = self.obs[self.rows]

    def collect(self, iteration: int, first: int, last: int, sampled: bool) -> None:
        """Act in steps `first` to `last` of the iteration and write the transitions into this slice's rows."""
        rows, sizes, shared = self.rows, self.sizes, self.shared
        policy = shared.read_policy()
        rng = generator(self.seed, ACTION_NOISE, iteration)
        noise = sizes.actions.noise(rng, sizes.num_steps, sizes.num_envs)[:, rows]
        std = np.exp(policy.log_std)
        for t in range(first, last):
            output = policy.mean(self.obs)[rows]
            action = sizes.actions.act(output, noise[t] if sampled else None, std)
            shared["obs"][t, rows] = self.obs[rows]
            shared["action"][t, rows] = action
            self._step(action, t)
        shared["obs"][last, rows] = self.obs[rows]

    def _step(self, action: np.ndarray, t: int) -> None:
        shared = self.shared
        obs, reward, terminated, truncated = self.batch.step(self.sizes.actions.decode(action))
        shared["beat"][self.rows] += 1
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
        rngs = (self.seeds.at(self.first + row, int(self.episode[row])) for row in rows)
        if self.episode[rows].all():
            return self.batch.reset(rows, rngs)
        # Episode 0 differs in one reward (see BulletBatch.reset), so reset row by row.
        starts = [
            self.batch.reset([r], [g], first=self.episode[r] == 0) for r, g in zip(rows, rngs, strict=True)
        ]
        return np.concatenate(starts)

    def replay(self, episode: list[int], lengths: list[int], actions: str) -> None:
        """Return to where a checkpoint was: restart each episode and repeat its actions so far.

        `actions` are the bytes of [sum of lengths, action_dim], the environments' actions one after the other.
        """
        taken = np.frombuffer(bytes.fromhex(actions), np.float32).reshape(-1, self.sizes.action_dim)
        taken = self.sizes.actions.decode(taken)
        length = np.array(lengths)
        offsets = np.cumsum(length) - length
        self.episode[:] = episode
        self.obs[self.rows] = self._reset(list(range(self.batch.num_envs)))
        self.episode_return[:] = 0.0
        for t in range(int(length.max(initial=0))):
            rows = np.flatnonzero(length > t)
            outcome = self.batch.step(taken[offsets[rows] + t], rows.tolist())
            self.obs[self.first + rows] = outcome.obs
            self.episode_return[rows] += outcome.reward
            self.shared["beat"][self.rows] += 1
        self.shared["obs"][0, self.rows] = self.obs[self.rows]
        self.shared["episode_return"][0, self.rows] = self.episode_return

    def evaluate(self, seed: int, occasion: int, episodes: list[int], total: int) -> dict[str, Any]:
        """See `evaluate` below."""
        policy, beat = self.shared.read_policy(), self.shared["beat"][self.rows]
        returns, lengths = evaluate(self.task, policy, (seed, occasion), range(*episodes), total, beat)
        return {"returns": returns, "lengths": lengths}

    def mark(self) -> None:
        """For the benchmark: remember where the physics is, to repeat the next `collect`."""
        from rilco.tasks.bullet import BulletBatch

        if not isinstance(self.batch, BulletBatch):
            raise ConfigError("The bare simulator can be measured for the Bullet tasks only.")
        save = self.batch._pybullet.saveState
        self._mark = [save(physicsClientId=client) for client in self.batch.clients], self.episode.copy()

    def bare(self) -> None:
        """For the benchmark: repeat the last `collect` with nothing but torques, physics steps and resets.

        The slice's own physics clients do it and end where they were. So both do the same work, and no second set of
        clients takes memory.
        """
        batch: Any = self.batch
        states, episode = self._mark
        pybullet, body, joints = batch._pybullet, batch.body, batch.joints
        for state, client in zip(states, batch.clients, strict=True):
            pybullet.restoreState(state, physicsClientId=client)
            pybullet.removeState(state, physicsClientId=client)
        torques = (batch.torque_scale * np.clip(self.shared["action"][:, self.rows], -1.0, 1.0)).tolist()
        ended = (self.shared["terminated"] | self.shared["truncated"])[:, self.rows].tolist()
        set_torque, advance = pybullet.setJointMotorControlArray, pybullet.stepSimulation
        for torque, ends in zip(torques, ended, strict=True):
            for row, client in enumerate(batch.clients):
                set_torque(body, joints, pybullet.TORQUE_CONTROL, forces=torque[row], physicsClientId=client)
                advance(client)
                if ends[row]:
                    episode[row] += 1
                    batch.begin(row, self.seeds.at(self.first + row, int(episode[row])))

    def close(self) -> None:
        self.batch.close()


def evaluate(
    task: Task, policy: Policy, key: tuple[int, int], episodes: range, total: int, beat: np.ndarray
) -> tuple[list[float], list[int]]:
    """Returns and lengths of whole episodes with the deterministic policy.

    `key`, a seed and an occasion, chooses the start states. `episodes` are this worker's, of `total`; the policy
    sees a batch of `total` rows (see EnvironmentSlice). A few environments take the episodes in turn. `beat` counts
    steps, for whoever waits.
    """
    seed, occasion = key
    seeds = RepositionedGenerator(seed, EVALUATION)
    obs = np.zeros((total, policy.obs_dim), np.float32)
    returns, lengths = np.zeros(total), np.zeros(total, int)
    waiting = list(reversed(episodes))
    with contextlib.closing(task.make_batch(min(len(episodes), EVALUATION_ENVS))) as batch:
        playing = [-1] * batch.num_envs  # the episode of each environment
        while True:
            for row, episode in enumerate(playing):
                if episode < 0 and waiting:
                    playing[row] = waiting.pop()
                    obs[playing[row]] = batch.reset([row], [seeds.at(playing[row], occasion)])[0]
            rows = [row for row, episode in enumerate(playing) if episode >= 0]
            if not rows:
                return returns[episodes].tolist(), lengths[episodes].tolist()
            active = [playing[row] for row in rows]
            outcome = batch.step(policy.best(obs)[active], rows)
            obs[active] = outcome.obs
            beat += 1
            returns[active] += outcome.reward
            lengths[active] += 1
            ended = outcome.terminated | outcome.truncated | (lengths[active] >= MAX_EVALUATION_STEPS)
            for i in np.flatnonzero(ended):
                playing[rows[i]] = -1
