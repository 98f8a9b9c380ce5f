"""Damages files of every format, and reads each in a process that may die: the outcome is data or our own error.

python -m tests.data.formats.fuzz --mutants 20000 --seed 1 prints a table of the outcomes by kind of file, and the
mutants that went wrong, each with the number that makes it again. Exit status 1 where there are any.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
from tests.experiment.tiny import fake_run, tiny

from rilco.data.formats import FORMATS, load_file, save_demonstrations
from rilco.data.record import Demonstrations
from rilco.errors import RilcoError
from rilco.judging.audit import audit
from rilco.judging.record import JSON, PAIRS, read_record
from rilco.policy.saved import Policy, load_policy
from rilco.runs.checkpoint import Checkpoint, load_checkpoint, save_checkpoint, written_metrics
from rilco.runs.metrics import read_metrics, read_progress
from rilco.runs.paths import CHECKPOINTS, CONFIG, METRICS
from rilco.runs.results import read_run

VALUES = (0, 1, 127, 128, 255)
ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**70,
    1e308,
    float("nan"),
    "",
    "x" * 300,
    "\ud800",
    [],
    [[]],
    {},
    {"": []},
)
FINE = ("data", "refused")
MOST_MEGABYTES, MOST_SECONDS = 500, 20.0


class Outcome(NamedTuple):
    """What came of reading one file."""

    kind: str
    """data, refused (our own error), or what should never be: traceback, crash, slow, memory."""
    detail: str
    megabytes: int
    """What the memory grew by at its peak."""


def read_alone(
    read: Callable[[Path], object], path: Path, seconds: float = MOST_SECONDS, megabytes: int = MOST_MEGABYTES
) -> Outcome:
    """Reads in a process of its own. Eight gigabytes are more than any file here may ask for.

    `seconds` are of processor time, so that a busy machine changes nothing; one that waits for ever is ended, too.
    """
    receiver, sender = os.pipe()
    before = _resident()
    with warnings.catch_warnings():
        # Other tests of this process may have started JAX's threads; the child reads one file and needs none of them.
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        os.close(receiver)
        resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, 8 * 2**30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        used = sum(os.times()[:2])
        resource.setrlimit(resource.RLIMIT_CPU, (int(used + seconds) + 1, int(used + seconds) + 2))
        os.write(sender, _attempt(read, path).encode(errors="replace")[:60000])
        os._exit(0)
    os.close(sender)
    answer = os.read(receiver, 60000).decode() if select.select([receiver], [], [], 30 * seconds)[0] else None
    os.close(receiver)
    if answer is None:
        os.kill(child, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    grown = max(0, usage.ru_maxrss // 1024 - before)
    if answer is None or os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
        return Outcome("slow", f"more than {seconds:.0f} s", grown)
    if status:
        return Outcome("crash", f"signal {os.waitstatus_to_exitcode(status)}", grown)
    kind, _, detail = answer.partition(" ")
    return Outcome("memory" if grown > megabytes else kind, detail, grown)


def _attempt(read: Callable[[Path], object], path: Path) -> str:
    try:
        read(path)
    except RilcoError as error:
        return f"refused {error}" if str(path) in str(error) else f"traceback without the path: {error}"
    except BaseException as error:
        return f"traceback {type(error).__name__}: {error}"
    return "data"


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() // 2**20


def mutations(content: bytes, count: int, seed: int, span: int | None = None) -> list[bytes]:
    """Copies with one to 32 bytes changed, anywhere or, of a large file, mostly in its first `span` bytes."""
    rng = random.Random(seed)
    result = []
    for _ in range(count):
        mutated = bytearray(content)
        end = len(content) if span is None or rng.random() < 0.25 else span
        for _ in range(rng.choice((1, 1, 2, 8, 32))):
            mutated[rng.randrange(end)] = rng.choice((*VALUES, rng.randrange(256)))
        result.append(bytes(mutated))
    return result


def damaged(content: bytes, rng: random.Random) -> bytes:
    """A copy with some bytes changed, taken out, put in twice, or all after some place gone."""
    place, length = rng.randrange(len(content)), rng.choice((1, 4, 8, 64))
    kind = rng.random()
    if kind < 0.1:
        return content[:place]
    if kind < 0.2:
        return content[:place] + content[place + length :]
    if kind < 0.3:
        return content[:place] + content[place : place + length] + content[place:]
    return mutations(content, 1, rng.randrange(2**32))[0]


def damaged_json(content: bytes, rng: random.Random) -> bytes:
    """A copy with one value of another type, or nested too deep, or bytes that are no text."""
    kind = rng.random()
    if kind < 0.1:
        return content.replace(b'"', b'"\xff\xfe', 1)
    document = json.loads(content)
    places = list(_places(document))
    holder, key = rng.choice(places)
    if kind < 0.2:
        del holder[key]
    else:
        holder[key] = rng.choice(ODD)
    text = json.dumps(document)
    return (text if kind > 0.3 else text.replace("[]", "[" * 100_000 + "]" * 100_000)).encode()


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    inside = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in inside:
        yield node, key
        yield from _places(value)


def mutate(sample: Path, rng: random.Random) -> tuple[Path, bytes]:
    """One file of a sample, and what to replace its content with."""
    files = [sample] if sample.is_file() else sorted(file for file in sample.rglob("*") if file.is_file())
    file = rng.choice(files)
    whole = file.read_bytes()
    if not file.suffix.startswith(".json") or rng.random() < 0.3:
        return file, damaged(whole, rng)
    lines = whole.splitlines(keepends=True) if file.suffix == ".jsonl" else [whole]
    place = rng.randrange(len(lines))
    end = b"\n" if file.suffix == ".jsonl" else b""
    return file, b"".join([*lines[:place], damaged_json(lines[place], rng) + end, *lines[place + 1 :]])


def samples(folder: Path) -> dict[str, Path]:
    """One of every kind that is read: each format, HDF5 with each filter, and what runs and audits write."""
    rng = np.random.default_rng(0)
    demos = Demonstrations(
        rng.normal(size=(12, 3)),
        rng.normal(size=(12, 2)),
        episode=np.repeat([0, 1, 2], [5, 4, 3]),
        reward=np.ones(12),
    )
    made: dict[str, Path] = {}
    for known in FORMATS:
        made[known.name] = folder / f"demos{known.extensions[0]}"
        save_demonstrations(demos, made[known.name])
    for name, options in packings().items():
        made[f"hdf5, {name}"] = folder / f"{name.replace('+', '-')}.h5"
        write_packed(made[f"hdf5, {name}"], demos, options)
    made["npz, packed"] = folder / "packed.npz"
    np.savez_compressed(made["npz, packed"], obs=demos.obs, action=demos.action, episode=demos.episode)
    made["npz, trajectories"] = folder / "trajectories.npz"
    obs = np.insert(demos.obs, [5, 9, 12], 0.0, axis=0)
    np.savez(made["npz, trajectories"], obs=obs, acts=demos.action, indices=[5, 9], terminal=[True] * 3)
    made["lerobot 2, packed"] = folder / "packed.lerobot"
    write_lerobot(made["lerobot 2, packed"], demos)
    made["policy"] = folder / "policy.safetensors"
    layers = [
        (np.ones((3, 4), np.float32), np.ones(4, np.float32)),
        (np.ones((4, 2), np.float32), np.ones(2, np.float32)),
    ]
    Policy(np.zeros(3), np.ones(3), layers, np.zeros(2), {"task": "ant"}).save(made["policy"])
    return made | run_samples(folder)


def run_samples(folder: Path) -> dict[str, Path]:
    """What runs and audits write. The metrics have no checkpoint, whose checksum would catch all that is changed."""
    made = {}
    for name in (CONFIG, METRICS):
        run = fake_run(folder / f"run of {name}", tiny())
        shutil.rmtree(run / CHECKPOINTS)
        made[name] = run / name
    made["checkpoint"] = folder / CHECKPOINTS
    facts = {"config": tiny().to_json(), "metrics_bytes": 100, "metrics_sha256": "0" * 64, "seconds": 1.0}
    arrays = {"state": np.ones((3, 4), np.float32), "recent_returns": np.zeros(5)}
    save_checkpoint(made["checkpoint"], Checkpoint(7, arrays, facts))
    made["audit"] = folder / "audit"
    rng = np.random.default_rng(0)
    pairs = rng.normal(size=(200, 2)), rng.normal(size=(200, 1))
    judged = audit(Demonstrations(*pairs, episode=np.arange(200) // 20))
    judged.save(made["audit"], pictures=False)
    for file in made["audit"].iterdir():
        if file.name not in (JSON, PAIRS):  # the others are for people
            file.unlink()
    return made


def read_checkpoint(folder: Path) -> object:
    return load_checkpoint(folder), written_metrics(folder)


def read_run_of(file: Path) -> object:
    run = file.parent
    return read_progress(run), read_metrics(run), read_run(run)


READERS: dict[str, Callable[[Path], object]] = {
    "policy": load_policy,
    CONFIG: read_run_of,
    METRICS: read_run_of,
    "checkpoint": read_checkpoint,
    "audit": read_record,
}
"""Of what is no file of demonstrations."""


def write_lerobot(path: Path, demos: Demonstrations) -> None:
    """Version 2.1, with what is read of it alone, and with lists and packing that rilco does not write."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    features = {"observation.state": {"dtype": "float32", "shape": [demos.obs_dim]}}
    for k in range(3):
        mine = demos.episode == k
        file = path / f"data/chunk-000/episode_{k:06d}.parquet"
        file.parent.mkdir(parents=True, exist_ok=True)
        columns = {"observation.state": demos.obs[mine].tolist(), "action": demos.action[mine].tolist()}
        table = pa.table(columns | {"episode_index": demos.episode[mine], "next.reward": np.ones(mine.sum())})
        pq.write_table(table, file, compression="zstd", data_page_version="2.0" if k else "1.0")
    (path / "meta").mkdir()
    (path / "meta/info.json").write_text(json.dumps({"codebase_version": "v2.1", "features": features}))


def packings() -> dict[str, dict[str, Any]]:
    """The filters of HDF5, and how h5py is told to use them."""
    result: dict[str, dict[str, Any]] = {
        "gzip": {"compression": "gzip"},
        "gzip+shuffle": {"compression": "gzip", "shuffle": True},
        "gzip+shuffle+fletcher32": {"compression": "gzip", "shuffle": True, "fletcher32": True},
        "fletcher32": {"fletcher32": True},
        "lzf": {"compression": "lzf"},
        "lzf+shuffle+fletcher32": {"compression": "lzf", "shuffle": True, "fletcher32": True},
        "scaleoffset": {"scaleoffset": 3},
        "nbit": {"nbit": True},
    }
    if h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP):
        result["szip"] = {"compression": "szip", "compression_opts": ("nn", 2)}
    return result


def write_packed(path: Path, demos: Demonstrations, options: dict[str, Any]) -> None:
    with h5py.File(path, "w") as file:
        for name, values in (
            ("obs", demos.obs),
            ("act", demos.action),
            ("mask", np.ones((len(demos), 1), np.float32)),
        ):
            if "nbit" not in options:
                file.create_dataset(f"{name}_array", data=values, chunks=(5, values.shape[1]), **options)
                continue
            created = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            created.set_chunk((5, values.shape[1]))
            created.set_filter(h5py.h5z.FILTER_NBIT, 0, ())
            space = h5py.h5s.create_simple(values.shape)
            made = h5py.h5d.create(file.id, f"{name}_array".encode(), h5py.h5t.IEEE_F32LE, space, created)
            made.write(h5py.h5s.ALL, h5py.h5s.ALL, np.ascontiguousarray(values, np.float32))


def fuzz(
    sample: Path, read: Callable[[Path], object], count: int, seed: int
) -> Iterator[tuple[int, Outcome]]:
    """The number of each mutant and what came of it; the sample is as before afterwards."""
    for number in range(count):
        file, content = mutate(sample, random.Random(f"{seed} {sample.name} {number}"))
        whole = file.read_bytes()
        file.write_bytes(content)
        yield number, read_alone(read, sample)
        file.write_bytes(whole)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mutants", type=int, default=1000, help="of all kinds together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="*", help="only these")
    given = parser.parse_args()
    folder, wrong = Path(tempfile.mkdtemp()), []
    try:
        made = {
            name: path for name, path in samples(folder).items() if not given.kinds or name in given.kinds
        }
        print(
            f"{'kind':28}{'mutants':>8}{'data':>7}{'refused':>9}{'wrong':>7}{'MB':>6}{'s':>7}   seed {given.seed}"
        )
        for name, path in made.items():
            begun, counts, most = time.time(), collections.Counter[str](), 0
            read = READERS.get(name, load_file)
            for number, outcome in fuzz(path, read, -(-given.mutants // len(made)), given.seed):
                counts[outcome.kind] += 1
                most = max(most, outcome.megabytes)
                if outcome.kind not in FINE:
                    wrong.append(f"{name}, mutant {number}: {outcome.kind}: {outcome.detail[:300]}")
            total = counts.total()
            bad = total - counts["data"] - counts["refused"]
            print(
                f"{name:28}{total:8}{counts['data']:7}{counts['refused']:9}{bad:7}{most:6}{time.time() - begun:7.0f}",
                flush=True,
            )
    finally:
        shutil.rmtree(folder)
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
