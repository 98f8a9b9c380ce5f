"""Draws the mixtures of a last word, so that nobody chooses which fault meets which task, and keeps them in last_word.json.

    python -m benchmarks.zoo.draw --seed 6

The shapes of mixtures are dealt to the tasks, and faults to the shapes, from shuffled decks. The size of a fault is the
least on its ladder at which most starts make the demonstration a bad one. No judge is asked.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.zoo.make import label_is_true, record_one
from benchmarks.zoo.mixtures import LAST_WORD
from benchmarks.zoo.parts import ENDING, ENDING_TOO, MINORITY, SCATTERED, Mixture, Part
from benchmarks.zoo.recording import Manner
from benchmarks.zoo.simulators import Simulator
from benchmarks.zoo.tasks import TASKS, Task

STARTS = 12
"""Starts that a size of a fault is tried from."""

LADDERS: dict[str, tuple[float, ...]] = {
    "noisy": (0.2, 0.3, 0.5, 0.8, 1.2, 1.8),
    "sloppy": (0.2, 0.3, 0.45, 0.6, 0.8, 1.2),
    "offset": (0.05, 0.1, 0.2, 0.3, 0.5, 0.8),
    "laggy": (2, 4, 6, 9, 12, 16),
    "idle": (0.2, 0.3, 0.4, 0.5, 0.6, 0.7),
    "stuck": (0.2, 0.3, 0.4, 0.5, 0.6, 0.7),
    "gain": (0.6, 0.5, 0.4, 0.3, 0.2),
    "wrong goal": (0.15, 0.25, 0.35, 0.5, 0.8),
    "random": (0.3, 0.5, 0.8),
    "aborted": (0.8, 0.6, 0.5, 0.4),
    "weak policy": (0,),
    "wrong units": (0.3, 0.2, 0.1, 0.05),
    "sign in the record": (0, 1, 2, 3),
    "time shifted": (3, 5, 8, 12, 16),
    "columns swapped": (1, 2),
}
DECK = (*LADDERS, "weak policy", "wrong goal")
"""Every kind of fault, and once more those that are the most usual."""
FLEETING = ("noisy", "sloppy", "idle", "stuck", "random", "aborted")
"""Faults that differ each time; of the others a person's, or a majority's, is always the same."""


class Shape(NamedTuple):
    """A mixture but for the task, the styles and the faults."""

    name: str
    good: int
    bad: int = 0
    kinds: int = 1
    styles: int = 1
    people: int = 1
    noise: float = 0.01
    piece: int = 0


SHAPES = (
    Shape("clean", 36, styles=3), Shape("clean", 34, styles=2), Shape("clean", 30, styles=2),
    Shape("clean", 26, styles=2), Shape("clean", 40, noise=0.05), Shape("clean", 14, noise=0.03),
    Shape("few", 6, 2), Shape("few", 9, 3), Shape("many", 210, 90, kinds=4, styles=2),
    Shape("scattered", 20, 30, kinds=4), Shape("minority", 18, 27), Shape("minority", 20, 26),
    Shape("rare", 38, 2), Shape("rare", 57, 3, styles=2), Shape("tenth", 45, 5), Shape("tenth", 36, 4, styles=2),
    Shape("person", 36, 14, people=4), Shape("person", 24, 8, people=3), Shape("person", 30, 10, people=3),
    Shape("person", 28, 12, people=3), Shape("person", 34, 10, styles=2, people=4),
    Shape("person", 28, 12, styles=2, people=3), Shape("person", 33, 9, styles=2, people=4),
    Shape("one", 30, 10), Shape("one", 26, 12), Shape("one", 24, 12), Shape("one", 24, 18), Shape("one", 36, 12, styles=2),
    Shape("one", 30, 9, styles=2), Shape("one", 28, 10, styles=2), Shape("two", 32, 10, kinds=2),
    Shape("two", 30, 11, kinds=2), Shape("two", 26, 18, kinds=2), Shape("two", 30, 12, kinds=2, styles=2),
    Shape("two", 28, 10, kinds=2, styles=2), Shape("pieces", 12, 6, piece=50),
)  # fmt: skip
"""As the halves before held them: clean ones, few and many, 5% to 60% bad, persons, minorities, several styles."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, required=True)
    rng = np.random.default_rng(parser.parse_args().seed)
    tasks = [task for task in TASKS.values() if task.half == "last-word"]
    faults, mixtures = _deck(rng), []
    for task, shapes in zip(tasks, _deal(tasks, rng), strict=True):
        used: set[str] = set()
        for shape in shapes:
            mixtures.append(_fill(task, shape, faults, used, rng))
            print(mixtures[-1].name, mixtures[-1].hard, sep=": ", flush=True)
    write(mixtures, LAST_WORD)


def write(mixtures: Sequence[Mixture], table: Path) -> None:
    """Keeps the mixtures, one in a line, as `mixtures.read` reads them."""
    table.write_text("[\n" + ",\n".join(f" {json.dumps(_brief(each))}" for each in mixtures) + "\n]\n")


def _brief(mixture: Mixture) -> dict[str, Any]:
    """The mixture without what is as usual."""
    row = {k: v for k, v in asdict(mixture).items() if v != getattr(Mixture, k, None)}
    for part in row["parts"]:
        part.update(part.pop("manner"))
    usual = {**asdict(Manner()), "people": (), "consistent": False}
    row["parts"] = [{k: v for k, v in p.items() if k == "count" or v != usual[k]} for p in row["parts"]]
    return row


def _deck(rng: np.random.Generator) -> Iterator[list[str]]:
    """Again and again the faults that are left, of which the taker removes one; each time with a deck more at their end."""
    left: list[str] = []
    while True:
        left += [str(kind) for kind in rng.permutation(DECK)]
        yield left


def _deal(tasks: list[Task], rng: np.random.Generator) -> list[list[Shape]]:
    """Shapes for each task in turn: no name twice, and pieces only of long recordings."""
    while True:
        order = [SHAPES[k] for k in rng.permutation(len(SHAPES))]
        hands = [order[k :: len(tasks)] for k in range(len(tasks))]
        if all(
            len({shape.name for shape in hand}) == len(hand)
            and all(shape.piece * 5 < task.steps and shape.styles <= len(_styles(task)) for shape in hand)
            for task, hand in zip(tasks, hands, strict=True)
        ):
            return hands


def _styles(task: Task) -> list[Manner]:
    """Good controllers from the usual start, and the expert from the others."""
    good = [Manner(name) for name in task.controllers if not name.startswith("weak")]
    return good + [Manner(start=start) for start in task.starts]


def _fill(
    task: Task, shape: Shape, deck: Iterator[list[str]], used: set[str], rng: np.random.Generator
) -> Mixture:
    """A mixture of a task: styles and faults are drawn."""
    others = [_styles(task)[k] for k in rng.permutation(len(_styles(task)) - 1) + 1]
    styles = [Manner(), *others][: shape.styles]
    people = tuple(range(shape.people - 1))
    lots = [shape.good - shape.good // shape.styles * (shape.styles - 1)]
    lots += [shape.good // shape.styles] * (shape.styles - 1)
    parts = [
        Part(count, replace(style, noise=shape.noise), people)
        for count, style in zip(lots, styles, strict=True)
    ]
    kinds: list[str] = []
    for k in range(shape.kinds if shape.bad else 0):
        base = styles[int(rng.integers(len(styles)))]
        barred = {*used, *kinds, *(FLEETING if shape.name == "minority" else ["aborted"] * (shape.piece > 0))}
        manner = _take(task, base, next(deck), barred)
        kinds.append(manner.kind)
        count = shape.bad // shape.kinds + (k < shape.bad % shape.kinds)
        same = (shape.people > 1 or shape.name == "minority") and manner.kind not in FLEETING
        parts.append(Part(count, manner, (shape.people - 1,) if people else (), same))
    used.update(kinds)
    words = [task.name, *[shape.name] * (shape.name != "one"), *kinds * (len(kinds) < 3)]
    return Mixture(
        "-".join(words).replace(" ", "-"),
        task.name,
        tuple(parts),
        _hard(shape),
        shape.piece,
        "aborted" not in kinds,
        _why(shape, kinds),
    )


def _hard(shape: Shape) -> str:
    number = ("no", "one", "two", "three", "four")
    styles = f"{number[shape.styles]} good style{'s' * (shape.styles > 1)}"
    share = f"{shape.bad / (shape.good + shape.bad):.0%} bad"
    return (
        f"{share}, in {number[shape.kinds]} way{'s' * (shape.kinds > 1)}; {styles}"
        if shape.bad
        else f"clean: {styles}"
    )


def _why(shape: Shape, kinds: list[str]) -> str:
    if "aborted" in kinds:
        return ENDING if len(kinds) == 1 else ENDING_TOO
    return {"minority": MINORITY, "scattered": SCATTERED}.get(shape.name, "")


def _take(task: Task, style: Manner, left: list[str], barred: set[str]) -> Manner:
    """Takes the first fault from the deck that is not barred, and that is possible there."""
    for kind in left:
        manner = None if kind in barred else least(task, style, kind)
        if manner:
            left.remove(kind)
            return manner
    raise RuntimeError(f"{task.name}: none of {left} is possible")


def least(task: Task, style: Manner, kind: str) -> Manner | None:
    """The fault at the least size at which most starts of a good demonstration make it a bad one."""
    if kind == "wrong goal" and not task.goal:
        return None
    for size in LADDERS[kind]:
        manner = replace(style, fault=kind, size=size)
        if kind == "weak policy":
            manner = Manner("weak", start=style.start)
        if manner.controller in task.controllers and _turns_bad(task, manner) > 0.5:
            return manner
    return None


@cache
def _simulator(task: str) -> Simulator:
    return TASKS[task].simulator()


def _turns_bad(task: Task, manner: Manner) -> float:
    """The share of starts whose demonstration is good without the fault, and bad with it."""
    simulator = _simulator(task.name)
    if manner.fault == "sign in the record" and manner.size >= simulator.action_dim:
        return 0.0
    tried = [record_one(task, simulator, manner, 0, seed, seed) for seed in range(STARTS)]
    return float(
        np.mean([label_is_true(task, each) for each in tried if each.best >= task.passes] or [False])
    )


if __name__ == "__main__":
    main()
