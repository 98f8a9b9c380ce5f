"""`rilco play`."""

from __future__ import annotations

import click

from rilco.cli.common import trust_option


@click.command(short_help="Write a video of a trained policy.")
@click.argument("run", metavar="RUN")
@click.option("--video", required=True, help="Where to: a name that ends in .mp4 or .gif.")
@click.option("--seed", default=0, show_default=True, type=int, help="Of the start state.")
@click.option("--max-steps", default=1000, show_default=True, type=click.IntRange(1))
@click.option("--fps", default=60, show_default=True, type=click.IntRange(1))
@trust_option
def command(run: str, video: str, seed: int, max_steps: int, fps: int, trust_env: bool) -> None:
    """Write a video of one episode. RUN is a run folder, a policy file, or a name like hopper#1."""
    from rilco.policy.saved import load_policy
    from rilco.video import play

    count = play(load_policy(run), video, seed=seed, max_steps=max_steps, fps=fps, trust_env=trust_env)
    click.echo(f"{video}: {count} frames")
