"""Kinds of values that several commands take."""

from __future__ import annotations

import json
import math
from typing import Any

import click


class Count(click.ParamType):
    """A whole number that may be written 2e6, 300k or 5M."""

    name = "number"
    _suffixes = {"k": 1e3, "m": 1e6}  # noqa: RUF012 (a constant)

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value).strip().lower().replace("_", "").replace(",", "")
        factor = self._suffixes.get(text[-1:], 1.0)
        try:
            number = float(text[:-1] if factor > 1 else text) * factor
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
            self.fail(
                f"""{value!r} is not JSON ({error}); write for example '{{"gravity": 3.7}}'.""", param, ctx
            )
        if not isinstance(table, dict):
            self.fail(f"""{value!r} is no table; write for example '{{"gravity": 3.7}}'.""", param, ctx)
        return table


COUNT = Count()
TABLE = Table()
