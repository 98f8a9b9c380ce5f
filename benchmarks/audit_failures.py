"""Mixtures that should be hard for the audit, made of the policies that come with rilco.

    python benchmarks/audit_failures.py --out runs/hard --task hopper

Prints one row of a table for each; finished ones are not repeated.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from rilco.data.collect import collect
from rilco.data.formats import load_file, save_demonstrations
from rilco.data.loading import load_demonstrations
from rilco.data.mixing import mix
from rilco.data.record import Demonstrations, concatenate
from rilco.data.standard import standard_files
from rilco.judging.audit import audit
from rilco.judging.verdict import compare
from rilco.policy.saved import shipped_rung
from rilco.runs.how import How
from rilco.tasks.table import Task


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--task", default="hopper")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--offline", action="store_true", help="Without RIL-Co's classifiers: seconds each.")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, demos in cases(Task(task=options.task)):
        result = options.out / f"{options.task}-{name}.json"
        if not result.exists():
            file = options.out / f"{options.task}-{name}.npz"
            save_demonstrations(demos, file)
            made = audit(
                file,
                task=options.task,
                offline=options.offline,
                out=result.with_suffix(""),
                how=How(options.workers, quiet=True),
            )
            truth, verdict = compare(made.verdict, made.demonstrations), made.verdict
            assert truth is not None, "the mixtures have labels"
            row = {"sure": verdict.sure, "confidence": verdict.confidence, **truth._asdict()}
            result.write_text(json.dumps(row) + "\n")
        row = json.loads(result.read_text())
        numbers = [row[key] for key in ("confidence", "auroc", "good_kept", "bad_kept")]
        shown = ["" if number is None else f"{number:.3f}" for number in numbers]
        noise = f"{demos.noise_fraction:.0%}"
        print(f"| {name} | {noise} | {' | '.join(shown)} |", flush=True)


def cases(task: Task) -> Iterator[tuple[str, Demonstrations]]:
    files = standard_files(task)
    expert, *others = [load_file(file) for file in files]
    for rate in (0.45, 0.49):
        yield f"noise rate {rate:g}", load_demonstrations(files, rate)
    episodes = list(expert.episodes())
    yield "one expert episode", mix(episodes[0], others, 0.4)
    yield "two expert episodes", mix(concatenate(episodes[:2]), others, 0.4)
    for place in (1, 3):  # whole episodes, as many and as long as the expert's
        policy, _ = shipped_rung(task.name, place + 1)
        bad = collect(
            policy, task, pairs=int(0.75 * len(expert)), seed=7, name=f"rung {place + 1}", expert=False
        )
        yield f"one bad demonstrator, rung {place + 1}", concatenate([expert, bad])
    policy, _ = shipped_rung(task.name, 1)
    for variance in (0.01, 0.1):  # the expert's own actions, a little shaken
        near = collect(policy, task, pairs=7_500, seed=8, action_noise=variance, name="near", expert=False)
        yield f"the expert with noise {variance:g}", concatenate([expert, near])
    majority = mix(expert, others, 0.4)
    flipped = dataclasses.replace(majority, noise_rate=None)
    few = np.isin(flipped.episode, np.unique(flipped.episode[flipped.expert])[:4])
    yield "60% bad", flipped.select(few | ~np.asarray(flipped.expert))


if __name__ == "__main__":
    main()
