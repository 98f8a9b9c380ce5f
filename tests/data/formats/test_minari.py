"""Minari: what the library writes is read, and what is written the library opens."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import h5py
import numpy as np
import pytest

from rilco.data.formats import find_files, load_file, save_demonstrations
from rilco.data.formats import minari as ours
from rilco.data.record import Demonstrations
from rilco.errors import ConfigError, DemonstrationError


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Minari's own folder, for the time of a test."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    return tmp_path / "datasets"


@pytest.fixture
def minari(root: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("minari")


def create(minari: Any, name: str, demos: Demonstrations, named: bool = False) -> None:
    """Writes a dataset with the library itself, which warns of everything that one may leave out."""
    box = gymnasium.spaces.Box(-np.inf, np.inf, (3,))
    split = gymnasium.spaces.Dict(
        {"goal": gymnasium.spaces.Box(-9, 9, (1,)), "body": gymnasium.spaces.Dict({"state": box})}
    )
    buffers = []
    for episode in demos.episodes():
        obs = np.concatenate([episode.obs, np.full((1, 3), 99, np.float32)])
        end = np.arange(len(episode)) == len(episode) - 1
        buffers.append(
            minari.data_collector.EpisodeBuffer(
                observations={"goal": obs[:, :1] * 0 + 5, "body": {"state": obs}} if named else obs,
                actions=episode.action,
                rewards=episode.reward,
                terminations=end & (len(episode) == 4),
                truncations=end & (len(episode) != 4),
                infos={"speed": np.zeros(len(obs))},
            )
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        minari.create_dataset_from_buffers(
            name,
            buffers,
            observation_space=split if named else box,
            action_space=gymnasium.spaces.Box(-1, 1, (2,)),
        )


def test_reads_what_the_library_writes(minari: Any, root: Path, demos: Demonstrations) -> None:
    create(minari, "walks/short-v0", demos)
    for name in ("minari:walks/short-v0", root / "walks/short-v0", root / "walks/short-v0/data"):
        back = load_file(name)
        for field in ("obs", "action", "reward", "episode"):
            np.testing.assert_array_equal(getattr(back, field), getattr(demos, field), strict=True)
        assert np.flatnonzero(back.terminated).tolist() == [8]
        assert np.flatnonzero(back.truncated).tolist() == [4, 11]
    assert [path.name for path in find_files(root / "walks")] == ["short-v0"]


def test_parts_of_a_dict_space_are_named(minari: Any, root: Path, demos: Demonstrations) -> None:
    create(minari, "walks/goal-v0", demos, named=True)
    with pytest.raises(
        DemonstrationError, match=r"body/state \(3\).*goal \(1\)|goal \(1\).*body/state \(3\)"
    ):
        load_file("minari:walks/goal-v0")
    back = load_file("minari:walks/goal-v0", obs_keys=["goal", "body/state"])
    np.testing.assert_array_equal(back.obs[:, 1:], demos.obs)
    assert (back.obs[:, 0] == 5).all()


def test_the_library_opens_what_is_written(minari: Any, root: Path, demos: Demonstrations) -> None:
    save_demonstrations(demos, "minari:walks/ours-v3", env="rilco/AntBullet-v0")
    dataset = minari.load_dataset("walks/ours-v3")
    assert "walks/ours-v3" in minari.list_local_datasets()
    assert (dataset.total_episodes, dataset.total_steps) == (3, 12)
    assert dataset.spec.env_spec.id == "rilco/AntBullet-v0"
    assert dataset.spec.dataset_id == "walks/ours-v3"
    assert dataset.observation_space.shape == (3,)
    for theirs, mine in zip(dataset.iterate_episodes(), demos.episodes(), strict=True):
        np.testing.assert_array_equal(theirs.observations[:-1], mine.obs, strict=True)
        np.testing.assert_array_equal(theirs.observations[-1], mine.obs[-1])
        np.testing.assert_array_equal(theirs.actions, mine.action, strict=True)
        np.testing.assert_array_equal(theirs.rewards, mine.reward, strict=True)
        assert theirs.truncations.tolist() == [False] * (len(mine) - 1) + [True]
        assert not theirs.terminations.any()


def test_neither_way_needs_the_library(
    root: Path, demos: Demonstrations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "minari", None)
    save_demonstrations(demos, "minari:walks/ours-v0")
    assert load_file("minari:walks/ours-v0").fingerprint() == demos.fingerprint()


def test_ids(root: Path, tmp_path: Path, demos: Demonstrations) -> None:
    save_demonstrations(demos, "minari:hopper/expert-v0")
    with pytest.raises(DemonstrationError, match="Did you mean expert-v0"):
        load_file("minari:hopper/expet-v0")
    for bad in ("minari:", "minari:../../etc-v0", "minari:/etc-v0", "minari:hopper", "minari:a/../b-v0"):
        with pytest.raises(DemonstrationError, match="not an id"):
            load_file(bad)
    (tmp_path / "expert-v0").mkdir()
    assert ours._dataset_id(root / "hopper" / "expert-v0") == "hopper/expert-v0"
    assert ours._dataset_id(tmp_path / "my data.minari") == "my-data-v0"


def test_an_unknown_environment_is_refused(tmp_path: Path, demos: Demonstrations) -> None:
    with pytest.raises(ConfigError, match="Nothing-v0"):
        save_demonstrations(demos, tmp_path / "a.minari", env="Nothing-v0")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"total_episodes": 0}, "there are 0 episodes"),
        ({"total_episodes": None}, "there are None episodes"),
        ({"total_episodes": 10**12}, "episode_3 is missing"),
        ({"data_format": "arrow"}, "stored as 'arrow'"),
    ],
)
def test_refuses_wrong_metadata(
    tmp_path: Path, demos: Demonstrations, changes: dict[str, object], message: str
) -> None:
    save_demonstrations(demos, tmp_path / "a.minari")
    path = tmp_path / "a.minari" / "data" / "metadata.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | changes))
    with pytest.raises(DemonstrationError, match=message):
        load_file(tmp_path / "a.minari")


def test_refuses_what_is_missing(tmp_path: Path, demos: Demonstrations) -> None:
    save_demonstrations(demos, tmp_path / "a.minari")
    (tmp_path / "a.minari" / "data" / "main_data.hdf5").unlink()
    with pytest.raises(DemonstrationError, match=r"main_data\.hdf5"):
        load_file(tmp_path / "a.minari")


def test_refuses_a_wrong_number_of_observations(tmp_path: Path, demos: Demonstrations) -> None:
    save_demonstrations(demos, tmp_path / "a.minari")
    with h5py.File(tmp_path / "a.minari" / "data" / "main_data.hdf5", "a") as file:
        obs = file["episode_1/observations"][()]
        del file["episode_1/observations"]
        file["episode_1/observations"] = obs[:-1]
    with pytest.raises(DemonstrationError, match=r"observations has the shape \[4, 3\]; expected \[5, 3\]"):
        load_file(tmp_path / "a.minari")
