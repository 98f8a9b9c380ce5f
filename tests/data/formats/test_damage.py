"""Whatever happens to the bytes of a file: it loads, or it is refused with our own error. Nothing else."""

from __future__ import annotations

import random
from pathlib import Path

import h5py
import numpy as np
import pytest
from tests.data.formats.fuzz import damaged, mutations

from rilco.data.formats import Format, load_file, save_demonstrations
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError


def loads(path: Path, content: bytes) -> bool:
    path.write_bytes(content)
    return opens(path)


def opens(path: Path) -> bool:
    try:
        load_file(path)
    except DemonstrationError as error:
        if str(path) not in str(error):
            raise
        return False
    return True


def saved(folder: Path, demos: Demonstrations, kind: str) -> Path:
    path = folder / f"demos.{kind.removeprefix('packed-')}"
    if not kind.startswith("packed-"):
        save_demonstrations(demos, path)
    elif kind == "packed-npz":
        np.savez_compressed(path, obs=demos.obs, action=demos.action, episode=demos.episode)
    else:
        with h5py.File(path, "w") as file:
            for name, array in (("obs", demos.obs), ("act", demos.action), ("mask", np.ones((12, 1)))):
                file.create_dataset(f"{name}_array", data=array, chunks=True, compression="gzip")
    return path


KINDS = ("h5", "npz", "packed-h5", "packed-npz")


@pytest.mark.parametrize("kind", KINDS)
def test_cut_files_are_refused(tmp_path: Path, demos: Demonstrations, kind: str) -> None:
    path = saved(tmp_path, demos, kind)
    whole = path.read_bytes()
    assert loads(path, whole)
    for end in sorted({*range(0, len(whole), max(1, len(whole) // 300)), *range(32), len(whole) - 1}):
        assert not loads(path, whole[:end]), f"the first {end} of {len(whole)} bytes"


@pytest.mark.parametrize("kind", KINDS)
def test_changed_bytes_never_crash(tmp_path: Path, demos: Demonstrations, kind: str) -> None:
    path = saved(tmp_path, demos, kind)
    results = [loads(path, content) for content in mutations(path.read_bytes(), 300, seed=1)]
    assert 0 < sum(results) < len(results)  # some changes hit nothing that is read, and some hit what matters


def test_any_damage_to_any_file_of_a_dataset(tmp_path: Path, demos: Demonstrations, known: Format) -> None:
    path = tmp_path / f"demos{known.extensions[0]}"
    save_demonstrations(demos, path)
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    rng = random.Random(5)
    results = []
    for _ in range(250):
        file = rng.choice(files)
        whole = file.read_bytes()
        file.write_bytes(damaged(whole, rng))
        results.append(opens(path))
        file.write_bytes(whole)
    assert opens(path)
    assert 0 < sum(results) < len(results)


def test_random_bytes_are_refused(tmp_path: Path, known: Format) -> None:
    rng = random.Random(2)
    path = tmp_path / f"demos{known.extensions[0]}"
    for length in (1, 2, 7, 8, 9, 100, 5000):
        noise = rng.randbytes(length)
        assert not loads(path, noise)
        assert not loads(path, known.signature + noise)


def test_published_files_cut_or_changed(shared_dir: Path, tmp_path: Path) -> None:
    source = sorted((shared_dir / "demos").glob("Hopper*/*P0.0*"))[0]
    whole, path = source.read_bytes(), tmp_path / source.name
    rng = random.Random(3)
    assert loads(path, whole)
    for end in (*(rng.randrange(len(whole)) for _ in range(60)), 0, 1, 8, 96, 2048, len(whole) - 1):
        assert not loads(path, whole[:end]), f"the first {end} of {len(whole)} bytes"
    results = [loads(path, content) for content in mutations(whole, 200, seed=4, span=8192)]
    assert 0 < sum(results) < len(results)
