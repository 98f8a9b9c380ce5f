"""How time and memory of the offline judges grow, each size in a process of its own.

    python benchmarks/judging_speed.py --picture docs/figures/judging-speed.png

Processor time is counted, of one thread for linear algebra, so that a busy machine does little harm.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

SIZES = ((175, 100), (1_000, 100), (300, 1_000), (1_000, 1_000), (5_000, 1_000), (2_000, 20), (10_000, 20))
"""Demonstrations, and pairs of each."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--picture", type=Path)
    parser.add_argument(
        "--one", nargs=2, type=int, metavar=("DEMONSTRATIONS", "PAIRS"), help="One size, here."
    )
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(*options.one)))
        return
    print("| demonstrations | pairs | processor time | memory | good kept | bad kept |")
    print("|---" * 6 + "|")
    rows = []
    for demonstrations, pairs in SIZES:
        command = [sys.executable, __file__, "--one", str(demonstrations), str(pairs)]
        one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=one_thread)
        row = json.loads(done.stdout)
        rows.append((demonstrations, demonstrations * pairs, row))
        print(
            f"| {demonstrations:,} | {demonstrations * pairs:,} | {row['seconds']:.0f} s | {row['gigabytes']:.2f} GB "
            f"| {row['good_kept']:.0%} | {row['bad_kept']:.0%} |",
            flush=True,
        )
    if options.picture:
        draw(rows, options.picture)


def measure(demonstrations: int, pairs: int) -> dict[str, float]:
    from rilco.data.record import Demonstrations
    from rilco.judging.offline import judge_offline

    rng = np.random.default_rng(0)
    gain = 0.3 * rng.standard_normal((6, 2))
    bad = np.arange(demonstrations) >= 0.8 * demonstrations
    state = rng.standard_normal((demonstrations, 6))
    obs = np.empty((demonstrations, pairs, 6), np.float32)
    action = np.empty((demonstrations, pairs, 2), np.float32)
    for step in range(pairs):
        obs[:, step] = state
        action[:, step] = state @ gain + bad[:, None] + 0.05 * rng.standard_normal((demonstrations, 2))
        state = 0.9 * state + 0.3 * rng.standard_normal(state.shape)
        state[:, :2] += 0.1 * action[:, step]
    episode = np.repeat(np.arange(demonstrations), pairs)
    demos = Demonstrations(obs.reshape(-1, 6), action.reshape(-1, 2), episode=episode)
    begin = time.process_time()
    kept = judge_offline(demos).decisions == "keep"
    return {
        "seconds": time.process_time() - begin,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "good_kept": float(kept[~bad].mean()),
        "bad_kept": float(kept[bad].mean()),
    }


def draw(rows: list[tuple[int, int, dict[str, float]]], file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter

    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    for panel, name, label in (
        (axes[0], "seconds", "processor time (s)"),
        (axes[1], "gigabytes", "memory (GB)"),
    ):
        for short, words in ((False, "100 or 1,000 pairs each"), (True, "20 pairs each")):
            some = sorted((pairs, row[name]) for count, pairs, row in rows if (pairs == 20 * count) == short)
            panel.plot(*zip(*some, strict=True), marker="o", label=words)
        panel.set(xscale="log", yscale="log", xlabel="pairs", ylabel=label)
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter(NullFormatter())
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    figure.savefig(file, dpi=150)


if __name__ == "__main__":
    main()
