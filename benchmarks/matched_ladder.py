"""Ladders like the authors' in what non-experts do, as well as in returns.

    python -m benchmarks.matched_ladder hopper hopper-matched --authors path/to/HopperBulletEnv-v0
    python -m benchmarks.matched_ladder hopper --authors ... --runs runs/hopper-* --out ladders/hopper-matched

The first command shows the ladders that come with rilco beside the authors' files. The second makes a ladder: the
expert of the first one, and for each other rung a snapshot of the runs. `pick` has the rule.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from benchmarks.ladder import Candidate, Rung, candidates_of, command_of, measure, write_rung
from scipy.spatial import cKDTree

from rilco.data.collect import collect
from rilco.data.loading import load_demonstrations
from rilco.data.record import Demonstrations
from rilco.data.standard import PAIRS, RUNGS
from rilco.experiment.published import PUBLISHED_RETURNS
from rilco.policy.saved import load_policy, shipped_file, shipped_rung
from rilco.runs.folder import Run
from rilco.tasks.table import Task

AUTHORS = ("P1.0", "P0.4", "P0.3", "P0.2", "P0.1", "P0.0")  # in their files' names, rung by rung
CLOSE = 0.1  # a policy has a quality if it is within this fraction of the expert's return
SCREENING_EPISODES = 4
EPISODES = 20  # behind the return on a card
EVERY = 5  # of a non-expert's states that are compared with all of the expert's
SPEED, SPEED_UNIT = 3, 0.3  # where the Bullet robots show their speed forward, and how they scale it

COLUMNS = {
    "return": "{:,.0f}",
    "distance": "{:.2f}",
    "speed": "{:.1f}",
    "steps": "{:,.0f}",
}  # and how to write them


class Behaviour(NamedTuple):
    """What a demonstrator does."""

    mean_return: float
    distance: float
    """Median distance of its states to the expert's nearest. Each dimension is in units of its standard deviation over
    the states of both; the distance is the root of the mean square over dimensions."""
    speed: float
    """Median, in metres a second."""
    length: float
    """Mean number of steps in an episode."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ladders", nargs="+", help="that come with rilco; the first has the expert")
    parser.add_argument("--authors", type=Path, required=True, help="folder with their six files of the task")
    parser.add_argument("--runs", nargs="+", type=Path, help="to make a new ladder of")
    parser.add_argument("--out", type=Path, help="its folder")
    arguments = parser.parse_args()
    files = [next(arguments.authors.glob(f"*_{name}_*")) for name in AUTHORS]
    authors = behaviours([load_demonstrations(file) for file in files])
    print(f"| non-experts #2 to #6 | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}")
    show("the authors' files", authors)
    for ladder in arguments.ladders:
        show(ladder, behaviours([play(shipped_file(ladder, rung), pairs=PAIRS) for rung in RUNGS]))
    if arguments.runs:
        make_ladder(arguments.ladders[0], [Run(path) for path in arguments.runs], authors, arguments.out)


def show(name: str, rungs: Sequence[Behaviour]) -> None:
    """A row of a table: all non-experts, column by column of `COLUMNS`."""
    cells = [
        " ".join(form.format(value).replace("-0.0", "0.0") for value in values)
        for form, values in zip(COLUMNS.values(), zip(*rungs[1:], strict=True), strict=True)
    ]
    print(f"| {' | '.join([name, *cells])} |", flush=True)


def play(policy: Path, *, pairs: int = PAIRS, episodes: int | None = None) -> Demonstrations:
    """As the standard datasets are made."""
    return collect(policy, pairs=pairs, episodes=episodes)


def behaviours(parts: Sequence[Demonstrations]) -> list[Behaviour]:
    """Of each demonstrator; the first is the expert."""
    return [behaviour(part, parts[0]) for part in parts]


def behaviour(demos: Demonstrations, expert: Demonstrations) -> Behaviour:
    assert demos.reward is not None
    return Behaviour(
        mean_return=float(demos.index.sums(demos.reward).mean()),
        distance=0.0 if demos is expert else distance(demos.obs, expert.obs),
        speed=float(np.median(demos.obs[:, SPEED])) / SPEED_UNIT,
        length=float(demos.index.length.mean()),
    )


def distance(obs: np.ndarray, expert: np.ndarray) -> float:
    """As in `Behaviour`; a dimension that never changes counts nothing."""
    both = np.concatenate([obs, expert]).astype(np.float64)
    unit = np.maximum(both.std(axis=0), 1e-8) * np.sqrt(both.shape[1])
    nearest, _ = cKDTree(expert / unit).query(obs[::EVERY] / unit)
    return float(np.median(nearest))


def pick(
    found: Sequence[Behaviour], authors: Sequence[Behaviour], fractions: Sequence[float], best: float
) -> list[int]:
    """For each rung below the expert the policy that is most like the authors' there, none twice.

    Only policies whose return is near the published one, as a fraction of the expert's (`best`), are looked at. Of
    these the nearest to the authors' file in distance, speed and length is taken. Each counts in units of its standard
    deviation over the authors' five. What is learned from the data plays no part.
    """
    kinds, wanted = np.array(found)[:, 1:], np.array(authors)[1:, 1:]
    returns, unit = np.array(found)[:, 0] / best, np.maximum(wanted.std(axis=0), 1e-8)
    chosen: list[int] = []
    for fraction, like in zip(fractions[1:], wanted, strict=True):
        unlike = np.square((kinds - like) / unit).sum(axis=1)
        unlike[np.abs(returns - fraction) > CLOSE] = np.inf
        unlike[chosen] = np.inf
        if not np.isfinite(unlike).any():
            raise SystemExit(f"No policy has a return near {fraction:.2f} of the expert's: add runs.")
        chosen.append(int(np.argmin(unlike)))
    return chosen


def make_ladder(ladder: str, runs: Sequence[Run], authors: Sequence[Behaviour], out: Path) -> None:
    """Look at every snapshot over a few episodes, and at those picked as long as a dataset is; write what stays picked."""
    task = Task(task=ladder).name
    published = [value / PUBLISHED_RETURNS[task][0] for value in PUBLISHED_RETURNS[task]]
    expert, best = play(shipped_file(ladder, 1)), float(shipped_rung(ladder, 1)[1]["mean_return"])
    candidates = candidates_of(runs)
    found = [behaviour(play(one.path, episodes=SCREENING_EPISODES), expert) for one in candidates]
    sure: set[int] = set()
    while unsure := set(chosen := pick(found, authors, published, best)) - sure:
        for i in unsure:
            found[i] = behaviour(play(candidates[i].path), expert)
        sure |= unsure
    show(str(out), [behaviour(expert, expert), *(found[i] for i in chosen)])
    out.mkdir(parents=True, exist_ok=True)
    for suffix in (".safetensors", ".json"):
        shutil.copyfile(shipped_file(ladder, 1).with_suffix(suffix), out / f"1{suffix}")
    write(task, [candidates[i] for i in chosen], published, best, out)


def write(task: str, chosen: Sequence[Candidate], published: Sequence[float], best: float, out: Path) -> None:
    """The rungs below the expert, with their cards."""
    returns = measure(chosen, EPISODES)
    for rung, candidate, (mean, std) in zip(RUNGS[1:], chosen, returns, strict=True):
        policy = load_policy(candidate.path)
        card = Rung(
            task=task,
            rung=rung,
            mean_return=round(mean, 1),
            std_return=round(std, 1),
            episodes=EPISODES,
            fraction=round(mean / best, 4),
            published_fraction=round(published[rung - 1], 4),
            transitions=candidate.age,
            seed=int(policy.card["seed"]),
            command=command_of(candidate.run),
        )
        write_rung(policy, card, out)


if __name__ == "__main__":
    main()
