"""An audit as a whole: demonstrations, the verdict on them, and what can be done with both."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rilco.data.formats import lerobot, minari, stretches, target_format
from rilco.data.formats.files import atomic_write
from rilco.data.loading import Given, from_memory, load_demonstrations
from rilco.data.record import Demonstrations
from rilco.errors import AuditError, ConfigError
from rilco.files import write_together
from rilco.judging import record
from rilco.judging.audit_config import AuditConfig
from rilco.judging.joining import apply_cut, apply_decisions
from rilco.judging.page import render_page
from rilco.judging.pictures import Gallery, take_pictures
from rilco.judging.record import Source
from rilco.judging.verdict import Decision, Verdict
from rilco.judging.windows import in_pieces
from rilco.tasks.registration import name_in_files
from rilco.tasks.robots import ROBOTS
from rilco.tasks.table import Task
from rilco.tasks.trust import trust

Note = dict[str, str | float]


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """Demonstrations and the verdict on them. `save` writes it with a page to look at.

    >>> audit = rilco.audit("mine.hdf5")
    >>> sum(len(part) for part in (audit.kept, audit.dropped) if part) <= len(audit.demonstrations)
    True
    """

    demonstrations: Demonstrations
    """Those that were judged; in pieces, where that was asked for."""
    verdict: Verdict
    source: Source = field(default_factory=Source)
    """Where they came from."""
    config: AuditConfig = field(default_factory=AuditConfig)
    """Every number that was used."""
    scores: np.ndarray | None = None
    """[N] of every pair by RIL-Co's classifiers, where those were asked."""
    notes: tuple[str, ...] = ()
    """What a reader should know besides."""
    task: Task | None = None
    """The environment, where one was given: for pictures, and for formats that name it."""

    def __repr__(self) -> str:
        return f"Audit({self.demonstrations}, verdict={self.verdict})"

    @property
    def kept(self) -> Demonstrations | None:
        """What the verdict keeps; None where that is nothing."""
        return self._part("keep")

    @property
    def dropped(self) -> Demonstrations | None:
        """What it drops."""
        return self._part("drop")

    @property
    def unsure(self) -> Demonstrations | None:
        """What it is unsure about: in neither of the two."""
        return self._part("unsure")

    def _part(self, decision: str) -> Demonstrations | None:
        chosen = np.array([one.decision == decision for one in self.verdict.demonstrations])
        pairs = chosen[self.verdict.of_pair]
        return self.demonstrations.select(pairs) if pairs.any() else None

    def decided(self, decisions: Mapping[int, Decision], why: str = "You decided so.") -> Audit:
        """The same with your decisions, by the demonstrations' index: keep, drop or unsure."""
        return dataclasses.replace(self, verdict=apply_decisions(self.verdict, decisions, why))

    def cut_at(self, score: float) -> Audit:
        """The same, keeping what scores at least so much and dropping the rest."""
        return dataclasses.replace(self, verdict=apply_cut(self.verdict, score))

    def save(self, folder: str | os.PathLike[str], *, pictures: bool = True) -> Path:
        """Write audit.json, demonstrations.csv, pairs.npz and the page into a folder; returns the page's path."""
        out = Path(folder)
        gallery = take_pictures(self.verdict, self.demonstrations, self.task) if pictures else Gallery()
        files = {record.PAGE: render_page(self, gallery).encode("utf-8", "replace")}
        files |= record.write_record(self.verdict, self.source, self.config, self.scores, self.notes)
        write_together(out, files)
        return out / record.PAGE


def load_audit(
    folder: str | os.PathLike[str], demos: Given | None = None, *, trust_env: bool = False
) -> Audit:
    """An audit that was saved, with its demonstrations read again: from `demos`, or from where they were.

    `trust_env` allows audit.json to name a module that is imported, for pictures and for formats that describe it.

        >>> audit = rilco.load_audit("audit")
        >>> good = audit.kept or audit.demonstrations  # nothing may be sure enough to keep
    """
    verdict, source, config, scores, notes = record.read_record(Path(folder))
    given = None if demos is None else from_memory(demos, source.obs_keys)
    if given is None and not source.files:
        raise AuditError(
            f"{folder}: its demonstrations were given in memory, so they cannot be read again. Give them: demos=... in "
            "Python, --demos on the command line."
        )
    loaded = source.files if given is None else given
    if not isinstance(loaded, Demonstrations):
        how: dict[str, Any] = {"obs_keys": source.obs_keys, "flat_too": True}
        loaded = load_demonstrations(loaded, source.noise_rate, seed=source.seed, **how)
    if loaded.fingerprint() != source.fingerprint:
        raise AuditError(
            f"{folder}: the demonstrations have changed since they were judged. Give those that were (--demos), or audit again."
        )
    name, task = source.environment, None
    if name is not None:
        if trust_env:
            trust(name)
        here = str(Path(folder) / record.JSON)
        task = Task(task=name) if name in ROBOTS else Task(env=name, named_by=here)
    return Audit(in_pieces(loaded, source.pieces), verdict, source, config, scores, notes, task)


# -- verdicts as the metadata of a dataset's episodes ------------------------------------------------------------


def save_annotated(audit: Audit, path: str | os.PathLike[str]) -> None:
    """All demonstrations as a dataset, with what was made of each in its episode's metadata.

    Minari gives it back by `dataset.storage.get_episode_metadata`, LeRobot as columns of `dataset.meta.episodes`.
    """
    folder, known = target_format(path, None)
    folder.parent.mkdir(parents=True, exist_ok=True)
    env, notes = name_in_files(audit.task), _notes(audit)
    if known.name == "lerobot":
        _save_lerobot(audit.demonstrations, folder, env, notes)
        return
    try:
        minari.save(audit.demonstrations, folder, env=env, notes=notes)
    except ConfigError:
        if env is None:
            raise
        # Gymnasium cannot describe what was registered as a class; the judgements matter more.
        minari.save(audit.demonstrations, folder, notes=notes)


def _notes(audit: Audit) -> list[Note]:
    """One a stored episode."""
    verdict, names = audit.verdict, {family.index: family.name for family in audit.verdict.families}
    first = stretches.split(audit.demonstrations).start
    judged = [verdict.demonstrations[int(demo)] for demo in verdict.of_pair[first]]
    return [
        {
            "rilco_decision": one.decision,
            "rilco_score": one.score,
            "rilco_judge": one.judge,
            "rilco_reason": one.reason,
            "rilco_family": names.get(one.family, ""),
        }
        for one in judged
    ]


def _save_lerobot(demos: Demonstrations, folder: Path, env: str | None, notes: list[Note]) -> None:
    """LeRobot's table of episodes with a column for each note."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with atomic_write(folder) as temporary:
        lerobot.save(demos, temporary, env)
        left = iter(notes)
        for file in sorted((temporary / "meta" / "episodes").glob("*/*.parquet")):
            table: Any = pq.read_table(file)
            mine = list(itertools.islice(left, len(table)))
            for name in mine[0]:
                table = table.append_column(name, pa.array([note[name] for note in mine]))
            pq.write_table(table, file)
