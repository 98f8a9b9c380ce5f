"""`rilco train`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rilco.cli import common
from rilco.errors import ConfigError, RunError, WriteError
from rilco.methods import METHODS
from rilco.runs.paths import POLICIES, holds_run
from rilco.words import plural

if TYPE_CHECKING:
    from rilco.config import RunConfig
    from rilco.runs.folder import Run
    from rilco.runs.interrupt import StopSignal

METHOD = f"How to learn: {', '.join(METHODS)}.  [default: ril-co]"
SCHEDULE = "linear or cosine growth of --lam in the first half of the run, or warm-up.  [default: constant]"
START_FROM = "A policy file, run folder or hopper#1 to begin with.  [default: at random]"
LASTING = "Pay the reward of an episode's last step for ever: for tasks that end by themselves."
FINISH = "For ril-co-clean: train on with ril-co, gail-ap or gail-logistic.  [default: none]"
STEPS = "Transitions in all, for example 2e6.  [default: 20M; of ril-co-clean 569k]"

run_options = common.options(
    click.option("--task", help="A Bullet task: halfcheetah, hopper, walker2d or ant."),
    click.option("--env", help="Any Gymnasium environment: an id, module:Id-v0, or module:factory."),
    click.option("--env-kwargs", type=common.TABLE, metavar="JSON", help="Its keyword arguments, as JSON."),
    click.option("--steps", type=common.COUNT, help=STEPS),
    click.option("--seed", type=int, help="Of everything random.  [default: 1]"),
    click.option("--start-from", help=START_FROM),
    click.option("--out", required=True, type=click.Path(path_type=Path), help="The run's folder."),
    click.option("--resume", is_flag=True, help="Go on from the last checkpoint in --out."),
    common.trust_option,
    common.workers_option,
    click.option(
        "--evaluate-every", type=common.COUNT, help="Transitions between evaluations.  [default: 100k]"
    ),
    common.checkpoints_option,
    click.option("--tensorboard/--no-tensorboard", default=True, help="Write events if it is installed."),
    click.option("--video", is_flag=True, help="Show the policy in TensorBoard at the end of the run."),
    common.settings_option,
    click.option("--quiet", is_flag=True, help="No progress display."),
)
"""Options of every command that trains."""


@click.command(short_help="Train a policy from demonstrations.")
@click.option("--method", help=METHOD)
@click.option("--demos", multiple=True, help="A demonstration file or folder; may be repeated.")
@click.argument("more_demos", nargs=-1, metavar="[FILE]...")
@click.option(
    "--noise-rate", type=float, help="Mix the files by the paper's protocol at this rate, below 0.5."
)
@click.option("--loss", help="Margin loss of the classifier.  [default: ap]")
@click.option("--lam", type=float, help="Weight of pseudo-labels against policy data.  [default: 0.5]")
@click.option("--lambda-schedule", help=SCHEDULE)
@click.option("--nonexpert-demos", multiple=True, help="A file of known non-expert pairs; may be repeated.")
@click.option(
    "--pseudo-labels/--no-pseudo-labels", default=None, help="Look for bad pairs, too.  [default: yes]"
)
@click.option("--ril-p-as-published", is_flag=True, default=None, help="RIL-P as in its authors' code.")
@click.option(
    "--episodes-as-demonstrators", is_flag=True, default=None, help="For vild: an episode is a demonstrator."
)
@common.obs_keys_option
@click.option("--demo-kind", help="Standard non-experts: policy, matched or gaussian.  [default: policy]")
@click.option("--finish", help=FINISH)
@click.option(
    "--gradient-steps", type=common.COUNT, help="Of bc, which makes no transitions.  [default: 156k]"
)
@click.option("--lasting-ends", is_flag=True, default=None, help=LASTING)
@click.option("--policy-learner", help="What learns the policy: acktr or ppo.  [default: acktr]")
@run_options
def command(**options: Any) -> None:
    """Train a policy from demonstrations of mixed quality, none of them labelled. A Bullet task with a noise rate and no
    files has a standard dataset, made on first use.

    \b
    rilco train --task halfcheetah --noise-rate 0.4 --steps 2e6 --out runs/hc
    rilco train --task ant --demos theirs/ --noise-rate 0.4 --method gail-ap --out runs/ant
    rilco train --env Hopper-v5 --demos mine.h5 other.h5 --steps 1e6 --out runs/mine
    rilco train --out runs/hc --resume
    """
    demos = (*options.pop("demos"), *options.pop("more_demos"))
    known = options.pop("nonexpert_demos")
    start({**options, "demos": demos or None, "nonexpert_demos": known or None})


def start(options: dict[str, Any]) -> None:
    """Train with the given options, and print the returns; on Ctrl-C say how to go on."""
    out: Path = options["out"]
    try:
        with common.stopping(lambda: stopped_message(out)) as stop:
            config, run = _train(options, stop)
    except WriteError as error:
        advice = f" To go on:\n\n    {resume_command(out)}" if holds_run(out) else ""
        raise RunError(f"{error}{advice}") from error
    from rilco.runs.progress import measure_of

    measure, evaluations = measure_of(config), run.evaluations()
    if evaluations:
        last, best = evaluations[-1], max(each["eval_return"] for each in evaluations)
        click.echo(
            f"Return {last['eval_return']:,.0f} ± {last['eval_std']:,.0f} over "
            f"{plural(last['eval_episodes'], 'episode')} after {last['transitions'] * measure.each:,.0f} "
            f"{measure.words}; best {best:,.0f}."
        )
    click.echo(f"Run: {out}   policy: {out / POLICIES}")


def _train(options: dict[str, Any], stop: StopSignal) -> tuple[RunConfig, Run]:
    from rilco.api import train_config
    from rilco.config import RunConfig
    from rilco.options import make_config, parse_settings
    from rilco.runs.how import How
    from rilco.runs.progress import measure_of
    from rilco.tasks.trust import trust

    out, resume, trust_env = options.pop("out"), options.pop("resume"), options.pop("trust_env")
    names = ("workers", "checkpoint_every", "quiet", "tensorboard", "video")
    how = How(stop=stop, **{name: options.pop(name) for name in names})
    options |= parse_settings(options.pop("settings"))
    if resume and not holds_run(out):
        raise RunError(f"--out {out}: holds no run to go on with. Leave out --resume to begin one there.")
    config = make_config(options, stored=RunConfig.load(out) if resume else None)
    measure = measure_of(config)
    if options["steps"] is not None and measure.each != 1.0:
        raise ConfigError(
            f"--steps {options['steps']:,}: {config.method} makes no transitions. Say how long with --gradient-steps."
        )
    if options["steps"] not in (None, measure.total):
        click.echo(
            f"--steps {options['steps']:,}: training takes whole iterations of {config.transitions_per_iteration:,} "
            f"transitions, so {measure.total:,}.",
            err=True,
        )
    if trust_env:
        trust(config.task.name)
    return config, train_config(config, out, how=how, resume=resume)


def stopped_message(out: Path) -> str:
    if not holds_run(out):
        return "Stopped before anything was written."
    return f"Stopped; everything so far is in {out}. To go on:\n\n    {resume_command(out)}"


def resume_command(out: Path) -> str:
    from rilco.config import RunConfig
    from rilco.tasks.trust import imports_code

    trusting = " --trust-env" if imports_code(RunConfig.load(out).task.name) else ""
    return f"rilco train --out {shlex.quote(str(out))} --resume{trusting}"
