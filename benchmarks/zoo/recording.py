"""One demonstration: a controller acts, somebody writes it down, and the truth about it is measured."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from benchmarks.zoo.faults import FAULTS, RECORDING_FAULTS, Body, Controller
from benchmarks.zoo.simulators import Simulator
from benchmarks.zoo.tasks import Task


@dataclass(frozen=True)
class Recording:
    """What a demonstration's file holds, and its true score."""

    obs: np.ndarray
    """[T, obs_dim]"""
    action: np.ndarray
    """[T, action_dim]"""
    score: float
    """The mean merit over the task's time, of acting as the record says."""


@dataclass(frozen=True)
class Manner:
    """How a demonstration is given."""

    controller: str = "expert"
    fault: str = ""
    """A name of FAULTS or RECORDING_FAULTS, or `aborted`; empty for none."""
    size: float = 0.0
    """How bad: see the fault. For `aborted`, the largest share of the recording that is left."""
    start: str = ""
    """A start regime of the simulator; empty for the usual one."""
    noise: float = 0.01
    """Noise on every action, as a share of its limit: nobody's hand is quite still."""

    @property
    def good(self) -> bool:
        """Whether a demonstration that is given so is a good one."""
        return not self.fault and not self.controller.startswith("weak")

    def without_fault(self) -> Manner:
        """The same, done well."""
        return replace(self, controller=self.controller if self.fault else "expert", fault="")

    @property
    def kind(self) -> str:
        """The kind of fault, in a word or two; empty for a good demonstration."""
        return "" if self.good else self.fault or "weak policy"


def record(task: Task, simulator: Simulator, manner: Manner, seed: int, fault_seed: int) -> Recording:
    """Records one demonstration; the same arguments give the same one."""

    def roll(faulty: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        act = _controller(task, simulator, manner, seed, fault_seed if faulty else None)
        return _roll(simulator, act, seed, manner.start, task.steps)

    if manner.fault in RECORDING_FAULTS:
        obs, _, _ = roll(faulty=False)
        as_written = _controller(task, simulator, manner, seed, fault_seed)
        action = np.array([as_written(row) for row in obs])
        _, _, merit = roll(faulty=True)
    else:
        obs, action, merit = roll(faulty=manner.fault in FAULTS)
    if manner.fault == "aborted":
        left = np.random.default_rng(fault_seed).uniform(0.4, 1.0) * manner.size
        keep = max(5, int(left * len(obs)))
        obs, action, merit = obs[:keep], action[:keep], merit[:keep]
    held = np.append(merit, np.full(task.steps - len(merit), merit[-1]))
    return Recording(obs, action, float(held.mean()))


def _controller(
    task: Task, simulator: Simulator, manner: Manner, seed: int, fault_seed: int | None
) -> Controller:
    body = Body(simulator.action_dim, simulator.limit, task.goal, task.goal_span)
    rng = np.random.default_rng([seed, 1])
    act = task.controllers[manner.controller](rng)
    trembling = FAULTS["noisy"](_clipped(act, body.limit), manner.noise, body, rng)
    if fault_seed is None:
        return _clipped(trembling, body.limit)
    fault = FAULTS[RECORDING_FAULTS.get(manner.fault, manner.fault)]
    # What is written down may lie outside of what the actuators can do; what is done may not.
    return fault(_clipped(trembling, body.limit), manner.size, body, np.random.default_rng(fault_seed))


def _clipped(act: Controller, limit: float | np.ndarray) -> Controller:
    return lambda obs: np.clip(act(obs), -limit, limit)


def _roll(
    simulator: Simulator, act: Controller, seed: int, start: str, steps: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observations, actions and merits, until the task is done, the time is up or the episode is over."""
    obs, over = simulator.reset(seed, start), False
    seen: list[np.ndarray] = []
    done: list[np.ndarray] = []
    merits: list[float] = []
    while not over and len(seen) < steps:
        action = np.clip(act(obs), -simulator.limit, simulator.limit)
        seen.append(obs)
        done.append(action)
        obs, merit, over = simulator.step(action)
        merits.append(merit)
    return np.array(seen), np.array(done), np.array(merits)
