"""Is the rule's cut a matter of luck? Judge recorded scores again, with most of the bad demonstrations taken away at random.

    python benchmarks/audit_replay.py --out runs/audits [--demos ../shared/demos]

Takes the scores that audit_table.py recorded; prints the cases in which less than 99% of the expert's pairs were kept or more
than 2% of the others', and how many cases there were.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from audit_table import AUTHORS, against_labels, read_scores
from rilco.data.loading import load_demonstrations
from rilco.data.standard import standard_files
from rilco.judging.classifiers import Scores
from rilco.tasks.table import Task

LEFT = (5, 20, 50)  # bad demonstrations
DRAWS = 5
LEAST_EXPERT, MOST_OTHER = 0.99, 0.02


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--demos", type=Path, help="The authors' folders, to replay audits of those, too.")
    options = parser.parse_args()
    rows = [(file, json.loads(file.read_text())) for file in sorted(options.out.glob("*.json"))]
    cases, failed = dict.fromkeys(LEFT, 0), dict.fromkeys(LEFT, 0)
    for file, row in rows:
        if row["rate"] == 0 or (row["source"] == "authors" and not options.demos):
            continue
        authors = row["source"] == "authors"
        files = (
            [str(options.demos / AUTHORS[row["task"]])] if authors else standard_files(Task(task=row["task"]))
        )
        demos = load_demonstrations(files, row["rate"])
        scores = read_scores(file.with_suffix(".scores.npz"))
        assert demos.expert is not None
        bad = np.unique(demos.episode[~demos.expert])
        for left in LEFT:
            for draw in range(DRAWS):
                some = np.random.default_rng(draw).permutation(bad)[:left]
                rest = demos.expert | np.isin(demos.episode, some)
                part = demos.select(rest)
                fewer = Scores(scores.stretches[:, rest], scores.policy, scores.transitions)
                found = against_labels(fewer, part)
                cases[left] += 1
                if found["expert_kept"] < LEAST_EXPERT or found["other_kept"] > MOST_OTHER:
                    failed[left] += 1
                    kept = f"kept of the expert {found['expert_kept']:.1%}, of the others {found['other_kept']:.1%}"
                    print(f"{file.stem}, {left} bad left, draw {draw}: {found['kind']}, {kept}", flush=True)
    for left in LEFT:
        print(f"{left} bad demonstrations left: {failed[left]} of {cases[left]} cases failed")


if __name__ == "__main__":
    main()
