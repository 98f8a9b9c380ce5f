"""Many copies of one Bullet task, stepped together.

Each environment has a physics client of its own, so episodes are independent of their neighbours and
can be replayed bit-exactly. Per environment and step only batched PyBullet calls are made; everything
after them is NumPy over all environments at once. Observations, rewards and terminations are those of
`pybullet_envs_gymnasium` (the tests' oracle).
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType

import numpy as np

from rilco.errors import TaskError
from rilco.tasks.batch import Step
from rilco.tasks.kinematics import PlanarParts
from rilco.tasks.robots import TIME_LIMIT, Robot

SUBSTEP, SUBSTEPS = 0.0165 / 4, 4  # seconds; one control step is four physics steps
DT = SUBSTEP * SUBSTEPS
TARGET_X = 1000.0  # the robot is paid for approaching a point a kilometre ahead
ELECTRICITY_COST, STALL_TORQUE_COST, JOINT_LIMIT_COST = -2.0, -0.1, -0.1
JOINT_NOISE = 0.1  # every joint starts uniformly within +- this angle
FRAME_WIDTH, FRAME_HEIGHT = 320, 240


class BulletBatch:
    """`num_envs` environments of one robot."""

    def __init__(self, robot: Robot, num_envs: int, *, time_limit: float = TIME_LIMIT) -> None:
        pybullet = _import_pybullet()
        self.robot = robot
        self.num_envs = num_envs
        self.time_limit = time_limit
        self._pybullet = pybullet
        self.clients = [_build_world(pybullet, robot) for _ in range(num_envs)]
        self.body = 1  # body 0 is the ground
        self.saved = [pybullet.saveState(physicsClientId=client) for client in self.clients]
        self._read_model()
        self.parts = _fitted_parts(robot, self.torso, tuple(self.joints)) if self.torso >= 0 else None
        self._read = self._read_planar if self.torso >= 0 else self._read_floating
        self.obs_dim, self.action_dim = robot.obs_dim, robot.action_dim
        self.foot_contact = np.zeros((num_envs, len(robot.feet)), np.float32)
        self.initial_z, self.potential = np.zeros(num_envs), np.zeros(num_envs)
        self.steps = np.zeros(num_envs, np.int64)

    def _read_model(self) -> None:
        """Joint and link indices from the first client; all clients loaded the same file."""
        pybullet, client = self._pybullet, self.clients[0]
        count = pybullet.getNumJoints(self.body, physicsClientId=client)
        info = [pybullet.getJointInfo(self.body, j, physicsClientId=client) for j in range(count)]
        names = [row[1].decode() for row in info]
        links = {row[12].decode(): j for j, row in enumerate(info)}
        self.joints = [j for j, n in enumerate(names) if not n.startswith(("ignore", "jointfix"))]
        self.links = list(range(count))
        self.torso = links.get("torso", -1)  # -1: the torso is the floating base (Ant)
        self.foot_column = {links[foot]: i for i, foot in enumerate(self.robot.feet)}
        # Positions are scaled to -1..1 between the joint's limits, velocities by 0.1.
        lower = np.array([info[j][8] for j in self.joints])
        scale = 2.0 / (np.array([info[j][9] for j in self.joints]) - lower)
        self.joint_scale = np.stack([scale, np.full_like(scale, 0.1)], axis=1).ravel()
        self.joint_offset = np.stack([-lower * scale - 1.0, np.zeros_like(scale)], axis=1).ravel()
        self.torque_scale = np.array(
            [self.robot.power * self.robot.joint_power.get(names[j], 100.0) for j in self.joints]
        )
        floor, _ = pybullet.getBasePositionAndOrientation(0, physicsClientId=client)
        self.num_parts = count + (self.torso == -1)  # body parts of the robot, the floor not counted
        self.target_with_floor = np.array([TARGET_X, 0.0]) - np.array(floor[:2]) / (self.num_parts + 1)

    # -- the two calls of the inner loop ---------------------------------------------------------

    def reset(
        self, rows: Sequence[int], rngs: Iterable[np.random.Generator], first: bool = False
    ) -> np.ndarray:
        """Start new episodes in `rows`, each drawing its joint angles from its generator.

        `first` reproduces a quirk of the stock environments. In the first episode after construction, the potential at the
        start is computed before the floor counts as a body part. That shifts the first reward.
        """
        raw = []
        for row, rng in zip(rows, rngs, strict=True):
            self.begin(row, rng)
            raw.append(self._read(row))
        index, state = np.asarray(rows), _RawState(np.array(raw))
        self.foot_contact[index] = 0.0
        self.steps[index] = 0
        self.initial_z[index] = state.z
        to_target = self._to_target(state, count_floor=not first)
        self.potential[index] = _potential(to_target)
        return self._observe(state, to_target, index)

    def begin(self, row: int, rng: np.random.Generator) -> None:
        """Put one environment's physics at the start of the episode that a generator draws."""
        self.restore(row, rng.uniform(-JOINT_NOISE, JOINT_NOISE, self.action_dim))

    def restore(self, row: int, angles: np.ndarray) -> None:
        """Put one environment's physics at the start of an episode with these joint angles."""
        pybullet, client = self._pybullet, self.clients[row]
        pybullet.restoreState(self.saved[row], physicsClientId=client)
        pybullet.resetJointStatesMultiDof(
            self.body,
            self.joints,
            targetValues=[[angle] for angle in angles.tolist()],
            targetVelocities=[[0.0]] * len(self.joints),
            physicsClientId=client,
        )

    def step(self, action: np.ndarray, rows: Sequence[int] | None = None) -> Step:
        """Advance `rows` (all by default) by one control step; `action` has a line for each of them."""
        index: slice | np.ndarray = slice(None) if rows is None else np.asarray(rows)
        raw, contact = self._advance(action, range(self.num_envs) if rows is None else rows)
        state = _RawState(raw)
        to_target = self._to_target(state, count_floor=True)
        obs = self._observe(state, to_target, index)
        # The contacts in the observation and in the knee rule are those of the step before, as in the
        # stock environment.
        fallen = self._fallen(obs, state, index)
        self.foot_contact[index] = contact
        potential = _potential(to_target)
        reward = np.where(fallen, -1.0, 1.0) + (potential - self.potential[index])
        reward += self._action_cost(action, obs)
        self.potential[index] = potential
        self.steps[index] += 1
        np.minimum(np.maximum(obs, -5.0, out=obs), 5.0, out=obs)
        terminated = ~np.isfinite(obs).all(axis=1)
        if self.robot.ends_when_fallen:
            terminated |= fallen
        return Step(obs, reward, terminated, self.steps[index] >= self.time_limit)

    # -- the simulator ---------------------------------------------------------------------------

    def _advance(self, action: np.ndarray, rows: Sequence[int]) -> tuple[np.ndarray, list[list[float]]]:
        """Apply torques and step the physics; returns raw states [n, 9 + 2 * joints] and foot contacts."""
        pybullet, body, joints, clients = self._pybullet, self.body, self.joints, self.clients
        set_torque, advance, contact_points = (
            pybullet.setJointMotorControlArray,
            pybullet.stepSimulation,
            pybullet.getContactPoints,
        )
        mode, read, column, feet = pybullet.TORQUE_CONTROL, self._read, self.foot_column, len(self.robot.feet)
        clipped = np.minimum(np.maximum(action, -1.0), 1.0)
        raw, contact = [], []
        for row, torque in zip(rows, (self.torque_scale * clipped).tolist(), strict=True):
            client = clients[row]
            set_torque(body, joints, mode, forces=torque, physicsClientId=client)
            advance(client)
        for row in rows:
            raw.append(read(row))
            touching = [0.0] * feet
            for point in contact_points(body, 0, physicsClientId=clients[row]):
                foot = column.get(point[3])
                if foot is not None:
                    touching[foot] = 1.0
            contact.append(touching)
        return np.array(raw), contact

    def _read_planar(self, row: int) -> list[float]:
        """One environment as `_RawState` lays it out; the other body parts follow from the torso and joints."""
        pybullet, client = self._pybullet, self.clients[row]
        torso = pybullet.getLinkState(self.body, self.torso, 1, 0, client)
        position, quaternion = torso[0], torso[1]
        raw = [*position, *pybullet.getEulerFromQuaternion(quaternion), *torso[6], *quaternion[1::2]]
        for joint in pybullet.getJointStates(self.body, self.joints, client):
            raw += joint[:2]
        return raw

    def _read_floating(self, row: int) -> list[float]:
        """The same for a robot whose torso is its base: x and y are summed over the body parts."""
        pybullet, client = self._pybullet, self.clients[row]
        (x, y, z), quaternion = pybullet.getBasePositionAndOrientation(self.body, client)
        velocity, _ = pybullet.getBaseVelocity(self.body, client)
        for link in pybullet.getLinkStates(self.body, self.links, 0, 0, client):
            position = link[0]
            x += position[0]
            y += position[1]
        raw = [x, y, z, *pybullet.getEulerFromQuaternion(quaternion), *velocity, *quaternion[1::2]]
        for joint in pybullet.getJointStates(self.body, self.joints, client):
            raw += joint[:2]
        return raw

    # -- arithmetic over all environments --------------------------------------------------------

    def _to_target(self, state: _RawState, *, count_floor: bool) -> np.ndarray:
        """Vector from the mean of the body parts to the target: [2, n]."""
        part_sum = (
            state.xy if self.parts is None else self.parts.sums(state.x, state.half_angle, state.joint_angle)
        )
        if count_floor:
            return (self.target_with_floor - part_sum / (self.num_parts + 1)).T
        return (np.array([TARGET_X, 0.0]) - part_sum / self.num_parts).T

    def _observe(self, state: _RawState, to_target: np.ndarray, index: slice | np.ndarray) -> np.ndarray:
        """Observations [n, obs_dim], before they are clipped."""
        yaw, (vx, vy, vz) = state.yaw, 0.3 * state.velocity
        angle = np.arctan2(to_target[1], to_target[0]) - yaw
        cos, sin = np.cos(yaw), np.sin(yaw)
        joints = slice(8, 8 + 2 * self.action_dim)
        obs = np.empty((len(yaw), self.obs_dim), np.float32)
        obs[:, 0] = state.z - self.initial_z[index]
        obs[:, 1] = np.sin(angle)
        obs[:, 2] = np.cos(angle)
        obs[:, 3] = cos * vx + sin * vy
        obs[:, 4] = cos * vy - sin * vx
        obs[:, 5] = vz
        obs[:, 6:8] = state.roll_pitch
        obs[:, joints] = state.joints * self.joint_scale + self.joint_offset
        obs[:, joints.stop :] = self.foot_contact[index]
        return obs

    def _fallen(self, obs: np.ndarray, state: _RawState, index: slice | np.ndarray) -> np.ndarray:
        robot = self.robot
        # Height and knees go by the observation, which is float32, as in the stock environment.
        fallen = obs[:, 0] + self.initial_z[index] <= robot.min_height
        if robot.max_pitch < np.inf:
            fallen |= np.abs(state.roll_pitch[:, 1]) >= robot.max_pitch
        for knee in robot.knees:
            fallen |= obs[:, knee - len(robot.feet)] > 0
        return fallen

    def _action_cost(self, action: np.ndarray, obs: np.ndarray) -> np.ndarray:
        """Work, torque and joints at their limits; with the unclipped action, as in the stock environment."""
        joints = obs[:, 8 : 8 + 2 * self.action_dim]
        count = self.action_dim
        # Sums in the dtype of the action and rounded there, as the stock environment's means are.
        work = np.add.reduce(np.abs(action * joints[:, 1::2]), axis=1) / action.dtype.type(count)
        torque = np.add.reduce(np.square(action), axis=1) / action.dtype.type(count)
        at_limit = np.add.reduce(np.abs(joints[:, ::2]) > 0.99, axis=1)
        return (
            ELECTRICITY_COST * work.astype(np.float64)
            + STALL_TORQUE_COST * torque.astype(np.float64)
            + JOINT_LIMIT_COST * at_limit
        )

    # -- everything else -------------------------------------------------------------------------

    def render(self, row: int) -> np.ndarray:
        """An RGB frame [240, 320, 3] of one environment, the camera following the torso."""
        pybullet, client = self._pybullet, self.clients[row]
        if self.torso >= 0:
            target = pybullet.getLinkState(self.body, self.torso, physicsClientId=client)[0]
        else:
            target = pybullet.getBasePositionAndOrientation(self.body, physicsClientId=client)[0]
        view = pybullet.computeViewMatrixFromYawPitchRoll(target, 3, 0, -30, 0, 2)
        projection = pybullet.computeProjectionMatrixFOV(60, FRAME_WIDTH / FRAME_HEIGHT, 0.1, 100.0)
        pixels = pybullet.getCameraImage(
            FRAME_WIDTH,
            FRAME_HEIGHT,
            view,
            projection,
            renderer=pybullet.ER_TINY_RENDERER,
            physicsClientId=client,
        )[2]
        return np.reshape(np.asarray(pixels, np.uint8), (FRAME_HEIGHT, FRAME_WIDTH, 4))[:, :, :3]

    def close(self) -> None:
        for client in self.clients:
            with contextlib.suppress(self._pybullet.error):  # already gone
                self._pybullet.disconnect(client)
        self.clients = []


class _RawState:
    """Names for the columns that `_read_planar` and `_read_floating` fill; one line an environment."""

    def __init__(self, raw: np.ndarray) -> None:
        self.x, self.xy, self.z = raw[:, 0], raw[:, :2], raw[:, 2]
        self.roll_pitch, self.yaw = raw[:, 3:5], raw[:, 5]
        self.velocity = raw[:, 6:9].T  # [3, n]
        self.half_angle = raw[:, 9:11]  # y and w of the torso's quaternion
        self.joints = raw[:, 11:]  # position and velocity in turn
        # After a step the simulator's link positions are those before its last substep, while joints have
        # moved on; so do without the last substep's part. At a reset velocities are zero.
        self.joint_angle = raw[:, 11::2] - SUBSTEP * raw[:, 12::2]


def _potential(to_target: np.ndarray) -> np.ndarray:
    """Minus the distance, per second of a step: its change is the reward for progress."""
    return np.sqrt(to_target[0] ** 2 + to_target[1] ** 2) / -DT


@functools.cache
def _fitted_parts(robot: Robot, torso: int, joints: tuple[int, ...]) -> PlanarParts:
    """Fitted once a process, in a client of its own."""
    pybullet = _import_pybullet()
    client = _build_world(pybullet, robot)
    try:
        return PlanarParts(pybullet, client, 1, torso, list(joints))
    finally:
        pybullet.disconnect(client)


def _build_world(pybullet: ModuleType, robot: Robot) -> int:
    """A physics client with ground and robot, its motors off."""
    import pybullet_data

    data = pybullet_data.getDataPath()
    with _quietly():
        client = pybullet.connect(pybullet.DIRECT)
    if client < 0:
        raise TaskError("PyBullet could not open another physics client; close some environments first.")
    pybullet.setPhysicsEngineParameter(deterministicOverlappingPairs=1, physicsClientId=client)
    pybullet.setGravity(0, 0, -9.8, physicsClientId=client)
    pybullet.setDefaultContactERP(0.9, physicsClientId=client)
    pybullet.setPhysicsEngineParameter(
        fixedTimeStep=DT, numSolverIterations=5, numSubSteps=SUBSTEPS, physicsClientId=client
    )
    (ground,) = pybullet.loadSDF(os.path.join(data, "plane_stadium.sdf"), physicsClientId=client)
    pybullet.changeDynamics(ground, -1, lateralFriction=0.8, restitution=0.5, physicsClientId=client)
    pybullet.changeVisualShape(ground, -1, rgbaColor=[1, 1, 1, 0.8], physicsClientId=client)
    flags = (
        pybullet.URDF_USE_SELF_COLLISION
        | pybullet.URDF_USE_SELF_COLLISION_EXCLUDE_ALL_PARENTS
        | pybullet.URDF_GOOGLEY_UNDEFINED_COLORS
    )
    (body,) = pybullet.loadMJCF(os.path.join(data, "mjcf", robot.model), flags=flags, physicsClientId=client)
    for joint in range(pybullet.getNumJoints(body, physicsClientId=client)):
        pybullet.setJointMotorControl2(
            body,
            joint,
            pybullet.POSITION_CONTROL,
            positionGain=0.1,
            velocityGain=0.1,
            force=0,
            physicsClientId=client,
        )
    return client


def _import_pybullet() -> ModuleType:
    with _quietly():
        import pybullet
    return pybullet


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """PyBullet's C code prints its build time and arguments; keep that off the user's terminal."""
    sys.stdout.flush()
    sys.stderr.flush()
    sink = os.open(os.devnull, os.O_WRONLY)
    kept = {stream: os.dup(stream) for stream in (1, 2)}
    try:
        for stream in kept:
            os.dup2(sink, stream)
        yield
    finally:
        ctypes.CDLL(None).fflush(None)  # C keeps a buffer of its own
        for stream, original in kept.items():
            os.dup2(original, stream)
            os.close(original)
        os.close(sink)
