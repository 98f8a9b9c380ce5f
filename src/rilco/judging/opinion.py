"""What every judge hands over, and judges from outside the package."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from rilco.data.record import Demonstrations
from rilco.errors import AuditError, ConfigError
from rilco.outside import import_modules

OWN = ("families", "consensus", "endings", "records", "held", "manner", "ril-co", "you", "nobody")
"""Names of rilco's own judges, and of who decides where no judge does."""


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


Judge = Callable[[Demonstrations], Opinion]
_OUTSIDE: dict[str, Judge] = {}


def register(name: str, judge: Judge) -> None:
    """Add a judge from outside the package, or replace one. Every audit asks it after rilco's own.

    It says how good each demonstration is. Where it contradicts the others, nobody is sure.
    """
    if name in OWN or not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise ConfigError(
            f"register: a judge cannot be called {name!r}. Use lower-case letters, digits and hyphens, and none of "
            f"{', '.join(OWN)}."
        )
    _OUTSIDE[name] = judge


def ask_outside(demos: Demonstrations, count: int) -> list[Opinion]:
    """The opinions of all judges from outside, each with something to say about every demonstration."""
    import_modules()
    opinions = []
    for name, judge in _OUTSIDE.items():
        opinion = judge(demos)
        if not (len(opinion.score) == len(opinion.good) == len(opinion.reasons) == count):
            raise AuditError(
                f"The judge {name!r} has {len(opinion.score)} scores, {len(opinion.good)} probabilities and "
                f"{len(opinion.reasons)} reasons; expected one of each for {count} demonstrations."
            )
        if not ((opinion.good >= 0) & (opinion.good <= 1)).all() or not np.isfinite(opinion.score).all():
            raise AuditError(
                f"The judge {name!r} gives probabilities outside of 0 to 1, or scores that are not finite."
            )
        opinions.append(opinion)
    return opinions
