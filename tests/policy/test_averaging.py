"""Several policies as one."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from rilco.policy.averaging import mean_policy
from rilco.policy.saved import Policy, load_policy

OBS, ACTION = 5, 3


def make(seed: int, hidden: tuple[int, ...] = (8, 6), mean: float = 0.0, scale: float = 1.0) -> Policy:
    rng = np.random.default_rng(seed)
    sizes = (OBS, *hidden, ACTION)
    layers = [
        (rng.normal(size=(a, b)).astype(np.float32), rng.normal(size=b).astype(np.float32))
        for a, b in itertools.pairwise(sizes)
    ]
    moments = (mean + rng.normal(size=OBS), scale * rng.uniform(0.5, 2.0, size=OBS))
    obs_mean, obs_var = (m.astype(np.float32) for m in moments)
    return Policy(obs_mean, obs_var, layers, rng.normal(size=ACTION).astype(np.float32))


@pytest.mark.parametrize("hidden", [(), (8,), (8, 6), (4, 5, 6)])
@pytest.mark.parametrize("count", [2, 4])
def test_its_action_is_the_mean_of_theirs(hidden: tuple[int, ...], count: int, tmp_path: Path) -> None:
    """Though each of them has normalised its observations in its own way."""
    policies = [make(seed, hidden, mean=0.3 * seed, scale=1 + seed) for seed in range(count)]
    together = mean_policy(policies)
    obs = np.random.default_rng(9).normal(size=(50, OBS)).astype(np.float32)
    expected = np.mean([policy.mean(obs) for policy in policies], axis=0)
    np.testing.assert_allclose(together.mean(obs), expected, atol=1e-4)
    assert together.hidden_sizes == tuple(count * width for width in hidden)
    together.save(tmp_path / "mean.safetensors")
    np.testing.assert_array_equal(load_policy(tmp_path / "mean.safetensors").mean(obs), together.mean(obs))


def test_its_variance_is_the_mean_of_theirs() -> None:
    policies = [make(seed) for seed in range(3)]
    expected = np.mean([np.exp(policy.log_std) ** 2 for policy in policies], axis=0)
    np.testing.assert_allclose(np.exp(mean_policy(policies).log_std) ** 2, expected, rtol=1e-5)


def test_one_is_its_own_mean() -> None:
    policy = make(0)
    assert mean_policy([policy]) is policy
