"""Small files that would take all memory or all time, and bytes that would crash the process that reads them."""

from __future__ import annotations

import contextlib
import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from tests.data.formats.fuzz import FINE, READERS, fuzz, packings, read_alone, samples, write_packed

from rilco.data.formats import FORMATS, chunks, load_file, save_demonstrations
from rilco.data.record import Demonstrations
from rilco.errors import ConfigError, DemonstrationError

GIGABYTE = 2**30
REFUSED = ("nbit", "scaleoffset", "szip")


def load_lean(path: Path) -> Demonstrations:
    return load_file(path, obs_keys=["flat"])


@pytest.fixture(scope="module")
def packed_zeros() -> bytes:
    """A gigabyte of zeros, as gzip stores it: 4.5 MB."""
    engine = zlib.compressobj(1)
    return b"".join(engine.compress(bytes(2**24)) for _ in range(GIGABYTE // 2**24)) + engine.flush()


# --- HDF5: what is stored, packed by every filter


@pytest.mark.parametrize("name", [name for name in packings() if name not in REFUSED])
@pytest.mark.parametrize("dtype", ["<f4", ">f8", "<f2", "i8", "u1", "bool"])
def test_numbers_come_out_as_libhdf5_reads_them(tmp_path: Path, name: str, dtype: str) -> None:
    values = (np.random.default_rng(0).normal(size=(1003, 7)) * 20).astype(dtype)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", data=values, chunks=(100, 3), **packings()[name])
    with h5py.File(tmp_path / "a.h5") as file:
        dataset = file["x"]
        for rows in (1003, 250, 1):
            read = np.empty((rows, 7), np.float32 if values.dtype.kind == "f" else dtype)
            chunks.fill(read, dataset)
            np.testing.assert_array_equal(read, dataset[:rows].astype(read.dtype))


def test_incompressible_chunks_are_stored_as_they_are(tmp_path: Path) -> None:
    values = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        dataset = file.create_dataset("x", (4, 3), "f4", chunks=(2, 3), compression="gzip")
        dataset.id.write_direct_chunk((0, 0), zlib.compress(values[:2].tobytes()))
        dataset.id.write_direct_chunk((2, 0), values[2:].tobytes(), filter_mask=1)
    with h5py.File(tmp_path / "a.h5") as file:
        read = np.empty((4, 3), np.float32)
        chunks.fill(read, file["x"])
    np.testing.assert_array_equal(read, values)


@pytest.mark.parametrize("name", REFUSED)
def test_other_filters_are_refused(tmp_path: Path, demos: Demonstrations, name: str) -> None:
    if name not in packings():
        pytest.skip("this HDF5 has no szip")
    write_packed(tmp_path / "a.h5", demos, packings()[name])
    with pytest.raises(DemonstrationError, match=r"is packed with .*; expected gzip or LZF"):
        load_file(tmp_path / "a.h5")


@pytest.mark.parametrize("name", ["fletcher32", "gzip+shuffle+fletcher32", "lzf+shuffle+fletcher32"])
@pytest.mark.parametrize("size", [0, 1, 3, 4, 2**31])
def test_a_changed_size_of_a_chunk(tmp_path: Path, demos: Demonstrations, name: str, size: int) -> None:
    path = tmp_path / "a.h5"
    write_packed(path, demos, packings()[name])
    with h5py.File(path) as file:
        chunk = file["obs_array"].id.get_chunk_info(0)
    content = path.read_bytes()
    # Its size, the filters left out, and its offset.
    keys = struct.pack("<II3Q", chunk.size, chunk.filter_mask, 0, 0, 0)
    assert content.count(keys) == 1
    path.write_bytes(content.replace(keys, struct.pack("<I", size) + keys[4:]))
    assert read_alone(load_file, path).kind == "refused"


def test_filters_that_are_no_longer_named(tmp_path: Path, demos: Demonstrations) -> None:
    """The chunks then have other sizes than the numbers in them would."""
    path = tmp_path / "a.h5"
    write_packed(path, demos, packings()["gzip+shuffle"])
    content = path.read_bytes()
    message = struct.pack("<HH", 11, 56)  # the list of filters in the header of an array, and its length
    places = [place for place in range(len(content)) if content.startswith(message, place)]
    assert len(places) == 3
    for place in places:
        path.write_bytes(content[:place] + b"\x17" + content[place + 1 :])
        outcome = read_alone(load_file, path)
        assert outcome.kind == "refused", outcome
        assert "bytes; expected" in outcome.detail


def test_lzf_is_never_believed(tmp_path: Path) -> None:
    """What is short of a chunk would be read from beyond it, and what refers to nothing from before it."""
    for stored in (b"\x03abcd", b"\x20\x00" * 9, b"\x00a" + b"\xe0\xff\x00" * 99, b"\xff", b"\x1f"):
        with h5py.File(tmp_path / "a.h5", "w") as file:
            dataset = file.create_dataset("x", (100, 4), "f4", chunks=(100, 4), compression="lzf")
            dataset.id.write_direct_chunk((0, 0), stored)
        with h5py.File(tmp_path / "a.h5") as file, pytest.raises((ValueError, IndexError)):
            chunks.fill(np.empty((100, 4), np.float32), file["x"])


def test_a_wrong_checksum_is_noticed(tmp_path: Path, demos: Demonstrations) -> None:
    path = tmp_path / "a.h5"
    write_packed(path, demos, packings()["fletcher32"])
    with h5py.File(path) as file:
        place = file["obs_array"].id.get_chunk_info(1).byte_offset
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(DemonstrationError, match="checksum of a chunk is wrong"):
        load_file(path)


# --- HDF5: memory


def authors(path: Path, shape: tuple[int, int], chunk: tuple[int, int], stored: bytes) -> Path:
    """The authors' layout with a single chunk of observations, whose bytes are given."""
    with h5py.File(path, "w") as file:
        obs = file.create_dataset(
            "obs_array", shape, "f4", chunks=chunk, maxshape=(None, None), compression="gzip"
        )
        obs.id.write_direct_chunk((0, 0), stored)
        file["act_array"], file["mask_array"] = np.ones((shape[0], 2)), np.ones((shape[0], 1))
    return path


def test_a_chunk_that_is_larger_than_its_array(tmp_path: Path, packed_zeros: bytes) -> None:
    path = authors(tmp_path / "a.h5", (12, 4), (GIGABYTE // 16, 4), packed_zeros)
    outcome = read_alone(load_file, path)
    assert outcome.kind == "refused"
    assert "a single chunk of it" in outcome.detail


def test_a_chunk_that_unpacks_to_more_than_it_may_hold(tmp_path: Path, packed_zeros: bytes) -> None:
    outcome = read_alone(load_file, authors(tmp_path / "a.h5", (12, 4), (12, 4), packed_zeros))
    assert outcome.kind == "refused"
    assert "more than it may hold" in outcome.detail


def test_chunks_that_were_never_written(tmp_path: Path, demos: Demonstrations) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        obs = file.create_dataset("obs_array", (10**8, 4), "f4", chunks=(10, 4), compression="gzip")
        obs[:10] = 1
        file["act_array"], file["mask_array"] = np.ones((10, 2)), np.ones((10, 1))
    outcome = read_alone(load_file, path)
    assert outcome.kind == "refused"
    assert "has 1 chunks; expected 10000000" in outcome.detail


def test_chunks_may_be_somewhat_larger_than_the_array(tmp_path: Path) -> None:
    path = authors(
        tmp_path / "a.h5", (12, 4), (1000, 4), zlib.compress(np.ones((1000, 4), np.float32).tobytes())
    )
    np.testing.assert_array_equal(load_file(path).obs, np.ones((12, 4), np.float32))


# --- HDF5: time


def test_each_chunk_is_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many slabs it is read in: one large chunk was unpacked again for each."""
    unpacked: list[int] = []
    unpack = chunks._unpack
    monkeypatch.setattr(chunks, "_unpack", lambda *given: (unpacked.append(1), unpack(*given))[1])  # type: ignore[func-returns-value]
    monkeypatch.setattr(chunks, "_SLAB_BYTES", 100)
    values = np.random.default_rng(0).normal(size=(1000, 3))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("obs_array", data=values, chunks=(500, 3), compression="gzip", shuffle=True)
        file["act_array"], file["mask_array"] = np.ones((1000, 2)), np.ones((1000, 1))
    np.testing.assert_array_equal(load_file(tmp_path / "a.h5").obs, values.astype(np.float32))
    assert len(unpacked) == 2


def test_circles_of_hard_links(tmp_path: Path, demos: Demonstrations) -> None:
    path = tmp_path / "a.robomimic.hdf5"
    save_demonstrations(demos, path)
    with h5py.File(path, "a") as file:
        group = file["data/demo_0/obs"]
        for k in range(400):
            group[f"link {k}"] = group
    outcome = read_alone(load_lean, path, seconds=10)
    assert outcome.kind == "data"


def test_one_array_under_many_names(tmp_path: Path) -> None:
    path = tmp_path / "a.robomimic.hdf5"
    with h5py.File(path, "w") as file:
        demo = file.create_group("data/demo_0")
        for name, width in (("obs/flat", 30), ("actions", 2)):
            demo.create_dataset(name, data=np.zeros((10_000, width), np.float32), compression="gzip")
        for k in range(1, 1000):
            file[f"data/demo_{k}"] = demo
    assert path.stat().st_size < 200_000
    outcome = read_alone(load_lean, path)
    assert outcome.kind == "refused"
    assert "several names" in outcome.detail


# --- Parquet and Arrow


def test_lists_of_zeros_are_counted_before_they_are_unpacked(
    tmp_path: Path, demos: Demonstrations, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.lerobot"
    save_demonstrations(demos, path)
    width = 10_000
    lists = pa.ListArray.from_arrays(
        np.arange(0, 8192 * width + 1, width, dtype=np.int32),
        np.zeros(8192 * width, np.float32),
    )
    frames = {
        "observation.state": lists,
        "action": pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(2 * 8192, np.float32)), 2),
        "episode_index": np.zeros(8192, np.int64),
    }
    file = next(path.glob("data/*/*.parquet"))
    pq.write_table(pa.table(frames), file, compression="zstd")
    del frames, lists
    info = path / "meta" / "info.json"
    info.write_text(info.read_text().replace('"total_frames": 12', '"total_frames": 8192'))
    assert file.stat().st_size < 200_000
    monkeypatch.setenv("RILCO_MAX_GB", "0.2")
    outcome = read_alone(load_file, path, megabytes=100)
    assert outcome.kind == "refused", outcome
    assert "the arrays claim 0.305 GB; the limit is 0.2 GB" in outcome.detail
    monkeypatch.setenv("RILCO_MAX_GB", "0.5")
    assert read_alone(load_file, path, megabytes=10_000).kind == "data"


def test_lists_of_nothing_may_claim_any_number_of_rows(tmp_path: Path, demos: Demonstrations) -> None:
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "a.imitation"
    save_demonstrations(Demonstrations(demos.obs, demos.action), path)
    columns = {
        "obs": pa.array([[[]] * 13], pa.list_(pa.list_(pa.float32(), 0))),
        "acts": pa.array([[[1.0]] * 12], pa.list_(pa.list_(pa.float32(), 1))),
        "terminal": [False],
    }
    batch = pa.RecordBatch.from_pydict(columns)
    with pa.ipc.new_stream(str(next(path.glob("*.arrow"))), batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(DemonstrationError, match="obs has the type"):
        load_file(path)


# --- the limit


def test_the_limit_is_a_setting(
    tmp_path: Path, demos: Demonstrations, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.npz"
    save_demonstrations(demos, path)
    monkeypatch.setenv("RILCO_MAX_GB", "1e-9")
    with pytest.raises(DemonstrationError, match="set RILCO_MAX_GB=1"):
        load_file(path)
    monkeypatch.setenv("RILCO_MAX_GB", "plenty")
    with pytest.raises(ConfigError, match="expected a number of gigabytes"):
        load_file(path)


# --- manifests


WRONG: list[Callable[[Any], bytes]] = [
    lambda document: b"\xff\xfe" + json.dumps(document).encode(),
    lambda document: b"[" * 100_000 + b"]" * 100_000,
    lambda document: (
        json.dumps({**document, "x": 1}).encode().replace(b'"x": 1', b'"x": ' + b"[" * 10**5 + b"]" * 10**5)
    ),
    lambda document: json.dumps([document]).encode(),
    *(  # type: ignore[var-annotated]
        lambda document, odd=odd: json.dumps(dict.fromkeys(document, odd)).encode()
        for odd in (None, True, -1, 10**400, 1e308, "x", [], [[1]], {}, {"a": {}})
    ),
]


@pytest.mark.parametrize("wrong", range(len(WRONG)))
def test_manifests_of_anything(tmp_path: Path, demos: Demonstrations, wrong: int) -> None:
    pytest.importorskip("pyarrow")
    for known in (known for known in FORMATS if not known.signature):
        path = tmp_path / f"a{known.extensions[0]}"
        save_demonstrations(demos, path)
        for file in path.rglob("*.json"):
            whole = file.read_bytes()
            file.write_bytes(WRONG[wrong](json.loads(whole)))
            with contextlib.suppress(DemonstrationError):
                load_file(path)
            file.write_bytes(whole)


# --- mutants


@pytest.mark.slow
def test_mutants_of_every_kind_of_file(tmp_path: Path) -> None:
    """A few of each; `python -m tests.data.formats.fuzz` makes as many as there is time for."""
    for name, path in samples(tmp_path).items():
        for number, outcome in fuzz(path, READERS.get(name, load_file), 30, seed=7):
            assert outcome.kind in FINE, (name, number, outcome)
