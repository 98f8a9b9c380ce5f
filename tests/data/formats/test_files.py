"""Finding, recognising and refusing files, and writing them whole or not at all."""

from __future__ import annotations

import os
import resource
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import h5py
import numpy as np
import pytest

from rilco.data.formats import FORMATS, Format, find_files, load_file, save_demonstrations
from rilco.data.formats.files import atomic_write
from rilco.data.record import Demonstrations
from rilco.errors import ConfigError, DemonstrationError, WriteError
from rilco.files import write_atomically, write_together

FEW = Demonstrations(np.ones((2, 1)), np.ones((2, 1)))


@pytest.mark.parametrize("name", ["plain", "demos.dat", "demos.h5", "demos.npz"])
def test_content_decides_whatever_the_extension(
    tmp_path: Path, demos: Demonstrations, known: Format, name: str
) -> None:
    save_demonstrations(demos, tmp_path / name, known.name)
    assert [other.name for other in FORMATS if other.recognise(tmp_path / name)] == [known.name]
    assert load_file(tmp_path / name).fingerprint() == demos.fingerprint()


def test_extension_chooses_what_is_written(tmp_path: Path, demos: Demonstrations, known: Format) -> None:
    for extension in known.extensions:
        save_demonstrations(demos, tmp_path / f"a{extension.upper()}")
        assert known.recognise(tmp_path / f"a{extension.upper()}")


def test_recognise_never_raises(tmp_path: Path, known: Format) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "noise").write_bytes(known.signature + bytes(range(256)))
    for path in (tmp_path, tmp_path / "empty", tmp_path / "noise", tmp_path / "missing"):
        assert not known.recognise(path)


def test_refuses_to_write_an_unknown_format(tmp_path: Path, demos: Demonstrations) -> None:
    with pytest.raises(ConfigError, match=r"the extension '.txt' .* npz \(.npz\)"):
        save_demonstrations(demos, tmp_path / "a.txt")
    with pytest.raises(ConfigError, match="the format 'tape'"):
        save_demonstrations(demos, tmp_path / "a.npz", "tape")


# --- what is no demonstration file


def test_missing_path_suggests_near_names(tmp_path: Path) -> None:
    for name in ("hopper_P1.0.h5", "hopper_P0.4.h5", "readme"):
        (tmp_path / name).touch()
    with pytest.raises(DemonstrationError, match=r"no such file or folder. Did you mean hopper_P1.0.h5 or"):
        load_file(tmp_path / "hoper_P1.0.h5")
    with pytest.raises(DemonstrationError, match=r"The folder holds hopper_P0.4.h5, hopper_P1.0.h5, readme"):
        load_file(tmp_path / "zzz")
    with pytest.raises(DemonstrationError, match=f"the folder {tmp_path / 'nowhere'} does not exist"):
        load_file(tmp_path / "nowhere" / "a.h5")


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b"])
def test_impossible_paths(tmp_path: Path, name: str) -> None:
    with pytest.raises(DemonstrationError):
        load_file(tmp_path / name)


def test_refuses_empty_files_folders_and_pipes(tmp_path: Path) -> None:
    (tmp_path / "a.h5").touch()
    with pytest.raises(DemonstrationError, match="empty"):
        load_file(tmp_path / "a.h5")
    with pytest.raises(DemonstrationError, match="not a regular file"):
        load_file(tmp_path)
    os.mkfifo(tmp_path / "b.h5")
    with pytest.raises(DemonstrationError, match="not a regular file"):
        load_file(tmp_path / "b.h5")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_refuses_unreadable_files(tmp_path: Path, demos: Demonstrations) -> None:
    save_demonstrations(demos, tmp_path / "a.npz")
    (tmp_path / "a.npz").chmod(0)
    with pytest.raises(DemonstrationError, match="Permission denied"):
        load_file(tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["demos.pkl", "demos.h5", "demos.npz", "demos"])
@pytest.mark.parametrize("protocol", [b"", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"])
def test_refuses_pickles_and_runs_nothing(tmp_path: Path, name: str, protocol: bytes) -> None:
    # By hand, an opcode at a time: call open(path, "w") and return what it gives.
    code = b"cbuiltins\nopen\n(V%s\nVw\ntR." % str(tmp_path / "executed").encode()
    (tmp_path / name).write_bytes(protocol + code)
    # The oldest protocol has no mark to know it by; then it is refused as no file of ours.
    message = "this is a pickle" if protocol or name.endswith("pkl") else "cannot be read as|in no format"
    with pytest.raises(DemonstrationError, match=message):
        load_file(tmp_path / name)
    assert not (tmp_path / "executed").exists()


def test_refuses_a_saved_pytorch_model(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "model.npz", "w") as archive:
        archive.writestr("model/data.pkl", b"\x80\x02}.")
    with pytest.raises(DemonstrationError, match="this is a pickle"):
        load_file(tmp_path / "model.npz")


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.h5", b"obs,action\n1,2\n", "cannot be read as HDF5"),
        ("a.npz", b"obs,action\n1,2\n", "cannot be read as npz"),
        ("a.txt", b"obs,action\n1,2\n", r"in no format that rilco knows; it begins with b'obs,acti'"),
        ("a.csv", b"obs,action\n1,2\n", "there is no column obs_0; the first line names obs, action"),
        ("a.csv", b"\x89HDF\r\n\x1a\n torn", "cannot be read as HDF5"),
        ("a.csv", b"PK\x03\x04 torn", "cannot be read as npz"),
    ],
)
def test_refuses_other_files(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DemonstrationError, match=message):
        load_file(tmp_path / name)


def test_unknown_layouts_are_told_by_their_names(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.dat", "w") as file:
        file["seen"] = np.ones((3, 2))
    with pytest.raises(DemonstrationError, match=r"no obs_array and no .*; it holds seen\."):
        load_file(tmp_path / "a.dat")
    np.savez(tmp_path / "b.npz", observations=np.ones((3, 2)))
    with pytest.raises(DemonstrationError, match="no action; it holds observations"):
        load_file(tmp_path / "b.npz")


# --- which files a path stands for


def test_a_folder_is_the_files_in_it(tmp_path: Path) -> None:
    for name in ("b.npz", "a.h5", ".hidden.h5", "notes.txt"):
        (tmp_path / name).touch()
    (tmp_path / "sub.h5").mkdir()
    assert [path.name for path in find_files(tmp_path)] == ["a.h5", "b.npz"]


def test_a_folder_of_dataset_folders(tmp_path: Path, demos: Demonstrations) -> None:
    save_demonstrations(demos, tmp_path / "b.minari")
    save_demonstrations(demos, tmp_path / "a.npz")
    assert [path.name for path in find_files(tmp_path)] == ["a.npz", "b.minari"]
    assert find_files(tmp_path / "b.minari") == [tmp_path / "b.minari"]


def test_published_names_go_from_best_to_worst_and_others_as_given(tmp_path: Path) -> None:
    names = [f"x_P{grade}_det.h5" for grade in ("0.0", "0.1", "0.2", "0.3", "0.4", "1.0")]
    for name in (*names, "z.h5"):
        (tmp_path / name).touch()
    paths = [tmp_path / name for name in names]
    assert find_files(paths) == paths[::-1]
    assert find_files([str(tmp_path / "z.h5"), *paths]) == [tmp_path / "z.h5", *paths]


def test_refuses_a_folder_without_files_and_a_file_given_twice(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.h5").touch()
    with pytest.raises(
        DemonstrationError, match=r"no demonstration file .* it holds sub\. Name a file, or the"
    ):
        find_files(tmp_path)
    with pytest.raises(DemonstrationError, match="given twice"):
        find_files([tmp_path / "sub", tmp_path / "sub" / ".." / "sub" / "a.h5"])
    with pytest.raises(DemonstrationError, match="No demonstrations were given"):
        find_files([])


# --- writing


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """Lets no file grow beyond `size`, as on a disk that has no more room."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("room", [0, 1000, 100_000])
def test_a_full_disk_leaves_what_was_there(
    tmp_path: Path, demos: Demonstrations, known: Format, room: int
) -> None:
    large = Demonstrations(np.ones((50_000, 3)), np.ones((50_000, 2)))
    path = tmp_path / f"a{known.extensions[0]}"
    if known.signature:  # a file; a folder that is there is not replaced in any case
        save_demonstrations(demos, path)
    before = contents(tmp_path)
    with full_disk(room), pytest.raises(DemonstrationError, match="could not be written"):
        save_demonstrations(large, path)
    assert contents(tmp_path) == before


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() if path.is_file() else b"" for path in folder.rglob("*")}


def test_a_folder_is_never_replaced(tmp_path: Path, demos: Demonstrations, known: Format) -> None:
    (tmp_path / "mine").mkdir()
    save_demonstrations(demos, tmp_path / "a.npz")
    (tmp_path / "mine" / "thesis").write_text("years of work")
    before = contents(tmp_path)
    with pytest.raises(DemonstrationError, match="could not be written, because there is a folder"):
        save_demonstrations(demos, tmp_path / "mine", known.name)
    assert contents(tmp_path) == before


def test_a_missing_folder_is_an_error(tmp_path: Path, demos: Demonstrations, known: Format) -> None:
    (tmp_path / "file").touch()
    for folder in ("nowhere", "file"):
        with pytest.raises(DemonstrationError, match="could not be written"):
            save_demonstrations(demos, tmp_path / folder / f"a{known.extensions[0]}")


@pytest.mark.parametrize("is_folder", [False, True])
def test_an_interrupted_write_leaves_nothing(tmp_path: Path, is_folder: bool) -> None:
    def write(*, interrupted: bool) -> None:
        with atomic_write(tmp_path / "a") as temporary:
            if is_folder:
                temporary.mkdir()
            (temporary / "part" if is_folder else temporary).write_bytes(b"half")
            assert not (tmp_path / "a").exists()
            if interrupted:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(interrupted=True)
    assert list(tmp_path.iterdir()) == []
    write(interrupted=False)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_written_files_have_the_usual_permissions(tmp_path: Path, demos: Demonstrations) -> None:
    (tmp_path / "usual").touch()
    save_demonstrations(demos, tmp_path / "a.npz")
    assert (tmp_path / "a.npz").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_the_folder_is_synced_after_the_renaming(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a loss of power can take the name back, although the bytes are there."""
    calls: list[str] = []
    sync, rename = os.fsync, os.replace
    monkeypatch.setattr(
        os,
        "fsync",
        lambda number: (calls.append(os.readlink(f"/proc/self/fd/{number}")), sync(number)),  # type: ignore[func-returns-value]
    )
    monkeypatch.setattr(os, "replace", lambda old, new: (calls.append("rename"), rename(old, new)))  # type: ignore[func-returns-value]
    with atomic_write(tmp_path / "dataset") as temporary:
        (temporary / "inside").mkdir(parents=True)
        (temporary / "inside" / "part").write_bytes(b"1")
    write_atomically(tmp_path / "file", b"1")
    first, second = (calls[: calls.index("rename") + 2], calls[calls.index("rename") + 2 :])
    assert [Path(name).name for name in first[1:]] == ["inside", "part", "rename", tmp_path.name]
    assert [Path(name).name for name in second[1:]] == ["rename", tmp_path.name]


def test_files_that_belong_together_come_together(tmp_path: Path) -> None:
    write_together(tmp_path / "new", {"page": b"1", "record": b"1"})
    assert {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()} == {
        "page": b"1",
        "record": b"1",
    }
    with pytest.raises(WriteError):
        write_together(tmp_path / "new", {"no folder/page": b"2", "record": b"2"})
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == ["page", "record"]
    assert (tmp_path / "new" / "record").read_bytes() == b"1"


@pytest.mark.parametrize(
    "write", [lambda path: write_atomically(path, b"1"), lambda path: save_demonstrations(FEW, path)]
)
def test_what_a_killed_process_left_is_removed(tmp_path: Path, write: Callable[[Path], None]) -> None:
    dead, busy, other = (tmp_path / name for name in (".a.npz.11.part", ".a.npz.22.part", ".b.npz.33.part"))
    for path in (dead, busy):
        path.mkdir()
        (path / "half").touch()
    other.touch()
    for path in (dead, dead / "half", busy, other):
        os.utime(path, (0, 0))
    write(tmp_path / "a.npz")
    assert {path.name for path in tmp_path.iterdir()} == {"a.npz", busy.name, other.name}
