"""Commands on a full disk: our own error, which advises nothing that the command lacks, and nothing half-written."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from tests.data.formats.test_full_disk import on_a_small_disk

import rilco

# The disk is full but for a few kilobytes, less than any of the files needs.
COMMANDS = """
import re, sys
from pathlib import Path
import click
from click.testing import CliRunner
from rilco.cli import cli
from rilco.errors import RilcoError

disk = Path(sys.argv[1])
(disk / "fill").write_bytes(bytes(3 * 2**20 - 8192))

def options_of(words):
    command = cli
    while isinstance(command, click.Group):
        name, *words = words
        command = command.get_command(click.Context(command), name)
    return {option for parameter in command.params for option in parameter.opts}

for line in sys.argv[2:]:
    words = line.split()
    done = CliRunner().invoke(cli, words)
    assert isinstance(done.exception, RilcoError), (line, done.output, done.exc_info)
    said = str(done.exception).partition("To go on:")[0]  # with another command
    assert "could not be written (" in said, (line, said)
    assert "No space left" in said, (line, said)
    assert set(re.findall(r"--[a-z-]+", said)) <= options_of(words), (line, said)
    left = {path.name for path in disk.rglob("*") if path.is_file()} - {"fill"}
    assert left <= {".lock", "config.json", "metrics.jsonl"}, (line, left)
"""


@pytest.mark.slow
@pytest.mark.bullet
def test_every_command_that_writes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    demos = rilco.Demonstrations(
        rng.normal(size=(1200, 8)), rng.normal(size=(1200, 2)), episode=np.repeat(np.arange(12), 100)
    )
    mine = tmp_path / "mine.npz"
    rilco.save_demonstrations(demos, mine)
    rilco.audit(demos).save(tmp_path / "audit", pictures=False)
    disk = tmp_path / "disk"
    disk.mkdir()
    commands = (
        f"audit --demos {mine} --out {disk}/audit --no-pictures --quiet",
        f"audit --demos {mine} --out {tmp_path}/again --keep {disk}/kept.minari --no-pictures --unsure keep --quiet",
        f"audit apply {tmp_path}/audit --demos {mine} --keep {disk}/kept.hdf5 --unsure keep",
        f"play hopper#6 --video {disk}/video.gif",
        f"play hopper#6 --video {disk}/video.mp4",
        f"demos convert {mine} {disk}/mine.csv",
        f"demos collect hopper#6 --pairs 1000 --out {disk}/collected.npz",
        f"train --method bc --demos {mine} --gradient-steps 5 --quiet --no-tensorboard --out {disk}/run",
    )
    done = on_a_small_disk(disk, sys.executable, "-c", COMMANDS, str(disk), *commands)
    assert done.returncode == 0, done.stderr
