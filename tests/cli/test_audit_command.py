"""`rilco audit` as a newcomer calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.test_cli import refusal, rilco
from tests.judging.examples import two_kinds

import rilco as library
from rilco.data.formats import save_demonstrations

QUIET = ("--no-pictures", "--quiet")


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save_demonstrations(two_kinds(), tmp_path / "mine.npz")
    return tmp_path / "mine.npz"


def audited(*arguments: object) -> str:
    done = rilco("audit", *arguments, *QUIET)
    assert done.exit_code == 0, done.exception
    return done.stdout


def test_files_may_be_named_without_an_option(mine: Path) -> None:
    assert "6 of 18" in audited("mine.npz")
    assert Path("audit-mine/audit.json").exists()
    (mine.parent / "folder").mkdir()
    mine.rename(mine.parent / "folder" / "mine.npz")
    assert "6 of 18" in audited("folder")
    assert "no such file or folder" in refusal("audit", "nowhere.npz")


def test_an_audit_is_replaced_by_one_of_the_same_demonstrations_alone(mine: Path) -> None:
    audited(mine)
    before = Path("audit-mine/audit.json").read_bytes()
    audited(mine, "--good", "anna.npz")
    after = Path("audit-mine/audit.json").read_bytes()
    assert after != before
    save_demonstrations(two_kinds(10, 5), mine)
    assert "audit-mine: holds an audit of other demonstrations" in refusal("audit", mine, *QUIET)
    assert Path("audit-mine/audit.json").read_bytes() == after
    audited(mine, "--overwrite")
    Path("audit-mine/decisions.csv").write_text("index,decision\n0,drop\n")
    assert "the decisions.csv that you made of it" in refusal("audit", mine, *QUIET)
    assert "--overwrite" in refusal("audit", "apply", "audit-mine", "--out", "audit-mine")
    audited(mine, "--overwrite")
    assert Path("audit-mine/decisions.csv").exists()


def test_a_cut_above_all_scores_is_refused(mine: Path) -> None:
    library.audit(mine).save("audit-mine", pictures=False)
    assert "--cut 5: nothing would be kept" in refusal("audit", "apply", "audit-mine", "--cut", 5)


def test_confidence_is_not_called_sure(mine: Path) -> None:
    said = audited(mine)
    verdict = json.loads(Path("audit-mine/audit.json").read_text())
    assert f"({'' if verdict['sure'] else 'not '}sure, confidence " in said
    assert "% sure" not in said
