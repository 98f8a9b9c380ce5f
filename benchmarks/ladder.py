"""The ladders that come with rilco: six snapshots of experts' runs, of the qualities in the paper's table.

rilco experts train --task ant --steps 20e6 --out runs/ant-1
python benchmarks/ladder.py runs/ant-1 runs/ant-2 --out ladders/ant
python benchmarks/ladder.py --plot docs/figures/ladders.png
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
from matplotlib.figure import Figure

from rilco.config import RunConfig
from rilco.errors import ConfigError, RunError
from rilco.evaluation import check_fits
from rilco.experiment.published import PUBLISHED_RETURNS
from rilco.files import write_atomically
from rilco.policy.saved import Policy, load_policy, shipped_rung
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import RolloutPool, num_workers
from rilco.runs.folder import Run
from rilco.runs.paths import holds_run, policy_file, snapshots

T = TypeVar("T")

SCREENED = 40  # snapshots of a run that are looked at first; it may keep hundreds
REFINEMENTS = 6  # times that a snapshot between two of these is looked at, for each quality that is missing
CLOSE = 0.03  # a policy has a quality if it is within this fraction of the expert's return
SCREENING_EPISODES = 4


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="*", type=Path)
    parser.add_argument("--out", type=Path, help="folder for the six policies and their cards")
    parser.add_argument("--plot", type=Path, help="picture of the ladders that come with rilco")
    arguments = parser.parse_args()
    if arguments.runs:
        for rung in make_ladder([Run(path) for path in arguments.runs], arguments.out):
            print(f"{rung.rung}: {rung.mean_return:,.0f}, {rung.fraction:.2f} of the expert's return")
    if arguments.plot:
        draw(arguments.plot)


@dataclasses.dataclass(frozen=True)
class Rung:
    """One policy of a ladder, as its JSON card says."""

    task: str
    rung: int
    """1 is the expert."""
    mean_return: float
    std_return: float
    episodes: int
    fraction: float
    """Share of the expert's return."""
    published_fraction: float
    """That share of the paper's snapshot in its place."""
    transitions: int
    seed: int
    command: str


class Candidate(NamedTuple):
    """A policy that a ladder may be made of."""

    path: Path
    run: Run
    age: int  # transitions


def make_ladder(
    runs: Sequence[Run],
    out: Path,
    *,
    episodes: int = 20,
) -> list[Rung]:
    """Evaluate the snapshots of one or more runs of a task, pick six, and write them with a card each.

    Runs differ in what they pass through on the way: the expert may come from one and a useless policy from
    another.
    """
    candidates = candidates_of(runs)
    task = _task_of(runs)
    published = [value / PUBLISHED_RETURNS[task][0] for value in PUBLISHED_RETURNS[task]]
    known = _look(candidates, published)
    chosen = _settle(candidates, published, known, episodes)
    expert_return = chosen[0][1]
    rungs = []
    for i, (candidate, mean, std) in enumerate(chosen):
        policy = load_policy(candidate.path)
        rung = Rung(
            task=task,
            rung=i + 1,
            mean_return=round(mean, 1),
            std_return=round(std, 1),
            episodes=episodes,
            fraction=round(mean / expert_return, 4),
            published_fraction=round(published[i], 4),
            transitions=candidate.age,
            seed=int(policy.card["seed"]),
            command=command_of(candidate.run),
        )
        rungs.append(rung)
        write_rung(policy, rung, out)
    return rungs


def write_rung(policy: Policy, rung: Rung, out: Path) -> None:
    """A policy and its card."""
    card = {**policy.card, "return": rung.mean_return}
    dataclasses.replace(policy, card=card).save(out / f"{rung.rung}.safetensors")
    text = json.dumps(dataclasses.asdict(rung), indent=2) + "\n"
    write_atomically(out / f"{rung.rung}.json", text.encode())


def _look(candidates: Sequence[Candidate], fractions: Sequence[float]) -> dict[int, float]:
    """Returns of some candidates over a few episodes, and of more where a wanted quality is missing."""

    def returns_of(places: Sequence[int]) -> dict[int, float]:
        measured = measure([candidates[i] for i in places], SCREENING_EPISODES)
        return {i: mean for i, (mean, _) in zip(places, measured, strict=True)}

    runs = itertools.groupby(range(len(candidates)), key=lambda i: candidates[i].run.path)
    known = returns_of([i for _, places in runs for i in screen(list(places))])
    for _ in range(REFINEMENTS):
        found = between(known, fractions)
        missing = [
            i for i in found if candidates[i - 1].run is candidates[i + 1].run
        ]  # neighbours in training
        known |= returns_of(missing) if missing else {}
    return known


def _settle(
    candidates: Sequence[Candidate],
    fractions: Sequence[float],
    known: dict[int, float],
    episodes: int,
) -> list[tuple[Candidate, float, float]]:
    """The six, with means and standard deviations over all episodes.

    A few episodes may mislead: what is picked is measured for good, and picked again by what that says.
    """
    precise: dict[int, tuple[float, float]] = {}
    while True:
        places = sorted(known)
        ages = [candidates[i].age for i in places]
        chosen = [places[i] for i in pick([known[i] for i in places], fractions, ages)]
        unsure = [i for i in chosen if i not in precise]
        if not unsure:
            return [(candidates[i], *precise[i]) for i in chosen]
        measured = measure([candidates[i] for i in unsure], episodes)
        precise |= dict(zip(unsure, measured, strict=True))
        known |= {i: precise[i][0] for i in unsure}


def candidates_of(runs: Sequence[Run]) -> list[Candidate]:
    """Each run's snapshots in the order of training, and its best policy."""
    found = []
    for run in runs:
        best = policy_file(run.path, "best")
        for path in [*snapshots(run.path), *([best] if best.exists() else [])]:
            found.append(Candidate(path, run, _age(load_policy(path), run)))
    if len(found) < 6:
        raise RunError(
            f"{', '.join(str(run.path) for run in runs)}: {len(found)} policies; a ladder needs at least 6. "
            "Train with `rilco experts train --snapshot-every`."
        )
    return found


def measure(candidates: Sequence[Candidate], episodes: int) -> list[tuple[float, float]]:
    """Mean and standard deviation of each policy's return, from the same start states; one pool plays them all."""
    policies = [load_policy(candidate.path) for candidate in candidates]
    task = candidates[0].run.config.task  # never what a policy's card names: that could be a module to import
    first, workers = policies[0], min(num_workers(), episodes)
    sizes = Sizes(workers, 1, first.obs_dim, first.actions, first.hidden_sizes)
    measured = []
    with RolloutPool(task, sizes, seed=0, num_workers=workers) as pool:
        for policy in policies:
            check_fits(policy, task)
            returns = pool.evaluate(policy, episodes=episodes, seed=0).returns
            measured.append((float(returns.mean()), float(returns.std())))
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


def pick(returns: Sequence[float], fractions: Sequence[float], ages: Sequence[int]) -> list[int]:
    """The best policy, then for each further fraction the nearest policy that is not taken yet.

    Only policies at most half as old as the best, in transitions, are taken beside it: non-experts are beginners,
    and not experts on a bad day, which act like experts until they fall.
    """
    best = int(np.argmax(returns))
    beginners = np.asarray(ages) <= ages[best] / 2
    chosen = [best]
    for fraction in fractions[1:]:
        distance = np.where(beginners, np.abs(np.asarray(returns) - fraction * returns[best]), np.inf)
        distance[chosen] = np.inf
        chosen.append(int(np.argmin(distance)))
    return chosen


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


def command_of(run: Run) -> str:
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
    return Run(start) if run.config.start_from and holds_run(start) else None


def _age(policy: Policy, run: Run) -> int:
    """That it took to make a policy, those of an earlier run included."""
    earlier = _earlier(run)
    before = 0 if earlier is None else _age(load_policy(earlier.path), earlier)
    return before + int(policy.card["transitions"])


def draw(file: Path) -> None:
    """Returns of the shipped policies beside the published ones, a panel a task."""
    figure = Figure(figsize=(3.2 * len(PUBLISHED_RETURNS), 3.2), layout="constrained")
    panels = figure.subplots(1, len(PUBLISHED_RETURNS))
    for axes, (task, published) in zip(panels, PUBLISHED_RETURNS.items(), strict=True):
        places = range(1, 1 + len(published))
        cards = [shipped_rung(task, place)[1] for place in places]
        returns, spread = ([card[name] for card in cards] for name in ("mean_return", "std_return"))
        axes.bar(places, returns, yerr=spread, color="#4477aa", capsize=3, label="ours")
        axes.scatter(places, published, color="black", marker="_", s=250, label="published", zorder=3)
        axes.axhline(0.0, color="grey", linewidth=0.8)
        axes.set(xlabel="snapshot", title=task)
    panels[0].set_ylabel("return")
    panels[0].legend(frameon=False)
    figure.savefig(file, dpi=120)


if __name__ == "__main__":
    main()
