"""Pictures of demonstrations: the robot is posed as the observation says."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box
from tests.judging.examples import make_verdict

from rilco.data.record import Demonstrations
from rilco.errors import TaskError
from rilco.judging.pictures import (
    HEIGHT,
    WIDTH,
    _bullet_pose,
    _mujoco_pose,
    encode,
    pose_frames,
    take_pictures,
)
from rilco.tasks.robots import ROBOTS
from rilco.tasks.table import Task


class Posed(gymnasium.Env):
    """Like Gymnasium's MuJoCo environments: its observation is its state without the first position."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 50}  # noqa: RUF012 (gymnasium's contract)

    def __init__(self, render_mode: str | None = None, broken: bool = False) -> None:
        self.render_mode, self.broken = render_mode, broken
        self.observation_space = Box(-np.inf, np.inf, (5,), np.float64)
        self.action_space = Box(-1.0, 1.0, (1,), np.float32)
        self.init_qpos = np.array([7.0, 0.0, 0.0])
        self.observation_structure = {"skipped_qpos": 1, "qpos": 2, "qvel": 3}
        self.state = np.zeros(6)

    def set_state(self, qpos: np.ndarray, qvel: np.ndarray) -> None:
        assert qpos.shape == (3,)
        assert qvel.shape == (3,)
        self.state = np.concatenate([qpos, qvel])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        return np.zeros(5), {}

    def render(self) -> np.ndarray:
        if self.broken:
            raise RuntimeError("no display")
        return np.tile(self.state.astype(np.uint8)[None, :, None], (8, 1, 3))


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    gymnasium.register("Posed-v0", entry_point=Posed)
    gymnasium.register("PosedInTheDark-v0", entry_point=Posed, kwargs={"broken": True})
    yield
    for name in ("Posed-v0", "PosedInTheDark-v0"):
        del gymnasium.registry[name]


@pytest.mark.bullet
@pytest.mark.parametrize("name", ROBOTS)
def test_a_posed_robot_gives_the_observation_back(name: str) -> None:
    """Falling about at random takes the torso far from upright, also over more than a quarter turn."""
    from rilco.tasks.bullet import BulletBatch, _RawState

    rng = np.random.default_rng(3)
    batch, posed = (BulletBatch(ROBOTS[name], 1) for _ in range(2))
    try:
        batch.reset([0], [rng])
        posed.reset([0], [rng])
        pose = _bullet_pose(posed)
        angles = list(range(8, 8 + 2 * batch.action_dim, 2))
        for step in range(60):
            if step % 8 == 0:
                action = rng.uniform(-1, 1, (1, batch.action_dim))
            obs = batch.step(action).obs[0]
            if step % 12 == 11:
                pose(obs.astype(np.float64))
                state = _RawState(np.array([posed._read(0)]))
                back = posed._observe(state, posed._to_target(state, count_floor=True), slice(None))[0]
                shown = [0, 1, 2, 6, 7, *angles]  # height, heading, roll, pitch, joints
                np.testing.assert_allclose(back[shown], obs[shown], atol=2e-4)
    finally:
        batch.close()
        posed.close()


@pytest.mark.bullet
def test_a_robot_on_its_back() -> None:
    """Beyond a quarter turn the Euler angles flip; the pose must not."""
    import pybullet

    from rilco.tasks.bullet import BulletBatch

    batch = BulletBatch(ROBOTS["hopper"], 1)
    try:
        batch.reset([0], [np.random.default_rng(0)])
        obs = np.zeros(15)
        obs[6], obs[7] = np.pi, np.pi - 2.5
        _bullet_pose(batch)(obs)
        orientation = pybullet.getLinkState(batch.body, batch.torso, physicsClientId=batch.clients[0])[1]
        up = np.reshape(pybullet.getMatrixFromQuaternion(orientation), (3, 3))[:, 2]
        np.testing.assert_allclose(up, [np.sin(2.5), 0.0, np.cos(2.5)], atol=1e-6)
    finally:
        batch.close()


@pytest.mark.bullet
def test_frames_show_the_pose() -> None:
    upright, bent = np.zeros(15), np.zeros(15)
    bent[7] = 0.9
    frames = pose_frames(Task(task="hopper"), np.stack([upright, bent, upright]))
    assert frames.shape == (3, HEIGHT, WIDTH, 3)
    assert frames.dtype == np.uint8
    assert np.array_equal(frames[0], frames[2])  # a pose does not depend on the one before
    assert (frames[0] != frames[1]).any(axis=-1).mean() > 0.005


@pytest.mark.bullet
def test_observations_of_another_task_are_refused() -> None:
    with pytest.raises(TaskError, match=r"hopper: observations have the shape \[2, 4\]; expected \[n, 15\]"):
        pose_frames(Task(task="hopper"), np.zeros((2, 4)))


def test_environments_that_say_how_their_observation_is_made() -> None:
    frames = pose_frames(Task(env="Posed-v0"), np.array([[1.0, 2, 3, 4, 5], [10, 20, 30, 40, 50]]))
    assert frames[:, 0, :, 0].tolist() == [[7, 1, 2, 3, 4, 5], [7, 10, 20, 30, 40, 50]]


@pytest.mark.parametrize("env_id", ["Hopper-v5", "Ant-v5"])
def test_poses_of_real_mujoco_environments(env_id: str) -> None:
    pytest.importorskip("mujoco")
    env: Any = gymnasium.make(env_id).unwrapped
    env.reset(seed=0)
    env.action_space.seed(0)
    pose = _mujoco_pose(env, Task(env=env_id))
    for _ in range(5):
        obs = env.step(env.action_space.sample())[0]
        shown = sum(env.observation_structure[part] for part in ("qpos", "qvel"))
        env.reset(seed=1)
        pose(obs)
        np.testing.assert_allclose(env._get_obs()[:shown], obs[:shown], atol=1e-9)


def demonstrations_of(lengths: list[int], obs_dim: int) -> Demonstrations:
    """Each observation says which demonstration and which step it is."""
    episode = np.repeat(np.arange(len(lengths)), lengths)
    obs = np.zeros((len(episode), obs_dim))
    obs[:, 0] = episode
    obs[:, 1] = np.concatenate([np.arange(length) for length in lengths])
    return Demonstrations(obs, np.zeros((len(obs), 1)), episode=episode)


def test_pictures_are_of_the_typical_and_the_oddest_of_each_family(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths = [120] * 4 + [50] * 3
    verdict = make_verdict(demonstrations_of(lengths, 5), families=[[0, 1, 2, 3], [4, 5, 6]])
    monkeypatch.setattr("rilco.judging.pictures.encode", lambda frame: bytes(frame[0, 1:3, 0]))
    gallery = take_pictures(verdict, demonstrations_of(lengths, 5), Task(env="Posed-v0"))
    assert set(gallery.films) == {0, 3, 4, 6}
    for index, film in gallery.films.items():
        assert len(film.steps) == 4
        assert list(film.steps) == sorted(set(film.steps))
        assert max(film.steps) < lengths[index]
        assert film.images == tuple(bytes([index, at]) for at in film.steps)


def test_short_demonstrations_have_fewer_pictures() -> None:
    demos = demonstrations_of([3, 3], 5)
    gallery = take_pictures(make_verdict(demos, families=[[0, 1]]), demos, Task(env="Posed-v0"))
    assert gallery.films[0].steps == (0, 1, 2)


def test_without_an_environment_or_families_there_are_none() -> None:
    demos = demonstrations_of([3, 3], 5)
    assert not take_pictures(make_verdict(demos, families=[[0, 1]]), demos, None).films
    assert not take_pictures(make_verdict(demos, families=[]), demos, Task(env="Posed-v0")).films


@pytest.mark.parametrize(
    "env, reason",
    [
        ("PosedInTheDark-v0", "rendering failed .RuntimeError: no display"),
        ("Pendulum-v1", "do not say the position of every joint"),
        ("CartPole-v1", r"expected \[n, 4\]"),
    ],
)
def test_where_no_picture_can_be_taken_the_note_says_why(env: str, reason: str) -> None:
    demos = demonstrations_of([3, 3], 3 if env == "Pendulum-v1" else 5)
    gallery = take_pictures(make_verdict(demos, families=[[0, 1]]), demos, Task(env=env))
    assert not gallery.films
    assert gallery.note.startswith("No pictures: ")
    assert re.search(reason, gallery.note)


def test_without_pillow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    demos = demonstrations_of([3, 3], 5)
    gallery = take_pictures(make_verdict(demos, families=[[0, 1]]), demos, Task(env="Posed-v0"))
    assert not gallery.films
    assert "pip install '.[video]'" in gallery.note


def test_pictures_are_small_files() -> None:
    from PIL import Image

    frame = np.zeros((480, 480, 3), np.uint8)
    frame[:, 240:] = 255
    data = encode(frame)
    assert len(data) < 10_000
    image = np.asarray(Image.open(io.BytesIO(data)))
    assert image.shape == (150, 150, 3)
    assert image[75, 20].max() < 30
    assert image[75, 130].min() > 225
