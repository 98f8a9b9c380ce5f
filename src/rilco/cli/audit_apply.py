"""`rilco audit apply`, and what both commands of the audit write."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rilco.cli.sources import trust_option
from rilco.errors import ConfigError

if TYPE_CHECKING:
    from rilco.data.record import Demonstrations
    from rilco.judging.audit import Audit

WRITTEN = ("keep", "drop", "annotate")


def writing_options(function: Callable[..., None]) -> Callable[..., None]:
    """What both commands write."""
    options = (
        click.option("--keep", help="Write the demonstrations that are kept, in the format of this name."),
        click.option("--drop", help="Write those that are dropped."),
        click.option(
            "--unsure",
            type=click.Choice(("keep", "drop")),
            help="Count the unsure ones as these.  [default: in neither]",
        ),
        click.option(
            "--annotate",
            help="Write all as a .minari or .lerobot dataset, with the verdict as episode metadata.",
        ),
        click.option("--overwrite", is_flag=True, help="Replace files of these names."),
        click.option(
            "--cut", type=float, metavar="SCORE", help="Keep what scores at least so much, drop the rest."
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


@click.command("apply")
@click.argument("audit", type=click.Path(path_type=Path), metavar="AUDIT")
@click.argument("decisions", required=False, type=click.Path(path_type=Path), metavar="[DECISIONS.CSV]")
@click.option("--demos", multiple=True, help="Where the demonstrations are, if they have moved.")
@writing_options
@click.option(
    "--out", type=click.Path(path_type=Path), help="Also write the audit anew, with these decisions."
)
@trust_option
def apply_command(**options: Any) -> None:
    """Write what an audit keeps and drops: by its own verdict, by the decisions.csv of its page, or by a cut.

    \b
    rilco audit apply audit-mine decisions.csv --keep good.hdf5 --drop bad.hdf5
    rilco audit apply audit-mine --cut 0.4 --keep good.lerobot
    """
    from rilco.judging.audit import load_audit
    from rilco.judging.record import read_decisions

    if options["decisions"] is not None and options["cut"] is not None:
        raise ConfigError(f"{options['decisions']} and --cut {options['cut']:g}: give one of the two.")
    check_targets(options)
    made = load_audit(options["audit"], options["demos"] or None, trust_env=options["trust_env"])
    if options["decisions"] is not None:
        made = made.decided(read_decisions(options["decisions"], made.verdict))
    elif options["cut"] is not None:
        made = made.cut_at(options["cut"])
    check_formats_of(made.demonstrations, options)
    if options["out"] is not None:
        click.echo(f"Page: {made.save(options['out'])}")
    write_datasets(made, options)
    if all(options[name] is None for name in (*WRITTEN, "out")):
        click.echo(f"{made.verdict.summary} Nothing was written: name --keep, --drop, --annotate or --out.")


def check_targets(options: dict[str, Any]) -> None:
    """What cannot be written shall fail before anything is judged."""
    from rilco.cli.demos import check_target
    from rilco.data.formats import target_format

    names = [name for name in WRITTEN if options[name] is not None]
    places = [os.path.realpath(options[name]) for name in names]
    if len(set(places)) < len(places):
        shown = ", ".join(f"--{name} {options[name]}" for name in names)
        raise ConfigError(f"{shown}: one would replace the other. Give each a name of its own.")
    for name in names:
        check_target(options[name], None, options["overwrite"], f"--{name}")
    if options["annotate"] is not None and target_format(options["annotate"], None)[1].name not in (
        "minari",
        "lerobot",
    ):
        raise ConfigError(
            f"--annotate {options['annotate']}: expected a name that ends in .minari or .lerobot."
        )


def check_formats_of(demos: Demonstrations, options: dict[str, Any]) -> None:
    from rilco.judging.before import check_formats

    check_formats(demos, [(f"--{name}", options[name]) for name in WRITTEN if options[name] is not None])


def write_datasets(made: Audit, options: dict[str, Any]) -> None:
    from rilco.cli.demos import save
    from rilco.judging.annotate import save_annotated

    count = int((made.verdict.decisions == "unsure").sum())
    if options["unsure"] is not None:
        unsure = {
            one.index: options["unsure"] for one in made.verdict.demonstrations if one.decision == "unsure"
        }
        made = made.decided(unsure, f"It was unsure, and you said: {options['unsure']}.")
    elif count and (options["keep"] is not None or options["drop"] is not None):
        click.echo(
            f"{count:,} unsure demonstrations are in neither file; --unsure keep or --unsure drop puts them there."
        )
    for name, part in (("keep", made.kept), ("drop", made.dropped)):
        if options[name] is None:
            continue
        if part is None:
            click.echo(f"--{name} {options[name]}: there is nothing to {name}, so it was not written.")
        else:
            save(part, options[name], None, made.task)
    if options["annotate"] is not None:
        save_annotated(made, options["annotate"])
        click.echo(f"{options['annotate']}: all demonstrations, with the verdict as episode metadata")
