"""Ladders: six policies of a task, the expert and five from mediocre to useless, each with a card.

The standard datasets are made from them. Their qualities are those of the paper's snapshot table, as fractions of
the expert's return. `benchmarks/ladder.py` picked them among the snapshots of experts' runs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from rilco.policy.saved import Policy, load_policy, shipped_file, shipped_name

PUBLISHED_RETURNS = {
    "halfcheetah": (2500, 1300, 1000, 700, -1100, -1000),
    "hopper": (2300, 1100, 1000, 900, 600, 0),
    "walker2d": (2700, 800, 600, 700, 100, 0),
    "ant": (3500, 1400, 1000, 700, 400, 0),
}
"""Returns of the six snapshots in the paper (Tangkaratt et al. 2021, Table 2), the expert first."""


def shipped_rung(task: str, rung: int) -> tuple[Policy, Mapping[str, Any]]:
    """A policy of the shipped ladder and its card; rung 1 is the expert."""
    file = shipped_file(task, rung)
    return load_policy(file), json.loads(file.with_suffix(".json").read_text())


def open_policy(source: str | os.PathLike[str]) -> tuple[Policy, bool | None]:
    """A policy, and whether it is an expert's. That is known of those that come with rilco only."""
    shipped = shipped_name(source)
    return load_policy(source), None if shipped is None else shipped[1] == 1
