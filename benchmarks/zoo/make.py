"""Makes the zoo: one file of demonstrations without labels, and one with the truth, for each mixture.

python -m benchmarks.zoo.make --out zoo
python -m benchmarks.zoo.make --out zoo --half design --only point-mass-noisy
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.zoo.mixtures import MIXTURES
from benchmarks.zoo.page import write_table
from benchmarks.zoo.parts import CLEAN, HOLDS, LONG, MINORITY, SHORT, Mixture
from benchmarks.zoo.recording import Manner, record
from benchmarks.zoo.simulators import Simulator
from benchmarks.zoo.tasks import TASKS, Task

from rilco.data.formats import save_demonstrations
from rilco.data.record import Demonstrations

TRIES = 60
"""Starts that are tried for one demonstration until its score agrees with its label."""


@dataclass(frozen=True)
class Episode:
    """One demonstration and the truth about it."""

    obs: np.ndarray
    action: np.ndarray
    manner: Manner
    person: int
    score: float
    best: float
    """The score without the fault, from the same start."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--half", choices=["design", "last-word"])
    parser.add_argument("--only", metavar="NAME", help="one mixture")
    parser.add_argument("--table", action="store_true", help="write the README's table from what --out holds")
    options = parser.parse_args()
    chosen = [m for m in MIXTURES if options.only in (None, m.name)]
    chosen = [m for m in chosen if options.half in (None, TASKS[m.task].half)]
    if not chosen:
        parser.error(f"no mixture is called {options.only}; there are {', '.join(m.name for m in MIXTURES)}")
    for mixture in chosen:
        begin = time.perf_counter()
        truth = make(mixture, options.out)
        seconds = time.perf_counter() - begin
        print(
            f"{mixture.name:36} {truth['demonstrations']:4} demonstrations {truth['pairs']:6} pairs "
            f"{truth['bad_by_demonstrations']:4.0%} bad ({truth['bad_by_pairs']:4.0%} of pairs)  "
            f"score {truth['score']}  {seconds:.1f} s",
            flush=True,
        )
    if options.table:
        write_table(options.out)


def make(mixture: Mixture, out: Path) -> dict[str, Any]:
    """Writes NAME.npz and NAME.truth.json into the folder of the mixture's half, and returns the truth."""
    task = TASKS[mixture.task]
    episodes = _cut(_record_all(mixture, task), mixture.piece)
    rng = np.random.default_rng([mixture.seed, 2])
    episodes = [episodes[k] for k in rng.permutation(len(episodes))]
    names = _names(episodes, rng)
    folder = out / task.half
    folder.mkdir(parents=True, exist_ok=True)
    people = sorted(set(names.values()), key=lambda name: int(name.split()[-1]))
    lengths = [len(episode.obs) for episode in episodes]
    demos = Demonstrations(
        np.concatenate([episode.obs for episode in episodes]),
        np.concatenate([episode.action for episode in episodes]),
        episode=np.repeat(np.arange(len(episodes)), lengths),
        demonstrator=np.repeat([people.index(names[episode.person]) for episode in episodes], lengths),
        demonstrator_names=tuple(people),
    )
    save_demonstrations(demos, folder / f"{mixture.name}.npz")
    truth = _truth(mixture, task, episodes, names)
    (folder / f"{mixture.name}.truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    return truth


def _record_all(mixture: Mixture, task: Task) -> list[Episode]:
    simulator = task.simulator()
    episodes = []
    for number, part in enumerate(mixture.parts):
        for k in range(part.count):
            person = part.people[k % len(part.people)] if part.people else 0
            for attempt in range(TRIES):
                seed, fault_seed = _seeds(mixture.seed, number, k, attempt)
                if part.consistent:
                    fault_seed, _ = _seeds(mixture.seed, number, person)
                episode = record_one(task, simulator, part.manner, person, seed, fault_seed)
                if label_is_true(task, episode):
                    break
            else:
                raise RuntimeError(
                    f"{mixture.name}: in {TRIES} starts {part.manner} never had the score that its label "
                    f"asks for; the last has {episode.score:.3g}, and {episode.best:.3g} without the fault. "
                    "Change the size of the fault."
                )
            episodes.append(episode)
    return episodes


def _seeds(*path: int) -> tuple[int, int]:
    first, second = np.random.SeedSequence(path).generate_state(2)
    return int(first), int(second)


def record_one(
    task: Task, simulator: Simulator, manner: Manner, person: int, seed: int, fault_seed: int
) -> Episode:
    taken = record(task, simulator, manner, seed, fault_seed)
    best = taken if manner.good else record(task, simulator, manner.without_fault(), seed, 0)
    return Episode(taken.obs, taken.action, manner, person, taken.score, best.score)


def label_is_true(task: Task, episode: Episode) -> bool:
    """Whether the true score agrees with the label."""
    worse = episode.manner.good or episode.score <= episode.best - task.margin
    return episode.best >= task.passes and worse


def _cut(episodes: list[Episode], piece: int) -> list[Episode]:
    """Each recording in pieces of equal length, what is left over thrown away; 0 leaves it whole."""
    if not piece:
        return episodes
    return [
        Episode(
            whole.obs[at : at + piece],
            whole.action[at : at + piece],
            whole.manner,
            whole.person,
            whole.score,
            whole.best,
        )
        for whole in episodes
        for at in range(0, len(whole.obs) - piece + 1, piece)
    ]


def _names(episodes: list[Episode], rng: np.random.Generator) -> dict[int, str]:
    """Neutral names, in an order that says nothing."""
    people = sorted({episode.person for episode in episodes})
    return {
        person: f"person {number + 1}"
        for person, number in zip(people, rng.permutation(len(people)), strict=True)
    }


def _truth(mixture: Mixture, task: Task, episodes: list[Episode], names: dict[int, str]) -> dict[str, Any]:
    good = np.array([e.manner.good for e in episodes])
    pairs = np.array([len(e.obs) for e in episodes])
    score = np.array([e.score for e in episodes])
    by_demos, by_pairs = float((~good).mean()), float(pairs[~good].sum() / pairs.sum())
    holds = by_demos < 0.5 and by_pairs < 0.5
    return {
        "mixture": mixture.name,
        "task": task.name,
        "kind": task.kind,
        "half": task.half,
        "hard": mixture.hard,
        "demonstrations": len(episodes),
        "pairs": int(pairs.sum()),
        "people": len(names),
        "bad_by_demonstrations": round(by_demos, 4),
        "bad_by_pairs": round(by_pairs, 4),
        "good_majority": {"by_demonstrations": by_demos < 0.5, "by_pairs": by_pairs < 0.5},
        "assumption_holds": holds,
        "visible_in_data": mixture.visible and holds,
        "why": mixture.why or (CLEAN if good.all() else _counted(by_demos < 0.5, by_pairs < 0.5)),
        "faults": sorted({e.manner.kind for e in episodes if not e.manner.good}),
        "good_styles": sorted({" from ".join(filter(None, _style(e))) for e in episodes if e.manner.good}),
        "score": {"good": _mean(score[good]), "bad": _mean(score[~good])},
        "episodes": [
            {
                "episode": k,
                "good": e.manner.good,
                "fault": e.manner.kind,
                "size": e.manner.size,
                "controller": e.manner.controller,
                "start": e.manner.start,
                "demonstrator": names[e.person],
                "pairs": len(e.obs),
                "score": float(f"{e.score:.6g}"),
                "score_without_fault": float(f"{e.best:.6g}"),
            }
            for k, e in enumerate(episodes)
        ],
    }


def _counted(by_demos: bool, by_pairs: bool) -> str:
    """Why the assumption holds or not, by who is the majority by either count."""
    if by_demos != by_pairs:
        return LONG if by_demos else SHORT
    return HOLDS if by_demos else MINORITY


def _style(episode: Episode) -> tuple[str, str]:
    return episode.manner.controller, episode.manner.start


def _mean(scores: np.ndarray) -> float | None:
    return float(f"{scores.mean():.4g}") if len(scores) else None


if __name__ == "__main__":
    main()
