"""The command line: one file a command, imported only when it is called."""

from __future__ import annotations

import gc
import importlib
import sys

import click

from rilco import __version__
from rilco.errors import RilcoError

# Command -> (module, one line of help). The help stands here so that `rilco --help` imports none of them.
COMMANDS = {
    "train": ("rilco.cli.train", "Train a policy from demonstrations."),
    "evaluate": ("rilco.cli.evaluate", "Returns of a trained policy over episodes."),
    "play": ("rilco.cli.play", "Write a video of a trained policy."),
    "experts": ("rilco.cli.experts", "Train experts on the true reward."),
    "demos": ("rilco.cli.demos", "Make, mix, look at and convert demonstrations."),
    "audit": ("rilco.cli.audit", "Judge demonstrations: which of them are bad."),
    "sweep": ("rilco.cli.sweep", "Many runs: the paper's, or a grid of your own."),
    "results": ("rilco.cli.results", "Read and thin folders of runs."),
    "report": ("rilco.cli.report", "Figures and tables of runs beside the published results."),
    "bench": ("rilco.cli.bench", "Throughput against the bare simulator."),
    "demo": ("rilco.cli.demo", "A small example from start to end."),
}


class LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return getattr(importlib.import_module(COMMANDS[cmd_name][0]), "command")  # noqa: B009 (type is dynamic)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, help_line) for name, (_, help_line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rilco")
def cli() -> None:
    """Imitation learning that survives bad demonstrations."""


def main() -> None:
    """Entry point: our own errors are printed as one paragraph, without a traceback."""
    gc.set_threshold(500_000)  # a start makes 270,000 objects, and looking for cycles in them takes 0.1 s
    try:
        cli(prog_name="rilco")
    except RilcoError as error:
        click.echo(f"rilco: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
