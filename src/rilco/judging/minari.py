"""Judgements as the metadata of a Minari dataset's episodes."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rilco.data.formats import minari, stretches, target_format
from rilco.errors import ConfigError
from rilco.tasks.registration import gymnasium_id

if TYPE_CHECKING:
    from rilco.judging.auditing import Audited


def save_annotated(audited: Audited, path: str | os.PathLike[str]) -> None:
    """All demonstrations as a Minari dataset, with what was made of each in its episode's metadata.

    Minari gives it back by `dataset.storage.get_episode_metadata`, beside an episode's id and length.
    """
    folder, _ = target_format(path, "minari")
    folder.parent.mkdir(parents=True, exist_ok=True)
    notes: list[dict[str, str | float]] = []
    for start in stretches.split(audited.demos).start:
        judged = audited.audit.demonstrations[int(audited.pairs.demonstration[start])]
        notes.append(
            {
                "rilco_score": judged.score,
                "rilco_expert_probability": judged.expert_probability,
                "rilco_verdict": judged.verdict,
            }
        )
    task = audited.config.task
    env = task.env if task.task is None else gymnasium_id(task.task)
    try:
        minari.save(audited.demos, folder, env=env, notes=notes)
    except (
        ConfigError
    ):  # Gymnasium cannot describe what was registered as a class; the judgements matter more
        minari.save(audited.demos, folder, notes=notes)
