"""One demonstration, or one demonstrator, and what the audit makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rilco.data.mixing import RUN_LENGTH
from rilco.judging.checks import (
    AuditError,
    check_choice,
    check_count,
    check_number,
    check_numbers,
    check_text,
    settle,
)

VERDICTS = ("keep", "drop", "unsure")
TRUTHS = ("expert", "non-expert")
WINDOW_PAIRS = RUN_LENGTH
"""Pairs in a window: as many as the noise protocol takes from a non-expert at a stretch."""
STRIP_BINS = 200
"""At most so many numbers make up a demonstration's strip."""


@dataclass(frozen=True)
class JudgedDemonstrator:
    """The verdict on one demonstrator, over all of its demonstrations."""

    id: int
    """As in the demonstrations."""
    name: str
    """Its file, where it came from one."""
    demonstrations: int
    """How many it made."""
    pairs: int
    """Pairs in all of them."""
    score: float
    """Mean of its demonstrations' scores, by their pairs; high = expert."""
    expert_probability: float
    """Calibrated, from 0 to 1."""
    verdict: str
    """`keep`, `drop` or `unsure`."""

    def __post_init__(self) -> None:
        where = f"demonstrator {self.id}"
        for name, least in (("id", 0), ("demonstrations", 1), ("pairs", 1)):
            settle(self, name, check_count(getattr(self, name), f"{where}: {name}", least))
        check_text(self.name, f"{where}: name")
        _check_judgement(self, where)


@dataclass(frozen=True)
class JudgedDemonstration:
    """The verdict on one demonstration, and its scores over time. `from_scores` computes the latter."""

    index: int
    """Its place among the demonstrations, in the order of `Demonstrations.episodes`."""
    name: str
    """For people: the file and the episode."""
    demonstrator: int | None
    """Id of who made it, where known."""
    pairs: int
    """Its length."""
    score: float
    """Mean of its windows' scores, by their pairs; high = expert."""
    expert_probability: float
    """Calibrated, from 0 to 1."""
    verdict: str
    """`keep`, `drop` or `unsure`."""
    windows: tuple[float, ...]
    """Scores of consecutive windows, by the best pairs of each; the last window may be shorter."""
    strip_pairs: int
    """Pairs in a bin of the strip."""
    strip: tuple[float, ...]
    """Mean scores of consecutive bins, at most 200 of them."""
    worst_step: int
    """Where its worst window begins."""
    best_step: int
    """Where its best window begins."""
    episode_return: float | None = None
    """The environment's own return, where known. The audit does not use it."""
    truth: str | None = None
    """`expert` or `non-expert` where labels are known, for judging the audit; it does not see them."""

    def __post_init__(self) -> None:
        where = f"demonstration {self.index}"
        counts = (("index", 0), ("pairs", 1), ("strip_pairs", 1), ("worst_step", 0), ("best_step", 0))
        for name, least in counts:
            settle(self, name, check_count(getattr(self, name), f"{where}: {name}", least))
        if self.demonstrator is not None:
            settle(self, "demonstrator", check_count(self.demonstrator, f"{where}: demonstrator", 0))
        if self.episode_return is not None:
            value = check_number(self.episode_return, f"{where}: episode_return")
            settle(self, "episode_return", value)
        if self.truth is not None:
            check_choice(self.truth, f"{where}: truth", TRUTHS)
        check_text(self.name, f"{where}: name")
        _check_judgement(self, where)
        settle(self, "windows", check_numbers(self.windows, f"{where}: windows"))
        bins = -(-self.pairs // self.strip_pairs)
        if bins > STRIP_BINS:
            raise AuditError(f"{where}: the strip has {bins} bins; expected at most {STRIP_BINS}.")
        settle(self, "strip", check_numbers(self.strip, f"{where}: strip", bins))
        for name in ("worst_step", "best_step"):
            if getattr(self, name) >= self.pairs:
                raise AuditError(f"{where}: {name} is {getattr(self, name)}, but it has {self.pairs} pairs.")

    @classmethod
    def from_scores(
        cls, index: int, name: str, scores: np.ndarray, windows: np.ndarray, **judgement: Any
    ) -> JudgedDemonstration:
        """From the scores of its pairs in order, [pairs], and of its windows; the rest is passed on."""
        scores, windows = np.asarray(scores, np.float64), np.asarray(windows, np.float64)
        if not len(scores):
            raise AuditError("A demonstration without a single pair cannot be judged.")
        strip_pairs = -(-len(scores) // STRIP_BINS)
        # The score of a few last pairs is noise: such a window is neither the worst nor the best.
        whole = windows[: max(1, (len(scores) + WINDOW_PAIRS // 2) // WINDOW_PAIRS)]
        return cls(
            index=index,
            name=name,
            pairs=len(scores),
            score=float(np.repeat(windows, WINDOW_PAIRS)[: len(scores)].mean()),
            windows=tuple(_short(windows)),
            strip_pairs=strip_pairs,
            strip=tuple(_short(_bin_means(scores, strip_pairs))),
            worst_step=int(whole.argmin()) * WINDOW_PAIRS,
            best_step=int(whole.argmax()) * WINDOW_PAIRS,
            **judgement,
        )


def _bin_means(values: np.ndarray, size: int) -> np.ndarray:
    """Means over consecutive bins of `size` values; the last bin may be smaller."""
    starts = np.arange(0, len(values), size)
    return np.add.reduceat(values, starts) / np.diff(np.append(starts, len(values)))


def _short(values: np.ndarray) -> list[float]:
    """Five significant digits: more would only make files larger."""
    return [float(f"{value:.5g}") for value in values]


def _check_judgement(record: JudgedDemonstration | JudgedDemonstrator, where: str) -> None:
    settle(record, "score", check_number(record.score, f"{where}: score"))
    probability = check_number(record.expert_probability, f"{where}: expert_probability", 0.0, 1.0)
    settle(record, "expert_probability", probability)
    check_choice(record.verdict, f"{where}: verdict", VERDICTS)
