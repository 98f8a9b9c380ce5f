"""Write the tables and figures of the documentation from results/, so that no number is typed.

    python -m benchmarks.write_results [--check]

A block of a page stands between `<!-- begin NAME -->` and `<!-- end NAME -->`. With --check nothing is written, and
a page that is not up to date is an error.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from benchmarks.former_results import draw_extensions, extensions_table, method_table, millions_table

from rilco.experiment.published import POLICY
from rilco.reporting.aggregate import experts
from rilco.reporting.cells import Sorted, sort_results
from rilco.reporting.drawing import draw_figure
from rilco.reporting.figures import curve_figure
from rilco.reporting.seeds import SeedComparison, compare_seeds, seeds_figures
from rilco.reporting.style import in_order, method_style, number, task_label
from rilco.runs.folder import Run
from rilco.runs.results import read_results
from rilco.words import plural

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "README.md", ROOT / "docs" / "results.md", ROOT / "docs" / "environments.md")
FIGURES = ROOT / "docs" / "figures"
RATE = 0.4
HEADLINE = ("ril-co", "gail-logistic")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a page would change")
    check = parser.parse_args().check
    stale = write(check=check)
    for page in stale if check else ():
        print(f"{page.relative_to(ROOT)}: not up to date; run python -m benchmarks.write_results")
    return int(check and bool(stale))


def write(*, check: bool) -> list[Path]:
    """Bring all pages and figures up to date, or only `check`; returns the pages that are or were not."""
    found = sort_results(read_results(ROOT / "results" / "evidence"))
    rows = compare_seeds(found.cells)
    blocks: dict[str, Callable[[], str]] = {
        "seeds": lambda: seeds_table(rows),
        "headline": lambda: headline_sentence(rows),
        "progress": lambda: progress_table(found),
        "discrete": discrete_table,
        "methods": lambda: method_table(ROOT / "results" / "authors-files"),
        "millions": lambda: millions_table(ROOT / "results" / "ours"),
        "extensions": lambda: extensions_table(ROOT / "results" / "extensions"),
    }
    if not check:
        draw(found, rows)
    return [page for page in PAGES if update(page, blocks, check=check)]


def update(page: Path, blocks: dict[str, Callable[[], str]], *, check: bool) -> bool:
    """Fill in a page's blocks; returns whether it changed."""
    text = page.read_text()
    new = re.sub(
        r"(<!-- begin (\S+) -->\n).*?(<!-- end \2 -->)",
        lambda match: f"{match[1]}{blocks[match[2]]()}\n{match[3]}",
        text,
        flags=re.DOTALL,
    )
    if new != text and not check:
        page.write_text(new)
    return new != text


def seeds_table(rows: Sequence[SeedComparison]) -> str:
    lines = [
        "| task | method | million | ours, each seed | mean ± s.e. | published, each seed | mean ± s.e. | p (Holm) | verdict |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        groups = [
            f"{' '.join(f'{v:.0f}' for v in group)} | {mean(group)}" for group in (row.ours, row.published)
        ]
        p = "–" if row.p_value is None else f"{row.p_value:.2g}"
        name = f"{task_label(row.key.task)} | {method_style(row.key.method).label}"
        lines.append(f"| {name} | {row.span} | {' | '.join(groups)} | {p} | {row.verdict} |")
    return "\n".join(lines)


def mean(group: np.ndarray) -> str:
    if len(group) < 2:
        return f"{group.mean():,.0f}"
    return f"{group.mean():,.0f} ± {group.std(ddof=1) / np.sqrt(len(group)):,.0f}"


def headline_sentence(rows: Sequence[SeedComparison]) -> str:
    """RIL-Co beside GAIL, a sentence a task that has both."""
    sentences = []
    for task in in_order(row.key.task for row in rows):
        at_rate = [row for row in rows if row.key.task == task and row.key.noise_rate == RATE]
        for million in sorted({row.million for row in at_rate}):
            here = {row.key.method: row for row in at_rate if row.million == million}
            if not set(HEADLINE) <= set(here):
                continue
            ours, gail = (here[method] for method in HEADLINE)
            sentences.append(
                f"{task_label(task)}, {ours.span}: RIL-Co {mean(ours.ours)} ({plural(len(ours.ours), 'seed')}; published "
                f"{number(ours.published.mean())}), GAIL {mean(gail.ours)} ({plural(len(gail.ours), 'seed')}; published "
                f"{number(gail.published.mean())})."
            )
    return "\n".join(f"- {sentence}" for sentence in sentences)


def progress_table(found: Sorted) -> str:
    """What has been run so far."""
    lines = ["| task | method | seeds | transitions |", "|---|---|---|---|"]
    for key, cell in sorted(found.cells.items()):
        lengths = sorted({f"{length / 1e6:.2g} M" for length in cell.lengths})
        lines.append(
            f"| {task_label(key.task)} | {method_style(key.method).label} | {len(cell.runs)} | {', '.join(lengths)} |"
        )
    return "\n".join(lines)


def discrete_table() -> str:
    """The last evaluation of every run of benchmarks/discrete.py."""
    lines = [
        "| environment | method | transitions | each seed | mean | episodes |",
        "|---|---|---|---|---|---|",
    ]
    runs = read_results(ROOT / "results" / "discrete").runs
    places = [(run.config.task.name, run.config.method, run.config.lasting_ends) for run in runs]
    for cell in sorted(set(places)):
        here = [run for run, place in zip(runs, places, strict=True) if place == cell]
        last = [Run(run.path).evaluations()[-1] for run in sorted(here, key=lambda run: run.config.seed)]
        returns = [line["eval_return"] for line in last]
        lengths = {run.config.method: f"{run.config.steps:,}" for run in here}
        transitions = "none" if cell[1] == "bc" else lengths[cell[1]]
        shown = " ".join(f"{value:,.0f}" for value in returns)
        episodes = ", ".join(sorted({str(line["eval_episodes"]) for line in last}))
        lines.append(
            f"| {cell[0]} | {cell[1]}{', lasting ends' if cell[2] else ''} | {transitions} | {shown} | {np.mean(returns):,.0f} | {episodes} |"
        )
    return "\n".join(lines)


def draw(found: Sorted, rows: Sequence[SeedComparison]) -> None:
    keys = [key for key in found.cells if key.method in HEADLINE]
    headline = curve_figure("headline", (POLICY, RATE), keys, HEADLINE, found.cells, experts())
    for figure in (headline, *seeds_figures(rows)):
        (FIGURES / f"{figure.name}.png").write_bytes(draw_figure(figure).png)
    draw_extensions(ROOT / "results" / "extensions", FIGURES / "extensions.png")


if __name__ == "__main__":
    sys.exit(main())
