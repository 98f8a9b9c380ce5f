"""The table of mixtures: one frozen record for each."""

import json
from pathlib import Path
from typing import Any

from benchmarks.zoo.design import DESIGN
from benchmarks.zoo.design_second import SECOND
from benchmarks.zoo.design_third import THIRD
from benchmarks.zoo.parts import Mixture, Part
from benchmarks.zoo.recording import Manner

FOURTH = Path(__file__).parent / "design_fourth.json"
FIFTH = Path(__file__).parent / "design_fifth.json"
"""Mixtures that had the fourth and the fifth last word: drawn, and spent."""
LAST_WORD = Path(__file__).parent / "last_word.json"
"""Mixtures that have the last word: `draw.py` drew them. No judge is designed on them, and nobody looks while designing."""


def _part(count: int, people: tuple[int, ...] = (), consistent: bool = False, **manner: Any) -> Part:
    return Part(count, Manner(**manner), tuple(people), consistent)


def read(table: Path) -> tuple[Mixture, ...]:
    """The mixtures that a drawn table holds."""
    rows = json.loads(table.read_text())
    return tuple(Mixture(**{**row, "parts": tuple(_part(**part) for part in row["parts"])}) for row in rows)


MIXTURES = (*DESIGN, *SECOND, *THIRD, *read(FOURTH), *read(FIFTH), *read(LAST_WORD))
