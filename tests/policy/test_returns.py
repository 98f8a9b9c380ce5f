from __future__ import annotations

import jax
import numpy as np
import pytest

from rilco.policy import returns as module

n_step_returns = jax.jit(module.n_step_returns, static_argnames="discount")

REWARD = [1.0, 2.0, 4.0]
VALUE = [10.0, 20.0, 30.0]
NOWHERE = [False, False, False]


def one_environment(terminated, truncated, *, last_value=8.0, discount=0.5):
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
def test_hand_computed(terminated, truncated, expected):
    assert one_environment(terminated, truncated) == expected


def test_what_follows_an_end_does_not_leak_back():
    one, other = (one_environment([False, True, False], NOWHERE, last_value=value) for value in (0.0, 1e6))
    assert one[:2] == other[:2]
    assert one[2] != other[2]


def test_environments_do_not_mix():
    rng = np.random.default_rng(0)
    reward, value = rng.normal(size=(2, 6, 4)).astype(np.float32)
    terminated, truncated = rng.random((2, 6, 4)) < 0.3
    last_value = rng.normal(size=4).astype(np.float32)
    together = n_step_returns(reward, terminated, truncated, value, last_value, discount=0.9)
    for b in range(4):
        alone = (array[:, [b]] for array in (reward, terminated, truncated, value))
        single = n_step_returns(*alone, last_value[[b]], discount=0.9)
        np.testing.assert_array_equal(together[:, b], single[:, 0])
