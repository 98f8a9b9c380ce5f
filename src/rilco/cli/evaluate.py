"""`rilco evaluate`."""

from __future__ import annotations

import json

import click

from rilco.cli.sources import trust_option


@click.command(short_help="Returns of a trained policy over episodes.")
@click.argument("run", metavar="RUN")
@click.option("--episodes", default=10, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=0, show_default=True, type=int, help="Of the start states.")
@click.option("--workers", type=click.IntRange(1), help="Processes.  [default: one a core]")
@click.option("--env", help="A Gymnasium environment, by id.  [default: the policy's own]")
@trust_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
def command(
    run: str,
    episodes: int,
    seed: int,
    workers: int | None,
    env: str | None,
    trust_env: bool,
    as_json: bool,
) -> None:
    """Evaluate a policy with deterministic actions: of a run folder (its best), a policy file, or a name like hopper#1."""
    from rilco.evaluation import evaluate
    from rilco.policy.saved import load_policy

    policy = load_policy(run)
    outcome = evaluate(policy, episodes=episodes, seed=seed, env=env, workers=workers, trust_env=trust_env)
    mean, std = float(outcome.returns.mean()), float(outcome.returns.std())
    if as_json:
        table = {
            "mean": mean,
            "std": std,
            "returns": outcome.returns.tolist(),
            "lengths": outcome.lengths.tolist(),
        }
        click.echo(json.dumps(table))
        return
    click.echo(f"{policy}")
    click.echo(
        f"return {mean:,.1f} ± {std:,.1f} over {episodes} episodes (mean length {outcome.lengths.mean():,.0f})"
    )
