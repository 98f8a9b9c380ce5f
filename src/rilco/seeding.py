"""Randomness keyed by what it is for, so that results do not depend on who draws it, or when."""

from __future__ import annotations

import numpy as np

# One stream of random numbers for each purpose; the numbers are part of what makes a run reproducible.
EPISODE, ACTION_NOISE, EVALUATION, DEMONSTRATIONS = range(4)


def generator(seed: int, purpose: int, *index: int) -> np.random.Generator:
    """The generator of one purpose and index, for example episode 7 of environment 3."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, purpose, *index])))


class RepositionedGenerator:
    """The generators of one purpose, one at a time: five times cheaper than `generator` where it counts.

    `at` moves the single generator to an index's own stream of numbers; use it up before moving on.
    """

    def __init__(self, seed: int, purpose: int) -> None:
        key = np.random.SeedSequence([seed, purpose]).generate_state(2, np.uint64)
        self._bits = np.random.Philox(key=key)
        self._state = self._bits.state
        self._generator = np.random.Generator(self._bits)

    def at(self, *index: int) -> np.random.Generator:
        # Philox counts draws in the first word; the other three are free to name the stream.
        self._state["state"]["counter"][:] = (0, *index, *[0] * (3 - len(index)))
        self._state["buffer_pos"], self._state["has_uint32"] = 4, 0
        self._bits.state = self._state
        return self._generator
