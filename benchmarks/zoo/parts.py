"""What a mixture is made of: parts, each some demonstrations that are given in the same manner."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from benchmarks.zoo.recording import Manner


@dataclass(frozen=True)
class Part:
    """Some demonstrations of a mixture that are given in the same manner."""

    count: int
    manner: Manner
    people: tuple[int, ...] = ()
    """Who gives them, in turn; empty: everybody in the mixture is one demonstrator."""
    consistent: bool = False
    """Whether a person's fault is the same in every demonstration, instead of drawn for each."""


@dataclass(frozen=True)
class Mixture:
    """A set of demonstrations that is to be judged."""

    name: str
    task: str
    parts: tuple[Part, ...]
    hard: str
    """What makes it hard, or why it is there."""
    piece: int = 0
    """Pairs in a demonstration, where recordings are cut into pieces; 0: they are whole."""
    visible: bool = True
    """Whether the data alone can show the fault, if the good ones are the majority."""
    why: str = ""
    """Why, or why not, where the general reason does not say it."""

    @property
    def seed(self) -> int:
        """Follows from the name, so that a new mixture changes no other."""
        return zlib.crc32(self.name.encode())


def good(
    count: int, style: str = "expert", start: str = "", *, people: tuple[int, ...] = (), noise: float = 0.01
) -> Part:
    """Good demonstrations of one style."""
    return Part(count, Manner(style, start=start, noise=noise), people)


def bad(
    count: int,
    fault: str,
    size: float = 0.0,
    *,
    style: str = "expert",
    start: str = "",
    people: tuple[int, ...] = (),
    consistent: bool = False,
) -> Part:
    """Bad demonstrations with one fault; the fault `weak` is a weak policy."""
    if fault.startswith("weak"):
        return Part(count, Manner(fault, start=start), people, consistent)
    return Part(count, Manner(style, fault, size, start), people, consistent)


CLEAN = "There is no bad one to find."
HOLDS = "The good ones are the majority both ways, and what the bad ones do or where they are differs."
MINORITY = "The good ones are a minority, and the bad ones agree with each other: somebody has to name one."
SCATTERED = "The good ones are a minority, but the largest group that agrees: no assumption says so."
ENDING = "Every pair is an expert's: only the length and the place of the ending differ."
ENDING_TOO = "Of the aborted ones every pair is an expert's; the others show."
LONG = "Bad demonstrations are long: the good ones are the majority by demonstrations and not by pairs."
SHORT = "Bad demonstrations are short: the good ones are the majority by pairs and not by demonstrations."
COHERENT = "Two gaits share few states, but each is coherent in itself, and the bad ones are not."
GROUPS = "Two groups share few states: whether the smaller is a style or a fault, only a person knows."
"""Reasons that truth records give."""
