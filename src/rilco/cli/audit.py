"""`rilco audit`, and `rilco audit apply`."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rilco.cli.common import COUNT, TABLE, obs_keys_option, options, stopping, trust_option, workers_option
from rilco.errors import ConfigError
from rilco.runs.paths import AUDIT
from rilco.words import capitalised, plural

if TYPE_CHECKING:
    from rilco.data.record import Demonstrations
    from rilco.judging.audit import Audit
    from rilco.runs.interrupt import StopSignal

OF_TRAINING = ("steps", "seeds", "settings")
OF_INPUT = ("task", "env", "env_kwargs", "demos", "noise_rate", "demo_kind", "obs_keys", "seed")
"""Options that say what to judge. A run has its own, as it has those of training."""
WRITTEN = ("keep", "drop", "annotate")

writing_options = options(
    click.option("--keep", help="Write the kept demonstrations, in the format of this name."),
    click.option("--drop", help="Write the dropped ones."),
    click.option(
        "--unsure",
        type=click.Choice(("keep", "drop")),
        help="Count unsure ones as kept or dropped.  [default: in neither]",
    ),
    click.option("--annotate", help="Write all as .minari or .lerobot, with verdicts as episode metadata."),
    click.option("--overwrite", is_flag=True, help="Replace existing files."),
    click.option("--cut", type=float, metavar="SCORE", help="Keep scores from this on, drop the rest."),
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
    "--good", multiple=True, metavar="NAME", help="A good demonstrator or demonstration; may be repeated."
)
@click.option("--bad", multiple=True, metavar="NAME", help="A bad one; may be repeated.")
@click.option(
    "--pieces", default=0, type=click.IntRange(0), help="Judge pieces of this length, without episodes."
)
@click.option("--out", type=click.Path(path_type=Path), help="Results.  [default: RUN/audit, audit-NAME]")
@writing_options
@click.option("--env", help="Any Gymnasium environment, by id: RIL-Co's classifiers are asked, too.")
@click.option("--env-kwargs", type=TABLE, metavar="JSON", help="Its keyword arguments, as JSON.")
@click.option("--task", help="Or a Bullet task: halfcheetah, hopper, walker2d or ant.")
@trust_option
@click.option("--offline", is_flag=True, help="Leave RIL-Co's classifiers out.")
@click.option("--noise-rate", type=float, help="Mix the files by the paper's protocol at this rate.")
@click.option("--demo-kind", help="Standard non-experts: policy, matched or gaussian.")
@obs_keys_option
@click.option("--steps", type=COUNT, help="Transitions of training, scoring included.  [default: 300k]")
@click.option("--seed", type=int, help="Of everything random.  [default: 1]")
@click.option("--seeds", type=click.IntRange(1), help="Trainings to average over.  [default: 1]")
@click.option("--pictures/--no-pictures", default=True, help="Frames on the page, where the task renders.")
@workers_option
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
    # Scores of a run's classifiers are not stored before the end.
    again = "goes on where it was" if options["run"] is None else "begins again; the run is as it was"
    with stopping(lambda: f"Stopped. The same command {again}.") as stop:
        _audit(options, stop)


def _audit(options: dict[str, Any], stop: StopSignal) -> None:
    from rilco.runs.how import How
    from rilco.runs.progress import StatusLine

    out = _folder(options)
    there = next(place for place in (out, *out.absolute().parents) if place.exists())
    if not there.is_dir():
        raise ConfigError(f"--out {out}: expected a folder, or a name for a new one; {there} is a file.")
    check_targets(options)
    with StatusLine(quiet=options["quiet"], every=math.inf) as line:

        def show(what: str, share: float) -> None:
            line.show(f"{what} {share:.0%}")
            if share >= 1.0:  # a display of training may follow
                line.clear()

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
    from rilco.judging.before import plain

    return Path(f"audit-{plain(name).replace('/', '-')}")


def _given(names: tuple[str, ...], options: dict[str, Any]) -> str:
    """Those of the options that were given, as they are written: `--steps, --set`."""
    written = {name: f"--{name.replace('_', '-')}" for name in names} | {"settings": "--set"}
    return ", ".join(written[name] for name in names if options[name] not in (None, ()))


def _of_run(options: dict[str, Any], how: dict[str, Any]) -> Audit:
    from rilco.judging.audit import audit_run
    from rilco.runs.folder import Run

    if given := _given((*OF_INPUT, *OF_TRAINING), options):
        raise ConfigError(
            f"{options['run']}: a run has its own environment, demonstrations and settings; leave out {given}, or "
            "leave out the run to train afresh."
        )
    return audit_run(Run(options["run"]), trust_env=options["trust_env"], **how)


def _of_data(options: dict[str, Any], out: Path, how: dict[str, Any]) -> Audit:
    from rilco.judging.audit import STEPS, audit
    from rilco.options import parse_settings

    judged_alone = options["offline"] or (options["task"] is None and options["env"] is None)
    if judged_alone and (given := _given(OF_TRAINING, options)):
        raise ConfigError(
            f"{given}: nothing is trained without an environment. Leave it out, or give --env or --task."
        )
    same = {name: options[name] for name in ("task", "env", "env_kwargs", "noise_rate", "demo_kind")}
    return audit(
        options["demos"] or None,
        obs_keys=options["obs_keys"] or (),
        steps=options["steps"] or STEPS,
        seed=1 if options["seed"] is None else options["seed"],
        seeds=options["seeds"] or 1,
        out=out,
        settings=parse_settings(options["settings"]),
        **same,
        **how,
    )


def describe(made: Audit) -> None:
    """Print the verdict in a few lines, and how it compares with the labels where there are any."""
    from rilco.judging.page import headline, percent
    from rilco.judging.verdict import compare

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


# -- writing what was decided ----------------------------------------------------------------------


@click.command("apply")
@click.argument("audit", type=click.Path(path_type=Path), metavar="AUDIT")
@click.argument("decisions", required=False, type=click.Path(path_type=Path), metavar="[DECISIONS.CSV]")
@click.option("--demos", multiple=True, help="Where the demonstrations are, if they have moved.")
@writing_options
@click.option("--out", type=click.Path(path_type=Path), help="Also write the audit with these decisions.")
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
    """Raises ConfigError, before anything is judged, if a dataset cannot be written."""
    from rilco.cli.demos import check_target
    from rilco.data.formats import target_format

    names = [name for name in WRITTEN if options[name] is not None]
    if len({os.path.realpath(options[name]) for name in names}) < len(names):
        shown = ", ".join(f"--{name} {options[name]}" for name in names)
        raise ConfigError(f"{shown}: one would replace the other. Give each a name of its own.")
    for name in names:
        check_target(options[name], None, options["overwrite"], f"--{name}")
    annotate = options["annotate"]
    if annotate is not None and target_format(annotate, None)[1].name not in ("minari", "lerobot"):
        raise ConfigError(f"--annotate {annotate}: expected a name that ends in .minari or .lerobot.")


def check_formats_of(demos: Demonstrations, options: dict[str, Any]) -> None:
    from rilco.judging.before import check_formats

    check_formats(demos, [(f"--{name}", options[name]) for name in WRITTEN if options[name] is not None])


def write_datasets(made: Audit, options: dict[str, Any]) -> None:
    from rilco.cli.demos import save
    from rilco.judging.result import save_annotated
    from rilco.tasks.registration import name_in_files

    unsure = [one.index for one in made.verdict.demonstrations if one.decision == "unsure"]
    if options["unsure"] is not None:
        decisions = dict.fromkeys(unsure, options["unsure"])
        made = made.decided(decisions, f"It was unsure, and you said: {options['unsure']}.")
    elif unsure and (options["keep"] is not None or options["drop"] is not None):
        click.echo(
            f"Unsure about {plural(len(unsure), 'demonstration')}, in neither file. "
            "Decide with --unsure keep or --unsure drop."
        )
    for name, part in (("keep", made.kept), ("drop", made.dropped)):
        if options[name] is None:
            continue
        if part is None:
            click.echo(f"--{name} {options[name]}: there is nothing to {name}, so it was not written.")
        else:
            save(part, options[name], None, name_in_files(made.task))
    if options["annotate"] is not None:
        save_annotated(made, options["annotate"])
        click.echo(f"{options['annotate']}: all demonstrations, with the verdict as episode metadata")
