"""What every judge hands over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Opinion:
    """One judge's view of all demonstrations; all arrays are [D], in the order of the demonstrations."""

    judge: str
    """The judge's name, `families` for instance."""
    standing: float
    """From 0 to 1: how far this data lets the judge speak at all."""
    why: str
    """A sentence: what gives or denies the judge its standing."""
    score: np.ndarray
    """Higher is more like the majority. Only the order and the distances within one opinion mean something."""
    good: np.ndarray
    """Probability of being good by this judge alone; 0.5 where it sees nothing."""
    reasons: tuple[str, ...]
    """A sentence for each demonstration."""
    evidence: Mapping[str, np.ndarray] = field(default_factory=dict)
    """The numbers behind it, by name; each [D]."""
