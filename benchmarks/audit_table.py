"""How well RIL-Co's classifiers alone find bad demonstrations: all tasks, noise rates and seeds, on one collection of datasets.

    python benchmarks/audit_table.py --out runs/audits                         # the datasets that come with rilco
    python benchmarks/audit_table.py --out runs/audits --demos ../shared/demos # the authors'
    python benchmarks/audit_table.py --out runs/audits --show                  # the table of what there is
    python benchmarks/audit_table.py --out runs/audits --replay                # with most of the bad ones taken away

Every audit is a training in a folder of its own, with its scores and one line of JSON beside it; finished ones are not
repeated, but `--again` judges their scores by the rule as it is now.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rilco.config import RunConfig
from rilco.data.formats.files import atomic_write
from rilco.data.loading import load_demonstrations
from rilco.data.record import Demonstrations
from rilco.data.run_data import read_demonstrations
from rilco.data.standard import standard_files
from rilco.judging.audit import STEPS
from rilco.judging.audit_config import AuditConfig
from rilco.judging.classifiers import Scores
from rilco.judging.ruling import rule
from rilco.judging.simulator import train_and_classify
from rilco.judging.verdict import auroc
from rilco.judging.windows import group, in_pieces
from rilco.options import make_config
from rilco.runs.how import How
from rilco.tasks.robots import ROBOTS
from rilco.tasks.table import Task

CONFIG = AuditConfig()
LEFT, DRAWS = (5, 20, 50), 5  # bad demonstrations in a replay, and how often they are drawn
LEAST_EXPERT, MOST_OTHER = 0.99, 0.02


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--demos", type=Path, help="A folder with the authors' folders; else our own datasets."
    )
    parser.add_argument("--tasks", nargs="+", default=list(ROBOTS))
    parser.add_argument("--rates", nargs="+", type=float, default=[0.4, 0.0, 0.1, 0.2, 0.3])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--workers", type=int)
    parser.add_argument("--again", action="store_true", help="Judge the scores that were recorded once more.")
    parser.add_argument("--show", action="store_true", help="Only print the table.")
    parser.add_argument("--replay", action="store_true", help="Only judge parts of what was recorded.")
    options = parser.parse_args()
    if options.show:
        show(options.out)
        return
    if options.replay:
        replay(options.out, options.demos)
        return
    source = "authors" if options.demos else "ours"
    for seed, rate, task in itertools.product(options.seeds, options.rates, options.tasks):
        folder = options.out / f"{source}-{task}-{rate:g}-seed{seed}"
        recorded, result = (folder.with_name(folder.name + ending) for ending in (".scores.npz", ".json"))
        if result.exists() and not options.again:
            continue
        demos = str(options.demos / ROBOTS[task].stock_id) if options.demos else None
        config = make_config({"task": task, "demos": demos, "noise_rate": rate, "steps": STEPS, "seed": seed})
        if not recorded.exists():
            classified = train_and_classify(config, folder, CONFIG, how=How(options.workers, quiet=True))
            with atomic_write(recorded) as temporary, temporary.open("wb") as file:
                facts = {"transitions": classified.scores.transitions, "policy": classified.scores.policy}
                np.savez_compressed(file, stretches=classified.scores.stretches, **facts)
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
    whole = against_labels(scores, demos)
    facts = {"transitions": scores.transitions, "true_noise": demos.noise_fraction}
    return {**facts, **whole, "pieces": against_labels(scores, in_pieces(demos, CONFIG.window_pairs))}


def against_labels(scores: Scores, demos: Demonstrations) -> dict[str, Any]:
    """What the classifiers decide on these demonstrations, and how it compares with their labels."""
    expert, grouping = demos.expert, group(demos)
    assert expert is not None, "the datasets have labels"
    ruling = rule(scores, grouping, CONFIG)
    keep = ruling.kept[grouping.of_pair]
    steadied = grouping.steadied(scores.pairs, CONFIG.around)
    return {
        "kind": ruling.kind,
        "confidence": ruling.confidence,
        "pair_auroc": auroc(steadied, expert),
        "demonstration_auroc": auroc(ruling.scores, grouping.means(expert) > 0.5),
        "expert_kept": float(keep[expert].mean()) if expert.any() else None,
        "other_kept": float(keep[~expert].mean()) if not expert.all() else None,
    }


def show(out: Path) -> None:
    """A line for each source, task and rate: the worst over seeds."""
    rows = [json.loads(file.read_text()) for file in sorted(out.glob("*.json"))]
    keys = sorted({(row["source"], row["task"], row["rate"]) for row in rows})
    columns = ("pair_auroc", "demonstration_auroc", "expert_kept", "other_kept")
    print(
        "| data | task | rate | seeds | verdict | pairs | demonstrations | expert kept | others kept "
        "| pieces: verdict | windows | expert kept | others kept |"
    )
    print("|---" * 13 + "|")
    for source, task, rate in keys:
        mine = [row for row in rows if (row["source"], row["task"], row["rate"]) == (source, task, rate)]
        pieces = [row["pieces"] for row in mine]
        worst = [worst_of(mine, name) for name in columns]
        of_pieces = [kinds(pieces), *(worst_of(pieces, name) for name in columns[-3:])]
        cells = [source, task, f"{rate:g}", str(len(mine)), kinds(mine), *worst, *of_pieces]
        print(f"| {' | '.join(cells)} |")


def replay(out: Path, authors: Path | None) -> None:
    """Is the rule's cut a matter of luck? Judge recorded scores with most of the bad demonstrations taken away at random.

    Prints the cases in which less than 99% of the expert's pairs were kept, or more than 2% of the others'.
    """
    cases, failed = dict.fromkeys(LEFT, 0), dict.fromkeys(LEFT, 0)
    for file in sorted(out.glob("*.json")):
        row = json.loads(file.read_text())
        if row["rate"] == 0 or (row["source"] == "authors" and authors is None):
            continue
        if row["source"] == "authors" and authors is not None:
            files: Sequence[str] = [str(authors / ROBOTS[row["task"]].stock_id)]
        else:
            files = standard_files(Task(task=row["task"]))
        demos = load_demonstrations(files, row["rate"])
        scores = read_scores(file.with_suffix(".scores.npz"))
        assert demos.expert is not None
        bad = np.unique(demos.episode[~demos.expert])
        for left, draw in itertools.product(LEFT, range(DRAWS)):
            rest = demos.expert | np.isin(demos.episode, np.random.default_rng(draw).permutation(bad)[:left])
            fewer = Scores(scores.stretches[:, rest], scores.policy, scores.transitions)
            found = against_labels(fewer, demos.select(rest))
            cases[left] += 1
            if found["expert_kept"] < LEAST_EXPERT or found["other_kept"] > MOST_OTHER:
                failed[left] += 1
                kept = (
                    f"kept of the expert {found['expert_kept']:.1%}, of the others {found['other_kept']:.1%}"
                )
                print(f"{file.stem}, {left} bad left, draw {draw}: {found['kind']}, {kept}", flush=True)
    for left in LEFT:
        print(f"{left} bad demonstrations left: {failed[left]} of {cases[left]} cases failed")


def kinds(rows: list[dict[str, Any]]) -> str:
    return ", ".join(sorted({row["kind"] for row in rows}))


def worst_of(rows: list[dict[str, Any]], name: str) -> str:
    values = [row[name] for row in rows if row[name] is not None]
    worst = max if name == "other_kept" else min
    return format(worst(values), ".1%" if name.endswith("kept") else ".3f") if values else ""


if __name__ == "__main__":
    main()
