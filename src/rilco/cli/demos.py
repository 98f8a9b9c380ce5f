"""`rilco demos`: make, mix, look at and convert demonstrations."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rilco.cli.common import COUNT, TABLE, obs_keys_option, options, progress_bar, trust_option
from rilco.errors import ConfigError

if TYPE_CHECKING:
    from rilco.data.record import Demonstrations
    from rilco.policy.saved import Policy
    from rilco.tasks.table import Task

DEFAULT_PAIRS = 10_000

format_option = click.option("--format", "format_name", help="Its format.  [default: by its ending]")
overwrite_option = click.option("--overwrite", is_flag=True, help="Replace an existing file.")
env_kwargs_option = click.option("--env-kwargs", type=TABLE, metavar="JSON", help="Its keyword arguments.")
target_options = options(
    click.option("--out", required=True, help="The file to write."), format_option, overwrite_option
)
place_options = options(
    click.option("--task", help="A Bullet task.  [default: the policy's own]"),
    click.option("--env", help="A Gymnasium environment, by id.  [default: the policy's own]"),
    env_kwargs_option,
    trust_option,
)


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
@place_options
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
    from rilco.data.ladder import open_policy
    from rilco.data.record import concatenate

    pairs, episodes = options["pairs"], options["episodes"]
    if pairs is not None and episodes is not None:
        raise ConfigError(f"--pairs {pairs} and --episodes {episodes}: choose one of the two.")
    check_target(out, format_name, overwrite)
    opened = [open_policy(source) for source in policies]
    places = [environment(policy, options) for policy, _ in opened]
    if len(set(places)) > 1:
        raise ConfigError(
            f"--out {out}: the policies are for different environments "
            f"({', '.join(place.name for place in places)}). Collect from them one by one."
        )
    parts = []
    for name, (policy, known) in zip(demonstrator_names(policies), opened, strict=True):
        with progress_bar(f"playing {name}", episodes or pairs or DEFAULT_PAIRS) as progress:
            part = collect(
                policy,
                places[0],
                pairs=DEFAULT_PAIRS if pairs is None else pairs,
                episodes=episodes,
                seed=options["seed"],
                deterministic=not options["stochastic"],
                action_noise=options["action_noise"],
                expert=known if options["expert"] is None else options["expert"],
                name=name,
                progress=progress,
            )
        parts.append(part)
    save(concatenate(parts), out, format_name, places[0])


@command.command("mix")
@click.argument("sources", nargs=-1, required=True, metavar="EXPERT [NON_EXPERT]...")
@click.option("--noise-rate", required=True, type=float, help="Wanted share of non-expert pairs, below 0.5.")
@click.option("--kind", type=click.Choice(("policy", "gaussian")), default="policy", show_default=True)
@click.option("--pairs", default="10k", show_default=True, type=COUNT, help="With gaussian: of each.")
@obs_keys_option
@click.option("--seed", type=int, help="Place non-expert pieces at random.  [default: evenly]")
@place_options
@target_options
def mix_command(
    sources: tuple[str, ...], noise_rate: float, kind: str, pairs: int, seed: int | None, **options: Any
) -> None:
    """Mix an expert's demonstrations with others as the paper does: all of the expert, and pieces of 50 pairs from each
    non-expert.

    Sources are files, the expert's first unless they say themselves whose they are. With --kind gaussian the one
    source is the expert's policy. The non-experts are that policy with five strengths of action noise, chosen so that
    their returns are the paper's fractions of the expert's.

    \b
    rilco demos mix expert.npz others/ --noise-rate 0.4 --out mixed.npz
    rilco demos mix runs/ant-expert --kind gaussian --noise-rate 0.4 --out gaussian.npz
    """
    from rilco.data.formats import find_files, load_file
    from rilco.data.loading import expert_and_others
    from rilco.data.mixing import mix
    from rilco.data.record import check_noise_rate
    from rilco.policy.saved import load_policy
    from rilco.tasks.table import Task

    out, format_name, obs_keys = options["out"], options["format_name"], options["obs_keys"] or ()
    task, env = options["task"], options["env"]
    check_noise_rate(noise_rate)
    check_target(out, format_name, options["overwrite"])
    if kind == "policy":
        place = None if task is None and env is None else Task(task=task, env=env)
        parts = [load_file(file, obs_keys=obs_keys) for file in find_files(sources)]
        expert, others = expert_and_others(parts, guess=True)
    elif len(sources) != 1:
        raise ConfigError(f"--kind gaussian: got {len(sources)} sources; expected one, the expert's policy.")
    else:
        policy = load_policy(sources[0])
        place = environment(policy, options)
        expert, others = play_with_noise(policy, place, demonstrator_names(sources)[0], pairs, seed or 0)
    save(mix(expert, others, noise_rate, seed=seed), out, format_name, place)


@command.command("inspect")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--bounds",
    nargs=2,
    type=float,
    metavar="LOW HIGH",
    help="Of actions.  [default: the environment's, else -1 1]",
)
@click.option("--env", help="The Gymnasium environment of the files, by id: it knows its bounds.")
@env_kwargs_option
@obs_keys_option
@click.option("--plot", type=click.Path(path_type=Path), help="Also draw them: a name that ends in .png.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
def inspect_command(
    files: tuple[str, ...], env: str | None, plot: Path | None, as_json: bool, **options: Any
) -> None:
    """Say what demonstration files hold: episodes, returns, every dimension, and what is wrong with them."""
    from rich.console import Console

    from rilco.data import views
    from rilco.data.inspect import Bounds, inspect_files
    from rilco.tasks.table import Task

    if plot is not None:
        views.check_picture(plot)
    bounds: Bounds | None = options["bounds"]
    if env is not None and bounds is None:
        bounds = Task(env=env, env_kwargs=options["env_kwargs"] or {}).spaces().actions.bounds
    inspections = list(inspect_files(files, bounds=bounds, obs_keys=options["obs_keys"] or ()))
    if as_json:
        click.echo(json.dumps([one.to_json() for one in inspections], indent=2))
    else:
        console = Console()
        for table in views.tables(inspections, console.width):
            console.print(table)
        for remark in views.remarks(inspections):
            console.print(remark, highlight=False, markup=False, soft_wrap=True)
    if plot is not None:
        views.draw(inspections, plot)
        click.echo(f"{plot}", err=as_json)


@command.command("convert")
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--env", help="The environment's Gymnasium id, for formats that have a place for it.")
@obs_keys_option
@format_option
@overwrite_option
def convert_command(
    source: str, target: str, obs_keys: tuple[str, ...] | None, format_name: str | None, **how: Any
) -> None:
    """Write demonstrations in another format. IN may be a folder of files, OUT is one file or dataset.

    \b
    rilco demos convert theirs.hdf5 ours.npz
    rilco demos convert ours.npz minari:ant/noisy-v0 --env rilco/AntBullet-v0
    """
    from rilco.data.formats import convert

    demos = convert(source, target, format_name, obs_keys=obs_keys or (), **how)
    click.echo(f"{target}: {demos!r}")


def environment(policy: Policy, where: dict[str, Any]) -> Task:
    """The environment that the options name, or else the one that the policy was trained in."""
    from rilco.evaluation import task_of
    from rilco.tasks.table import Task

    task, env, env_kwargs = where["task"], where["env"], where["env_kwargs"]
    if task is None and env is None:
        own = task_of(policy, trust_env=where["trust_env"])
        return own if env_kwargs is None else dataclasses.replace(own, env_kwargs=env_kwargs)
    return Task(task=task, env=env, env_kwargs=env_kwargs or {}, obs_keys=policy.card.get("obs_keys", ()))


def demonstrator_names(sources: tuple[str, ...]) -> list[str]:
    """The last part of each path, or all of it where two would have the same name."""
    names = [Path(source).name or source for source in sources]
    return [name if names.count(name) == 1 else source for name, source in zip(names, sources, strict=True)]


def play_with_noise(
    policy: Policy, place: Task, name: str, pairs: int, seed: int
) -> tuple[Demonstrations, list[Demonstrations]]:
    """Demonstrations of the expert, and of the expert with five strengths of action noise."""
    from rilco.data.collect import collect, find_noise_levels

    with progress_bar("looking for variances", None) as progress:
        trials = iter(range(1, 1000))
        levels = find_noise_levels(policy, place, seed=seed, progress=lambda: progress(next(trials)))
    for level in levels:
        click.echo(
            f"variance {level.variance:8.4f}   return {level.mean_return:10,.1f}   {level.fraction:.2f} of the "
            f"expert's (wanted {level.wanted_fraction:.2f})",
            err=True,
        )
    parts = []
    for k, variance in enumerate([0.0, *(level.variance for level in levels)]):
        called = f"{name} with noise {variance:.4g}" if k else name
        with progress_bar(f"playing {called}", pairs) as progress:
            # Each has another seed, so that they do not all start from the same places.
            how: dict[str, Any] = {"seed": seed + k, "action_noise": variance, "expert": k == 0}
            parts.append(collect(policy, place, pairs=pairs, name=called, progress=progress, **how))
    return parts[0], parts[1:]


def check_target(out: str, format_name: str | None, overwrite: bool, option: str = "--out") -> None:
    """Raises ConfigError, before any work is done, if `out` cannot be written."""
    from rilco.data.formats import target_format

    place, _ = target_format(out, format_name)
    if place.is_dir() or (place.exists() and not overwrite):
        advice = "remove it first" if place.is_dir() else "replace it with --overwrite"
        raise ConfigError(f"{option} {out}: something of that name exists. Choose another name, or {advice}.")


def save(demos: Demonstrations, out: str, format_name: str | None, place: Task | None) -> None:
    from rilco.data.formats import save_demonstrations, target_format
    from rilco.tasks.registration import name_in_files

    folder = target_format(out, format_name)[0].parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"--out {out}: its folder cannot be made ({error.strerror or error}). Choose another place."
        ) from error
    save_demonstrations(demos, out, format_name, env=name_in_files(place))
    click.echo(f"{out}: {demos!r}")
