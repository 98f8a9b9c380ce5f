"""The mixtures that the paper tests with: all of an expert, and some pairs of each non-expert."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rilco.data.record import Demonstrations, concatenate, source_names
from rilco.errors import DemonstrationError, check_noise_rate

RUN_LENGTH = 50
"""Consecutive pairs in one run of non-expert data."""

PAIRS_PER_EXPERT_PAIR = {0.0: 0.0, 0.1: 0.1, 0.2: 0.25, 0.3: 0.5, 0.4: 0.75, 0.5: 1.0}
"""Noise rate -> non-expert pairs, of all demonstrators together, for each expert pair.

Beside 10000 expert pairs, five non-experts give 200, 500, 1000 and 1500 pairs each at 0.1, 0.2, 0.3 and 0.4. These are
the paper's datasets; their true fractions are 1/11, 1/5, 1/3 and 3/7. The rate 0.5 itself is refused. It anchors the
rates above 0.4, so that the expert's share stays above one half.
"""

_GOLDEN_RATIO = (math.sqrt(5) - 1) / 2


def pairs_from_each(noise_rate: float, expert_pairs: int, non_experts: int) -> int:
    """Pairs that every non-expert gives: by PAIRS_PER_EXPERT_PAIR, linear between its rates."""
    check_noise_rate(noise_rate)
    if non_experts == 0:
        return 0
    ratio = np.interp(noise_rate, list(PAIRS_PER_EXPERT_PAIR), list(PAIRS_PER_EXPERT_PAIR.values()))
    # A hair up before rounding down, for a rate computed as 1 - 0.7, but the expert keeps its majority.
    pairs = math.floor(float(ratio) * expert_pairs / non_experts + 1e-6)
    return min(pairs, (expert_pairs - 1) // non_experts)


def run_starts(length: int, pairs: int, offset: int = 0) -> np.ndarray:
    """First rows of the runs of 50 (the last one the rest) that take `pairs` out of `length` rows.

    The rows left out are shared evenly among the runs, some of each share before its run and some after. Runs at even
    distances would beat against the episodes: ten runs in ten episodes of 1000 steps would all show the first 50 steps.
    So the place of a run in its share follows multiples of the golden ratio modulo 1, which fill it evenly. `offset`
    continues the sequence in the next file.
    """
    run = np.arange(-(-pairs // RUN_LENGTH))
    place = (run + offset + 0.5) * _GOLDEN_RATIO % 1.0
    return run * RUN_LENGTH + np.floor((length - pairs) * (run + place) / len(run)).astype(np.int64)


def random_starts(length: int, pairs: int, rng: np.random.Generator) -> np.ndarray:
    """The same runs, placed at random: every way to place them without overlap is equally likely."""
    run = np.arange(-(-pairs // RUN_LENGTH))
    return run * RUN_LENGTH + np.sort(rng.integers(0, length - pairs + 1, len(run)))


def mix(
    expert: Demonstrations,
    non_experts: Demonstrations | Sequence[Demonstrations],
    noise_rate: float,
    *,
    seed: int | None = None,
) -> Demonstrations:
    """The paper's noisy dataset: all of the expert, and runs of 50 consecutive pairs from every non-expert.

    The seed places the runs, as in the paper; without one they are spread evenly. The same arguments always give
    the same data. A run is an episode of its own, or two where it passes the end of an episode in its source.

        >>> expert = rilco.load_demonstrations("mine.hdf5")
        >>> worse = rilco.Demonstrations(expert.obs, -expert.action, demonstrator_names=("worse",))
        >>> rilco.mix(expert, [worse], noise_rate=0.2).noise_fraction
        0.2
    """
    non_experts = [non_experts] if isinstance(non_experts, Demonstrations) else non_experts
    pairs = pairs_from_each(noise_rate, len(expert), len(non_experts))
    if noise_rate > 0.0 and pairs == 0:
        raise DemonstrationError(
            f"{source_names(expert)}: a noise rate of {noise_rate:g} takes no pair from {len(non_experts)} "
            f"non-experts beside {len(expert)} expert pairs. Give non-expert files, and an expert with more "
            "pairs."
        )
    parts = [replace(expert, expert=np.ones(len(expert), bool))]
    for k, part in enumerate(non_experts if pairs else ()):
        if len(part) < pairs:
            raise DemonstrationError(
                f"{source_names(part)}: a noise rate of {noise_rate:g} takes {pairs} pairs from each non-expert, "
                f"and this one has {len(part)}. Collect more, or lower the noise rate."
            )
        if seed is None:
            starts = run_starts(len(part), pairs, offset=k * -(-pairs // RUN_LENGTH))
        else:
            starts = random_starts(len(part), pairs, np.random.default_rng([seed, k]))
        rows = (starts[:, None] + np.arange(RUN_LENGTH)).ravel()[:pairs]
        broken = (np.arange(1, pairs) % RUN_LENGTH == 0) | (np.diff(part.episode[rows]) != 0)
        episode = np.concatenate([[0], np.cumsum(broken)])
        parts.append(replace(part.select(rows), episode=episode, expert=np.zeros(pairs, bool)))
    return replace(concatenate(parts), noise_rate=float(noise_rate))
