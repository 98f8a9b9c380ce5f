"""How well the audit finds bad demonstrations: all tasks, noise rates and seeds, on one collection of datasets.

    python benchmarks/audit_table.py --out runs/audits                         # the datasets that come with rilco
    python benchmarks/audit_table.py --out runs/audits --demos ../shared/demos # the authors'
    python benchmarks/audit_table.py --out runs/audits --show                  # the table of what there is

Every audit is `rilco audit` in a folder of its own, with its scores and one line of JSON beside it; finished ones are not
repeated, but `--again` judges their scores by the rule as it is now.
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np

from rilco.cli.audit import STEPS
from rilco.config import RunConfig
from rilco.data.formats.files import atomic_write
from rilco.data.of_run import read_demonstrations
from rilco.judging.auditing import in_pieces, train_and_audit
from rilco.judging.judged import WINDOW_PAIRS
from rilco.judging.judging import judge
from rilco.judging.scoring import Scores
from rilco.judging.truth import compare
from rilco.options import make_config
from rilco.runs.how import How

AUTHORS = {
    "halfcheetah": "HalfCheetahBulletEnv-v0",
    "hopper": "HopperBulletEnv-v0",
    "walker2d": "Walker2DBulletEnv-v0",
    "ant": "AntBulletEnv-v0",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--demos", type=Path, help="A folder with the authors' folders; else our own datasets."
    )
    parser.add_argument("--tasks", nargs="+", default=list(AUTHORS))
    parser.add_argument("--rates", nargs="+", type=float, default=[0.4, 0.0, 0.1, 0.2, 0.3])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--workers", type=int)
    parser.add_argument("--again", action="store_true", help="Judge the scores that were recorded once more.")
    parser.add_argument("--show", action="store_true", help="Only print the table.")
    options = parser.parse_args()
    if options.show:
        show(options.out)
        return
    source = "authors" if options.demos else "ours"
    for seed, rate, task in itertools.product(options.seeds, options.rates, options.tasks):
        folder = options.out / f"{source}-{task}-{rate:g}-seed{seed}"
        recorded, result = (folder.with_name(folder.name + ending) for ending in (".scores.npz", ".json"))
        if result.exists() and not options.again:
            continue
        demos = str(options.demos / AUTHORS[task]) if options.demos else None
        config = make_config({"task": task, "demos": demos, "noise_rate": rate, "steps": STEPS, "seed": seed})
        if not recorded.exists():
            audited = train_and_audit(config, folder, how=How(options.workers, quiet=True))
            with atomic_write(recorded) as temporary, temporary.open("wb") as file:
                np.savez_compressed(file, **audited.scores._asdict())
        line = {"source": source, "task": task, "rate": rate, "seed": seed, **measure(config, recorded)}
        result.write_text(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)


def read_scores(recorded: Path) -> Scores:
    with np.load(recorded) as arrays:
        return Scores(arrays["stretches"], arrays["policy"], int(arrays["transitions"]))


def measure(config: RunConfig, recorded: Path) -> dict[str, Any]:
    """The verdict by recorded scores against the labels, as the data is and cut into pieces."""
    scores = read_scores(recorded)
    demos = read_demonstrations(config)
    assert demos is not None
    found = {}
    for name, judged in {"whole": demos, "pieces": in_pieces(demos, WINDOW_PAIRS)}.items():
        audit, pairs = judge(scores, judged, task="", files=(), seeds=(config.seed,))
        truth, noise = compare(pairs, judged), audit.noise_fraction
        assert truth is not None, "the datasets have labels"
        found[name] = {
            "kind": audit.verdict.kind,
            "confidence": audit.verdict.confidence,
            "noise": None if noise is None else [noise.low, noise.estimate, noise.high],
            **truth._asdict(),
        }
    facts = {"transitions": scores.transitions, "true_noise": demos.noise_fraction}
    return {**facts, **found["whole"], "pieces": found["pieces"]}


def show(out: Path) -> None:
    """A line for each source, task and rate: the worst over seeds."""
    rows = [json.loads(file.read_text()) for file in sorted(out.glob("*.json"))]
    keys = sorted({(row["source"], row["task"], row["rate"]) for row in rows})
    columns = ("pair_auroc", "window_auroc", "demonstration_auroc", "expert_kept", "other_kept")
    print(
        "| data | task | rate | seeds | verdict | pairs | windows | demonstrations | expert kept | others kept "
        "| pieces: verdict | expert kept | others kept |"
    )
    print("|---" * 13 + "|")
    for source, task, rate in keys:
        mine = [row for row in rows if (row["source"], row["task"], row["rate"]) == (source, task, rate)]
        pieces = [row["pieces"] for row in mine]
        # Of pieces alone no window would know its neighbours.
        worst = [worst_of(pieces if name == "window_auroc" else mine, name) for name in columns]
        of_pieces = [kinds(pieces), *(worst_of(pieces, name) for name in columns[-2:])]
        cells = [source, task, f"{rate:g}", str(len(mine)), kinds(mine), *worst, *of_pieces]
        print(f"| {' | '.join(cells)} |")


def kinds(rows: list[dict[str, Any]]) -> str:
    return ", ".join(sorted({row["kind"] for row in rows}))


def worst_of(rows: list[dict[str, Any]], name: str) -> str:
    values = [row[name] for row in rows if row[name] is not None]
    worst = max if name == "other_kept" else min
    return format(worst(values), ".1%" if name.endswith("kept") else ".3f") if values else ""


if __name__ == "__main__":
    main()
