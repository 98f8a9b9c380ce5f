"""What every format promises: what goes in comes out, to the bit, or the module says what is lost."""

from __future__ import annotations

import builtins
import json
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import h5py
import numpy as np
import pytest
from tests.data.formats.conftest import NEED_PYARROW, differences

from rilco.data.formats import FORMATS, Format, load_file, save_demonstrations, stretches
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError


@pytest.fixture(
    params=[known for known in FORMATS if known.name not in ("authors", "csv")], ids=lambda known: known.name
)
def exact(request: pytest.FixtureRequest) -> Format:
    """The formats that hold everything; the authors' has one demonstrator and no flags, and csv has no names."""
    if request.param.name in NEED_PYARROW:
        pytest.importorskip("pyarrow")
    return request.param


def test_nothing_is_lost(tmp_path: Path, full_demos: Demonstrations, exact: Format) -> None:
    save_demonstrations(full_demos, tmp_path / "a", exact.name)
    assert differences(load_file(tmp_path / "a"), full_demos) == []


def test_what_is_unknown_stays_unknown(tmp_path: Path, demos: Demonstrations, exact: Format) -> None:
    bare = Demonstrations(demos.obs[:, :1], demos.action[:, :1])
    save_demonstrations(bare, tmp_path / "a", exact.name)
    assert differences(load_file(tmp_path / "a"), bare) == []


@pytest.mark.parametrize("columns", [1, 2])
def test_choices_stay_choices(tmp_path: Path, exact: Format, columns: int) -> None:
    choices = np.arange(24).reshape(-1, columns) % 5 - 1
    demos = Demonstrations(np.ones((len(choices), 2)), choices, episode=np.arange(len(choices)) // 4)
    save_demonstrations(demos, tmp_path / "a", exact.name)
    assert differences(load_file(tmp_path / "a"), demos) == []


def test_integers_in_the_files_of_others_are_choices(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "theirs.hdf5", "w") as file:
        for k in range(2):
            file[f"data/demo_{k}/obs/flat"] = np.ones((4, 2))
            file[f"data/demo_{k}/actions"] = np.array([0, 1, 2, 1])
    back = load_file(tmp_path / "theirs.hdf5")
    assert back.discrete
    assert back.action[:, 0].tolist() == [0, 1, 2, 1] * 2


def test_extreme_values_survive(tmp_path: Path, known: Format) -> None:
    tiny, huge = np.finfo(np.float32).smallest_subnormal, np.finfo(np.float32).max
    obs = np.array([[-0.0, tiny], [huge, -huge], [1 / 3, np.pi]], np.float32)
    demos = Demonstrations(obs, obs[:, ::-1], reward=[np.nan, np.inf, 16777217])
    save_demonstrations(demos, tmp_path / "a", known.name)
    back = load_file(tmp_path / "a")
    assert back.obs.tobytes() == obs.tobytes()
    assert back.reward is not None
    np.testing.assert_array_equal(back.reward, demos.reward)


def test_many_short_stretches(tmp_path: Path, exact: Format) -> None:
    """More than fit into one batch or one file of the formats that have such limits."""
    count = 2500 if exact.name in ("d4rl", "imitation", "lerobot") else 40  # a group or a folder for each
    rng = np.random.default_rng(1)
    demos = Demonstrations(rng.normal(size=(2 * count, 2)), rng.normal(size=(2 * count, 1)))
    demos = replace(demos, episode=np.repeat(np.arange(count), 2))
    save_demonstrations(demos, tmp_path / "a", exact.name)
    assert differences(load_file(tmp_path / "a"), demos) == []


def test_ordinary_data_is_cut_at_its_episodes(demos: Demonstrations) -> None:
    assert stretches.split(demos).length.tolist() == [5, 4, 3]


def test_the_record_of_other_data_is_left_aside(tmp_path: Path, full_demos: Demonstrations) -> None:
    """Someone has added an episode since, and not to what only rilco reads."""
    path = tmp_path / "a.robomimic.hdf5"
    save_demonstrations(full_demos, path)
    with h5py.File(path, "a") as file:
        file.copy("data/demo_0", "data/demo_99")
    back = load_file(path)
    assert len(back) > len(full_demos)
    assert back.demonstrator_names == (path.name,)
    assert back.expert is back.noise_rate is None


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"version": 2}, "version 2"),
        ({"noise_rate": 0.7}, "noise_rate"),
        ({"noise_rate": "none"}, "noise_rate"),
        ({"demonstrator_names": "me"}, "demonstrator_names"),
        ({"demonstrator_names": [1]}, "demonstrator_names"),
        ({"demonstrator": [0]}, r"demonstrator in rilco's record has the shape \[1\]"),
        ({"demonstrator": None}, "demonstrator in rilco's record"),
        ({"episode": [[0], [1, 2]]}, "cannot be read"),
        ({"expert": ["yes", "no", "yes"]}, "expert has the type"),
        ({"demonstrator": [9, 9, 9]}, "the id 9"),
    ],
)
def test_a_damaged_record_is_refused(
    tmp_path: Path, demos: Demonstrations, changes: dict[str, object], message: str
) -> None:
    path = tmp_path / "a.minari"
    save_demonstrations(demos, path)
    metadata = json.loads((path / "data" / "metadata.json").read_bytes())
    metadata["rilco"] |= changes
    (path / "data" / "metadata.json").write_text(json.dumps(metadata))
    with pytest.raises(DemonstrationError, match=message) as caught:
        load_file(path)
    assert str(path) in str(caught.value)


def test_no_format_decodes_pickles(
    tmp_path: Path, demos: Demonstrations, exact: Format, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_demonstrations(demos, tmp_path / "a", exact.name)
    real = builtins.__import__

    def watched(name: str, *rest: Any) -> ModuleType:
        assert not name.startswith(("jsonpickle", "dill", "cloudpickle")), name
        return real(name, *rest)

    monkeypatch.setattr("pickle.loads", lambda *_: pytest.fail("unpickled"))
    monkeypatch.setattr("pickle.load", lambda *_: pytest.fail("unpickled"))
    monkeypatch.setattr(builtins, "__import__", watched)
    load_file(tmp_path / "a")


@pytest.mark.usefixtures("no_pyarrow")
@pytest.mark.parametrize("name", sorted(NEED_PYARROW))
def test_a_missing_library_names_the_extra(
    tmp_path: Path, demos: Demonstrations, written: Path, name: str
) -> None:
    keys = ("observation.state",) if name == "lerobot" else ()
    with pytest.raises(DemonstrationError, match=r"needs pyarrow.*\.\[formats\]"):
        save_demonstrations(demos, tmp_path / "a", name)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DemonstrationError, match=r"needs pyarrow.*\.\[formats\]"):
        load_file(written / name, obs_keys=keys)


def test_observation_keys_of_a_format_without(tmp_path: Path, demos: Demonstrations) -> None:
    for known in FORMATS:
        if not known.has_obs_keys and known.name not in NEED_PYARROW:
            save_demonstrations(demos, tmp_path / known.name, known.name)
            with pytest.raises(DemonstrationError, match="without named parts"):
                load_file(tmp_path / known.name, obs_keys=["state"])
