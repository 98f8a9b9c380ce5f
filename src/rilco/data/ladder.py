"""Ladders: six policies of a task, the expert and five from mediocre to useless, each with a card.

Noisy datasets are made from such ladders. The qualities wanted are those of the paper's snapshot table, as
fractions of the expert's return. One of each task comes with the package; `ladder_search.py` makes new ones.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from rilco.errors import ConfigError
from rilco.files import write_atomically
from rilco.policy import saved
from rilco.policy.saved import Policy, shipped_name

PUBLISHED_RETURNS = {
    "halfcheetah": (2500, 1300, 1000, 700, -1100, -1000),
    "hopper": (2300, 1100, 1000, 900, 600, 0),
    "walker2d": (2700, 800, 600, 700, 100, 0),
    "ant": (3500, 1400, 1000, 700, 400, 0),
}
"""Returns of the six snapshots in the paper (Tangkaratt et al. 2021, Table 2), the expert first."""


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


def write_rung(policy: Policy, rung: Rung, out: Path) -> None:
    card = asdict(rung)
    dataclasses.replace(policy, card={**policy.card, "return": rung.mean_return}).save(
        out / f"{rung.rung}.safetensors"
    )
    write_atomically(out / f"{rung.rung}.json", (json.dumps(card, indent=2) + "\n").encode())


def shipped_rung(task: str, rung: int) -> tuple[Policy, Mapping[str, Any]]:
    """A policy of the shipped ladder and its card; rung 1 is the expert."""
    folder = resources.files("rilco.data") / "snapshots" / task
    with resources.as_file(folder / f"{rung}.safetensors") as file:
        if not file.exists():
            raise ConfigError(
                f"No snapshot {rung} of {task} comes with rilco; there are 1 to 6 of {', '.join(PUBLISHED_RETURNS)}."
            )
        return saved.load_policy(file), json.loads((folder / f"{rung}.json").read_text())


def open_policy(source: str | os.PathLike[str]) -> tuple[Policy, bool | None]:
    """A policy, and whether it is an expert's, which is known of those that come with rilco."""
    shipped = shipped_name(source)
    if shipped is None:
        return saved.load_policy(source), None
    task, rung = shipped
    return shipped_rung(task, rung)[0], rung == 1


def load_policy(source: str | os.PathLike[str]) -> Policy:
    """A policy from a run folder (its best), a policy file, or one that comes with rilco, such as `hopper#1`.

    Needs NumPy and safetensors, and not JAX.

        >>> rilco.load_policy("hopper#1")
        Policy(hopper, 15 -> 64 -> 64 -> 3)
    """
    return open_policy(source)[0]


def shipped_ladders() -> list[list[Rung]]:
    """The cards of all policies that come with the package, by task."""
    return [[Rung(**shipped_rung(task, rung)[1]) for rung in range(1, 7)] for task in PUBLISHED_RETURNS]
