"""Checks of an audit's values: each returns the plain Python value, or says what is wrong with it."""

from __future__ import annotations

import contextlib
import json
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from rilco.errors import RilcoError, suggestion

_Record = TypeVar("_Record")


class AuditError(RilcoError):
    """An audit that cannot be made, or one that was stored and cannot be read."""


def settle(record: Any, name: str, value: Any) -> None:
    """Give a field of a frozen record its checked value."""
    object.__setattr__(record, name, value)


def check_number(value: Any, what: str, low: float = -math.inf, high: float = math.inf) -> float:
    number = math.nan
    # NumPy's numbers are real ones too; so are truth values, which are not meant.
    if not isinstance(value, bool) and isinstance(value, numbers.Real):
        with contextlib.suppress(OverflowError):  # a whole number of hundreds of digits
            number = float(value)
    if not math.isfinite(number):
        raise AuditError(f"{what} is {brief(value)}; expected a finite number.")
    if not low <= number <= high:
        raise AuditError(f"{what} is {number:g}; expected a number from {low:g} to {high:g}.")
    return number


def check_count(value: Any, what: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise AuditError(f"{what} is {brief(value)}; expected a whole number from {least}.")
    return int(value)


def check_text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise AuditError(f"{what} is {brief(value)}; expected text.")
    return value


def check_choice(value: Any, what: str, known: Sequence[str]) -> str:
    if value not in known:
        raise AuditError(f"{what} is {brief(value)}; expected {', '.join(known)}.{suggestion(value, known)}")
    return str(value)


def check_numbers(values: Any, what: str, count: int | None = None) -> tuple[float, ...]:
    if not isinstance(values, list | tuple):
        raise AuditError(f"{what} is {brief(values)}; expected a list of numbers.")
    if count is not None and len(values) != count:
        raise AuditError(f"{what}: there are {len(values)} numbers; expected {count} for its pairs.")
    return tuple(check_number(value, what) for value in values)


def check_settings(settings: Any) -> dict[str, Any]:
    """Settings as JSON would give them back, so that what is stored and what is read are equal."""
    if not isinstance(settings, Mapping):
        raise AuditError(f"settings is {brief(settings)}; expected names and values.")
    try:
        return json.loads(json.dumps(dict(settings), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise AuditError(f"settings hold something that JSON does not: {error}.") from error


def check_unique(ids: Iterable[int], complaint: str) -> None:
    seen: set[int] = set()
    for i in ids:
        if i in seen:
            raise AuditError(f"{complaint} {i}.")
        seen.add(i)


def read_record(record: type[_Record], table: Any, where: str) -> _Record:
    """A dataclass from its JSON object, no entry missing and none unknown; it checks its own values."""
    if not isinstance(table, dict):
        raise AuditError(f"{where} is {brief(table)}; expected an object.")
    known = {f.name for f in fields(record)}  # type: ignore[arg-type]
    if unknown := sorted(set(table) - known):
        raise AuditError(f"{where} has the unknown entry {unknown[0]!r}.{suggestion(unknown[0], known)}")
    if missing := sorted(known - set(table)):
        raise AuditError(f"{where} has no entry {missing[0]!r}.")
    return record(**table)


def read_records(record: type[_Record], rows: Any, where: str) -> tuple[_Record, ...]:
    return tuple(read_record(record, row, f"{where}[{i}]") for i, row in enumerate(read_list(rows, where)))


def read_list(value: Any, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise AuditError(f"{where} is {brief(value)}; expected a list.")
    return value


def brief(value: Any) -> str:
    """A value as an error message shows it."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
