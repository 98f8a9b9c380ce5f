"""`rilco bench`."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command(short_help="Throughput against the bare simulator.")
@click.option("--task", "tasks", multiple=True, help="Only this task; may be repeated.")
@click.option(
    "--iterations", default=150, show_default=True, type=click.IntRange(1), help="Measured, per task."
)
@click.option("--workers", default=2, show_default=True, type=click.IntRange(1))
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Also write the numbers to this file."
)
def command(tasks: tuple[str, ...], iterations: int, workers: int, json_file: Path | None) -> None:
    """Measure RIL-Co's training (train) and its rollouts (pool) against the simulator alone (bare).

    All three see the same motions, back to back in the same run, so their ratios hold on a noisy machine.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from rilco.benchmark import run_benchmark
    from rilco.files import write_atomically
    from rilco.tasks.robots import ROBOTS

    console = Console()
    with console.status("measuring"):
        results = run_benchmark(tasks or tuple(ROBOTS), iterations=iterations, workers=workers)
    columns = ("task", "bare/s", "pool/s", "train/s", "pool/bare", "train/bare", "collect", "learn")
    table = Table(
        *columns, box=box.SIMPLE_HEAD, padding=(0, 1), caption="collect, learn: milliseconds an iteration"
    )
    for task, speed in results["tasks"].items():
        table.add_row(
            task,
            *(f"{speed[name]:,.0f}" for name in ("bare", "pool", "train")),
            *(f"{speed[name] / speed['bare']:.2f}" for name in ("pool", "train")),
            *(f"{results['phases_ms'][task][name]:.1f}" for name in ("collect", "learn")),
        )
    console.print(table)
    console.print(f"{workers} workers; peak memory of all processes {results['peak_rss_mb']:,.0f} MB")
    if json_file is not None:
        write_atomically(json_file, (json.dumps(results, indent=2) + "\n").encode())
