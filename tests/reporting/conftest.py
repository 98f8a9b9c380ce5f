"""One report that several tests look at; building it takes a few seconds."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from tests.reporting.runs import add_cells, write_run

from rilco.reporting.build import report as write_report


class Report(NamedTuple):
    results: Path
    page: Path

    @property
    def html(self) -> str:
        return self.page.read_text()


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """Everything at once: cells of many kinds, a user's environment, and a folder that has seen worse days."""
    root = tmp_path_factory.mktemp("report") / "results"
    add_cells(root, "ril-co", "gail-logistic", tasks=("halfcheetah", "hopper"), rates=(0.0, 0.4))
    add_cells(root, "ril-p", evaluations=10)
    add_cells(root, "ril-co", tasks=("ant",), seeds=(1,), noise="gaussian")
    write_run(root / "<b>bold", np.arange(9.0), task="hopper", noise_rate=0.4, num_envs=16)
    write_run(root / "mine", np.linspace(-1500.0, -200.0, 12), env="Pendulum-v1", noise_rate=None)
    shutil.copytree(root / "mine", root / "mine-again")
    (root / "torn").mkdir()
    (root / "torn" / "config.json").write_text('{"format": "rilco-run-1", "meth')
    (root / "old").mkdir()
    (root / "old" / "config.json").write_text('{"format": "rilco-run-0"}')
    (root / "notes & more.txt").write_text("not a run")
    return Report(root, write_report(root, root.parent / "out"))
