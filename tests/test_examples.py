"""The scripts in examples/ run as they are, with fewer steps."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import rilco

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def run(name: str, folder: Path) -> str:
    text = re.sub(r"\b20_000\b", "400", (EXAMPLES / name).read_text()).replace("5_000", "200")
    text = text.replace("n_trials=5", "n_trials=2").replace(
        'method="ppo"', 'method="ppo", workers=1, quiet=True'
    )
    (folder / name).write_text(text)
    (folder / "runs").mkdir()
    done = subprocess.run([sys.executable, name], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_weights_and_biases_offline(tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    run("wandb_offline.py", tmp_path)
    assert list(tmp_path.rglob("offline-run-*/run-*.wandb"))
    assert rilco.load_run(tmp_path / "runs" / "tracked").evaluations()


@pytest.mark.slow
def test_optuna(tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    assert "learning_rate" in run("optuna_search.py", tmp_path)
    rates = [rilco.load_run(tmp_path / f"runs/search/{n}").config.ppo.learning_rate for n in range(2)]
    assert rates[0] != rates[1]
