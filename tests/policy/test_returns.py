from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
import pytest

from rilco.policy import returns as module
from rilco.policy.learner import Rollout


def rollout_of(reward: jax.Array, terminated: jax.Array, truncated: jax.Array) -> Rollout:
    """All of a rollout that returns depend on."""
    nothing: Any = None
    return Rollout(nothing, nothing, reward, terminated, truncated, nothing)


@functools.partial(jax.jit, static_argnames="discount")
def n_step_returns(
    reward: jax.Array,
    terminated: jax.Array,
    truncated: jax.Array,
    value: jax.Array,
    last_value: jax.Array,
    discount: float,
) -> jax.Array:
    return module.n_step_returns(rollout_of(reward, terminated, truncated), value, last_value, discount)


@functools.partial(jax.jit, static_argnames=("discount", "gae_lambda"))
def generalized_advantages(
    reward: jax.Array,
    terminated: jax.Array,
    truncated: jax.Array,
    value: jax.Array,
    last_value: jax.Array,
    discount: float,
    gae_lambda: float,
) -> jax.Array:
    rollout = rollout_of(reward, terminated, truncated)
    return module.generalized_advantages(rollout, value, last_value, discount, gae_lambda)


REWARD = [1.0, 2.0, 4.0]
VALUE = [10.0, 20.0, 30.0]
NOWHERE = [False, False, False]


def one_environment(
    terminated: list[bool], truncated: list[bool], *, last_value: float = 8.0, discount: float = 0.5
) -> list[float]:
    """Returns of one environment over three steps."""
    columns = (
        np.asarray(values)[:, None]
        for values in (np.float32(REWARD), terminated, truncated, np.float32(VALUE))
    )
    result = n_step_returns(*columns, np.float32([last_value]), discount=discount)
    return np.asarray(result)[:, 0].tolist()


@pytest.mark.parametrize(
    "terminated, truncated, expected",
    [
        # last: 4 + 8/2; before: 2 + 8/2; first: 1 + 6/2
        pytest.param(NOWHERE, NOWHERE, [4.0, 6.0, 8.0], id="bootstrap"),
        pytest.param([False, False, True], NOWHERE, [3.0, 4.0, 4.0], id="terminal-last"),
        pytest.param([False, True, False], NOWHERE, [2.0, 2.0, 8.0], id="terminal-middle"),
        # the cut step is worth its own value, which the step before it discounts
        pytest.param(NOWHERE, [False, True, False], [11.0, 20.0, 8.0], id="truncated-middle"),
        pytest.param(NOWHERE, [False, False, True], [9.5, 17.0, 30.0], id="truncated-last"),
        pytest.param([False, True, False], [False, True, False], [2.0, 2.0, 8.0], id="both"),
        pytest.param([True, False, False], [False, False, True], [1.0, 17.0, 30.0], id="one-then-the-other"),
    ],
)
def test_hand_computed(terminated: list[bool], truncated: list[bool], expected: list[float]) -> None:
    assert one_environment(terminated, truncated) == expected


def test_what_follows_an_end_does_not_leak_back() -> None:
    one, other = (one_environment([False, True, False], NOWHERE, last_value=value) for value in (0.0, 1e6))
    assert one[:2] == other[:2]
    assert one[2] != other[2]


def test_environments_do_not_mix() -> None:
    rng = np.random.default_rng(0)
    reward, value = rng.normal(size=(2, 6, 4)).astype(np.float32)
    terminated, truncated = rng.random((2, 6, 4)) < 0.3
    last_value = rng.normal(size=4).astype(np.float32)
    together = n_step_returns(reward, terminated, truncated, value, last_value, discount=0.9)
    for b in range(4):
        alone = (array[:, [b]] for array in (reward, terminated, truncated, value))
        single = n_step_returns(*alone, last_value[[b]], discount=0.9)
        np.testing.assert_array_equal(together[:, b], single[:, 0])


def random_rollout(
    seed: int, steps: int = 7, envs: int = 5
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Reward, terminated, truncated, value [T, B] and last_value [B], with ends of both kinds."""
    rng = np.random.default_rng(seed)
    reward, value = rng.normal(size=(2, steps, envs)).astype(np.float32)
    terminated, truncated = rng.random((2, steps, envs)) < 0.25
    return reward, terminated, truncated, value, rng.normal(size=envs).astype(np.float32)


def one_environment_advantages(
    terminated: list[bool], truncated: list[bool], *, last_value: float = 8.0
) -> list[float]:
    """GAE of one environment over three steps, with discount and lambda one half."""
    columns = (
        np.asarray(values)[:, None]
        for values in (np.float32(REWARD), terminated, truncated, np.float32(VALUE))
    )
    result = generalized_advantages(*columns, np.float32([last_value]), discount=0.5, gae_lambda=0.5)
    return np.asarray(result)[:, 0].tolist()


@pytest.mark.parametrize(
    "terminated, truncated, expected",
    [
        # TD errors: 1 + 20/2 - 10 = 1, 2 + 30/2 - 20 = -3, 4 + 8/2 - 30 = -22; each step adds 1/4 of the next
        pytest.param(NOWHERE, NOWHERE, [-1.125, -8.5, -22.0], id="bootstrap"),
        pytest.param([False, False, True], NOWHERE, [-1.375, -9.5, -26.0], id="terminal-last"),
        # 2 - 20 is the end of the first episode
        pytest.param([False, True, False], NOWHERE, [-3.5, -18.0, -22.0], id="terminal-middle"),
        pytest.param(NOWHERE, [False, True, False], [1.0, 0.0, -22.0], id="truncated-middle"),
        pytest.param(NOWHERE, [False, False, True], [0.25, -3.0, 0.0], id="truncated-last"),
        pytest.param([False, True, False], [False, True, False], [-3.5, -18.0, -22.0], id="both"),
    ],
)
def test_hand_computed_advantages(
    terminated: list[bool], truncated: list[bool], expected: list[float]
) -> None:
    assert one_environment_advantages(terminated, truncated) == expected


@pytest.mark.parametrize("seed", range(3))
def test_lambda_one_is_the_advantage_of_n_step_returns(seed: int) -> None:
    rollout = random_rollout(seed)
    value = rollout[3]
    advantages = generalized_advantages(*rollout, discount=0.9, gae_lambda=1.0)
    np.testing.assert_allclose(
        advantages + value, n_step_returns(*rollout, discount=0.9), rtol=1e-5, atol=1e-5
    )


def test_lambda_zero_is_the_one_step_error() -> None:
    reward, terminated, truncated, value, last_value = rollout = random_rollout(0)
    following = np.concatenate([value[1:], last_value[None]])
    error = reward + 0.9 * np.where(terminated, 0.0, following) - value
    expected = np.where(truncated & ~terminated, 0.0, error)
    advantages = generalized_advantages(*rollout, discount=0.9, gae_lambda=0.0)
    np.testing.assert_allclose(advantages, expected, rtol=1e-5, atol=1e-6)


def test_advantages_are_the_weighted_sum_of_all_n_step_ones() -> None:
    """Against the definition: (1 - lambda) * sum of lambda^(n-1) * A^(n), the longest taking what is left."""
    discount, gae_lambda, steps = 0.9, 0.8, 6
    rng = np.random.default_rng(0)
    reward, value = rng.normal(size=(2, steps)).astype(np.float32)
    last_value = np.float32(0.7)
    values = np.append(value, last_value)
    expected = []
    for t in range(steps):
        longest = steps - t
        n_step = [
            sum(discount**i * reward[t + i] for i in range(n)) + discount**n * values[t + n] - value[t]
            for n in range(1, longest + 1)
        ]
        weights = [(1 - gae_lambda) * gae_lambda ** (n - 1) for n in range(1, longest)]
        expected.append(np.dot([*weights, gae_lambda ** (longest - 1)], n_step))
    never = np.zeros((steps, 1), bool)
    result = generalized_advantages(
        reward[:, None],
        never,
        never,
        value[:, None],
        last_value[None],
        discount=discount,
        gae_lambda=gae_lambda,
    )
    np.testing.assert_allclose(result[:, 0], expected, rtol=1e-5, atol=1e-6)


def test_advantages_do_not_leak_over_an_end() -> None:
    one, other = (
        one_environment_advantages([False, True, False], NOWHERE, last_value=value) for value in (0.0, 1e6)
    )
    assert one[:2] == other[:2]
    assert one[2] != other[2]


def test_advantages_promote_no_type_and_no_rank() -> None:
    shape = jax.eval_shape(
        functools.partial(generalized_advantages, discount=0.9, gae_lambda=0.8),
        *random_rollout(0),
    )
    assert (shape.shape, shape.dtype) == ((7, 5), np.float32)
