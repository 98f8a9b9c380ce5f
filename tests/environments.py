"""Gymnasium environments for the tests; workers find them as `tests.environments:Name-v0`."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete

Outcome = tuple[Any, float, bool, bool, dict[str, Any]]
"""Of a step: observation, reward, terminated, truncated, info."""


class Drift(gymnasium.Env):
    """A point that the action pushes; episodes of 7 to 12 steps, so that environments fall out of step."""

    def __init__(self) -> None:
        self.observation_space = Box(-np.inf, np.inf, (2,), np.float32)
        self.action_space = Box(-1.0, 1.0, (1,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.age = self.np_random.normal(), 0
        self.length = int(self.np_random.integers(7, 13))
        return self._observe(), {}

    def step(self, action: np.ndarray) -> Outcome:
        self.place += 0.1 * float(action[0]) + 0.01 * self.np_random.normal()
        self.age += 1
        return self._observe(), -abs(self.place), self.age >= self.length, False, {}

    def _observe(self) -> Any:
        return np.array([self.place, self.age / 10], np.float32)


class FarOff(Drift):
    """The point lies around 1000, and its return says where it began."""

    def _observe(self) -> np.ndarray:
        return np.array([1000.0 + self.place, 1000.0 + self.age / 10], np.float32)


class Hangs(Drift):
    """Never returns from its fifth step."""

    def step(self, action: np.ndarray) -> Outcome:
        if self.age == 4:
            while True:
                time.sleep(1)
        return super().step(action)


class Slow(Drift):
    """Takes its time, until there is a certain file."""

    def __init__(self, until: str = "") -> None:
        super().__init__()
        self.until = until

    def step(self, action: np.ndarray) -> Outcome:
        if not (self.until and os.path.exists(self.until)):
            time.sleep(0.02)
        return super().step(action)


class Raises(Drift):
    """Raises once it has been stepped 30 times."""

    total = 0

    def step(self, action: np.ndarray) -> Outcome:
        self.total += 1
        if self.total > 30:
            raise RuntimeError("the gripper is stuck")
        return super().step(action)


class Dies(Drift):
    """Takes its process with it."""

    def step(self, action: np.ndarray) -> Outcome:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("it is still there")


class Explodes(Drift):
    """Observations become NaN after a while."""

    total = 0

    def step(self, action: np.ndarray) -> Outcome:
        self.total += 1
        outcome = super().step(action)
        return (np.full(2, np.nan, np.float32), *outcome[1:]) if self.total > 60 else outcome


class Forgetful(Drift):
    """Not repeatable: pays no attention to its seed."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        return super().reset(seed=int.from_bytes(os.urandom(4)))


class Moody(Drift):
    """Goes where its seed and actions say, but pays what it likes."""

    def step(self, action: np.ndarray) -> Outcome:
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, reward + int.from_bytes(os.urandom(4)) / 2**32, terminated, truncated, info


class Vehicle(gymnasium.Env):
    """As fast as its throttle, one for each direction; the reward is the speed. Episodes of 60 steps."""

    FULL_THROTTLE = 2.0

    def __init__(self) -> None:
        self.observation_space = Box(-np.inf, np.inf, (2,), np.float32)
        self.action_space = Box(-np.inf, np.inf, (2,), np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.velocity, self.age = self.start(self.np_random), 0
        return self.velocity.astype(np.float32), {}

    def step(self, action: np.ndarray) -> Outcome:
        self.velocity = self.drive(self.velocity, np.asarray(action, np.float64))
        self.age += 1
        return self.velocity.astype(np.float32), float(self.velocity.mean()), False, self.age >= 60, {}

    @staticmethod
    def start(rng: np.random.Generator) -> np.ndarray:
        return 1.5 * rng.normal(size=2)

    @staticmethod
    def drive(velocity: np.ndarray, throttle: np.ndarray) -> np.ndarray:
        """One step: the engine takes no more than full throttle, the drag is the velocity."""
        full = Vehicle.FULL_THROTTLE
        return velocity + 0.2 * (np.clip(throttle, -full, full) - velocity)


class Units(Drift):
    """`Drift` whose action is given in other units, bounded or not."""

    def __init__(self, unit: float = 1.0, shift: float = 0.0, bounded: bool = True) -> None:
        super().__init__()
        self.unit, self.shift = unit, shift
        bound = unit if bounded else np.inf
        self.action_space = Box(shift - bound, shift + bound, (1,), np.float32)

    def step(self, action: np.ndarray) -> Outcome:
        return super().step(np.clip((action - self.shift) / self.unit, -1.0, 1.0))


class Steps(Drift):
    """`Drift` by choices: to the left, nowhere, or to the right."""

    def __init__(self, start: int = 0) -> None:
        super().__init__()
        self.action_space, self.first = Discrete(3, start=start), start

    def step(self, action: np.ndarray) -> Outcome:
        return super().step([4.0 * (int(action) - self.first - 1)])


class TwoSteps(Drift):
    """`Drift` by two choices at once: whether to move, and where to."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = MultiDiscrete([2, 3])

    def step(self, action: np.ndarray) -> Outcome:
        assert action.shape == (2,)
        return super().step([4.0 * int(action[0]) * (int(action[1]) - 1)])


class Named(Steps):
    """`Steps` that shows its state by name, in no particular order, beside a number of little use."""

    def __init__(self) -> None:
        super().__init__()
        inner = Dict(y=Box(-np.inf, np.inf, (2,), np.float32), a=Discrete(2))
        self.observation_space = Dict(state=inner, clock=Box(-np.inf, np.inf, (1,), np.float32))

    def _observe(self) -> dict[str, Any]:
        place, age = super()._observe()
        side = np.int64(place > 0)
        return {"state": {"y": np.array([place, age], np.float32), "a": side}, "clock": np.array([age])}


class Picture(Drift):
    """Shows an image."""

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = Dict(image=Box(0, 255, (8, 8, 3), np.uint8), place=Box(-9, 9, (1,)))


class Grows(Drift):
    """Has one more number to see after each reset."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        obs, info = super().reset(seed=seed)
        size = self.observation_space.shape[0] + 1
        self.observation_space = Box(-np.inf, np.inf, (size,), np.float32)
        return np.resize(obs, size), info


class Rewires(Drift):
    """Takes other actions once it is reset."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        self.action_space = Discrete(2)
        return super().reset(seed=seed)


class Swells(Drift):
    """Each one that is made has more to see than the one before."""

    made = 1

    def __init__(self) -> None:
        super().__init__()
        Swells.made += 1
        self.observation_space = Box(-np.inf, np.inf, (self.made,), np.float32)

    def _observe(self) -> np.ndarray:
        return np.resize(super()._observe(), self.observation_space.shape)


class Huge(Drift):
    """Observations that float32 can hold, but not their squares."""

    def _observe(self) -> np.ndarray:
        return 1e30 * super()._observe()


class Bursts(Huge):
    """The same, but only after the first step."""

    def _observe(self) -> np.ndarray:
        return super()._observe() if self.age else Drift._observe(self)


def make_drift(unit: float = 1.0) -> gymnasium.Env:
    """A factory, as users have them."""
    return gymnasium.wrappers.TimeLimit(Units(unit), 5)


_ALL = (
    Drift,
    FarOff,
    Hangs,
    Slow,
    Raises,
    Dies,
    Explodes,
    Forgetful,
    Moody,
    Vehicle,
    Steps,
    TwoSteps,
    Named,
    Picture,
)
for _cls in _ALL:
    if f"{_cls.__name__}-v0" not in gymnasium.registry:
        gymnasium.register(f"{_cls.__name__}-v0", entry_point=_cls)


def env_id(name: str) -> str:
    return f"{__name__}:{name}-v0"
