"""Where the body parts of a planar robot are, from its torso and joint angles alone.

The reward needs the sum of all parts' x positions. Asking the simulator for every part took a tenth of a step, most of
it Python tuples. But a planar robot's parts are linear in the torso's position and in the cosine and sine of the angles
along their chains. So the coefficients are fitted once, on random poses, and are exact up to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rilco.errors import TaskError

POSES = 200
TOLERANCE = 1e-9  # metres; the fit leaves about 1e-13


class PlanarParts:
    """Sum over all links of their x and y positions, fitted to one physics client."""

    def __init__(self, pybullet: Any, client: int, body: int, torso: int, joints: list[int]) -> None:
        count = pybullet.getNumJoints(body, physicsClientId=client)
        info = [pybullet.getJointInfo(body, j, physicsClientId=client) for j in range(count)]
        self._chains = _chains(info, torso, joints)
        hinges = [j for j in range(count) if info[j][2] == pybullet.JOINT_REVOLUTE]
        slides = [j for j in range(count) if info[j][2] == pybullet.JOINT_PRISMATIC]
        rng = np.random.default_rng(0)
        features, sums = [], []
        for _ in range(POSES):
            for j in hinges + slides:
                pybullet.resetJointState(body, j, rng.uniform(-2, 2), 0.0, physicsClientId=client)
            links = pybullet.getLinkStates(body, list(range(count)), 0, 1, client)
            angles = [pybullet.getJointState(body, j, client)[0] for j in joints]
            position, quaternion = links[torso][:2]
            torso_x, half_angle = np.array([position[0]]), np.array([quaternion[1::2]])
            features.append(self._features(torso_x, half_angle, np.array([angles]))[0])
            sums.append(np.sum([link[0][:2] for link in links], axis=0))
        self._coefficients, *_ = np.linalg.lstsq(np.array(features), np.array(sums), rcond=None)
        error = np.abs(np.array(features) @ self._coefficients - np.array(sums)).max()
        if error > TOLERANCE:
            raise TaskError(f"The robot is not planar: its parts are {error:.1e} m off the fitted positions.")

    def sums(self, torso_x: np.ndarray, half_angle: np.ndarray, joint_angle: np.ndarray) -> np.ndarray:
        """[n, 2] from the torso's x [n], its quaternion's y and w [n, 2], and joint angles [n, joints]."""
        return self._features(torso_x, half_angle, joint_angle) @ self._coefficients

    def _features(self, torso_x: np.ndarray, half_angle: np.ndarray, joint_angle: np.ndarray) -> np.ndarray:
        chains = len(self._chains.T)
        angle = joint_angle @ self._chains  # of each chain's end against the torso, [n, chains]
        angle += (2.0 * np.arctan2(half_angle[:, 0], half_angle[:, 1]))[:, None]
        features = np.empty((len(angle), 2 + 2 * chains))
        features[:, 0] = 1.0
        features[:, 1] = torso_x
        np.cos(angle, out=features[:, 2 : 2 + chains])
        np.sin(angle, out=features[:, 2 + chains :])
        return features


def _chains(info: list[Any], torso: int, joints: list[int]) -> np.ndarray:
    """[joints, chains]: which joints (with their axes' signs) turn each rigid group of links; the torso first."""
    chains = [np.zeros(len(joints))]
    for j in joints:
        chain, link = np.zeros(len(joints)), j
        while link not in (-1, torso):
            if link in joints:
                chain[joints.index(link)] = np.sign(info[link][13][1])  # its axis is +y or -y
            link = info[link][16]
        chains.append(chain)
    return np.stack(chains, axis=1)
