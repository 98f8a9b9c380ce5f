"""Writing to a disk that is full: our own error, nothing left behind, and the process lives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rilco.data.formats import Format

# Writes to each place in turn, with less and less room on the disk; prints what came of it.
WRITER = """
import sys, numpy as np
from pathlib import Path
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError
from rilco.data.formats import save_demonstrations

disk, extension = Path(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(0)
demos = Demonstrations(
    rng.normal(size=(8000, 17)), rng.normal(size=(8000, 6)), episode=np.repeat(np.arange(40), 200)
)
for kilobytes in (2900, 2800, 2700, 2600, 2500):
    fill = disk / "fill"
    fill.write_bytes(bytes(1000 * kilobytes))
    try:
        save_demonstrations(demos, disk / f"demos{extension}")
        raise SystemExit("there was room for it")
    except DemonstrationError as error:
        assert "No space left" in str(error), error
    assert [path.name for path in disk.iterdir()] == ["fill"], list(disk.iterdir())
    fill.unlink()
save_demonstrations(demos, disk / f"demos{extension}")
"""


def on_a_small_disk(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs a command that alone sees a disk of 3 MB at `folder`; it is gone when the command ends."""
    mounting = 'mount -t tmpfs -o size=3m tmpfs "$0" && exec "$@"'
    for rights in ("-m", "-rm"):  # the superuser's, or those of a user namespace
        probe = ["unshare", rights, "sh", "-c", mounting, str(folder)]
        try:
            subprocess.run([*probe, "true"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            continue
        return subprocess.run([*probe, *command], capture_output=True, text=True, timeout=120)
    pytest.skip("no disk can be mounted here")


def test_a_full_disk(tmp_path: Path, known: Format) -> None:
    done = on_a_small_disk(tmp_path, sys.executable, "-c", WRITER, str(tmp_path), known.extensions[0])
    assert done.returncode == 0, done.stderr  # -11 where the process crashed
