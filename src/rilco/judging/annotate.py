"""Verdicts as the metadata of a dataset's episodes: Minari's and LeRobot's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rilco.data.formats import lerobot, minari, stretches, target_format
from rilco.data.formats.files import atomic_write
from rilco.errors import ConfigError
from rilco.tasks.registration import name_in_files

if TYPE_CHECKING:
    from rilco.judging.result import Audit

Note = dict[str, str | float]


def save_annotated(audit: Audit, path: str | os.PathLike[str]) -> None:
    """All demonstrations as a dataset, with what was made of each in its episode's metadata.

    Minari gives it back by `dataset.storage.get_episode_metadata`, LeRobot as columns of `dataset.meta.episodes`.
    """
    folder, known = target_format(path, None)
    folder.parent.mkdir(parents=True, exist_ok=True)
    env = name_in_files(audit.task)
    if known.name == "lerobot":
        _save_lerobot(audit, folder, env)
        return
    try:
        minari.save(audit.demonstrations, folder, env=env, notes=_notes(audit))
    except ConfigError:
        if env is None:
            raise
        # Gymnasium cannot describe what was registered as a class; the judgements matter more.
        minari.save(audit.demonstrations, folder, notes=_notes(audit))


def _notes(audit: Audit) -> list[Note]:
    """One a stored episode."""
    verdict, notes = audit.verdict, []
    names = {family.index: family.name for family in verdict.families}
    for start in stretches.split(audit.demonstrations).start:
        one = verdict.demonstrations[int(verdict.of_pair[start])]
        note: Note = {
            "rilco_decision": one.decision,
            "rilco_score": one.score,
            "rilco_judge": one.judge,
            "rilco_reason": one.reason,
            "rilco_family": names.get(one.family, ""),
        }
        notes.append(note)
    return notes


def _save_lerobot(audit: Audit, folder: Path, env: str | None) -> None:
    """LeRobot's table of episodes with a column for each note."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    notes = _notes(audit)
    with atomic_write(folder) as temporary:
        lerobot.save(audit.demonstrations, temporary, env)
        first = 0
        for file in sorted((temporary / "meta" / "episodes").glob("*/*.parquet")):
            table: Any = pq.read_table(file)
            mine = notes[first : first + len(table)]
            first += len(table)
            for name in mine[0]:
                table = table.append_column(name, pa.array([note[name] for note in mine]))
            pq.write_table(table, file)
