"""Judges side by side, by one command:

    python -m benchmarks.judges.compare --demos AUTHORS_FILES --zoo ZOO/last-word --tools PEERS_ENV/bin/python --out table.md

Numbers are kept in `--results`, a file for each set. Only what is missing there is measured; `--again JUDGE` measures a
judge anew. `--clones TASK` adds the returns of clones, which takes long.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.judges.measuring import clone_return, measure
from benchmarks.judges.peers import JUDGES, Scores
from benchmarks.judges.sets import LabelledSet, paper_sets, zoo_sets
from benchmarks.judges.table import EVERYTHING, EXPERT, page

from rilco.data.formats import save_demonstrations
from rilco.tasks.robots import ROBOTS

TOOLS = ("robot-report-card 0.1.0", "lerobot-doctor 0.2.0", "democlean 0.1.5")


def main() -> None:
    args = _arguments()
    for group, data in _sets(args):
        if not args.sets or data.name in args.sets:
            file = args.results / group / f"{data.name}.json"
            file.parent.mkdir(parents=True, exist_ok=True)
            _fill(file, data, args)
    groups: dict[str, dict[str, Any]] = {}
    for file in sorted(args.results.glob("*/*.json")):
        groups.setdefault(file.parent.name, {})[file.stem] = json.loads(file.read_text())
    args.out.write_text(page(groups))


def _sets(args: argparse.Namespace) -> Iterator[tuple[str, LabelledSet]]:
    if args.demos:
        yield from (("windows", data) for data in paper_sets(args.demos))
    for folder in args.zoo:
        yield from ((folder.resolve().name, data) for data in zoo_sets(folder))


def _fill(file: Path, data: LabelledSet, args: argparse.Namespace) -> None:
    """Measures what is missing of a set, and writes after each judge."""
    bad = round(1.0 - float(data.good.mean()), 4)
    facts = {"demonstrations": len(data.good), "bad": bad, "visible": data.visible, "judges": {}}
    known: dict[str, Any] = json.loads(file.read_text()) if file.exists() else facts
    clones = args.clone_count if data.task in args.clones else 0
    asked: dict[str, Scores] = {}
    names = [*((EXPERT, EVERYTHING) if clones else ()), *JUDGES, *(TOOLS if args.tools else ())]
    for name in names:
        before = {} if name in args.again else known["judges"].get(name, {})
        returns: list[float] = before.get("returns", [])
        if (args.judges and name not in args.judges) or (before and len(returns) >= clones):
            continue
        if name in TOOLS:
            asked = asked or ask_tools(data, args.tools)
        said = asked[name] if name in TOOLS else _ask(name, data)
        numbers, keep = measure(name, said, data)
        numbers = {} if name in (EXPERT, EVERYTHING) else numbers
        returns = returns + [clone_return(data, keep, seed) for seed in range(len(returns) + 1, clones + 1)]
        known["judges"][name] = {**numbers, "returns": returns} if returns else numbers
        file.write_text(json.dumps(known, indent=1) + "\n")
        print(f"{data.name}: {name}: {known['judges'][name]}", flush=True)


def _ask(name: str, data: LabelledSet) -> Scores:
    """A judge; or what is kept for the clones that bound what a judge can do."""
    if name in (EXPERT, EVERYTHING):
        return Scores(data.good.astype(float), data.good | (name == EVERYTHING))
    return JUDGES[name](data.demos)


def ask_tools(data: LabelledSet, python: Path) -> dict[str, Scores]:
    """The scores of the packages in another environment, which read the set as a LeRobot dataset."""
    with tempfile.TemporaryDirectory() as folder:
        dataset = Path(folder) / "dataset"
        save_demonstrations(data.demos, dataset, "lerobot")
        command = [str(python), str(Path(__file__).with_name("tools.py")), str(dataset)]
        answer = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {name: Scores(np.array(scores)) for name, scores in json.loads(answer).items()}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Judges side by side: AUROC, and returns of clones.")
    parser.add_argument("--demos", type=Path, help="folder of the authors' files, a folder for each task")
    parser.add_argument("--zoo", type=Path, nargs="*", default=[], help="one half of the zoo, or both")
    parser.add_argument("--sets", nargs="*", help="only these")
    parser.add_argument(
        "--tools", type=Path, help="Python of the environment that holds the packages of others"
    )
    parser.add_argument("--judges", nargs="*", help="only these")
    parser.add_argument("--again", nargs="*", default=[], metavar="JUDGE", help="measured anew")
    parser.add_argument("--clones", nargs="*", default=[], choices=ROBOTS, help="tasks to try clones in")
    parser.add_argument("--clone-count", type=int, default=2, help="clones of what each judge keeps")
    parser.add_argument("--results", type=Path, default=Path("results/judges"))
    parser.add_argument("--out", type=Path, required=True, help="the tables, as Markdown")
    return parser.parse_args()


if __name__ == "__main__":
    main()
