"""Demonstrations with known truth, in one shape: equal windows of the paper's mixtures, and mixtures of the zoo."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rilco.data.loading import load_demonstrations
from rilco.data.record import Demonstrations
from rilco.data.standard import standard_files
from rilco.tasks.robots import ROBOTS
from rilco.tasks.table import Task

WINDOW = 50
RATE = 0.4
MIXING_SEED = 1


@dataclass(frozen=True, eq=False)
class LabelledSet:
    """What judges are compared on. Episodes are numbered from 0, in the order of the pairs."""

    name: str
    demos: Demonstrations
    good: np.ndarray
    """[D] bool: the truth about each demonstration. No judge sees it."""
    task: str | None = None
    """The Bullet task that clones can be tried in."""
    visible: bool = True
    """Whether the data alone can show which ones are bad."""

    @property
    def pairs(self) -> np.ndarray:
        """[D] of each demonstration."""
        return np.bincount(self.demos.episode)


def paper_sets(folder: Path) -> Iterator[LabelledSet]:
    """The authors' files of each task, and our Ant with Gaussian noise, in windows of equal length."""
    for task, robot in ROBOTS.items():
        yield _windowed(task, load_demonstrations(folder / robot.stock_id, RATE, seed=MIXING_SEED), task)
    ant = standard_files(Task(task="ant"), "gaussian")
    yield _windowed("ant-gaussian", load_demonstrations(ant, RATE, seed=MIXING_SEED))


def zoo_sets(folder: Path) -> Iterator[LabelledSet]:
    """Every mixture in one half of the zoo that has bad ones."""
    for file in sorted(folder.glob("*.npz")):
        truth = json.loads(file.with_suffix(".truth.json").read_text())
        good = np.array([episode["good"] for episode in truth["episodes"]])
        if not good.all():
            demos = in_order(load_demonstrations(file))
            yield LabelledSet(file.stem, demos, good, visible=truth["visible_in_data"])


def _windowed(name: str, mixture: Demonstrations, task: str | None = None) -> LabelledSet:
    demos = windows(mixture)
    assert demos.expert is not None, "the paper's mixtures know their expert"
    good = demos.expert[::WINDOW].copy()
    # The file that a window comes from would give the truth away.
    nobody = replace(demos, demonstrator=np.zeros(len(demos), np.int32), demonstrator_names=("somebody",))
    return LabelledSet(name, nobody, good, task)


def in_order(demos: Demonstrations) -> Demonstrations:
    """The same episodes, each in adjacent pairs and numbered from 0 in order of first appearance."""
    _, first, dense = np.unique(demos.episode, return_index=True, return_inverse=True)
    number = np.argsort(np.argsort(first))[dense]
    rows = np.argsort(number, kind="stable")
    return replace(demos.select(rows), episode=number[rows])


def windows(demos: Demonstrations, length: int = WINDOW) -> Demonstrations:
    """Each episode in pieces of exactly this many pairs; the rest of an episode is left out.

    In the paper's mixtures the expert has whole episodes and the others have pieces, so that length alone would tell them
    apart.
    """
    ordered = in_order(demos)
    sizes = np.bincount(ordered.episode)
    step = np.arange(len(ordered)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    whole = ordered.select(step < np.repeat(sizes // length * length, sizes))
    return replace(whole, episode=np.arange(len(whole)) // length)
