"""`rilco report`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="Figures and tables of runs beside the published results.")
@click.argument("results", type=click.Path(path_type=Path))
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="Folder for the page and the figures."
)
@click.option(
    "--frames/--no-frames", default=True, show_default=True, help="Render strips of what policies do."
)
def command(results: Path, out: Path, frames: bool) -> None:
    """Make one HTML page, with its figures also as PNG and SVG, of whatever runs are in the folder RESULTS.

    \b
    rilco report results/ --out report/
    """
    from rilco.reporting.build import report

    page = report(results, out, frames=frames, say=click.echo)
    click.echo(f"Report: {page}")
