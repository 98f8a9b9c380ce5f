"""What several commands share: options, kinds of values, progress bars, and how they stop."""

from __future__ import annotations

import contextlib
import functools
import json
import math
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rilco.runs.interrupt import StopSignal


class Count(click.ParamType):
    """A whole number that may be written 2e6, 300k or 5M."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value).strip().lower().replace("_", "").replace(",", "")
        try:
            number = float(text.replace("k", "e3").replace("m", "e6"))
        except ValueError:
            self.fail(f"{value!r} is not a number; write 2000000, 2e6, 300k or 5M.", param, ctx)
        if not math.isfinite(number) or number != int(number):
            self.fail(f"{value!r} is not a whole number.", param, ctx)
        return int(number)


class Table(click.ParamType):
    """Names and values, written as JSON."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Any]:
        try:
            table = json.loads(value) if isinstance(value, str) else value
        except ValueError as error:
            table = error
        if not isinstance(table, dict):
            self.fail(
                f"""{value!r} is not a JSON object; write for example '{{"gravity": 3.7}}'.""", param, ctx
            )
        return table


COUNT, TABLE = Count(), Table()


def _names(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    return None if value is None else tuple(name.strip() for name in value.split(",") if name.strip())


trust_option = click.option(
    "--trust-env",
    is_flag=True,
    help="Import the module of an environment that only a file names. It runs that module's code.",
)
workers_option = click.option(
    "--workers", type=click.IntRange(1), help="Rollout processes.  [default: one a core]"
)
checkpoints_option = click.option(
    "--checkpoint-every", default=100, show_default=True, type=click.IntRange(1), help="Iterations."
)
settings_option = click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Any other setting of training."
)
obs_keys_option = click.option(
    "--obs-keys", callback=_names, metavar="A,B,...", help="Named parts that make up an observation."
)


def options(*decorators: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Several options of a command as one, in this order."""
    return lambda command: functools.reduce(lambda made, add: add(made), reversed(decorators), command)


@contextlib.contextmanager
def stopping(advice: Callable[[], str]) -> Iterator[StopSignal]:
    """Listens for Ctrl-C and SIGTERM. When the work within has stopped, says how to go on, and exits."""
    from rilco.runs.interrupt import StopSignal, exit_code

    try:
        with StopSignal() as stop:  # before the heavy imports, which do not take an interrupt well
            yield stop
    except KeyboardInterrupt as interrupt:
        click.echo(f"\n{advice()}", err=True)
        sys.exit(exit_code(interrupt))
