"""The record of an audit: what was judged and how, and the verdict on every demonstration."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rilco.judging.checks import (
    AuditError,
    check_choice,
    check_count,
    check_number,
    check_numbers,
    check_settings,
    check_text,
    check_unique,
    read_list,
    read_record,
    read_records,
    settle,
)
from rilco.judging.judged import WINDOW_PAIRS, JudgedDemonstration, JudgedDemonstrator

FORMAT = "rilco-audit-1"
KINDS = ("mixed", "clean", "inseparable", "majority-bad")
_CSV_COLUMNS = {
    "index": "index",
    "name": "name",
    "demonstrator": "demonstrator",
    "pairs": "pairs",
    "return": "episode_return",
    "score": "score",
    "expert_probability": "expert_probability",
    "verdict": "verdict",
    "worst_step": "worst_step",
    "best_step": "best_step",
    "truth": "truth",
}


@dataclass(frozen=True)
class Conclusion:
    """What the audit makes of the data as a whole."""

    kind: str
    """`mixed`, `clean`, `inseparable` or `majority-bad`."""
    sentence: str
    """The same in words, with the reason."""
    confidence: float | None
    """How sure the decision rule is of it, from 0 to 1; None where it is that nothing can be decided."""
    cut: float | None
    """Demonstrations with a lower score are dropped; None where no cut is proposed."""

    def __post_init__(self) -> None:
        check_choice(self.kind, "verdict.kind", KINDS)
        check_text(self.sentence, "verdict.sentence")
        if self.confidence is not None:
            settle(self, "confidence", check_number(self.confidence, "verdict.confidence", 0.0, 1.0))
        elif self.kind in ("mixed", "clean"):
            raise AuditError(
                f"verdict.confidence is missing; expected a number, because the verdict is {self.kind!r}."
            )
        if self.cut is not None:
            settle(self, "cut", check_number(self.cut, "verdict.cut"))
        elif self.kind == "mixed":
            raise AuditError("verdict.cut is missing; expected a score, because the verdict is 'mixed'.")


@dataclass(frozen=True)
class NoiseFraction:
    """The share of pairs that are not the expert's, as estimated."""

    estimate: float
    """The best guess."""
    low: float
    """Lower end of its interval."""
    high: float
    """Upper end of its interval."""

    def __post_init__(self) -> None:
        for name in ("estimate", "low", "high"):
            settle(self, name, check_number(getattr(self, name), f"noise_fraction.{name}", 0.0, 1.0))
        if not self.low <= self.estimate <= self.high:
            raise AuditError(
                f"noise_fraction: the estimate {self.estimate:g} is outside of its interval, {self.low:g} to "
                f"{self.high:g}."
            )


@dataclass(frozen=True)
class Audit:
    """Everything that an audit says; stored as `audit.json`, and what the page shows."""

    task: str
    """Name of the environment."""
    files: tuple[str, ...]
    """Where the demonstrations came from."""
    transitions: int
    """How many the classifiers were trained with, in all."""
    seeds: tuple[int, ...]
    """One a training."""
    verdict: Conclusion
    """On the data as a whole."""
    noise_fraction: NoiseFraction | None
    """None where nothing can be said about it."""
    demonstrators: tuple[JudgedDemonstrator, ...]
    """None where it is not known who made what."""
    demonstrations: tuple[JudgedDemonstration, ...]
    """In their own order, not ranked."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the method, for the reader; anything that JSON holds."""
    window_pairs: int = WINDOW_PAIRS
    """Pairs in a window."""

    def __post_init__(self) -> None:
        check_text(self.task, "task")
        settle(self, "transitions", check_count(self.transitions, "transitions", 0))
        settle(self, "window_pairs", check_count(self.window_pairs, "window_pairs", 1))
        settle(self, "files", tuple(check_text(name, "files") for name in self.files))
        settle(self, "seeds", tuple(check_count(seed, "seeds", 0) for seed in self.seeds))
        settle(self, "settings", check_settings(self.settings))
        settle(self, "demonstrators", tuple(self.demonstrators))
        settle(self, "demonstrations", tuple(self.demonstrations))
        if not self.demonstrations:
            raise AuditError("There is not a single demonstration; an audit judges at least one.")
        check_unique((d.index for d in self.demonstrations), "two demonstrations have the index")
        check_unique((d.id for d in self.demonstrators), "two demonstrators have the id")
        known = {None, *(d.id for d in self.demonstrators)}
        for demo in self.demonstrations:
            self._check_demonstration(demo, known)

    def _check_demonstration(self, demo: JudgedDemonstration, known: set[int | None]) -> None:
        where = f"demonstration {demo.index}"
        if demo.demonstrator not in known:
            raise AuditError(f"{where}: its demonstrator {demo.demonstrator} is not among the demonstrators.")
        check_numbers(demo.windows, f"{where}: windows", -(-demo.pairs // self.window_pairs))
        if demo.verdict == ("drop" if self.keeps(demo) else "keep"):
            raise AuditError(
                f"{where}: the verdict is {demo.verdict!r}, but its score is {demo.score:g} and the cut is "
                f"{self.verdict.cut}. Kept are scores from the cut on, dropped are those below it."
            )

    def keeps(self, demonstration: JudgedDemonstration) -> bool:
        """Whether the cut keeps it; without a cut all are kept, and `verdict` may still be unsure."""
        return self.verdict.cut is None or demonstration.score >= self.verdict.cut

    def to_json(self) -> str:
        return json.dumps({"format": FORMAT, **asdict(self)}, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str, where: str = "audit") -> Audit:
        """Raises AuditError unless the text is an audit whose parts fit together."""
        try:
            table = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise AuditError(f"{where}: not JSON ({error}).") from error
        if not isinstance(table, dict) or table.get("format") != FORMAT:
            raise AuditError(
                f"{where}: not an audit of format {FORMAT!r}. Expected the audit.json that `rilco audit` wrote; "
                "one of another version of rilco must be made again."
            )
        try:
            return _read_audit({name: value for name, value in table.items() if name != "format"})
        except AuditError as error:
            raise AuditError(f"{where}: a damaged audit: {error}") from error

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Audit:
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise AuditError(f"{path}: could not be read ({error}). Expected an audit.json.") from error
        return cls.from_json(text, str(path))

    def to_csv(self) -> str:
        """A row a demonstration, in their own order."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(_CSV_COLUMNS)
        makers = {maker.id: maker.name for maker in self.demonstrators}
        for demo in self.demonstrations:
            row = {column: getattr(demo, name) for column, name in _CSV_COLUMNS.items()}
            row["demonstrator"] = None if demo.demonstrator is None else makers[demo.demonstrator]
            writer.writerow("" if value is None else value for value in row.values())
        # A file name may hold bytes that are no text; they must not stop the file from being written.
        return out.getvalue().encode("utf-8", "replace").decode("utf-8")


def _read_audit(table: dict[str, Any]) -> Audit:
    """An audit from its JSON; the records themselves check their values."""
    parts = dict(table)
    parts["verdict"] = read_record(Conclusion, table.get("verdict"), "verdict")
    if table.get("noise_fraction") is not None:
        parts["noise_fraction"] = read_record(NoiseFraction, table["noise_fraction"], "noise_fraction")
    parts["demonstrators"] = read_records(JudgedDemonstrator, table.get("demonstrators"), "demonstrators")
    parts["demonstrations"] = read_records(JudgedDemonstration, table.get("demonstrations"), "demonstrations")
    for name in ("files", "seeds"):
        parts[name] = read_list(table.get(name), name)
    return read_record(Audit, parts, "the audit")
