"""Tables as text: what is in the columns comes back to the bit, and a wrong column is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.data.formats.conftest import differences

from rilco.data.formats import FORMATS, load_file, save_demonstrations
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError


def test_all_but_the_names_and_the_noise_rate_comes_back(tmp_path: Path, full_demos: Demonstrations) -> None:
    save_demonstrations(full_demos, tmp_path / "a.csv")
    bare = replace(full_demos, noise_rate=None, demonstrator_names=("demonstrator 0", "demonstrator 1"))
    assert differences(load_file(tmp_path / "a.csv"), bare) == []


def test_reads_what_others_write(tmp_path: Path) -> None:
    """Any order, other columns of any kind, quoted names, a mark at the beginning, and truths as words."""
    (tmp_path / "a.csv").write_bytes(
        b'\xef\xbb\xbf"time", "action_0","obs_1",obs_0,terminated,episode\r\n'
        b"noon,1,2,3.5,False,0\r\nnight,4,5e-1,6,True,1\r\n"
    )
    assert [known.name for known in FORMATS if known.recognise(tmp_path / "a.csv")] == ["csv"]
    back = load_file(tmp_path / "a.csv")
    assert back.obs.tolist() == [[3.5, 2.0], [6.0, 0.5]]
    assert back.action.tolist() == [[1.0], [4.0]]
    assert back.episode.tolist() == [0, 1]
    assert back.terminated is not None
    assert back.terminated.tolist() == [False, True]
    assert back.reward is None
    assert back.demonstrator_names == ("a.csv",)


@pytest.mark.parametrize(
    "content, message",
    [
        ("obs_0,action_0\n", "not a single pair"),
        (
            "obs_0,obs_2,action_0\n1,2,3\n",
            "there is no column obs_1; the first line names obs_0, obs_2, action_0",
        ),
        ("obs_0,reward\n1,2\n", "there is no column action_0"),
        ("obs_0,action_0,obs_0\n1,2,3\n", "two columns have the same name"),
        ("obs_0,action_0\n1,two\n", "cannot be read as CSV .*two"),
        ("obs_0,action_0\n1,2\n3\n", "cannot be read as CSV"),
        ("obs_0,action_0\n1,\n", "cannot be read as CSV"),
        ("obs_0,action_0\n1,nan\n", "action holds 1 value"),
        ("obs_0,action_0,episode\n1,2,0.5\n", "episode holds values that are not whole numbers"),
        ("obs_0,action_0,episode\n1,2,1e30\n", "episode holds values that are not whole numbers"),
        ("obs_0,action_0,expert\n1,2,maybe\n", "cannot be read as CSV .*maybe"),
        ("obs_0,action_0,expert\n1,2,0.5\n", "expert"),
    ],
)
def test_refuses(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(content)
    with pytest.raises(DemonstrationError, match=message) as caught:
        load_file(path)
    assert str(path) in str(caught.value)


def test_the_numbers_are_counted_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.csv").write_text("obs_0,action_0\n" + "1,2\n" * 1000)
    monkeypatch.setenv("RILCO_MAX_GB", str(10_000 / 2**30))
    monkeypatch.setattr(np, "loadtxt", lambda *_, **__: pytest.fail("read"))
    with pytest.raises(DemonstrationError, match="the limit is"):
        load_file(tmp_path / "a.csv")
