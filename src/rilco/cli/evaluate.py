"""`rilco evaluate`."""

from __future__ import annotations

import json
from typing import Any

import click

from rilco.cli.common import TABLE, trust_option, workers_option
from rilco.words import plural


@click.command(short_help="Returns of a trained policy over episodes.")
@click.argument("run", metavar="RUN")
@click.option("--episodes", default=10, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=0, show_default=True, type=int, help="Of the start states.")
@workers_option
@click.option("--env", help="A Gymnasium environment, by id.  [default: the policy's own]")
@click.option("--env-kwargs", type=TABLE, metavar="JSON", help="Its keyword arguments, as JSON.")
@trust_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")
def command(run: str, as_json: bool, **how: Any) -> None:
    """Evaluate a policy with deterministic actions. RUN is a run folder (its best policy), a policy file, or a name like
    hopper#1."""
    from rilco.evaluation import evaluate
    from rilco.policy.saved import load_policy

    policy = load_policy(run)
    outcome = evaluate(policy, **how)
    returns, lengths = outcome.returns, outcome.lengths
    mean, std = float(returns.mean()), float(returns.std())
    if as_json:
        table = {"mean": mean, "std": std, "returns": returns.tolist(), "lengths": lengths.tolist()}
        click.echo(json.dumps(table))
        return
    episodes = plural(len(returns), "episode")
    click.echo(f"{policy}")
    click.echo(f"return {mean:,.1f} ± {std:,.1f} over {episodes} (mean length {lengths.mean():,.0f})")
