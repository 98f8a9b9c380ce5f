"""A sweep of small runs under attack, again and again: kills, lost workers, full disks and bad files.

python -m tests.soak --minutes 60 --seed 1 --out soak.json writes the figures of docs/reliability.md. At the end of every
round all runs must be finished, with the bytes of runs that were left alone, and no file may be left over. Exit status 1
where something was lost. As root, the runs write to a small disk of their own.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import gc
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tests.data.formats.fuzz import FINE, damaged, damaged_json, read_alone

from rilco.data.formats import load_file
from rilco.experiment.grid import Job, make_jobs
from rilco.experiment.launch import Settings, ask_to_stop, how_it_ended, search_path, start_run
from rilco.experiment.local import LocalEngine
from rilco.experiment.status import Board
from rilco.experiment.sweep import survey, work_through
from rilco.runs.interrupt import StopSignal
from rilco.runs.progress import StatusLine
from rilco.runs.results import identity, read_results

SMALL = {"num_envs": 4, "num_steps": 20, "acktr.hidden_sizes": (16, 16), "evaluation_episodes": 1}
CLASSIFIER = {"classifier.hidden": (16,), "classifier.batch": 32, "classifier.minibatches": 2}
METHODS: dict[str, dict[str, Any]] = {
    "acktr": SMALL,
    "ril-co": SMALL | CLASSIFIER,
    "gail-logistic": SMALL | CLASSIFIER,
    "bc": {"bc.hidden_sizes": (16,)},
}
"""And what makes their runs small."""
DISK = "256m"  # of the runs, where it is their own
ATTACKS = ("kill", "terminate", "lose a worker", "cut writes short", "fill the disk")
EVERY = 10.0  # seconds between attacks, in the mean
MOST_TRIES = 200  # of a round
MOST_GROWTH = 30.0  # megabytes of this process, from the second round on


class Attacked(LocalEngine):
    """An engine whose runs come to harm whenever it looks at them."""

    def __init__(
        self, settings: Settings, jobs: int, rng: random.Random, counts: collections.Counter[str]
    ) -> None:
        super().__init__(settings, jobs)
        self.rng, self.counts = rng, counts
        self.next = time.monotonic()

    def poll(self, seconds: float) -> list[tuple[Job, str]]:
        ended = super().poll(self.rng.uniform(0.05, seconds))
        self.counts.update(f"ended: {how}" for _, how in ended)
        processes = [process.pid for _, process in self.running.values()]
        if processes and time.monotonic() > self.next:
            self.next = time.monotonic() + self.rng.expovariate(1 / EVERY)
            kind = self.rng.choice(ATTACKS)
            with contextlib.suppress(OSError, ProcessLookupError):  # it has just ended
                self._attack(kind, self.rng.choice(processes))
                self.counts[f"attack: {kind}"] += 1
        return ended

    def _attack(self, kind: str, pid: int) -> None:
        match kind:
            case "kill" | "terminate":
                os.kill(pid, signal.SIGKILL if kind == "kill" else signal.SIGTERM)
            case "lose a worker":
                workers = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
                if not workers:
                    raise ProcessLookupError
                os.kill(int(self.rng.choice(workers)), signal.SIGKILL)
            case "cut writes short":
                hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)[1]
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (self.rng.randrange(20_000), hard))
            case "fill the disk":
                if not self.settings.out.parent.is_mount():
                    raise ProcessLookupError
                with filled(self.settings.out.parent):
                    time.sleep(self.rng.uniform(0.2, 2.0))


@contextlib.contextmanager
def filled(disk: Path) -> Iterator[None]:
    """Not a byte more can be written."""
    filler = disk / "filler"
    try:
        with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
            while file.write(bytes(2**16)):
                pass
        yield
    finally:
        filler.unlink(missing_ok=True)


@contextlib.contextmanager
def own_disk(folder: Path) -> Iterator[Path]:
    """A small file system, where this process may make one; else a folder."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield folder
    finally:
        if mounted:
            subprocess.run(["umount", "-l", str(folder)], check=True)


def grid(demos: Path, steps: int) -> list[Job]:
    """Two runs of each method; all but the expert learn from noise."""
    rng = np.random.default_rng(0)
    columns = {"obs": rng.normal(size=(900, 3)), "action": rng.uniform(-1, 1, (900, 1))}
    np.savez(demos, episode=np.arange(900) // 30, **columns)
    common = {"env": "Pendulum-v1", "steps": steps, "evaluate_every": 4000, "final_episodes": 2}
    return make_jobs(
        (
            f"{method}-{seed}",
            {**common, **own, "method": method, "seed": seed, "demos": None if own is SMALL else str(demos)},
        )
        for method, own in METHODS.items()
        for seed in (1, 2)
    )


def result(run: Path) -> dict[str, Any]:
    """What a run has come to, without how long that took."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    policies = {file.name: file.read_bytes() for file in sorted((run / "policy").glob("*.safetensors"))}
    return {
        "metrics": [{key: value for key, value in line.items() if key != "seconds"} for line in lines],
        **policies,
    }


def work(jobs: list[Job], engine: LocalEngine, out: Path, reference: dict[str, Any] | None = None) -> None:
    """Work through the sweep, again after every failure. With a reference, files are damaged in between."""
    for _ in range(MOST_TRIES):
        standings = survey(jobs, out)
        left = [job for job, there in zip(jobs, standings, strict=True) if there.state != "finished"]
        if not left:
            return
        work_through(left, engine, Board(jobs, standings, out, StatusLine(quiet=True)), StopSignal())
        if isinstance(engine, Attacked) and reference is not None:
            tamper(engine, left, out, reference)
    raise RuntimeError(f"{out}: not finished after {MOST_TRIES} tries")


def tamper(engine: Attacked, left: list[Job], out: Path, reference: dict[str, Any]) -> None:
    """Damage the newest checkpoint of a run, and any file of a copy of it. The copy is resumed, too: it must be refused,
    and then stays beside the others, or end as if nothing had happened."""
    begun = [job for job in left if len(list((out / job.name / "checkpoints").glob("*.json"))) > 1]
    if not begun:
        return
    rng, counts, job = engine.rng, engine.counts, engine.rng.choice(begun)
    copy = Job(f"bad-{counts['bad files']}", job.config)
    shutil.copytree(out / job.name, out / copy.name)
    newest = max((out / job.name / "checkpoints").glob("*.safetensors"))
    newest.write_bytes(damaged(newest.read_bytes(), rng))
    files = sorted(file for file in (out / copy.name).rglob("*") if file.is_file() and file.stat().st_size)
    spoil(rng.choice(files), rng)
    process = start_run(engine.settings.request(copy), search_path())
    how = how_it_ended(process)
    ask_to_stop(process)  # closes our end
    counts["bad files"] += 1
    if how == "finished":
        same = result(out / copy.name) == reference[job.name]
        shutil.rmtree(out / copy.name)
        how = "ended as the others" if same else "WRONG: other bytes"
    counts[f"a run with a bad file: {'refused' if how == 'exit code 1' else how}"] += 1


def spoil(file: Path, rng: random.Random) -> None:
    whole = file.read_bytes()
    file.write_bytes(damaged_json(whole, rng) if file.suffix == ".json" else damaged(whole, rng))


def check(jobs: list[Job], out: Path, reference: dict[str, Any], counts: collections.Counter[str]) -> None:
    """Look for what must not be after a round."""
    counts["runs finished"] += len(jobs)
    counts["WRONG: other bytes"] += sum(result(out / job.name) != reference[job.name] for job in jobs)
    # A refused copy may have come as far as the run that it was made of; then one of the two is listed for both.
    known = {identity(run.config) for run in read_results(out).runs if run.finished}
    counts["WRONG: not among the results"] += sum(identity(job.config) not in known for job in jobs)
    counts["WRONG: half-written files"] += len(list(out.rglob(".*.part*")))
    logs = [file.read_text(errors="replace") for file in (out / "logs").rglob("*.log")]
    bad = [log[log.index("Traceback") :][:4000] for log in logs if "Traceback" in log]
    counts["WRONG: tracebacks"] += len(bad)
    print(*bad, sep="\n", end="", flush=True)


def read_bad_demonstrations(demos: Path, rng: random.Random, counts: collections.Counter[str]) -> None:
    bad = demos.with_name("bad.npz")
    for _ in range(10):
        shutil.copyfile(demos, bad)
        spoil(bad, rng)
        kind = read_alone(load_file, bad).kind
        counts[f"bad demonstrations: {kind}" if kind in FINE else f"WRONG: bad demonstrations: {kind}"] += 1
    bad.unlink()


def footprint() -> tuple[float, int]:
    """Megabytes and open files of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20, len(os.listdir("/proc/self/fd"))


def soak(work_in: Path, minutes: float, steps: int, rng: random.Random) -> dict[str, Any]:
    counts: collections.Counter[str] = collections.Counter()
    sizes: list[tuple[float, int]] = []
    jobs = grid(work_in / "demos.npz", steps)
    with LocalEngine(Settings(work_in / "left-alone", 1), 2) as engine:
        work(jobs, engine, work_in / "left-alone")
    reference = {job.name: result(work_in / "left-alone" / job.name) for job in jobs}
    begun = time.time()
    with own_disk(work_in / "disk") as disk:
        while not sizes or time.time() - begun < 60 * minutes:
            out = disk / "runs"
            with Attacked(Settings(out, 1, checkpoint_every=10), 2, rng, counts) as engine:
                work(jobs, engine, out, reference)
            check(jobs, out, reference, counts)
            read_bad_demonstrations(work_in / "demos.npz", rng, counts)
            shutil.rmtree(out)
            counts["rounds"] += 1
            sizes.append(footprint())
            print(f"{time.time() - begun:6.0f} s  {dict(counts)}  {sizes[-1]}", flush=True)
    counts["WRONG: left in the temporary folder"] += len(list((work_in / "tmp").iterdir()))
    settled = sizes[min(1, len(sizes) - 1)]
    counts["WRONG: memory has grown"] += sizes[-1][0] - settled[0] > MOST_GROWTH
    counts["WRONG: open files have grown"] += sizes[-1][1] > settled[1]
    table = {name: counts[name] for name in sorted(counts)}
    grown = {
        "megabytes": [round(settled[0], 1), round(sizes[-1][0], 1)],
        "open files": [settled[1], sizes[-1][1]],
    }
    return {"minutes": round((time.time() - begun) / 60, 1), **grown, **table}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--steps", type=int, default=8000, help="of each run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="where to write the figures")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the disk is given back
    with tempfile.TemporaryDirectory(prefix="rilco-soak-", ignore_cleanup_errors=True) as folder:
        (Path(folder) / "tmp").mkdir()
        os.environ |= {"TMPDIR": f"{folder}/tmp", "RILCO_CACHE": f"{folder}/cache", "JAX_PLATFORMS": "cpu"}
        figures = soak(Path(folder), given.minutes, given.steps, random.Random(given.seed))
    text = json.dumps({"seed": given.seed, **figures}, indent=1)
    print(text)
    if given.out is not None:
        given.out.write_text(text + "\n")
    return int(any(value for name, value in figures.items() if name.startswith("WRONG")))


if __name__ == "__main__":
    sys.exit(main())
