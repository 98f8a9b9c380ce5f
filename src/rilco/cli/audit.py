"""`rilco audit`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rilco.cli.parsing import COUNT
from rilco.errors import ConfigError, DemonstrationError
from rilco.runs.paths import AUDIT

if TYPE_CHECKING:
    from rilco.data.record import Demonstrations
    from rilco.judging.auditing import Audited
    from rilco.runs.how import How
    from rilco.runs.interrupt import StopSignal

STEPS = 300_000
# Options that say what to train; a run has its own.
OF_DATA = (
    "task",
    "env",
    "demos",
    "noise_rate",
    "demo_kind",
    "obs_keys",
    "steps",
    "seed",
    "seeds",
    "settings",
)


@click.command(short_help="Judge demonstrations: which of them are bad.")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option("--task", help="A Bullet task: halfcheetah, hopper, walker2d or ant.")
@click.option("--env", help="Any Gymnasium environment with Box observations and actions, by id.")
@click.option("--demos", multiple=True, help="A demonstration file or folder; may be repeated.")
@click.option("--noise-rate", type=float, help="Mix the files by the paper's protocol at this rate.")
@click.option("--demo-kind", help="Non-experts of the standard dataset: policy or gaussian.")
@click.option("--obs-keys", metavar="A,B,...", help="Named parts of the files that make up an observation.")
@click.option("--steps", type=COUNT, help="Transitions of training, scoring included.  [default: 300k]")
@click.option("--seed", type=int, help="Of everything random.  [default: 1]")
@click.option("--seeds", type=click.IntRange(1), help="Train so many times and average.  [default: 1]")
@click.option("--pieces", default=0, type=click.IntRange(0), help="Judge stretches of so many pairs alone.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder of the results.  [default: RUN/audit, audit-TASK]"
)
@click.option("--keep", help="Write the demonstrations that are kept, in the format of this name.")
@click.option("--drop", help="Write those that are dropped.")
@click.option("--minari", help="Write all as a Minari dataset, with the judgements as episode metadata.")
@click.option("--overwrite", is_flag=True, help="Replace files of these names.")
@click.option("--pictures/--no-pictures", default=True, help="Frames on the page, where the task renders.")
@click.option("--workers", type=click.IntRange(1), help="Rollout processes.  [default: one a core]")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Any other setting of training.")
@click.option("--quiet", is_flag=True, help="No progress display.")
def command(**options: Any) -> None:
    """Judge every demonstration: train RIL-Co for a minute or two, or go on from a RUN, and let each classifier
    score the demonstrations that it did not take for an expert's. Writes audit.json, tables, and a page to look at.

    \b
    rilco audit --task halfcheetah --noise-rate 0.4
    rilco audit --env Hopper-v5 --demos mine.hdf5 --keep good.hdf5 --drop bad.hdf5
    rilco audit runs/hc --keep good.npz
    """
    from rilco.runs.interrupt import StopSignal, exit_code

    try:
        with StopSignal() as stop:
            _audit(options, stop)
    except KeyboardInterrupt as interrupt:
        # Of a run, scoring goes on in memory: there is nothing to go on with.
        again = "goes on where it was" if options["run"] is None else "begins again; the run is as it was"
        click.echo(f"\nStopped. The same command {again}.", err=True)
        sys.exit(exit_code(interrupt))


def _audit(options: dict[str, Any], stop: StopSignal) -> None:
    out = _folder(options)
    _check_targets(options, out)
    audited = _of_run(options, stop) if options["run"] is not None else _of_data(options, out, stop)
    from rilco.judging.auditing import write_audit
    from rilco.judging.words import describe

    page = write_audit(audited, out, pictures=options["pictures"])
    for line in describe(audited):
        click.echo(line)
    click.echo(f"Page: {page}")
    _write_datasets(audited, options)


def _folder(options: dict[str, Any]) -> Path:
    if options["out"] is not None:
        return options["out"]
    if options["run"] is not None:
        return options["run"] / AUDIT
    name = options["task"] or options["env"] or ""
    return Path(f"audit-{name.replace('/', '-')}")


def _of_run(options: dict[str, Any], stop: StopSignal) -> Audited:
    given = [name for name in OF_DATA if options[name] not in (None, ())]
    if given:
        shown = ", ".join("--set" if name == "settings" else f"--{name.replace('_', '-')}" for name in given)
        raise ConfigError(
            f"{options['run']}: a run has its own environment, demonstrations and settings; leave out {shown}, or "
            "leave out the run to train afresh."
        )
    from rilco.judging.auditing import audit_run
    from rilco.runs.folder import Run

    return audit_run(Run(options["run"]), pieces=options["pieces"], how=_how(options, stop))


def _of_data(options: dict[str, Any], out: Path, stop: StopSignal) -> Audited:
    from rilco.judging.auditing import train_and_audit
    from rilco.options import make_config, parse_settings

    wanted = {name: options[name] for name in OF_DATA if name not in ("seeds", "settings", "demos")}
    wanted["demos"] = options["demos"] or None
    wanted["steps"] = options["steps"] or STEPS
    wanted |= parse_settings(options["settings"])
    config = make_config({"method": "ril-co", **wanted})
    seeds = options["seeds"] or 1
    return train_and_audit(config, out, seeds=seeds, pieces=options["pieces"], how=_how(options, stop))


def _how(options: dict[str, Any], stop: StopSignal) -> How:
    from rilco.runs.how import How

    return How(options["workers"], quiet=options["quiet"], stop=stop)


def _check_targets(options: dict[str, Any], out: Path) -> None:
    """What cannot be written shall fail before minutes of training."""
    from rilco.cli.demos import check_target

    there = next(place for place in (out, *out.absolute().parents) if place.exists())
    if not there.is_dir():
        raise ConfigError(f"--out {out}: expected a folder, or a name for a new one; {there} is a file.")
    names = [name for name in ("keep", "drop", "minari") if options[name] is not None]
    places = [os.path.realpath(options[name]) for name in names]
    places += [os.path.realpath(_beside(options[name])) for name in names if name != "minari"]
    if len(set(places)) < len(places):
        shown = ", ".join(f"--{name} {options[name]}" for name in names)
        raise ConfigError(f"{shown}: one would replace the other. Give each a name of its own.")
    for name in names:
        format_name = "minari" if name == "minari" else None
        check_target(options[name], format_name, options["overwrite"], f"--{name}")


def _write_datasets(audited: Audited, options: dict[str, Any]) -> None:
    parts = {"keep": audited.kept, "drop": audited.dropped}
    for name, part in parts.items():
        if options[name] is None:
            continue
        if part is None:
            click.echo(f"--{name} {options[name]}: there is nothing to {name}, so it was not written.")
        else:
            _save_part(part, options[name], audited)
    if options["minari"] is not None:
        from rilco.judging.minari import save_annotated

        save_annotated(audited, options["minari"])
        click.echo(f"{options['minari']}: all demonstrations, with their judgements as episode metadata")


def _beside(out: str) -> str:
    """Where a part goes that its own format cannot hold."""
    return f"{out.rstrip('/')}.npz"


def _save_part(part: Demonstrations, out: str, audited: Audited) -> None:
    """In the format that was asked for; as npz beside it where that cannot hold these demonstrations."""
    from rilco.cli.demos import save

    try:
        save(part, out, None, audited.config.task)
    except DemonstrationError as error:
        beside = _beside(out)
        if os.path.lexists(beside):
            raise
        click.echo(f"{error}\nWritten as npz instead:", err=True)
        save(part, beside, None, audited.config.task)
