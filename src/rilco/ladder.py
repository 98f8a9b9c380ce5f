"""From an expert's run to a ladder of six policies: the expert, and five from mediocre to useless.

Noisy datasets are made from such ladders. The qualities wanted are those of the paper's snapshot table, as
fractions of the expert's return.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from rilco.errors import ConfigError, RunError
from rilco.evaluation import evaluate, task_of
from rilco.files import write_atomically
from rilco.policy.saved import Policy, load_policy
from rilco.run import Run

PUBLISHED_RETURNS = {
    "halfcheetah": (2500, 1300, 1000, 700, -1100, -1000),
    "hopper": (2300, 1100, 1000, 900, 600, 0),
    "walker2d": (2700, 800, 600, 700, 100, 0),
    "ant": (3500, 1400, 1000, 700, 400, 0),
}
"""Returns of the six snapshots in the paper (Tangkaratt et al. 2021, Table 2), the expert first."""

SCREENED = 60  # snapshots that are looked at; a run may keep hundreds
SCREENING_EPISODES = 4


@dataclass(frozen=True)
class Rung:
    """One policy of a ladder, as its JSON card says."""

    task: str
    rung: int
    """1 is the expert."""
    mean_return: float
    std_return: float
    episodes: int
    fraction: float
    """Of the expert's return."""
    published_fraction: float
    """Of the paper's snapshot in its place."""
    transitions: int
    seed: int
    command: str


def measure(
    paths: Sequence[Path], episodes: int, *, progress: Callable[[], None] = lambda: None
) -> list[tuple[float, float]]:
    """Mean and standard deviation of each policy's return, from the same start states."""
    measured = []
    for path in paths:
        returns = evaluate(path, episodes=episodes).returns
        measured.append((float(returns.mean()), float(returns.std())))
        progress()
    return measured


def screen(snapshots: Sequence[Path], count: int = SCREENED) -> list[Path]:
    """At most `count` snapshots, dense at the beginning of training, where quality changes fastest."""
    if len(snapshots) <= count:
        return list(snapshots)
    places = np.unique(np.rint(np.geomspace(1, len(snapshots), count)).astype(int) - 1)
    return [snapshots[i] for i in places]


def pick(returns: Sequence[float], fractions: Sequence[float]) -> list[int]:
    """The best policy, then for each further fraction the nearest policy that is not taken yet."""
    best = int(np.argmax(returns))
    chosen = [best]
    for fraction in fractions[1:]:
        distance = np.abs(np.asarray(returns) - fraction * returns[best])
        distance[chosen] = np.inf
        chosen.append(int(np.argmin(distance)))
    return chosen


def make_ladder(
    run: Run,
    out: Path,
    *,
    episodes: int = 20,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Rung]:
    """Evaluate a run's snapshots, pick six, and write them with a card each."""
    snapshots = sorted((run.path / "policy" / "snapshots").glob("*.safetensors"))
    if len(snapshots) < 6:
        raise RunError(
            f"{run.path}: has {len(snapshots)} policy snapshots; a ladder needs at least 6. Train with "
            "`rilco experts train --snapshot-every`."
        )
    task = task_of(load_policy(snapshots[0])).name
    if task not in PUBLISHED_RETURNS:
        raise ConfigError(
            f"{run.path}: there is no published ladder for {task}; known are {', '.join(PUBLISHED_RETURNS)}."
        )
    published = [value / PUBLISHED_RETURNS[task][0] for value in PUBLISHED_RETURNS[task]]
    candidates = [run.path / "policy" / "best.safetensors", *screen(snapshots)]
    total, done = len(candidates) + 6, 0

    def tick() -> None:
        nonlocal done
        done += 1
        progress(done, total)

    screened = [mean for mean, _ in measure(candidates, SCREENING_EPISODES, progress=tick)]
    chosen = [candidates[i] for i in pick(screened, published)]
    measured = measure(chosen, episodes, progress=tick)
    expert_return = measured[0][0]
    rungs = []
    for i, (path, (mean, std)) in enumerate(zip(chosen, measured, strict=True)):
        policy = load_policy(path)
        rung = Rung(
            task=task,
            rung=i + 1,
            mean_return=round(mean, 1),
            std_return=round(std, 1),
            episodes=episodes,
            fraction=round(mean / expert_return, 4),
            published_fraction=round(published[i], 4),
            transitions=int(policy.card["transitions"]),
            seed=int(policy.card["seed"]),
            command=_command(run),
        )
        rungs.append(rung)
        write_rung(policy, rung, out)
    return rungs


def write_rung(policy: Policy, rung: Rung, out: Path) -> None:
    card = asdict(rung)
    dataclasses.replace(policy, card={**policy.card, "return": rung.mean_return}).save(
        out / f"{rung.rung}.safetensors"
    )
    write_atomically(out / f"{rung.rung}.json", (json.dumps(card, indent=2) + "\n").encode())


def _command(run: Run) -> str:
    """The command that made the run; its folder's name is nobody's business."""
    config = run.config
    decay = "" if config.acktr.learning_rate_decay else " --no-decay"
    return (
        f"rilco experts train --task {config.task.name} --steps {config.steps} --seed {config.seed}{decay} "
        f"--snapshot-every {config.snapshot_every} --evaluate-every {config.evaluate_every} --out RUN"
    )


# -- the ladders that come with the package --------------------------------------------------------


def shipped_rung(task: str, rung: int) -> tuple[Policy, Mapping[str, Any]]:
    """A policy of the shipped ladder and its card; rung 1 is the expert."""
    folder = resources.files("rilco") / "snapshots" / task
    with resources.as_file(folder / f"{rung}.safetensors") as file:
        if not file.exists():
            raise ConfigError(
                f"No snapshot {rung} of {task} comes with rilco; there are 1 to 6 of {', '.join(PUBLISHED_RETURNS)}."
            )
        return load_policy(file), json.loads((folder / f"{rung}.json").read_text())
