"""What is to be judged, and against whom: the family that is taken to be good."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.judges.families import Families
from rilco.judging.material import Material
from rilco.judging.verdict import Majority
from rilco.words import plural

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True, eq=False)
class Case:
    """What every judge is asked about. All arrays are in the order of `material`."""

    material: Material
    families: Families
    vouched: np.ndarray
    """[D] 1 for what the user calls good, -1 for bad, 0 for the rest."""
    config: JudgingConfig
    confirmed: bool = False
    """Whether all that the user calls good would be kept anyway: then the majority is good, as is assumed."""

    @cached_property
    def good(self) -> np.ndarray:
        """[D] what the user calls good in place of the majority."""
        return (self.vouched > 0) & (not self.confirmed)

    @property
    def named(self) -> bool:
        """Whether that replaces the majority."""
        return bool(self.good.any())

    @cached_property
    def main(self) -> int:
        """The family that is taken to be good: the named one, else the largest by pairs."""
        label = self.families.label
        return int(
            np.argmax(
                np.bincount(label[self.good]) if self.named else np.bincount(label, self.material.pairs)
            )
        )

    @cached_property
    def ours(self) -> np.ndarray:
        """[D] whether it is in that family, or in one of which a demonstration is vouched for."""
        return np.isin(self.families.label, [self.main, *self.families.label[self.good]])

    @cached_property
    def majority(self) -> Majority:
        label, pairs = self.families.label, self.material.pairs
        members, size = np.bincount(label), np.bincount(label, pairs)
        by_demonstrations, by_pairs = int(np.argmax(members)), int(np.argmax(size))
        agree = by_demonstrations == by_pairs
        names = [family_name(f) for f in (by_demonstrations, by_pairs)]
        share = float(size[by_pairs] / size.sum())
        if count := int((self.vouched > 0).sum()):
            them = "it" if count == 1 else "them"
            rest = f"the others are compared with {them}" if self.named else f"the judges keep {them} anyway"
            sentence = f"You vouched for {plural(count, 'demonstration')}; {rest}."
        elif agree:
            sentence = (
                f"{names[0]} is the largest, by demonstrations ({members[by_demonstrations]} of {len(label)}) and by pairs "
                f"({share:.0%})."
            )
        else:
            sentence = (
                f"By demonstrations {names[0]} is the largest ({members[by_demonstrations]} of {len(label)}), by pairs "
                f"{names[1]} ({share:.0%}). The audit goes by pairs, and is not sure."
            )
        return Majority(by_demonstrations, by_pairs, agree or self.named, sentence)

    def trust(self, apart: np.ndarray) -> float:
        """How likely the good ones are the majority; a family that is not `apart` [D] counts with the largest."""
        if self.named:
            return 1.0
        pairs, largest = self.material.pairs, self.families.label == self.majority.by_demonstrations
        trust = float(np.interp(pairs[~apart].sum() / pairs.sum(), *self.config.majority_trust))
        return trust * self.config.outnumbered_trust if apart[largest].mean() > 0.5 else trust


def family_name(family: int) -> str:
    return f"family {LETTERS[family]}" if family < len(LETTERS) else f"family {family + 1}"
