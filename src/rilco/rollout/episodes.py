"""Unfinished episodes: their numbers and actions so far, which bring every environment back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rilco.rollout.pool import RolloutPool, Transitions


class UnfinishedEpisodes:
    """Follows all environments from the learner's side, so that workers need not be asked."""

    def __init__(self, num_envs: int) -> None:
        self.episode = np.zeros(num_envs, np.int64)
        self._began = np.zeros(num_envs, np.int64)  # step at which each episode began
        self._blocks: list[np.ndarray] = []  # [T, B, action_dim] each, oldest first
        self._first = 0  # step of the oldest block's first line
        self._now = 0
        self._last_obs = np.zeros((num_envs, 0), np.float32)
        self._return = np.zeros(num_envs)  # of each episode so far

    def record(self, transitions: Transitions) -> None:
        """Take in one iteration."""
        steps = len(transitions.action)
        self._blocks.append(transitions.action.copy())
        ended = transitions.terminated | transitions.truncated
        self.episode += ended.sum(axis=0)
        for reward, over in zip(transitions.reward, ended, strict=True):  # in the order in which workers add
            self._return = np.where(over, 0.0, self._return + reward)
        last_end = steps - 1 - np.argmax(ended[::-1], axis=0)
        self._began = np.where(ended.any(axis=0), self._now + last_end + 1, self._began)
        self._now += steps
        self._last_obs = transitions.obs[-1].copy()
        oldest = int(self._began.min())
        while self._blocks and self._first + len(self._blocks[0]) <= oldest:
            self._first += len(self._blocks.pop(0))

    def arrays(self) -> dict[str, np.ndarray]:
        """Arrays that a checkpoint holds."""
        actions = (
            np.concatenate(self._blocks) if self._blocks else np.zeros((0, len(self.episode), 1), np.float32)
        )
        kept = [actions[began - self._first :, env] for env, began in enumerate(self._began)]
        return {
            "episodes.number": self.episode,
            "episodes.length": self._now - self._began,
            "episodes.action": np.concatenate(kept),
            "episodes.last_obs": self._last_obs,
            "episodes.return": self._return,
        }

    @classmethod
    def restore(cls, arrays: Mapping[str, np.ndarray], pool: RolloutPool) -> tuple[UnfinishedEpisodes, bool]:
        """Replay the environments of `pool`; also says whether they are exactly where they were."""
        number, length, action = (arrays[f"episodes.{name}"] for name in ("number", "length", "action"))
        episodes = cls(len(number))
        episodes.episode = number.copy()
        # Line the unfinished episodes up so that all of them end now.
        longest = int(length.max(initial=0))
        block = np.zeros((longest, len(number), action.shape[1]), np.float32)
        offsets = np.concatenate([[0], np.cumsum(length)])
        for env, n in enumerate(length):
            block[longest - n :, env] = action[offsets[env] : offsets[env + 1]]
        episodes._blocks, episodes._now, episodes._began = [block], longest, longest - length
        episodes._last_obs = arrays["episodes.last_obs"].copy()
        reached, paid = pool.replay(number, length, action)
        episodes._return = arrays.get("episodes.return", paid).copy()  # version 0.1 did not keep it
        same = np.array_equal(reached, episodes._last_obs) and np.array_equal(paid, episodes._return)
        return episodes, same
