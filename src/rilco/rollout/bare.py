"""The simulator by itself: what the benchmark compares rollouts with.

What a slice of environments just did is repeated with nothing but torques, physics steps and resets. The slice's own
physics clients do it and end where they were. So both do the same work, and no second set of clients takes memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rilco.errors import ConfigError
from rilco.rollout.layout import SharedArrays
from rilco.seeding import RepositionedGenerator
from rilco.tasks.batch import Batch
from rilco.tasks.bullet import JOINT_NOISE, BulletBatch


class Mark(NamedTuple):
    """Where the physics was."""

    batch: BulletBatch
    states: list[int]  # of each client
    episode: np.ndarray  # [n]


def mark(batch: Batch, episode: np.ndarray) -> Mark:
    """Remember where the physics is, before it is advanced."""
    if not isinstance(batch, BulletBatch):
        raise ConfigError("The bare simulator can be measured for the Bullet tasks only.")
    save = batch._pybullet.saveState
    return Mark(batch, [save(physicsClientId=client) for client in batch.clients], episode.copy())


def replay(mark: Mark, shared: SharedArrays, first: int, seeds: RepositionedGenerator) -> None:
    """Go back to the mark and repeat the transitions that are in shared memory now."""
    batch, episode = mark.batch, mark.episode.copy()
    rows = slice(first, first + batch.num_envs)
    pybullet, body, joints = batch._pybullet, batch.body, batch.joints
    for state, client in zip(mark.states, batch.clients, strict=True):
        pybullet.restoreState(state, physicsClientId=client)
        pybullet.removeState(state, physicsClientId=client)
    torques = (batch.torque_scale * np.clip(shared["action"][:, rows], -1.0, 1.0)).tolist()
    ended = (shared["terminated"] | shared["truncated"])[:, rows].tolist()
    set_torque, advance = pybullet.setJointMotorControlArray, pybullet.stepSimulation
    mode = pybullet.TORQUE_CONTROL
    for torque, ends in zip(torques, ended, strict=True):
        for row, client in enumerate(batch.clients):
            set_torque(body, joints, mode, forces=torque[row], physicsClientId=client)
            advance(client)
            if ends[row]:
                episode[row] += 1
                rng = seeds.at(first + row, int(episode[row]))
                batch.restore(row, rng.uniform(-JOINT_NOISE, JOINT_NOISE, batch.action_dim))
