from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rilco import normalizer as module
from rilco.normalizer import Normalizer, init_normalizer, init_reward_scaler

# Jitted, because one program compiles faster than its operations one by one.
update_normalizer = jax.jit(module.update_normalizer)
normalize = jax.jit(module.normalize)
scale_rewards = jax.jit(module.scale_rewards, static_argnames="discount")


def test_batches_of_any_size_add_up_to_the_whole() -> None:
    rng = np.random.default_rng(0)
    scales, offsets = np.array([1e-3, 1.0, 50.0]), np.array([0.0, -3.0, 200.0])
    batches = [
        rng.normal(size=(n, 3)) * scales + offsets + shift for n, shift in ((1, 0), (640, 2), (17, -5))
    ]
    normalizer = init_normalizer(3)
    for batch in batches:
        normalizer = update_normalizer(normalizer, jnp.asarray(batch, jnp.float32))
    seen = np.concatenate(batches)
    np.testing.assert_allclose(normalizer.mean, seen.mean(axis=0), rtol=1e-4)
    # The prior's count of 1e-4 is still felt: 200^2 * 1e-4 / 658 = 0.006 on a variance of 2500.
    np.testing.assert_allclose(normalizer.var, seen.var(axis=0), rtol=1e-3)
    assert normalizer.count == pytest.approx(658.0)


def test_statistics_stay_right_over_millions_of_samples() -> None:
    rng = np.random.default_rng(1)
    batches = (rng.normal(size=(64, 640, 2)) * [0.05, 3.0] + [4.0, -1.0]).astype(np.float32)

    def step(normalizer: Normalizer, index: jax.Array) -> tuple[Normalizer, None]:
        return update_normalizer(normalizer, jnp.asarray(batches)[index % 64]), None

    normalizer, _ = jax.jit(lambda start: jax.lax.scan(step, start, jnp.arange(31_250 // 64 * 64)))(
        init_normalizer(2)
    )
    seen = batches.reshape(-1, 2).astype(np.float64)
    np.testing.assert_allclose(normalizer.mean, seen.mean(axis=0), rtol=1e-4)
    np.testing.assert_allclose(normalizer.var, seen.var(axis=0), rtol=1e-3)


def test_fresh_normalizer_is_the_identity_and_clips() -> None:
    x = jnp.array([[0.5, -2.0], [1e6, -1e6]])
    np.testing.assert_allclose(normalize(init_normalizer(2), x), [[0.5, -2.0], [10.0, -10.0]], rtol=1e-6)


def test_normalized_data_has_zero_mean_and_unit_variance() -> None:
    x = jnp.asarray(np.random.default_rng(2).normal(5.0, 0.3, size=(1000, 2)), jnp.float32)
    y = np.asarray(normalize(update_normalizer(init_normalizer(2), x), x))
    np.testing.assert_allclose(y.mean(axis=0), 0.0, atol=1e-3)
    np.testing.assert_allclose(y.std(axis=0), 1.0, atol=1e-3)


def test_constant_features_become_zero() -> None:
    x = jnp.full((640, 1), 3.0)
    normalizer = init_normalizer(1)
    for _ in range(3):
        normalizer = update_normalizer(normalizer, x)
    y = normalize(normalizer, x)
    assert np.all(np.isfinite(y))
    np.testing.assert_allclose(y, 0.0, atol=0.1)


def test_reward_scaling_matches_a_step_by_step_loop() -> None:
    rng = np.random.default_rng(3)
    num_envs, discount = 3, 0.9
    scaler = init_reward_scaler(num_envs)
    running = np.zeros(num_envs)
    seen: list[np.ndarray] = []
    for _ in range(4):
        reward = rng.normal(1.0, 2.0, size=(5, num_envs)).astype(np.float32)
        terminated = rng.random((5, num_envs)) < 0.2
        truncated = rng.random((5, num_envs)) < 0.2
        scaler, scaled = scale_rewards(
            scaler, jnp.asarray(reward), jnp.asarray(terminated), jnp.asarray(truncated), discount
        )
        for t in range(5):
            for b in range(num_envs):
                running[b] = discount * running[b] + reward[t, b]
                seen.append(running[b].copy())
                if terminated[t, b] or truncated[t, b]:
                    running[b] = 0.0
        expected = np.clip(reward / np.std(seen), -10.0, 10.0)
        np.testing.assert_allclose(scaled, expected, rtol=1e-3)
    np.testing.assert_allclose(scaler.discounted_return, running, rtol=1e-5)


def test_scaled_rewards_are_clipped_not_centred() -> None:
    flags = jnp.zeros((4, 2), bool)
    scaler, scaled = scale_rewards(init_reward_scaler(2), jnp.ones((4, 2)), flags, flags, 0.0)
    np.testing.assert_array_equal(scaled, 10.0)  # returns that do not vary at all
    _, scaled = scale_rewards(scaler, jnp.zeros((4, 2)), flags, flags, 0.0)
    np.testing.assert_array_equal(scaled, 0.0)


def test_on_the_host_step_by_step_is_as_all_at_once_in_float64() -> None:
    x = 5.0 + np.random.default_rng(0).standard_normal((21, 32, 3)).astype(np.float32)
    statistics = module.on_host(init_normalizer(3))
    for line in x:
        statistics = module.update_normalizer(statistics, line)
    assert statistics.mean.dtype == np.float64
    np.testing.assert_allclose(statistics.mean, x.reshape(-1, 3).mean(axis=0, dtype=np.float64), rtol=1e-6)
    np.testing.assert_allclose(statistics.var, x.reshape(-1, 3).var(axis=0, dtype=np.float64), rtol=1e-5)
    assert round(float(module.on_device(statistics).count)) == 21 * 32
