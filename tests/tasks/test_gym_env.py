"""The Bullet tasks as other people's Gymnasium environments."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import rilco
from rilco.tasks.gym_env import BulletEnv
from rilco.tasks.registration import gymnasium_id
from rilco.tasks.robots import ROBOTS

pytest.importorskip("pybullet")
assert rilco.__version__  # importing rilco registers the ids


def test_ids() -> None:
    assert [gymnasium_id(task) for task in ROBOTS] == [
        "rilco/HalfCheetahBullet-v0",
        "rilco/HopperBullet-v0",
        "rilco/Walker2DBullet-v0",
        "rilco/AntBullet-v0",
    ]


@pytest.mark.parametrize("task", ROBOTS)
def test_passes_gymnasiums_checks(task: str) -> None:
    env = gymnasium.make(gymnasium_id(task), render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=False)
    env.close()


@pytest.mark.parametrize("task", ROBOTS)
def test_reset_with_a_seed_starts_the_stock_environments_episode(task: str) -> None:
    """Also in the first episode after construction, whose first reward is peculiar."""
    pytest.importorskip("pybullet_envs_gymnasium")
    ours = gymnasium.make(gymnasium_id(task))
    stock = gymnasium.make(ROBOTS[task].stock_id, disable_env_checker=True)
    rng = np.random.default_rng(0)
    for seed in (11, None, 12):  # None goes on with the environment's own generator
        a, b = ours.reset(seed=seed)[0], stock.reset(seed=seed)[0]
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)
        for _ in range(8):
            action = rng.uniform(-1, 1, ours.action_space.shape).astype(np.float32)
            x, y = ours.step(action), stock.step(action)
            np.testing.assert_allclose(x[0], y[0], rtol=0, atol=1e-6)
            assert x[1] == pytest.approx(y[1], abs=1e-6)
            assert x[2:4] == y[2:4]
            if x[2]:
                break
    ours.close()
    stock.close()


def test_time_limit_is_registered() -> None:
    env = gymnasium.make(gymnasium_id("halfcheetah"))
    assert env.spec is not None
    assert env.spec.max_episode_steps == 1000
    env.close()


def test_unknown_render_mode_is_refused() -> None:
    with pytest.raises(ValueError, match="render_mode"):
        BulletEnv("hopper", render_mode="ansi")


def test_other_learners_can_step_several_in_processes_of_their_own() -> None:
    """Which is how they train: made there by id, reset with a seed each, begun anew when an episode ends."""
    fresh = {"context": "spawn"}  # a fork of this process would share JAX's threads
    envs = gymnasium.make_vec(
        gymnasium_id("hopper"), num_envs=2, vectorization_mode="async", vector_kwargs=fresh
    )
    alone = gymnasium.make(gymnasium_id("hopper"))
    obs, _ = envs.reset(seed=3)  # the seeds 3 and 4
    np.testing.assert_array_equal(obs[0], alone.reset(seed=3)[0])
    envs.action_space.seed(0)
    ended = 0
    for _ in range(100):
        action = envs.action_space.sample()
        obs, reward, terminated, truncated, _ = envs.step(action)
        if ended == 0:
            expected = alone.step(action[0])
            np.testing.assert_array_equal(obs[0], expected[0])
            assert (reward[0], terminated[0], truncated[0]) == expected[1:4]
        ended += int(terminated[0])
    assert ended > 1, "a hopper that moves at random falls, and is set up again"
    envs.close()
    alone.close()
