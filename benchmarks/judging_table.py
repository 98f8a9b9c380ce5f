"""How right the offline judges are: on the paper's mixtures, and on a folder of mixtures with known truth.

    python benchmarks/judging_table.py --zoo FOLDER                      # NAME.npz beside NAME.truth.json
    python benchmarks/judging_table.py --paper ours gaussian             # the datasets that come with rilco
    python benchmarks/judging_table.py --paper authors --demos ../shared/demos

Right: at least 95% of the good demonstrations are kept and at most 10% of the bad; of a clean set nothing is dropped. Unsure: not
right, and nothing is claimed with 90% or more. What is neither kept nor dropped counts as not kept.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from collections import Counter
from pathlib import Path

import numpy as np

from rilco.data.formats import find_files, load_file
from rilco.data.mixing import RUN_LENGTH, mix
from rilco.data.record import Demonstrations
from rilco.judging.offline import judge_offline
from rilco.judging.verdict import Verdict
from rilco.tasks.robots import ROBOTS


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--zoo", type=Path, nargs="+", default=[], help="Folders of mixtures with known truth."
    )
    parser.add_argument("--reliability", type=Path, help="Draw how often what was called good is good.")
    parser.add_argument("--paper", nargs="+", default=[], choices=["ours", "sampled", "gaussian", "authors"])
    parser.add_argument("--demos", type=Path, help="A folder with the authors' folders.")
    parser.add_argument("--tasks", nargs="+", default=list(ROBOTS))
    parser.add_argument("--rates", nargs="+", type=float, default=[0.0, 0.1, 0.2, 0.3, 0.4])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--pieces", action="store_true", help="Cut everything into pieces of 50 pairs.")
    options = parser.parse_args()
    claims = [claim for folder in options.zoo for claim in zoo_table(folder)]
    if options.reliability:
        draw_reliability(np.array(claims), options.reliability)
    for source in options.paper:
        paper_table(source, options)


def zoo_table(folder: Path) -> list[tuple[float, bool]]:
    """Prints the table, and returns what was claimed of each demonstration and whether it is good."""
    claims: list[tuple[float, bool]] = []
    print(
        "| mixture | verdict | good kept | good dropped | bad kept | bad unsure | sure and wrong | confidence | s |"
    )
    print("|---" * 9 + "|")
    kinds: Counter[str] = Counter()
    for file in sorted(folder.glob("*.npz")):
        demos, truth = load_file(file), json.loads(file.with_suffix(".truth.json").read_text())
        good_of = {row["episode"]: row["good"] for row in truth["episodes"]}
        _, first = np.unique(demos.episode, return_index=True)
        good = np.array([good_of[int(demos.episode[row])] for row in np.sort(first)])
        begin = time.perf_counter()
        verdict = judge_offline(demos)
        kind, numbers = measure(verdict, good, np.ones(len(good)))
        kinds[kind] += 1
        claims += [
            (one.probability, bool(is_good))
            for one, is_good in zip(verdict.demonstrations, good, strict=True)
        ]
        print(f"| {file.stem} | {kind} | {numbers} | {time.perf_counter() - begin:.1f} |", flush=True)
    print(", ".join(f"{kind}: {count}" for kind, count in kinds.most_common()))
    return claims


def draw_reliability(claims: np.ndarray, file: Path) -> None:
    """[C, 2] probabilities of being good, and the truth, in bins; the size of a point is how many there are."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    edges = np.array([0.0, 0.15, 0.3, 0.45, 0.55, 0.65, 0.75, 0.85, 1.0])
    of_bin = np.clip(np.digitize(claims[:, 0], edges) - 1, 0, len(edges) - 2)
    figure, axes = plt.subplots(figsize=(4.5, 4.2), layout="constrained")
    axes.plot([0, 1], [0, 1], color="0.7", linestyle="--", label="calibrated")
    print("\n| claimed to be good | demonstrations | are good |\n|---|---|---|")
    for k in np.unique(of_bin):
        said, good = claims[of_bin == k].mean(0)
        count = int((of_bin == k).sum())
        axes.scatter(said, good, s=15 + count / 6, color="tab:blue", zorder=3)
        axes.annotate(
            f"{count:,}", (said, good), textcoords="offset points", xytext=(0, -18), ha="center", fontsize=8
        )
        print(f"| {said:.0%} | {count:,} | {good:.0%} |")
    axes.set(
        xlabel="probability of being good, as claimed",
        ylabel="share that is good",
        xlim=(0, 1),
        ylim=(-0.1, 1.06),
    )
    axes.legend(loc="upper left", frameon=False)
    figure.savefig(file, dpi=150)


def paper_table(source: str, options: argparse.Namespace) -> None:
    print(
        "| data | task | rate | seed | verdict | expert's pairs kept | dropped | others' kept | unsure | sure and wrong | confidence | AUROC | s |"
    )
    print("|---" * 13 + "|")
    for task in ["ant"] if source == "gaussian" else options.tasks:
        parts = read_parts(source, task, options.demos)
        for rate in options.rates:
            for seed in options.seeds if rate else [1]:
                demos = mix(parts[0], parts[1:], rate, seed=seed)
                if options.pieces:
                    demos = in_pieces(demos)
                of_pair = demos.index.place
                pairs = np.bincount(of_pair)
                assert demos.expert is not None
                good = np.bincount(of_pair, demos.expert) > 0.5 * pairs
                begin = time.perf_counter()
                verdict = judge_offline(demos)
                seconds = time.perf_counter() - begin
                kind, numbers = measure(verdict, good, pairs)
                area = auroc(np.array([each.score for each in verdict.demonstrations]), good)
                cells = [source, task, f"{rate:g}", str(seed), kind, numbers, area, f"{seconds:.1f}"]
                print(f"| {' | '.join(cells)} |", flush=True)


def measure(verdict: Verdict, good: np.ndarray, weight: np.ndarray) -> tuple[str, str]:
    """What the verdict is worth, and its numbers as cells of a table."""
    decisions = verdict.decisions
    probability = np.array([each.probability for each in verdict.demonstrations])

    def share(of: np.ndarray, decision: str) -> float:
        return float((weight * (of & (decisions == decision))).sum() / max((weight * of).sum(), 1.0))

    kept, dropped, others = share(good, "keep"), share(good, "drop"), share(~good, "keep")
    sure_and_wrong = int(((probability >= 0.9) & ~good).sum() + ((probability <= 0.1) & good).sum())
    right = dropped == 0.0 if good.all() else kept >= 0.95 and others <= 0.1
    kind = "right" if right else "sure and wrong" if verdict.sure else "unsure or wrong"
    cells = [kept, dropped, others, share(~good, "unsure")]
    return kind, " | ".join(
        [*(f"{cell:.1%}" for cell in cells), str(sure_and_wrong), f"{verdict.confidence:.0%}"]
    )


def auroc(score: np.ndarray, positive: np.ndarray) -> str:
    if positive.all():
        return ""
    difference = score[positive][:, None] - score[~positive]
    return f"{(difference > 0).mean() + 0.5 * (difference == 0).mean():.4f}"


def read_parts(source: str, task: str, demos: Path | None) -> list[Demonstrations]:
    """The expert's demonstrations first."""
    from rilco.data.collect import collect
    from rilco.data.standard import RUNGS, standard_files
    from rilco.policy.saved import shipped_rung
    from rilco.tasks.table import Task

    if source == "authors":
        assert demos is not None, "--demos names the authors' folder"
        return [load_file(file) for file in find_files(demos / ROBOTS[task].stock_id)]
    if source == "sampled":
        policies = [shipped_rung(task, rung)[0] for rung in RUNGS]
        return [collect(policy, Task(task=task), deterministic=False) for policy in policies]
    return [
        load_file(file) for file in standard_files(Task(task=task), "policy" if source == "ours" else source)
    ]


def in_pieces(demos: Demonstrations) -> Demonstrations:
    of_pair = demos.index.place
    place = np.empty(len(of_pair), np.int64)
    order = np.argsort(of_pair, kind="stable")
    size = np.bincount(of_pair)
    place[order] = np.arange(len(order)) - np.repeat(np.cumsum(size) - size, size)
    piece = of_pair * (int(size.max()) // RUN_LENGTH + 1) + place // RUN_LENGTH
    return dataclasses.replace(demos, episode=np.unique(piece, return_inverse=True)[1])


if __name__ == "__main__":
    main()
