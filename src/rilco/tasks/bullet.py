"""Many copies of one Bullet task, stepped together.

Each environment has a physics client of its own, so episodes are independent of their neighbours and
can be replayed bit-exactly. Per environment and step only batched PyBullet calls are made; everything
after them is NumPy over all environments at once. Observations, rewards and terminations are those of
`pybullet_envs_gymnasium` (the tests' oracle).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from rilco.errors import TaskError
from rilco.tasks.batch import Step
from rilco.tasks.robots import Robot

TIME_LIMIT = 1000
SUBSTEP, SUBSTEPS = 0.0165 / 4, 4  # seconds; one control step is four physics steps
DT = SUBSTEP * SUBSTEPS
TARGET_X = 1000.0  # the robot is paid for approaching a point a kilometre ahead
ELECTRICITY_COST, STALL_TORQUE_COST, JOINT_LIMIT_COST = -2.0, -0.1, -0.1
JOINT_NOISE = 0.1  # every joint starts uniformly within +- this angle
FRAME_WIDTH, FRAME_HEIGHT = 320, 240


class BulletBatch:
    """`num_envs` environments of one robot."""

    def __init__(self, robot: Robot, num_envs: int, *, time_limit: int | None = TIME_LIMIT) -> None:
        pybullet = _import_pybullet()
        self.robot = robot
        self.num_envs = num_envs
        self.time_limit = time_limit
        self._pybullet = pybullet
        self.clients = [_build_world(pybullet, robot) for _ in range(num_envs)]
        self.body = 1  # body 0 is the ground
        self.saved = [pybullet.saveState(physicsClientId=client) for client in self.clients]
        self._read_model()
        self._allocate()

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
        self.lower = np.array([info[j][8] for j in self.joints])
        self.range = np.array([info[j][9] for j in self.joints]) - self.lower
        self.torque_scale = np.array(
            [self.robot.power * self.robot.joint_power.get(names[j], 100.0) for j in self.joints]
        )
        floor, _ = pybullet.getBasePositionAndOrientation(0, physicsClientId=client)
        self.floor_xy = floor[:2]
        self.num_parts = count + (self.torso == -1)  # body parts of the robot, the floor not counted

    def _allocate(self) -> None:
        n = self.num_envs
        self.obs_dim = 8 + 2 * len(self.joints) + len(self.robot.feet)
        self.action_dim = len(self.joints)
        self.foot_contact = np.zeros((n, len(self.robot.feet)), np.float32)
        self.initial_z = np.zeros(n)
        self.potential = np.zeros(n)
        self.steps = np.zeros(n, np.int64)
        self.joint_speed = np.zeros((n, self.action_dim), np.float32)
        self.joints_at_limit = np.zeros(n)
        self.height = np.zeros(n)
        self.pitch = np.zeros(n)

    # -- the two calls of the inner loop ---------------------------------------------------------

    def reset(
        self, rows: Sequence[int], rngs: Sequence[np.random.Generator], first: bool = False
    ) -> np.ndarray:
        """Start new episodes in `rows`, each drawing its joint angles from its generator.

        `first` reproduces a quirk of the stock environments: in the first episode after construction
        the potential at the start is computed before the floor counts as a body part, which shifts the
        first reward of that episode.
        """
        for row, rng in zip(rows, rngs, strict=True):
            self.restore(row, rng.uniform(-JOINT_NOISE, JOINT_NOISE, self.action_dim))
        index = np.asarray(rows)
        self.foot_contact[index] = 0.0
        self.steps[index] = 0
        raw = np.array([self._read(row) for row in rows])
        self.initial_z[index] = raw[:, 2]
        obs, potential = self._observe(raw, index, count_floor=not first)
        self.potential[index] = potential
        return obs

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
        rows = range(self.num_envs) if rows is None else rows
        torque = (self.torque_scale * np.clip(action, -1.0, 1.0).astype(np.float64)).tolist()
        set_torque, advance = self._pybullet.setJointMotorControlArray, self._pybullet.stepSimulation
        mode, body, joints, clients = self._pybullet.TORQUE_CONTROL, self.body, self.joints, self.clients
        raw = []
        for i, row in enumerate(rows):
            set_torque(body, joints, mode, forces=torque[i], physicsClientId=clients[row])
            advance(clients[row])
            raw.append(self._read(row))
        index = np.asarray(rows)
        obs, potential = self._observe(np.array(raw), index, count_floor=True)
        alive = self._alive(index)  # uses the contacts of the step before, as the stock environment does
        self._read_contacts(rows)
        progress = potential - self.potential[index]
        self.potential[index] = potential
        self.steps[index] += 1
        reward = alive + progress + self._action_cost(action, index)
        terminated = (alive < 0) if self.robot.ends_when_fallen else np.zeros(len(index), bool)
        terminated |= ~np.isfinite(obs).all(axis=1)
        limit = self.time_limit
        truncated = self.steps[index] >= limit if limit is not None else np.zeros(len(index), bool)
        return Step(obs, reward, terminated, truncated)

    # -- reading the simulator -------------------------------------------------------------------

    def _read(self, row: int) -> list[float]:
        """One environment's state: sum of part x and y, torso z, quaternion, velocity, joints."""
        pybullet, client = self._pybullet, self.clients[row]
        joints = pybullet.getJointStates(self.body, self.joints, client)
        links = pybullet.getLinkStates(self.body, self.links, 1, 0, client)
        x = y = 0.0
        for link in links:
            position = link[0]
            x += position[0]
            y += position[1]
        if self.torso >= 0:
            position, quaternion, *_, velocity, _ = links[self.torso]
        else:
            position, quaternion = pybullet.getBasePositionAndOrientation(self.body, client)
            velocity, _ = pybullet.getBaseVelocity(self.body, client)
            x += position[0]
            y += position[1]
        return [x, y, position[2], *quaternion, *velocity, *[j[0] for j in joints], *[j[1] for j in joints]]

    def _read_contacts(self, rows: Sequence[int]) -> None:
        contact_points, body, column = self._pybullet.getContactPoints, self.body, self.foot_column
        for row in rows:
            touching = self.foot_contact[row]
            touching[:] = 0.0
            for point in contact_points(body, 0, physicsClientId=self.clients[row]):
                foot = column.get(point[3])
                if foot is not None:
                    touching[foot] = 1.0

    # -- arithmetic over all environments --------------------------------------------------------

    def _observe(
        self, raw: np.ndarray, index: np.ndarray, *, count_floor: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Observations [n, obs_dim] and potentials [n] from raw states [n, 10 + 2 * joints]."""
        n_joints, z, velocity = self.action_dim, raw[:, 2], raw[:, 7:10]
        parts = self.num_parts + count_floor
        mean_x = (raw[:, 0] + count_floor * self.floor_xy[0]) / parts
        mean_y = (raw[:, 1] + count_floor * self.floor_xy[1]) / parts
        roll, pitch, yaw = euler_from_quaternion(raw[:, 3:7])
        to_x, to_y = TARGET_X - mean_x, -mean_y
        angle = np.arctan2(to_y, to_x) - yaw
        cos, sin = np.cos(yaw), np.sin(yaw)

        obs = np.empty((len(index), self.obs_dim), np.float32)
        obs[:, 0] = z - self.initial_z[index]
        obs[:, 1] = np.sin(angle)
        obs[:, 2] = np.cos(angle)
        obs[:, 3] = 0.3 * (cos * velocity[:, 0] + sin * velocity[:, 1])
        obs[:, 4] = 0.3 * (cos * velocity[:, 1] - sin * velocity[:, 0])
        obs[:, 5] = 0.3 * velocity[:, 2]
        obs[:, 6] = roll
        obs[:, 7] = pitch
        obs[:, 8 : 8 + 2 * n_joints : 2] = 2.0 * (raw[:, 10 : 10 + n_joints] - self.lower) / self.range - 1.0
        obs[:, 9 : 8 + 2 * n_joints : 2] = 0.1 * raw[:, 10 + n_joints :]
        obs[:, 8 + 2 * n_joints :] = self.foot_contact[index]

        self.joint_speed[index] = obs[:, 9 : 8 + 2 * n_joints : 2]
        self.joints_at_limit[index] = (np.abs(obs[:, 8 : 8 + 2 * n_joints : 2]) > 0.99).sum(axis=1)
        self.height[index] = obs[:, 0] + self.initial_z[index]
        self.pitch[index] = pitch
        potential = -np.sqrt(to_x * to_x + to_y * to_y) / DT
        return np.clip(obs, -5.0, 5.0, out=obs), potential

    def _alive(self, index: np.ndarray) -> np.ndarray:
        """+1 while upright, -1 when fallen."""
        upright = self.height[index] > self.robot.min_height
        upright &= np.abs(self.pitch[index]) < self.robot.max_pitch
        if self.robot.knees:
            upright &= ~self.foot_contact[index][:, self.robot.knees].any(axis=1)
        return np.where(upright, 1.0, -1.0)

    def _action_cost(self, action: np.ndarray, index: np.ndarray) -> np.ndarray:
        """Electricity uses the unclipped action, as the stock environment does."""
        work = np.abs(action * self.joint_speed[index]).mean(axis=1).astype(np.float64)
        torque = np.square(action).mean(axis=1).astype(np.float64)
        return (
            ELECTRICITY_COST * work
            + STALL_TORQUE_COST * torque
            + JOINT_LIMIT_COST * self.joints_at_limit[index]
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


def euler_from_quaternion(q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Roll, pitch and yaw of quaternions [n, 4] (x, y, z, w), with Bullet's rule at the poles."""
    x, y, z, w = q[:, 0], q[:, 1], q[:, 2], q[:, 3]
    sin_pitch = -2.0 * (x * z - w * y)
    xx, yy, zz, ww = x * x, y * y, z * z, w * w
    roll = np.arctan2(2.0 * (y * z + w * x), ww - xx - yy + zz)
    pitch = np.arcsin(np.clip(sin_pitch, -1.0, 1.0))
    yaw = np.arctan2(2.0 * (x * y + w * z), ww + xx - yy - zz)
    pole = np.abs(sin_pitch) >= 0.99999
    if pole.any():  # only roll + yaw is defined there
        sign = np.sign(sin_pitch)
        roll = np.where(pole, 0.0, roll)
        pitch = np.where(pole, 0.5 * np.pi * sign, pitch)
        yaw = np.where(pole, 2.0 * np.arctan2(-sign * x, sign * y), yaw)
    return roll, pitch, yaw


def _build_world(pybullet, robot: Robot) -> int:
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


def _import_pybullet():
    try:
        with _quietly():
            import pybullet
    except ImportError as error:
        raise TaskError(
            "The Bullet tasks need PyBullet, which is not installed here. Install it with "
            "`pip install 'rilco[bullet]'` (wheels exist for Python 3.11 and older), or use --env with "
            "an environment of your own."
        ) from error
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
