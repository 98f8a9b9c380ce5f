"""`rilco report`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="Figures and tables of runs beside the published results.")
@click.argument("results", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder of the page and figures.")
def command(results: Path, out: Path) -> None:
    """Make one HTML page of the runs in the folder RESULTS. Its figures are also written as PNG and SVG.

    \b
    rilco report results/ --out report/
    """
    from rilco.reporting.build import report

    page = report(results, out, say=click.echo)
    click.echo(f"Report: {page}")
