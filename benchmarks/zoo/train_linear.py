"""Finds the linear policies of the zoo's runners and swimmers, and keeps them in linear_policies.json.

    python -m benchmarks.zoo.train_linear

Augmented random search, version V2-t (Mania, Guy and Recht, 2018): try the policy with random steps added and
subtracted, and move along the best of them. All searches together take about half an hour on one core.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

POLICIES = Path(__file__).parent / "linear_policies.json"


@dataclass(frozen=True)
class Search:
    """One search, and which of its iterations are kept under which name."""

    env_id: str
    seed: int
    keep: dict[int, str]
    steps: int
    """Longest episode."""
    directions: int
    """Random steps that are tried in one iteration."""
    best: int
    """How many of them the policy moves along."""
    rate: float
    noise: float
    """Size of a random step."""
    alive: float = 0.0
    """Taken from the reward of every step, so that standing still earns nothing."""


SEARCHES = (
    Search(
        "HalfCheetah-v5", 0, {20: "half-cheetah 0 first", 40: "half-cheetah 0 early", 165: "half-cheetah 0"},
        300, 16, 8, 0.03, 0.04,
    ),
    Search("HalfCheetah-v5", 1, {160: "half-cheetah 1"}, 300, 16, 8, 0.03, 0.04),
    Search("Swimmer-v5", 0, {10: "swimmer 0 early", 110: "swimmer 0"}, 1000, 2, 2, 0.02, 0.02),
    Search("Swimmer-v5", 1, {110: "swimmer 1"}, 1000, 2, 2, 0.02, 0.02),
    Search("Hopper-v5", 0, {30: "hopper 0 early", 145: "hopper 0"}, 1000, 8, 4, 0.02, 0.025, 0.9),
    Search("Hopper-v5", 1, {155: "hopper 1"}, 1000, 8, 4, 0.02, 0.025, 0.9),
    Search("Walker2d-v5", 0, {150: "walker2d 0"}, 400, 16, 8, 0.03, 0.025, 0.95),
    Search(
        "Walker2d-v5", 1, {40: "walker2d 1 first", 80: "walker2d 1 early", 200: "walker2d 1"},
        400, 16, 8, 0.03, 0.025, 0.95,
    ),
)  # fmt: skip


class RunningMoments:
    """Mean and standard deviation of all observations so far."""

    def __init__(self, dims: int) -> None:
        self.count, self.mean, self._squares = 0, np.zeros(dims), np.zeros(dims)

    def add(self, rows: np.ndarray) -> None:
        total, gap = self.count + len(rows), rows.mean(0) - self.mean
        self._squares += rows.var(0) * len(rows) + gap**2 * self.count * len(rows) / total
        self.mean = self.mean + gap * len(rows) / total
        self.count = total

    def spread(self) -> np.ndarray:
        """Without data 1; infinite for what never changes, so that it is left out."""
        if not self.count:
            return np.ones_like(self.mean)
        spread = np.sqrt(self._squares / self.count) + 1e-8
        return np.where(spread < 1e-7, np.inf, spread)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", metavar="NAME", help="one policy, for instance 'swimmer 0 early'")
    parser.add_argument("--out", type=Path, default=POLICIES)
    options = parser.parse_args()
    found = json.loads(options.out.read_text()) if options.out.exists() else {}
    for search in SEARCHES:
        wanted = {at: name for at, name in search.keep.items() if options.only in (None, name)}
        for iteration, weight, bias in run(search, max(wanted, default=0)):
            if iteration in wanted:
                source = {"env": search.env_id, "seed": search.seed, "iteration": iteration}
                found[wanted[iteration]] = {**source, "weight": _rounded(weight), "bias": _rounded(bias)}
                lines = (f" {json.dumps(name)}: {json.dumps(found[name])}" for name in sorted(found))
                options.out.write_text("{\n" + ",\n".join(lines) + "\n}\n")
                print(f"{wanted[iteration]}: iteration {iteration}", flush=True)


def run(search: Search, iterations: int) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """After every iteration its number, and the policy as weight and bias of raw observations."""
    env: Any = gym.make(search.env_id).unwrapped
    rng = np.random.default_rng(search.seed)
    shape = (env.action_space.shape[0], env.observation_space.shape[0])
    policy, moments = np.zeros(shape), RunningMoments(shape[1])
    for iteration in range(1, iterations + 1):
        tried = rng.standard_normal((search.directions, *shape))
        returns = np.empty((search.directions, 2))
        for k, step in enumerate(tried):
            seed = int(rng.integers(1 << 30))
            for side in (0, 1):
                candidate = policy + (search.noise if side == 0 else -search.noise) * step
                returns[k, side] = _episode(env, candidate, moments, seed, search)
        best = np.argsort(-returns.max(1))[: search.best]
        slope = np.einsum("k,kij->ij", returns[best, 0] - returns[best, 1], tried[best])
        policy = policy + search.rate / (search.best * (returns[best].std() + 1e-8)) * slope
        weight = policy / moments.spread()
        yield iteration, weight, -weight @ moments.mean


def _episode(env: Any, policy: np.ndarray, moments: RunningMoments, seed: int, search: Search) -> float:
    """The return of one episode, of whose observations the moments then know."""
    obs, _ = env.reset(seed=seed)
    mean, spread, seen, total = moments.mean, moments.spread(), [], 0.0
    for _ in range(search.steps):
        seen.append(obs)
        action = np.clip(policy @ ((obs - mean) / spread), env.action_space.low, env.action_space.high)
        obs, reward, terminated, _, _ = env.step(action.astype(np.float32))
        total += reward - search.alive
        if terminated:
            break
    moments.add(np.array(seen))
    return total


def _rounded(values: np.ndarray) -> Any:
    return [_rounded(row) for row in values] if values.ndim > 1 else [float(f"{x:.5g}") for x in values]


if __name__ == "__main__":
    main()
