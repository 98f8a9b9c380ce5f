"""The shared memory between the learner and its workers: policy weights out, transitions back."""

from __future__ import annotations

import itertools
import mmap
from dataclasses import dataclass

import numpy as np

from rilco.policy.saved import Policy
from rilco.tasks.actions import Actions

Shapes = dict[str, tuple[tuple[int, ...], str]]


@dataclass(frozen=True)
class Sizes:
    """All that the layout depends on; sent to the workers as JSON."""

    num_envs: int
    num_steps: int
    obs_dim: int
    actions: Actions
    hidden: tuple[int, ...]

    @property
    def action_dim(self) -> int:
        """Width of actions as learners write them."""
        return self.actions.width


class SharedArrays:
    """Named NumPy arrays over one anonymous file, mapped by every process.

    The file has no name from the start, so nothing is left behind however the processes end.
    """

    def __init__(self, sizes: Sizes, descriptor: int) -> None:
        shapes = {**_policy_shapes(sizes), **_transition_shapes(sizes)}
        self._policy_names = list(_policy_shapes(sizes))
        self._actions = sizes.actions
        self._memory = mmap.mmap(descriptor, total_bytes(sizes))
        self._arrays: dict[str, np.ndarray] = {}
        offset = 0
        for name, (shape, dtype) in shapes.items():
            count = int(np.prod(shape))
            self._arrays[name] = np.frombuffer(self._memory, dtype, count, offset).reshape(shape)
            offset += _aligned(count * np.dtype(dtype).itemsize)

    def __getitem__(self, name: str) -> np.ndarray:
        return self._arrays[name]

    def write_policy(self, policy: Policy) -> None:
        for name, array in policy.arrays().items():
            self._arrays[name][...] = array

    def read_policy(self) -> Policy:
        """A private copy, so that a worker never acts with weights that are being written."""
        arrays = {name: self._arrays[name].copy() for name in self._policy_names}
        return Policy.from_arrays(arrays, actions=self._actions)


def total_bytes(sizes: Sizes) -> int:
    shapes = {**_policy_shapes(sizes), **_transition_shapes(sizes)}
    return sum(_aligned(int(np.prod(shape)) * np.dtype(dtype).itemsize) for shape, dtype in shapes.values())


def _aligned(size: int) -> int:
    return (size + 63) // 64 * 64


def _policy_shapes(sizes: Sizes) -> Shapes:
    widths = (sizes.obs_dim, *sizes.hidden, sizes.action_dim)
    layers = [(np.zeros(shape), np.zeros(shape[1])) for shape in itertools.pairwise(widths)]
    statistics, log_std = np.zeros(sizes.obs_dim), np.zeros(sizes.actions.spread_width)
    arrays = Policy(statistics, statistics, layers, log_std, actions=sizes.actions).arrays()
    return {name: (array.shape, "float32") for name, array in arrays.items()}


def _transition_shapes(sizes: Sizes) -> Shapes:
    steps, envs = sizes.num_steps, sizes.num_envs
    return {
        "obs": ((steps + 1, envs, sizes.obs_dim), "float32"),  # line `steps` is what the policy sees next
        "action": ((steps, envs, sizes.action_dim), "float32"),
        "reward": ((steps, envs), "float64"),
        "terminated": ((steps, envs), "bool"),
        "truncated": ((steps, envs), "bool"),
        "episode_return": ((steps, envs), "float64"),  # where an episode ended: its return
        "beat": ((envs,), "int64"),  # counts up with every step, so that a hanging environment is noticed
    }
