"""`rilco demos`: make, mix, look at and convert demonstrations."""

from __future__ import annotations

import functools
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rilco.cli.common import COUNT, TABLE, obs_keys_option, options, trust_option
from rilco.errors import ConfigError

if TYPE_CHECKING:
    from rilco.data.record import Demonstrations

DEFAULT_PAIRS = 10_000
BOUNDS = "Of actions.  [default: the environment's, else -1 1]"

format_option = click.option("--format", "format_name", help="Its format.  [default: by its ending]")
overwrite_option = click.option("--overwrite", is_flag=True, help="Replace an existing file.")
env_kwargs_option = click.option("--env-kwargs", type=TABLE, metavar="JSON", help="Its keyword arguments.")
target_options = options(
    click.option("--out", required=True, help="The file to write."), format_option, overwrite_option
)
env_id_option = click.option("--env", help="The environment's Gymnasium id, for formats that store it.")


@click.group(short_help="Make, mix, look at and convert demonstrations.")
def command() -> None:
    """Demonstrations: make, mix, look at and convert them."""


@command.command("collect")
@click.argument("policies", nargs=-1, required=True, metavar="POLICY...")
@click.option("--pairs", type=COUNT, help="Fewest pairs of each policy, in whole episodes.  [default: 10k]")
@click.option("--episodes", type=click.IntRange(1), help="Episodes of each policy, instead of --pairs.")
@click.option("--stochastic", is_flag=True, help="Sample actions.  [default: the mean action]")
@click.option("--action-noise", default=0.0, help="Variance of Gaussian noise on actions.  [default: 0]")
@click.option("--expert/--non-expert", default=None, help="Ground truth to store.  [default: unknown]")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(0))
@click.option("--task", help="A Bullet task.  [default: the policy's own]")
@click.option("--env", help="A Gymnasium environment, by id.  [default: the policy's own]")
@env_kwargs_option
@trust_option
@target_options
def collect_command(
    policies: tuple[str, ...], out: str, format_name: str | None, overwrite: bool, **options: Any
) -> None:
    """Play policies and keep what they saw and did. Each POLICY is a demonstrator: a run folder, a policy file, or one
    that comes with rilco (`rilco experts list`).

    \b
    rilco demos collect ant#1 --out expert.npz
    rilco demos collect runs/ant-expert --expert --out expert.npz
    rilco demos collect early.safetensors late.safetensors --pairs 20k --out others.npz
    """
    from rilco.data.collect import collect
    from rilco.data.record import concatenate
    from rilco.evaluation import task_of
    from rilco.policy.saved import load_policy, shipped_name
    from rilco.runs.progress import StatusLine
    from rilco.tasks.registration import name_in_files

    pairs, episodes, stochastic = (options[name] for name in ("pairs", "episodes", "stochastic"))
    if pairs is not None and episodes is not None:
        raise ConfigError(f"--pairs {pairs} and --episodes {episodes}: choose one of the two.")
    check_target(out, format_name, overwrite)
    opened = [load_policy(source) for source in policies]
    where = {name: options[name] for name in ("task", "env", "env_kwargs", "trust_env")}
    places = [task_of(policy, **where) for policy in opened]
    if len(set(places)) > 1:
        raise ConfigError(
            f"--out {out}: the policies are for different environments "
            f"({', '.join(place.name for place in places)}). Collect from them one by one."
        )
    how = {name: options[name] for name in ("seed", "action_noise")}
    how |= {"episodes": episodes, "deterministic": not stochastic}
    how["pairs"] = DEFAULT_PAIRS if pairs is None else pairs
    parts = []
    with StatusLine(every=math.inf) as line:

        def show(name: str, done: int) -> None:
            line.show(f"playing {name}: {done:,} of {episodes or how['pairs']:,}")

        for name, source, policy in zip(demonstrator_names(policies), policies, opened, strict=True):
            shipped, expert = shipped_name(source), options["expert"]
            if expert is None and shipped is not None:  # known only of those that come with rilco
                expert = shipped[1] == 1
            told = functools.partial(show, name)
            parts.append(collect(policy, places[0], expert=expert, name=name, progress=told, **how))
    save(concatenate(parts), out, format_name, name_in_files(places[0]))


@command.command("mix")
@click.argument("sources", nargs=-1, required=True, metavar="EXPERT [NON_EXPERT]...")
@click.option("--noise-rate", required=True, type=float, help="Wanted share of non-expert pairs, below 0.5.")
@obs_keys_option
@click.option("--seed", type=int, help="Place non-expert pieces at random.  [default: evenly]")
@env_id_option
@target_options
def mix_command(
    sources: tuple[str, ...], noise_rate: float, seed: int | None, env: str | None, **options: Any
) -> None:
    """Mix an expert's demonstrations with others as the paper does: all of the expert, and pieces of 50 pairs from each
    non-expert. Sources are files, the expert's first unless they say themselves whose they are.

    \b
    rilco demos mix expert.npz others/ --noise-rate 0.4 --out mixed.npz
    """
    from rilco.data.formats import find_files, load_file
    from rilco.data.loading import expert_and_others
    from rilco.data.mixing import mix
    from rilco.data.record import check_noise_rate

    out, format_name = options["out"], options["format_name"]
    check_noise_rate(noise_rate)
    check_target(out, format_name, options["overwrite"])
    parts = [load_file(file, obs_keys=options["obs_keys"] or ()) for file in find_files(sources)]
    expert, others = expert_and_others(parts, guess=True)
    save(mix(expert, others, noise_rate, seed=seed), out, format_name, env)


@command.command("inspect")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--bounds", nargs=2, type=float, metavar="LOW HIGH", help=BOUNDS)
@click.option("--env", help="The Gymnasium environment of the files, by id: it knows its bounds.")
@env_kwargs_option
@obs_keys_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
def inspect_command(files: tuple[str, ...], env: str | None, as_json: bool, **options: Any) -> None:
    """Say what demonstration files hold: episodes, returns, every dimension, and what is wrong with them."""
    from rich.console import Console

    from rilco.data import views
    from rilco.data.inspect import Bounds, inspect_files
    from rilco.tasks.table import Task

    bounds: Bounds | None = options["bounds"]
    if env is not None and bounds is None:
        bounds = Task(env=env, env_kwargs=options["env_kwargs"] or {}).spaces().actions.bounds
    inspections = list(inspect_files(files, bounds=bounds, obs_keys=options["obs_keys"] or ()))
    if as_json:
        click.echo(json.dumps([one.to_json() for one in inspections], indent=2))
        return
    console = Console()
    for table in views.tables(inspections, console.width):
        console.print(table)
    for remark in views.remarks(inspections):
        console.print(remark, highlight=False, markup=False, soft_wrap=True)


@command.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@env_id_option
@obs_keys_option
@format_option
@overwrite_option
def convert_command(
    source: str, target: str, format_name: str | None, env: str | None, overwrite: bool, **how: Any
) -> None:
    """Write demonstrations in another format. IN may be a folder of files, OUT is one file or dataset.

    \b
    rilco demos convert theirs.hdf5 ours.npz
    rilco demos convert ours.npz minari:ant/noisy-v0 --env rilco/AntBullet-v0
    """
    from rilco.data.formats import save_demonstrations
    from rilco.data.loading import load_demonstrations

    check_target(target, format_name, overwrite, option="OUT")  # before hours of loading
    demos = load_demonstrations(source, obs_keys=how["obs_keys"] or ())
    save_demonstrations(demos, target, format_name, env=env)
    click.echo(f"{target}: {demos!r}")


def demonstrator_names(sources: tuple[str, ...]) -> list[str]:
    """The last part of each path, or all of it where two would have the same name."""
    names = [Path(source).name or source for source in sources]
    return [name if names.count(name) == 1 else source for name, source in zip(names, sources, strict=True)]


def check_target(out: str, format_name: str | None, overwrite: bool, option: str = "--out") -> None:
    """Raises ConfigError, before any work is done, if `out` cannot be written."""
    from rilco.data.formats import target_format
    from rilco.files import check_writable

    place, _ = target_format(out, format_name)
    if place.is_dir() or (place.exists() and not overwrite):
        advice = "remove it first" if place.is_dir() else "replace it with --overwrite"
        raise ConfigError(f"{option} {out}: something of that name exists. Choose another name, or {advice}.")
    check_writable(place)


def save(demos: Demonstrations, out: str, format_name: str | None, env: str | None) -> None:
    """Write a file whose environment has this id, and say so."""
    from rilco.data.formats import save_demonstrations, target_format

    folder = target_format(out, format_name)[0].parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"--out {out}: its folder cannot be made ({error.strerror or error}). Choose another place."
        ) from error
    save_demonstrations(demos, out, format_name, env=env)
    click.echo(f"{out}: {demos!r}")
