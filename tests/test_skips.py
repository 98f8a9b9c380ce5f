"""In CI a skip that an installation could lift is a failure, however the test words it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LIFTABLE = {
    "module": "import pytest; pytest.importorskip('no_such_package')",
    "mark": "import pytest\n@pytest.mark.skipif(True, reason='Ray is not installed')\ndef test(): pass",
    "call": "import pytest\ndef test(): pytest.importorskip('no_such_package')",
}
LASTING = "import pytest\ndef test(): pytest.skip('no disk can be mounted here')\ndef test_passing(): pass"


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", str(folder), f"--rootdir={folder}"],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_in_ci_a_missing_package_is_a_failure(tmp_path: Path) -> None:
    (tmp_path / "test_lasting.py").write_text(LASTING)
    assert run(tmp_path, CI="true").returncode == 0
    for name, code in LIFTABLE.items():
        (tmp_path / f"test_{name}.py").write_text(code)
    assert run(tmp_path, CI="").returncode == 0
    failed = run(tmp_path, CI="true")
    assert failed.returncode == pytest.ExitCode.TESTS_FAILED, failed.stdout
    said = failed.stdout.partition("although an installation could lift it")[2]
    assert all(f"test_{name}.py" in said for name in LIFTABLE)
    assert "test_lasting" not in said
