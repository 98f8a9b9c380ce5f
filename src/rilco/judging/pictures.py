"""Pictures of the typical and the oddest demonstration of a family, posed from the observations.

An observation is not a simulator's state, so a moment cannot be played again. But the observations of the
Bullet tasks, and of Gymnasium's MuJoCo environments, hold the angles of all joints and the torso's height and
tilt: enough to pose the robot and take its picture. Where it is in the world is unknown, and the camera follows it.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rilco.data.index import EpisodeIndex
from rilco.errors import RilcoError, TaskError, require

if TYPE_CHECKING:
    from rilco.data.record import Demonstrations
    from rilco.judging.verdict import Verdict
    from rilco.tasks.bullet import BulletBatch
    from rilco.tasks.table import Task

WIDTH, HEIGHT = 200, 150
QUALITY = 80  # of the JPEGs: about 4 kB each
FRAMES = 4
"""Pictures of one demonstration, evenly over its time."""
FAMILIES = 8
"""So many of the largest families have pictures."""


class Film(NamedTuple):
    """A demonstration in pictures."""

    steps: tuple[int, ...]
    images: tuple[bytes, ...]
    """JPEG files, one a step."""


class Gallery(NamedTuple):
    """Films by the demonstrations' index, and a sentence that says why there are none."""

    films: Mapping[int, Film] = MappingProxyType({})
    note: str = ""


def take_pictures(verdict: Verdict, demos: Demonstrations, task: Task | None) -> Gallery:
    """Pictures of the typical and the oddest member of the largest families; none where none can be taken."""
    families = verdict.families[:FAMILIES]
    if task is None or not families:
        return Gallery()
    index = EpisodeIndex.of(verdict.of_pair)
    chosen = dict.fromkeys(i for family in families for i in (family.typical, family.oddest))
    steps = {i: _spread(int(index.length[i])) for i in chosen}
    rows = np.concatenate([index.order[index.start[i] + np.array(places)] for i, places in steps.items()])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a graphics library's; what it cannot do is in the note
            images = iter([encode(frame) for frame in pose_frames(task, demos.obs[rows])])
    except RilcoError as error:
        return Gallery(note=f"No pictures: {error}")
    return Gallery({i: Film(places, tuple(next(images) for _ in places)) for i, places in steps.items()})


def pose_frames(task: Task, obs: np.ndarray) -> np.ndarray:
    """RGB pictures [n, height, width, 3] of the robot as the observations [n, obs_dim] describe it."""
    batch: Any = task.make_batch(1, render=True)
    try:
        if obs.ndim != 2 or obs.shape[1] != batch.obs_dim:
            raise TaskError(
                f"{task.name}: observations have the shape {list(obs.shape)}; expected [n, {batch.obs_dim}]."
            )
        batch.reset([0], [np.random.default_rng(0)])
        pose = _bullet_pose(batch) if task.task is not None else _mujoco_pose(batch.envs[0].unwrapped, task)
        frames = []
        for row in obs.astype(np.float64):
            pose(row)
            frame = _render(batch, task)
            frames.append(frame if task.task is None else _middle(frame))
        return np.stack(frames)
    finally:
        batch.close()


def encode(frame: np.ndarray) -> bytes:
    """A small JPEG of an RGB frame."""
    require("PIL", "Pictures", "video")
    from PIL import Image

    image = Image.fromarray(frame)
    image.thumbnail((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.save(file, "JPEG", quality=QUALITY, optimize=True)
    return file.getvalue()


def _bullet_pose(batch: BulletBatch) -> Callable[[np.ndarray], None]:
    """A function that puts the robot of the first environment into the pose of an observation."""
    import pybullet

    client, body, start_z = batch.clients[0], batch.body, float(batch.initial_z[0])
    scale, offset = batch.joint_scale[::2], batch.joint_offset[::2]
    info = [pybullet.getJointInfo(body, j, physicsClientId=client) for j in batch.links]
    root = [row for row in info if row[1].startswith(b"ignore")]  # how a planar robot moves in the world
    lift = next((row[0] for row in root if row[2] == pybullet.JOINT_PRISMATIC and row[13][2]), -1)
    turn = next((row[0] for row in root if row[2] == pybullet.JOINT_REVOLUTE), -1)

    def pose(obs: np.ndarray) -> None:
        joints = obs[8 : 8 + 2 * batch.action_dim : 2]
        batch.restore(0, (joints - offset) / scale)
        roll, pitch = obs[6], obs[7]
        if batch.torso == -1:
            # The target is so far ahead that the angle towards it is the robot's own heading.
            heading = -math.atan2(obs[1], obs[2])
            quaternion = pybullet.getQuaternionFromEuler([roll, pitch, heading])
            place = [0.0, 0.0, start_z + obs[0]]
            pybullet.resetBasePositionAndOrientation(body, place, quaternion, physicsClientId=client)
            return
        # Euler angles have the pitch within a quarter turn; a robot further over has rolled, in their terms.
        turned = math.pi - pitch if abs(roll) > math.pi / 2 else pitch
        pybullet.resetJointState(body, turn, turned, physicsClientId=client)
        # Some robots turn about a point below their torso, which then comes down: lift it to where it was.
        height = pybullet.getLinkState(body, batch.torso, physicsClientId=client)[0][2]
        pybullet.resetJointState(body, lift, start_z + obs[0] - height, physicsClientId=client)

    return pose


def _mujoco_pose(env: Any, task: Task) -> Callable[[np.ndarray], None]:
    """The same for environments whose observation begins with positions and velocities, and that say so."""
    layout = getattr(env, "observation_structure", None) or {}
    skipped, positions, velocities = (layout.get(name, 0) for name in ("skipped_qpos", "qpos", "qvel"))
    start = np.array(getattr(env, "init_qpos", []))
    if not hasattr(env, "set_state") or skipped + positions != len(start) or positions == 0:
        raise TaskError(
            f"{task.name}: its observations do not say the position of every joint. Pictures are taken of the Bullet "
            "tasks, and of MuJoCo environments whose observations begin with the positions, such as Hopper-v5."
        )

    def pose(obs: np.ndarray) -> None:
        place = np.concatenate([start[:skipped], obs[:positions]])
        env.set_state(place, obs[positions : positions + velocities])

    return pose


def _render(batch: Any, task: Task) -> np.ndarray:
    try:
        return np.asarray(batch.render(0), np.uint8)
    except Exception as error:  # a machine without graphics shows itself in many ways
        raise TaskError(f"{task.name}: rendering failed ({type(error).__name__}: {error}).") from error


def _middle(frame: np.ndarray) -> np.ndarray:
    """The camera looks at the torso from far enough for a video; in a small picture only the robot matters."""
    top, left = (frame.shape[0] - HEIGHT) // 2, (frame.shape[1] - WIDTH) // 2
    return frame[top : top + HEIGHT, left : left + WIDTH]


def _spread(pairs: int) -> tuple[int, ...]:
    """At most FRAMES steps, evenly; not the very first, where all begin alike."""
    count = min(FRAMES, pairs)
    return tuple(int((i + 0.5) * pairs / count) for i in range(count))
