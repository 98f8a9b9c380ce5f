"""Standard datasets, made once before many processes need them at the same moment."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from rilco.data.standard import standard_files
from rilco.experiment.grid import Job
from rilco.methods import find

CACHE = "RILCO_CACHE"


def make_datasets(jobs: Sequence[Job], say: Callable[[str], None]) -> None:
    """Make the standard datasets that the runs will read, unless they are in the cache."""
    configs = [job.config for job in jobs]
    wanted = {
        (config.task, config.demo_kind): None
        for config in configs
        if find(config.method).imitates and not config.demos
    }
    for task, kind in wanted:
        standard_files(task, kind, say=say)


def shared_cache(out: Path) -> dict[str, str]:
    """Where the nodes of a cluster find the same datasets, as variables: with the runs, unless the user says where.

    Nodes that made their own might have other kinds of processors, which round differently, and a run whose
    demonstrations changed does not go on.
    """
    return {CACHE: os.environ.get(CACHE) or str(out.resolve() / ".cache")}
