"""`rilco bench`."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command(short_help="Throughput against the bare simulator.")
@click.option("--task", "tasks", multiple=True, help="Only this task; may be repeated.")
@click.option("--methods", default="ril-co", show_default=True, help="Names with commas, or `all`.")
@click.option("--iterations", default=150, show_default=True, type=click.IntRange(1), help="For each task.")
@click.option("--workers", default=2, show_default=True, type=click.IntRange(1))
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path), help="Also write the numbers to this file."
)
def command(tasks: tuple[str, ...], methods: str, json_file: Path | None, **how: int) -> None:
    """Measure training (train) and rollouts (pool) against the simulator alone (bare).

    All three make the same motions, back to back in one run, so their ratios hold on a noisy machine. Compare methods
    by train/bare. For bc, gradient steps per second are measured.

    \b
    rilco bench
    rilco bench --task halfcheetah --methods all
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from rilco.cli.throughput import run_benchmark
    from rilco.files import write_atomically
    from rilco.tasks.robots import ROBOTS

    console = Console()
    with console.status("measuring"):
        results = run_benchmark(tasks or tuple(ROBOTS), methods=read_methods(methods), **how)
    columns = ("task", "method", "bare/s", "pool/s", "train/s", "pool/bare", "train/bare")
    table = Table(*columns, box=box.SIMPLE_HEAD, padding=(0, 1))
    notes = []
    for method, measured in results["methods"].items():
        for task, found in measured.items():
            speeds = [f"{found[name]:,.0f}" for name in ("bare", "pool", "train")]
            table.add_row(
                task, method, *speeds, *(f"{found[x] / found['bare']:.2f}" for x in ("pool", "train"))
            )
            shown = ", ".join(f"{name} {ms:.1f} ms" for name, ms in found["ms_per_iteration"].items())
            notes.append(
                f"{task}, {method}, an iteration: {shown}; peak memory {found['peak_rss_mb']:,.0f} MB"
            )
    if "bc_steps_per_second" in results:
        notes.append(f"bc: {results['bc_steps_per_second']:,.0f} gradient steps per second")
    console.print(table)
    console.print("\n".join(notes), soft_wrap=True)
    if json_file is not None:
        write_atomically(json_file, (json.dumps(results, indent=2) + "\n").encode())


def read_methods(text: str) -> tuple[str, ...]:
    from rilco.errors import ConfigError
    from rilco.methods import METHODS, find

    if text == "all":  # `gail` has the loss of another method
        single = [name for name, method in METHODS.items() if method.imitates and method.runner != "several"]
        return tuple(name for name in single if name != "gail")
    methods = tuple(text.split(","))
    if several := [method for method in methods if find(method).runner == "several"]:
        raise ConfigError(
            f"--methods {several[0]}: is an audit, perhaps RIL-Co, and cloning. Measure those: ril-co,bc."
        )
    return methods
