"""The Bullet tasks against the stock environments, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import gymnasium
import numpy as np
import pytest

pytest.importorskip("pybullet")

from rilco.tasks.bullet import BulletBatch
from rilco.tasks.robots import ROBOTS

EPISODES = 20
ACTIONS = {
    "random": lambda rng, n: rng.uniform(-1, 1, n),
    "zero": lambda rng, n: np.zeros(n),
    "small": lambda rng, n: rng.normal(0, 0.1, n),
    "far out of range": lambda rng, n: rng.normal(0, 50, n),
}


@pytest.fixture
def stock() -> Iterator[Callable[[str], gymnasium.Env]]:
    """Build stock environments and close them after the test."""
    pytest.importorskip("pybullet_envs_gymnasium")
    opened = []

    def make(task: str) -> gymnasium.Env:
        opened.append(gymnasium.make(ROBOTS[task].stock_id, disable_env_checker=True))
        return opened[-1]

    yield make
    for env in opened:
        env.close()


def seeded(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))


@pytest.mark.parametrize("task", ROBOTS)
def test_agrees_with_the_stock_environment(task: str, stock: Callable[[str], gymnasium.Env]) -> None:
    env, batch = stock(task), BulletBatch(ROBOTS[task], 2)
    terminations = 0
    for episode in range(EPISODES):
        # Few full episodes reach the time limit (HalfCheetah's never end before); the rest are cut short.
        limit = 1000 if episode < len(ACTIONS) else 120
        rng, row = np.random.default_rng(episode), episode % 2
        draw = list(ACTIONS.values())[episode % len(ACTIONS)]
        theirs = [env.reset(seed=100 + episode)[0]]
        ours = [batch.reset([row], [seeded(100 + episode)], first=episode == 0)[0]]
        rewards, ends = [], []
        for _ in range(limit):
            action = draw(rng, batch.action_dim).astype(np.float32)
            obs, reward, terminated, truncated, _ = env.step(action)
            step = batch.step(action[None], [row])
            theirs.append(obs)
            ours.append(step.obs[0])
            rewards.append((step.reward[0], reward))
            ends.append((step.terminated[0], step.truncated[0]) == (terminated, truncated))
            if terminated or truncated:
                break
        assert all(ends)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6)
        our_rewards, their_rewards = np.transpose(rewards)
        np.testing.assert_allclose(our_rewards, their_rewards, rtol=1e-6, atol=1e-6)
        terminations += terminated
    batch.close()
    assert terminations > 0 or not ROBOTS[task].ends_when_fallen  # the falls were part of the comparison


def test_environments_do_not_influence_each_other() -> None:
    """A row behaves the same alone and between neighbours that are reset and stepped at other times."""
    robot = ROBOTS["hopper"]
    alone, crowd = BulletBatch(robot, 1), BulletBatch(robot, 3)
    start = alone.reset([0], [seeded(1)])
    crowd.reset([0, 2], [seeded(5), seeded(6)])
    assert np.array_equal(crowd.reset([1], [seeded(1)]), start)
    rng = np.random.default_rng(0)
    for t in range(12):
        action = rng.normal(0, 0.3, (3, 3)).astype(np.float32)
        expected = alone.step(action[1:2])
        got = crowd.step(action)
        assert np.array_equal(got.obs[1], expected.obs[0])
        assert got.reward[1] == expected.reward[0]
        if t == 5:
            crowd.reset([0], [seeded(9)])
    alone.close()
    crowd.close()


@pytest.mark.parametrize("task", ROBOTS)
def test_episodes_replay_exactly(task: str) -> None:
    """From its seed and actions, in the same client after other episodes and in a fresh one."""
    robot, rng = ROBOTS[task], np.random.default_rng(3)
    used = BulletBatch(robot, 1)
    actions = rng.uniform(-1, 1, (60, 1, used.action_dim)).astype(np.float32)

    def play(batch: BulletBatch) -> np.ndarray:
        observations = [batch.reset([0], [seeded(7)])]
        for action in actions:
            observations.append(batch.step(action).obs)
        return np.concatenate(observations)

    first = play(used)
    used.reset([0], [seeded(8)])
    for action in actions[::-1]:
        used.step(action)
    fresh = BulletBatch(robot, 1)
    assert np.array_equal(play(used), first)
    assert np.array_equal(play(fresh), first)
    used.close()
    fresh.close()


def test_time_limit() -> None:
    batch = BulletBatch(ROBOTS["halfcheetah"], 1, time_limit=5)
    batch.reset([0], [seeded(0)])
    ends = [bool(batch.step(np.zeros((1, 6), np.float32)).truncated[0]) for _ in range(5)]
    assert ends == [False] * 4 + [True]
    batch.close()


def test_frame_shows_the_robot() -> None:
    batch = BulletBatch(ROBOTS["ant"], 1)
    batch.reset([0], [seeded(0)])
    frame = batch.render(0)
    assert frame.shape == (240, 320, 3)
    assert frame.dtype == np.uint8
    assert frame.std() > 5  # not a blank picture
    batch.close()
