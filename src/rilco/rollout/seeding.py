"""Randomness keyed by what it is for, so that results do not depend on who draws it, or when."""

from __future__ import annotations

import numpy as np

# One stream of random numbers for each purpose; the numbers are part of what makes a run reproducible.
EPISODE, ACTION_NOISE, EVALUATION, DEMONSTRATIONS, LEARNING = range(5)


def generator(seed: int, purpose: int, *index: int) -> np.random.Generator:
    """The generator of one purpose and index, for example episode 7 of environment 3."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, purpose, *index])))
