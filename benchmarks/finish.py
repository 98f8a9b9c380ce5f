"""With a verdict in hand, what is the best way to a policy? Three of them at noise rate 0.4 on our datasets.

    rilco sweep benchmarks/finish.py:finish --out runs/finish

Beside `ril-co-clean`: GAIL on what the audit kept, and RIL-Co on it with what was dropped as known non-expert data. The two parts
are files in `runs/finish-files`, or in the folder that FINISH_FILES names.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import rilco
from rilco.clean.phases import RULES
from rilco.data.standard import standard_files
from rilco.tasks.table import Task

TASKS = ("halfcheetah", "hopper", "walker2d", "ant")
NOISE_RATE = 0.4
STEPS = 2e6


def finish() -> Iterator[tuple[str, dict[str, Any]]]:
    """Seed by seed, so that an unfinished sweep has something of everything."""
    for seed in (1, 2):
        for task in TASKS:
            kept, dropped = parts(task, seed)
            own = {"task": task, "seed": seed, "evaluate_every": 40_000}
            imitated = {**own, "demos": str(kept), "steps": STEPS}
            known = {**imitated, "method": "ril-co", "nonexpert_demos": str(dropped)}
            yield f"{task}/gail-of-kept-s{seed}", {**imitated, "method": "gail-logistic"}
            yield f"{task}/ril-co-with-dropped-s{seed}", known
            yield f"{task}/ril-co-clean-s{seed}", {**own, "method": "ril-co-clean", "noise_rate": NOISE_RATE}


def parts(task: str, seed: int) -> tuple[Path, Path]:
    """What the audit keeps and drops of a task's mixture, by the rules of `ril-co-clean`; made once."""
    folder = Path(os.environ.get("FINISH_FILES", "runs/finish-files")).absolute()
    kept, dropped = (folder / f"{task}-s{seed}-{name}.npz" for name in ("kept", "dropped"))
    if not dropped.exists():
        folder.mkdir(parents=True, exist_ok=True)
        files = standard_files(Task(task=task))
        judged = rilco.audit(files, noise_rate=NOISE_RATE, seed=seed, config=RULES)
        if judged.kept is None or judged.dropped is None or not judged.verdict.sure:
            raise SystemExit(f"{task}, seed {seed}: {judged.verdict.summary}")
        rilco.save_demonstrations(judged.kept, kept)
        rilco.save_demonstrations(judged.dropped, dropped)
    return kept, dropped
