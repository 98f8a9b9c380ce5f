"""From an expert's run to a ladder of six policies: the expert, and five from mediocre to useless.

Noisy datasets are made from such ladders. The qualities wanted are those of the paper's snapshot table, as
fractions of the expert's return.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rilco.config import RunConfig
from rilco.errors import ConfigError, RunError
from rilco.evaluation import task_of
from rilco.files import write_atomically
from rilco.policy.saved import Policy, load_policy
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import RolloutPool, default_workers
from rilco.run import Run

T = TypeVar("T")

PUBLISHED_RETURNS = {
    "halfcheetah": (2500, 1300, 1000, 700, -1100, -1000),
    "hopper": (2300, 1100, 1000, 900, 600, 0),
    "walker2d": (2700, 800, 600, 700, 100, 0),
    "ant": (3500, 1400, 1000, 700, 400, 0),
}
"""Returns of the six snapshots in the paper (Tangkaratt et al. 2021, Table 2), the expert first."""

SCREENED = 40  # snapshots of a run that are looked at first; it may keep hundreds
REFINEMENTS = 6  # times that a snapshot between two of these is looked at, for each quality that is missing
CLOSE = 0.03  # a policy has a quality if it is within this fraction of the expert's return
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
    """Mean and standard deviation of each policy's return, from the same start states; one pool plays them all."""
    policies = [load_policy(path) for path in paths]
    first, workers = policies[0], min(default_workers(), episodes)
    sizes = Sizes(workers, 1, first.obs_dim, first.action_dim, first.hidden_sizes)
    measured = []
    with RolloutPool(task_of(first), sizes, seed=0, num_workers=workers) as pool:
        for policy in policies:
            returns = pool.evaluate(policy, episodes=episodes, seed=0).returns
            measured.append((float(returns.mean()), float(returns.std())))
            progress()
    return measured


def screen(snapshots: Sequence[T], count: int = SCREENED) -> list[T]:
    """At most `count` snapshots, the first and the last among them: half of them at even distances, where experts
    are found, and half ever denser towards the beginning, where quality changes fastest."""
    if len(snapshots) <= count:
        return list(snapshots)
    even, dense = (
        np.linspace(1, len(snapshots), count // 2),
        np.geomspace(1, len(snapshots), count - count // 2),
    )
    places = np.unique(np.rint(np.concatenate([even, dense])).astype(int) - 1)
    return [snapshots[i] for i in places]


def between(known: Mapping[int, float], fractions: Sequence[float]) -> list[int]:
    """Places not looked at yet, half way between neighbours of which one is too good and the other too bad.

    For every fraction that no known policy is near, the middle of the widest such gap.
    """
    best, places = max(known.values()), sorted(known)
    found = set()
    for fraction in fractions[1:]:
        wanted = fraction * best
        if min(abs(value - wanted) for value in known.values()) < CLOSE * best:
            continue
        gaps = [
            (right - left, (left + right) // 2)
            for left, right in itertools.pairwise(places)
            if right - left > 1 and min(known[left], known[right]) < wanted < max(known[left], known[right])
        ]
        if gaps:
            found.add(max(gaps)[1])
    return sorted(found)


def pick(returns: Sequence[float], fractions: Sequence[float]) -> list[int]:
    """The best policy, then for each further fraction the nearest policy that is not taken yet."""
    best = int(np.argmax(returns))
    chosen = [best]
    for fraction in fractions[1:]:
        distance = np.abs(np.asarray(returns) - fraction * returns[best])
        distance[chosen] = np.inf
        chosen.append(int(np.argmin(distance)))
    return chosen


def _places(candidates: Sequence[tuple[Path, Run]], run: Run) -> list[int]:
    return [i for i, (_, its_run) in enumerate(candidates) if its_run is run]


def _pick_places(known: Mapping[int, float], fractions: Sequence[float]) -> list[int]:
    places = sorted(known)
    return [places[i] for i in pick([known[place] for place in places], fractions)]


def make_ladder(
    runs: Sequence[Run],
    out: Path,
    *,
    episodes: int = 20,
    screened: int = SCREENED,
    progress: Callable[[int], None] = lambda done: None,
) -> list[Rung]:
    """Evaluate the snapshots of one or more runs of a task, pick six, and write them with a card each.

    Runs differ in what they pass through on the way: the expert may come from one and a useless policy from
    another.
    """
    candidates = [(path, run) for run in runs for path in _policies(run)]
    if len(candidates) < 6:
        raise RunError(
            f"{', '.join(str(run.path) for run in runs)}: {len(candidates)} policies; a ladder needs at least 6. "
            "Train with `rilco experts train --snapshot-every`."
        )
    task = _task_of(runs)
    published = [value / PUBLISHED_RETURNS[task][0] for value in PUBLISHED_RETURNS[task]]
    looked_at = [i for run in runs for i in screen(_places(candidates, run), screened)]
    done = itertools.count(1)

    def returns_of(places: Sequence[int]) -> dict[int, float]:
        paths = [candidates[i][0] for i in places]
        measured = measure(paths, SCREENING_EPISODES, progress=lambda: progress(next(done)))
        return {i: mean for i, (mean, _) in zip(places, measured, strict=True)}

    known = returns_of(looked_at)
    for _ in range(REFINEMENTS):
        missing = [
            i for i in between(known, published) if candidates[i - 1][1] is candidates[i + 1][1]
        ]  # of one run
        known |= returns_of(missing) if missing else {}
    # A few episodes may mislead: what is picked is measured for good, and picked again by what that says.
    precise: dict[int, tuple[float, float]] = {}
    while unsure := [i for i in _pick_places(known, published) if i not in precise]:
        paths = [candidates[i][0] for i in unsure]
        measured = measure(paths, episodes, progress=lambda: progress(next(done)))
        precise |= dict(zip(unsure, measured, strict=True))
        known |= {i: precise[i][0] for i in unsure}
    chosen = _pick_places(known, published)
    rungs = []
    for i, place in enumerate(chosen):
        (path, run), (mean, std) = candidates[place], precise[place]
        policy = load_policy(path)
        rung = Rung(
            task=task,
            rung=i + 1,
            mean_return=round(mean, 1),
            std_return=round(std, 1),
            episodes=episodes,
            fraction=round(mean / precise[chosen[0]][0], 4),
            published_fraction=round(published[i], 4),
            transitions=_transitions(policy, run),
            seed=int(policy.card["seed"]),
            command=_command(run),
        )
        rungs.append(rung)
        write_rung(policy, rung, out)
    return rungs


def _policies(run: Run) -> list[Path]:
    """A run's snapshots in the order of training, and its best policy."""
    best = run.path / "policy" / "best.safetensors"
    snapshots = sorted((run.path / "policy" / "snapshots").glob("*.safetensors"))
    return [*snapshots, *([best] if best.exists() else [])]


def _task_of(runs: Sequence[Run]) -> str:
    """The one task that all runs are of, and that has a published ladder."""
    tasks = sorted({run.config.task.name for run in runs})
    if len(tasks) > 1:
        raise ConfigError(f"These runs are of different tasks ({', '.join(tasks)}); a ladder is of one.")
    if tasks[0] not in PUBLISHED_RETURNS:
        raise ConfigError(
            f"{runs[0].path}: there is no published ladder for {tasks[0]}; known are {', '.join(PUBLISHED_RETURNS)}."
        )
    return tasks[0]


def write_rung(policy: Policy, rung: Rung, out: Path) -> None:
    card = asdict(rung)
    dataclasses.replace(policy, card={**policy.card, "return": rung.mean_return}).save(
        out / f"{rung.rung}.safetensors"
    )
    write_atomically(out / f"{rung.rung}.json", (json.dumps(card, indent=2) + "\n").encode())


def _command(run: Run) -> str:
    """The commands that made the run; their folders' names are nobody's business."""
    chain = [run]
    while (earlier := _earlier(chain[0])) is not None:
        chain.insert(0, earlier)
    names = [f"RUN{i}" for i in range(1, len(chain))] + ["RUN"]
    starts = ["", *(f" --start-from {name}" for name in names)]
    return " && ".join(
        f"{_one_command(run.config)}{start} --out {name}"
        for run, start, name in zip(chain, starts, names, strict=False)
    )


def _one_command(config: RunConfig) -> str:
    """Without the folders."""
    learner, settings = config.policy_learner, config.policy_settings
    words = [
        f"rilco experts train --task {config.task.name} --steps {config.steps} --seed {config.seed}",
        f"--snapshot-every {config.snapshot_every} --evaluate-every {config.evaluate_every}",
    ]
    if learner != "acktr":
        words.append(f"--policy-learner {learner}")
    if not settings.learning_rate_decay:
        words.append("--no-decay")
    if config.start_from and config.hold_actor_for != RunConfig.hold_actor_for:
        words.append(f"--set hold_actor_for={config.hold_actor_for}")
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if field.name not in ("learning_rate_decay", "total_updates") and value != field.default:
            words.append(f"--set {learner}.{field.name}={json.dumps(value)}")
    return " ".join(words)


def _earlier(run: Run) -> Run | None:
    """The run whose best policy this one began with, if any."""
    start = Path(run.config.start_from or ".")
    return Run(start) if run.config.start_from and (start / "config.json").exists() else None


def _transitions(policy: Policy, run: Run) -> int:
    """That it took to make a policy, those of an earlier run included."""
    earlier = _earlier(run)
    before = 0 if earlier is None else _transitions(load_policy(earlier.path), earlier)
    return before + int(policy.card["transitions"])


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


def shipped_ladders() -> list[list[Rung]]:
    """The cards of all policies that come with the package, by task."""
    return [[Rung(**shipped_rung(task, rung)[1]) for rung in range(1, 7)] for task in PUBLISHED_RETURNS]
