"""`rilco audit`, and `rilco audit apply`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rilco.cli.audit_apply import (
    apply_command,
    check_formats_of,
    check_targets,
    write_datasets,
    writing_options,
)
from rilco.cli.parsing import COUNT
from rilco.cli.sources import trust_option
from rilco.errors import ConfigError
from rilco.runs.paths import AUDIT
from rilco.words import capitalised

if TYPE_CHECKING:
    from rilco.judging.audit import Audit
    from rilco.runs.interrupt import StopSignal

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


class WithApply(click.Command):
    """`rilco audit apply ...` beside `rilco audit [RUN] ...`."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        if args[:1] == ["apply"]:
            return apply_command.make_context(f"{info_name} apply", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command(cls=WithApply, short_help="Judge demonstrations: which of them are bad.")
@click.argument("run", required=False, type=click.Path(path_type=Path))
@click.option("--demos", multiple=True, help="A demonstration file or folder; may be repeated.")
@click.option(
    "--good",
    multiple=True,
    metavar="NAME",
    help="A demonstrator or demonstration that you vouch for; may be repeated.",
)
@click.option("--bad", multiple=True, metavar="NAME", help="One that you know to be bad; may be repeated.")
@click.option(
    "--pieces",
    default=0,
    type=click.IntRange(0),
    help="Judge stretches of so many pairs alone: for files without episodes.",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder of the results.  [default: RUN/audit, audit-NAME]"
)
@writing_options
@click.option("--env", help="Any Gymnasium environment, by id: RIL-Co's classifiers are asked, too.")
@click.option("--task", help="Or a Bullet task: halfcheetah, hopper, walker2d or ant.")
@trust_option
@click.option("--offline", is_flag=True, help="Leave RIL-Co's classifiers out.")
@click.option("--noise-rate", type=float, help="Mix the files by the paper's protocol at this rate.")
@click.option("--demo-kind", help="Non-experts of the standard dataset: policy or gaussian.")
@click.option("--obs-keys", metavar="A,B,...", help="Named parts of the files that make up an observation.")
@click.option("--steps", type=COUNT, help="Transitions of training, scoring included.  [default: 300k]")
@click.option("--seed", type=int, help="Of everything random.  [default: 1]")
@click.option("--seeds", type=click.IntRange(1), help="Train so many times and average.  [default: 1]")
@click.option("--pictures/--no-pictures", default=True, help="Frames on the page, where the task renders.")
@click.option("--workers", type=click.IntRange(1), help="Rollout processes.  [default: one a core]")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Any other setting of training.")
@click.option("--quiet", is_flag=True, help="No progress display.")
def command(**options: Any) -> None:
    """Judge every demonstration: keep, drop or unsure, with the reason. Needs no labels, no reward and no simulator, and
    takes seconds. Writes audit.json, demonstrations.csv, and a page to look at and decide on.

    With --env or --task, or of a RUN, RIL-Co's classifiers are a further opinion; that takes minutes.

    \b
    rilco audit --demos mine.hdf5 --keep good.hdf5 --drop bad.hdf5
    rilco audit --demos recordings/ --good anna.hdf5
    rilco audit --task halfcheetah --noise-rate 0.4
    rilco audit apply audit-mine decisions.csv --keep good.hdf5
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
    from rilco.runs.how import How

    out = _folder(options)
    _check_out(out)
    check_targets(options)
    with progress(options["quiet"]) as show:
        how = {name: options[name] for name in ("offline", "good", "bad", "pieces")}
        how |= {"progress": show, "say": lambda line: click.echo(line, err=True)}
        how["how"] = How(options["workers"], quiet=options["quiet"], stop=stop)
        how["check"] = lambda demos: check_formats_of(demos, options)
        made = _of_run(options, how) if options["run"] is not None else _of_data(options, out, how)
    if options["cut"] is not None:
        made = made.cut_at(options["cut"])
    page = made.save(out, pictures=options["pictures"])
    describe(made)
    click.echo(f"Page: {page}")
    write_datasets(made, options)


def _folder(options: dict[str, Any]) -> Path:
    if options["out"] is not None:
        return options["out"]
    if options["run"] is not None:
        return options["run"] / AUDIT
    name = options["task"] or options["env"] or (Path(options["demos"][0]).stem if options["demos"] else "")
    if not name:
        raise ConfigError(
            "Name at least one file of demonstrations: --demos FILE. Or a Bullet task, to try it: --task hopper."
        )
    return Path(f"audit-{name.replace('/', '-')}")


def _of_run(options: dict[str, Any], how: dict[str, Any]) -> Audit:
    given = [name for name in OF_DATA if options[name] not in (None, ())]
    if given:
        shown = ", ".join("--set" if name == "settings" else f"--{name.replace('_', '-')}" for name in given)
        raise ConfigError(
            f"{options['run']}: a run has its own environment, demonstrations and settings; leave out {shown}, or "
            "leave out the run to train afresh."
        )
    from rilco.judging.audit import audit_run
    from rilco.runs.folder import Run

    return audit_run(Run(options["run"]), trust_env=options["trust_env"], **how)


def _of_data(options: dict[str, Any], out: Path, how: dict[str, Any]) -> Audit:
    from rilco.cli.demos import read_keys
    from rilco.judging.audit import STEPS, audit
    from rilco.options import parse_settings

    judged_alone = options["offline"] or (options["task"] is None and options["env"] is None)
    unused = [
        name for name in ("steps", "seeds", "settings") if judged_alone and options[name] not in (None, ())
    ]
    if unused:
        shown = ", ".join("--set" if name == "settings" else f"--{name}" for name in unused)
        raise ConfigError(
            f"{shown}: nothing is trained without an environment. Leave it out, or give --env or --task."
        )
    return audit(
        options["demos"] or None,
        task=options["task"],
        env=options["env"],
        noise_rate=options["noise_rate"],
        demo_kind=options["demo_kind"],
        obs_keys=read_keys(click.get_current_context(), click.Option(["--obs-keys"]), options["obs_keys"]),
        steps=options["steps"] or STEPS,
        seed=1 if options["seed"] is None else options["seed"],
        seeds=options["seeds"] or 1,
        out=out,
        settings=parse_settings(options["settings"]),
        **how,
    )


def describe(made: Audit) -> None:
    """The verdict in a few lines, and how it compares with the labels where there are any."""
    from rilco.judging.page import headline, percent
    from rilco.judging.truth import compare

    verdict = made.verdict
    sure = "" if all(verdict.decisions == "unsure") else f" ({percent(verdict.confidence)} sure)"
    click.echo(f"{headline(verdict)}{sure}. {verdict.summary}")
    click.echo(f"Assumed: {verdict.assumption} {capitalised(verdict.majority.sentence)}")
    for opinion in verdict.opinions:
        click.echo(f"  {opinion.judge}: {'' if opinion.standing > 0 else 'abstains. '}{opinion.why}")
    truth = compare(verdict, made.demonstrations)
    if truth is not None:
        parts = {"kept of the good pairs": truth.good_kept, "kept of the bad": truth.bad_kept}
        known = ", ".join(f"{name} {value:.1%}" for name, value in parts.items() if value is not None)
        click.echo(f"Against the labels, which the audit does not see: {known}.")


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str, float], None] | None]:
    """A bar for the offline judges on a terminal, elsewhere nothing."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    from rich.progress import Progress

    bar = Progress(console=console, transient=True)
    row = bar.add_task("", total=1.0)

    def show(what: str, share: float) -> None:
        bar.start()
        bar.update(row, description=what, completed=share)
        if share >= 1.0:  # a display of training may follow
            bar.stop()

    try:
        yield show
    finally:
        bar.stop()


def _check_out(out: Path) -> None:
    there = next(place for place in (out, *out.absolute().parents) if place.exists())
    if not there.is_dir():
        raise ConfigError(f"--out {out}: expected a folder, or a name for a new one; {there} is a file.")
