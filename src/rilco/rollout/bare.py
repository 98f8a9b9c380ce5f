"""The simulator by itself: what the benchmark compares rollouts with."""

from __future__ import annotations

import numpy as np

from rilco.errors import ConfigError
from rilco.rollout.layout import SharedArrays
from rilco.seeding import EPISODE, RepositionedGenerator
from rilco.tasks.bullet import JOINT_NOISE, BulletBatch


class BareReplay:
    """Repeats what a slice of environments just did, with nothing but torques, physics steps and resets.

    It uses the slice's own physics clients, which `mark` remembers and which end where they were: both do the
    same work inside the simulator, and no second set of clients takes memory.
    """

    def __init__(self, batch: object, seed: int, first: int) -> None:
        if not isinstance(batch, BulletBatch):
            raise ConfigError("The bare simulator can be measured for the Bullet tasks only.")
        self.batch, self.first = batch, first
        self.seeds = RepositionedGenerator(seed, EPISODE)
        self.marks: list[int] = []
        self.episode = np.zeros(batch.num_envs, np.int64)

    def mark(self, episode: np.ndarray) -> None:
        """Remember where the physics is, before it is advanced."""
        save = self.batch._pybullet.saveState
        self.marks = [save(physicsClientId=client) for client in self.batch.clients]
        self.episode = episode.copy()

    def replay(self, shared: SharedArrays) -> None:
        """Go back to the mark and repeat the transitions that are in shared memory now."""
        batch, rows = self.batch, slice(self.first, self.first + self.batch.num_envs)
        pybullet, body, joints = batch._pybullet, batch.body, batch.joints
        for mark, client in zip(self.marks, batch.clients, strict=True):
            pybullet.restoreState(mark, physicsClientId=client)
            pybullet.removeState(mark, physicsClientId=client)
        torques = (batch.torque_scale * np.clip(shared["action"][:, rows], -1.0, 1.0)).tolist()
        ended = (shared["terminated"] | shared["truncated"])[:, rows].tolist()
        set_torque, advance = pybullet.setJointMotorControlArray, pybullet.stepSimulation
        mode = pybullet.TORQUE_CONTROL
        for torque, ends in zip(torques, ended, strict=True):
            for row, client in enumerate(batch.clients):
                set_torque(body, joints, mode, forces=torque[row], physicsClientId=client)
                advance(client)
                if ends[row]:
                    self._restore(row)

    def _restore(self, row: int) -> None:
        self.episode[row] += 1
        rng = self.seeds.at(self.first + row, int(self.episode[row]))
        self.batch.restore(row, rng.uniform(-JOINT_NOISE, JOINT_NOISE, self.batch.action_dim))
