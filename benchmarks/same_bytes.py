"""Whether two checkouts train the same: a short run of every method in each, compared byte by byte.

    python benchmarks/same_bytes.py BEFORE AFTER [--methods ril-co,bc] [--keep FOLDER]

BEFORE and AFTER are folders with a `src`. Policies are compared by their weights and cards, metrics by their lines without
the time that they took. Exits with 1 where something differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

METHODS = (
    *("ril-co", "ril-co-logistic", "ril-p", "ril-p-logistic", "gail", "gail-logistic", "gail-ap"),
    *("gail-unhinged", "fairl", "vild", "bc", "acktr", "ppo", "ril-co-clean"),
)
"""By name, because both checkouts must know them."""
SMALL = {
    "num_envs": 4,
    "num_steps": 20,
    "evaluate_every": 640,
    "evaluation_episodes": 2,
    "final_episodes": 3,
    "snapshot_every": 480,
}
NETWORKS = {"hidden_sizes": [8, 8]}
CLASSIFIER = {"classifier.hidden": [8, 8], "classifier.batch": 16, "classifier.minibatches": 2}
CLEAN = {
    "num_envs": 32,
    "bc.hidden_sizes": [8],
    "clean.gradient_steps": 1000,
    "clean.clones": 2,
    "clean.practice_rounds": 1,
    "clean.practice_starts": 32,
    "clean.practice_steps": 40,
}
TIMES = ("seconds",)
TRAIN = """
import json, sys
import numpy as np
import rilco
request = json.loads(sys.argv[1])
rng = np.random.default_rng(0)
np.savez(request["demos"], obs=rng.normal(size=(2000, 3)), action=rng.uniform(-1, 1, size=(2000, 1)),
         episode=np.arange(2000) // 100)
demos = request["demos"] if request["imitates"] else None
run = rilco.train(request["out"], method=request["method"], env="Pendulum-v1", demos=demos, steps=request["steps"],
                  seed=3, quiet=True, workers=2, settings=request["settings"])
"""


def settings(method: str) -> dict[str, object]:
    """Of a run that takes a moment after it is compiled."""
    table: dict[str, object] = dict(SMALL)
    if method == "bc":
        return {**table, "bc.hidden_sizes": [8, 8], "bc.validation": 0.1}
    learner = "ppo" if method == "ppo" else "acktr"
    table |= {f"{learner}.{name}": value for name, value in NETWORKS.items()}
    if method not in ("acktr", "ppo"):
        table |= CLASSIFIER
    if method == "vild":
        table |= {"episodes_as_demonstrators": True, "vild.cloning_steps": 20, "vild.hidden": [8, 8]}
    return table | CLEAN if method == "ril-co-clean" else table


def train(checkout: Path, method: str, out: Path) -> None:
    """In a process of its own, so that nothing of the other checkout is in it."""
    request = {
        "out": str(out),
        "method": method,
        # The same file for both: its path is part of the configuration.
        "demos": str(out.parent.parent / "demos.npz"),
        "imitates": method not in ("acktr", "ppo"),
        "steps": 220_000 if method == "ril-co-clean" else 1600,
        "settings": settings(method),
    }
    command = [sys.executable, "-c", TRAIN, json.dumps(request)]
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve() / "src")}
    subprocess.run(command, env=environment, cwd=out.parent, check=True)


def contents(run: Path) -> dict[str, bytes]:
    """What training made, by name: policies, and metrics without the time they took."""
    found = {}
    for file in sorted(run.rglob("*")):
        name = str(file.relative_to(run))
        if file.name == "metrics.jsonl":
            lines = [json.loads(line) for line in file.read_text().splitlines()]
            kept = [{k: v for k, v in line.items() if k not in TIMES} for line in lines]
            found[name] = "\n".join(map(json.dumps, kept)).encode()
        elif file.suffix == ".safetensors" and file.parent.name != "checkpoints":
            found[name] = policy_bytes(file.read_bytes())
    return found


def policy_bytes(data: bytes) -> bytes:
    """A safetensors file without the checksum that its header may carry."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    card = json.loads(header["__metadata__"]["rilco"])
    card.pop("sha256", None)
    header["__metadata__"]["rilco"] = json.dumps(card, sort_keys=True)
    return json.dumps(header).encode() + data[8 + size :]


def differences(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> list[str]:
    """Files that only one has, or that are not the same."""
    return [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]


def compare(method: str, before: Path, after: Path, folder: Path) -> list[str]:
    """Train a method in both checkouts and say what differs."""
    found = []
    for name, checkout in (("before", before), ("after", after)):
        (folder / name).mkdir(exist_ok=True)
        train(checkout, method, folder / name / method)
        found.append(contents(folder / name / method))
    if not found[0]:
        return ["nothing was trained"]
    different = differences(*found)
    said = f"differs in {', '.join(different)}" if different else f"the same, {len(found[0])} files"
    print(f"{method:<16} {said}", flush=True)
    return different


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--keep", type=Path, help="Leave the runs in this folder.")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        methods = options.methods.split(",")
        different = [m for m in methods if compare(m, options.before, options.after, folder)]
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
