"""`rilco audit`, and `rilco audit apply`."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rilco.cli import common
from rilco.errors import ConfigError, RilcoError
from rilco.runs.paths import AUDIT, holds_run
from rilco.words import capitalised, plural

if TYPE_CHECKING:
    from rilco.data.record import Demonstrations
    from rilco.judging.audit import Audit
    from rilco.judging.verdict import Decision
    from rilco.runs.interrupt import StopSignal

OF_TRAINING = ("steps", "seeds", "settings")
OF_INPUT = ("task", "env", "env_kwargs", "noise_rate", "demo_kind", "obs_keys", "seed")
"""Options that say what to judge. A run has its own, as it has those of training."""
DECISIONS = "decisions.csv"
"""What the page calls the file of a user's decisions."""

writing_options = common.options(
    click.option("--keep", help="Write the kept demonstrations, in the format of this name."),
    click.option("--drop", help="Write the dropped ones."),
    click.option(
        "--unsure",
        type=click.Choice(("keep", "drop")),
        help="Count unsure ones as kept or dropped.  [default: in neither]",
    ),
    click.option("--annotate", help="Write all as .minari or .lerobot, with verdicts as episode metadata."),
    click.option("--overwrite", is_flag=True, help="Replace existing files, and any audit in --out."),
    click.option("--cut", type=float, metavar="SCORE", help="Keep scores from this on, drop the rest."),
)


class WithApply(click.Command):
    """`rilco audit apply ...` beside `rilco audit [RUN] ...`."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        if args[:1] == ["apply"]:
            return apply_command.make_context(f"{info_name} apply", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command(cls=WithApply, short_help="Judge demonstrations: which of them are bad.")
@click.argument("given", nargs=-1, metavar="[RUN | FILE...]")
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
@click.option("--env-kwargs", type=common.TABLE, metavar="JSON", help="Its keyword arguments, as JSON.")
@click.option("--task", help="Or a Bullet task: halfcheetah, hopper, walker2d or ant.")
@common.trust_option
@click.option("--offline", is_flag=True, help="Leave RIL-Co's classifiers out.")
@click.option("--noise-rate", type=float, help="Mix the files by the paper's protocol at this rate.")
@click.option("--demo-kind", help="Standard non-experts: policy, matched or gaussian.")
@common.obs_keys_option
@click.option(
    "--steps", type=common.COUNT, help="Transitions of training, scoring included.  [default: 300k]"
)
@click.option("--seed", type=int, help="Of everything random.  [default: 1]")
@click.option("--seeds", type=click.IntRange(1), help="Trainings to average over.  [default: 1]")
@click.option("--pictures/--no-pictures", default=True, help="Frames on the page, where the task renders.")
@common.workers_option
@common.settings_option
@click.option("--quiet", is_flag=True, help="No progress display.")
def command(**options: Any) -> None:
    """Judge every demonstration: keep, drop or unsure, with the reason. Needs no labels, no reward and no simulator, and
    takes seconds. Writes audit.json, demonstrations.csv, and a page to look at and decide on.

    With --env or --task, or of a RUN, RIL-Co's classifiers are a further opinion; that takes minutes.

    An earlier audit of the same demonstrations is replaced. One of others, or beside a decisions.csv, stays unless you
    say --overwrite; decisions.csv itself always stays.

    \b
    rilco audit mine.hdf5 --keep good.hdf5 --drop bad.hdf5
    rilco audit recordings/ --good anna.hdf5
    rilco audit --task halfcheetah --noise-rate 0.4
    rilco audit apply audit-mine decisions.csv --keep good.hdf5
    """
    given = options.pop("given")
    is_run = len(given) == 1 and holds_run(Path(given[0]))
    options["run"] = Path(given[0]) if is_run else None
    options["demos"] += () if is_run else given
    # Scores of a run's classifiers are not stored before the end.
    again = "goes on where it was" if options["run"] is None else "begins again; the run is as it was"
    with common.stopping(lambda: f"Stopped. The same command {again}.") as stop:
        _audit(options, stop)


def _audit(options: dict[str, Any], stop: StopSignal) -> None:
    from rilco.files import check_writable
    from rilco.judging.before import check_formats
    from rilco.judging.record import JSON
    from rilco.runs.how import How
    from rilco.runs.progress import StatusLine

    out, targets = _folder(options), _targets(options)
    check_writable(out / JSON)

    def check(demos: Demonstrations) -> None:
        _check_replaced(out, demos.fingerprint(), options["overwrite"])
        check_formats(demos, targets.items())

    with StatusLine(quiet=options["quiet"], every=math.inf) as line:

        def show(what: str, share: float) -> None:
            line.show(f"{what} {share:.0%}")
            if share >= 1.0:  # a display of training may follow
                line.clear()

        how = {name: options[name] for name in ("offline", "good", "bad", "pieces", "cut")}
        how |= {"progress": show, "say": lambda line: click.echo(line, err=True)}
        how["how"] = How(options["workers"], quiet=options["quiet"], stop=stop)
        how["check"] = check
        made = _of_run(options, how) if options["run"] is not None else _of_data(options, out, how)
    page = made.save(out, pictures=options["pictures"])
    describe(made)
    click.echo(f"Page: {page}")
    _write(made, targets, options["unsure"])


def _folder(options: dict[str, Any]) -> Path:
    if options["out"] is not None:
        return options["out"]
    if options["run"] is not None:
        return options["run"] / AUDIT
    name = options["task"] or options["env"] or (Path(options["demos"][0]).stem if options["demos"] else "")
    if not name:
        raise ConfigError(
            "Name at least one file of demonstrations: rilco audit FILE. Or a Bullet task, to try it: --task hopper."
        )
    from rilco.judging.before import plain

    return Path(f"audit-{plain(name).replace('/', '-')}")


def _check_replaced(out: Path, fingerprint: str, overwrite: bool) -> None:
    """Raises ConfigError where an audit of other demonstrations would be lost, or one that decisions were made on."""
    from rilco.files import read_object
    from rilco.judging.record import JSON

    if overwrite or not (out / JSON).exists():
        return
    try:
        other = read_object(out / JSON)["source"]["fingerprint"] != fingerprint
    except (RilcoError, KeyError, TypeError):  # damaged, or not ours
        other = True
    if other or (out / DECISIONS).exists():
        what = "of other demonstrations" if other else f"and the {DECISIONS} that you made of it"
        raise ConfigError(
            f"{out}: holds an audit {what}. Choose another folder with --out, or replace the audit with --overwrite."
        )


def _given(names: tuple[str, ...], options: dict[str, Any]) -> str:
    """Those of the options that were given, as they are written: `--steps, --set`."""
    given = ["set" if name == "settings" else name for name in names if options[name] not in (None, ())]
    return ", ".join(f"--{name.replace('_', '-')}" for name in given)


def _of_run(options: dict[str, Any], how: dict[str, Any]) -> Audit:
    from rilco.judging.audit import audit_run
    from rilco.runs.folder import Run

    if given := _given(("demos", *OF_INPUT, *OF_TRAINING), options):
        raise ConfigError(
            f"{options['run']}: a run has its own environment, demonstrations and settings; leave out {given}, or "
            "leave out the run to train afresh."
        )
    return audit_run(Run(options["run"]), trust_env=options["trust_env"], **how)


def _of_data(options: dict[str, Any], out: Path, how: dict[str, Any]) -> Audit:
    from rilco.judging.audit import audit
    from rilco.options import parse_settings

    judged_alone = options["offline"] or (options["task"] is None and options["env"] is None)
    if judged_alone and (given := _given(OF_TRAINING, options)):
        raise ConfigError(
            f"{given}: nothing is trained without an environment. Leave it out, or give --env or --task."
        )
    wanted = {name: options[name] for name in (*OF_INPUT, "steps", "seeds") if options[name] is not None}
    settings = parse_settings(options["settings"])
    return audit(options["demos"] or None, out=out, settings=settings, **wanted, **how)


def describe(made: Audit) -> None:
    """Print the verdict in a few lines, and how it compares with the labels where there are any."""
    from rilco.judging.page import headline, how_sure, is_sure, percent
    from rilco.judging.verdict import compare

    verdict = made.verdict
    sure = how_sure(verdict)
    confidence = (
        "" if sure is None else f" ({'' if is_sure(verdict) else 'not '}sure, confidence {percent(sure)})"
    )
    click.echo(f"{headline(verdict)}{confidence}. {verdict.summary}")
    click.echo(f"Assumed: {verdict.assumption} {capitalised(verdict.majority.sentence)}")
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
@common.trust_option
def apply_command(**options: Any) -> None:
    """Write what an audit keeps and drops: by its own verdict, by the decisions.csv of its page, or by a cut.

    \b
    rilco audit apply audit-mine decisions.csv --keep good.hdf5 --drop bad.hdf5
    rilco audit apply audit-mine --cut 0.4 --keep good.lerobot
    """
    from rilco.judging.audit import load_audit
    from rilco.judging.before import check_formats
    from rilco.judging.record import read_decisions

    decisions, cut, targets = options["decisions"], options["cut"], _targets(options)
    if decisions is not None and cut is not None:
        raise ConfigError(f"{decisions} and --cut {cut:g}: give one of the two.")
    made = load_audit(options["audit"], options["demos"] or None, trust_env=options["trust_env"])
    if decisions is not None:
        made = made.decided(read_decisions(decisions, made.verdict))
    elif cut is not None:
        highest = max(one.score for one in made.verdict.demonstrations)
        if cut > highest:
            raise ConfigError(f"--cut {cut:g}: nothing would be kept; the highest score is {highest:.3g}.")
        made = made.cut_at(cut)
    check_formats(made.demonstrations, targets.items())
    if options["out"] is not None:
        _check_replaced(options["out"], made.source.fingerprint, options["overwrite"])
        click.echo(f"Page: {made.save(options['out'])}")
    elif not targets:
        click.echo(f"{made.verdict.summary} Nothing was written: name --keep, --drop, --annotate or --out.")
    _write(made, targets, options["unsure"])


def _targets(options: dict[str, Any]) -> dict[str, str]:
    """The datasets to write, by option. Raises ConfigError, before anything is judged, if one cannot be written."""
    from rilco.cli.demos import check_target
    from rilco.data.formats import target_format

    names = ("keep", "drop", "annotate")
    targets = {f"--{name}": options[name] for name in names if options[name] is not None}
    if len(set(map(os.path.realpath, targets.values()))) < len(targets):
        shown = ", ".join(f"{option} {path}" for option, path in targets.items())
        raise ConfigError(f"{shown}: one would replace the other. Give each a name of its own.")
    for option, path in targets.items():
        check_target(path, None, options["overwrite"], option)
        if option == "--annotate" and target_format(path, None)[1].name not in ("minari", "lerobot"):
            raise ConfigError(f"--annotate {path}: expected a name that ends in .minari or .lerobot.")
    return targets


def _write(made: Audit, targets: dict[str, str], as_unsure: Decision | None) -> None:
    """Write the datasets; unsure demonstrations count as kept or dropped only where the user says so."""
    from rilco.cli.demos import save
    from rilco.judging.result import save_annotated
    from rilco.tasks.registration import name_in_files

    unsure = [one.index for one in made.verdict.demonstrations if one.decision == "unsure"]
    if as_unsure is not None:
        made = made.decided(dict.fromkeys(unsure, as_unsure), f"It was unsure, and you said: {as_unsure}.")
    elif unsure and {"--keep", "--drop"} & set(targets):
        click.echo(
            f"Unsure about {plural(len(unsure), 'demonstration')}, in neither file. "
            "Decide with --unsure keep or --unsure drop."
        )
    for option, path in targets.items():
        part = made.dropped if option == "--drop" else made.kept
        if option == "--annotate":
            save_annotated(made, path)
            click.echo(f"{path}: all demonstrations, with the verdict as episode metadata")
        elif part is not None:
            save(part, path, None, name_in_files(made.task))
        else:
            click.echo(f"{option} {path}: there is nothing to {option[2:]}, so it was not written.")
