"""Errors that a user can act on: where, what was expected, what came, and what to do."""

from __future__ import annotations

import difflib
import importlib.util
import math
import numbers
from collections.abc import Callable, Collection, Iterable
from typing import Any


class RilcoError(Exception):
    """Base of every error that rilco raises on purpose; the command line prints it without a traceback.

    >>> try:
    ...     rilco.Task(task="hoper")
    ... except rilco.RilcoError as error:
    ...     print(error)
    --task hoper: unknown task; known are halfcheetah, hopper, walker2d, ant. Did you mean 'hopper'? ...
    """


class ConfigError(RilcoError):
    """An option or a combination of options that cannot work."""


class DemonstrationError(RilcoError):
    """A demonstration file or array that cannot be used."""


class TaskError(RilcoError):
    """An environment that cannot be built, or whose spaces are not supported."""


class WorkerError(RilcoError):
    """A rollout worker died or its environment raised."""


class RunError(RilcoError):
    """A run folder that cannot be written, read or resumed."""


class WriteError(RunError):
    """A file that the system would not write."""


class TrainingError(RilcoError):
    """Learning failed for good, for example with a NaN loss."""


class AuditError(RilcoError):
    """An audit that cannot be made, or one that was stored and cannot be read."""


def require(module: str, what: str, extra: str) -> None:
    """Raises ConfigError unless an optional library is installed: to be asked before any work is done."""
    if importlib.util.find_spec(module) is None:
        raise ConfigError(f"{what} need {module}: pip install '.[{extra}]' in rilco's folder.")


def check_fields(config: object, expected: str, holds: Callable[[Any], bool], *names: str) -> None:
    """Raises ConfigError unless these settings hold what is expected; `AcktrConfig.damping` is named `acktr.damping`."""
    part = type(config).__name__.removesuffix("Config").lower()
    for name in names:
        value = getattr(config, name)
        if not holds(value):
            raise ConfigError(f"{part}.{name}: expected {expected}; got {value!r}.")


def whole(name: str, value: Any) -> int:
    """A number that counts something, and may be written 1e6. Raises ConfigError for any other."""
    if isinstance(value, numbers.Real) and math.isfinite(value):
        nearest = round(float(value))
        if nearest >= 1 and abs(float(value) - nearest) < 1e-6:
            return nearest
    raise ConfigError(f"--{name} {value}: expected a whole number of at least 1.")


def check_noise_rate(noise_rate: float) -> None:
    """Raises ConfigError unless the expert would make up more than half of the data."""
    if not 0.0 <= noise_rate < 0.5:  # NaN is refused too
        raise ConfigError(
            f"The noise rate is {noise_rate}; expected at least 0 and less than 0.5, because learning without labels rests "
            "on the expert having made most of the data. The paper's hardest case is 0.4."
        )


def suggestion(name: object, known: Iterable[str]) -> str:
    """` Did you mean 'walker2d'?` for a name that is nearly a known one, and nothing otherwise."""
    near = difflib.get_close_matches(str(name).lower().replace("_", "-"), list(known), n=1, cutoff=0.55)
    near = near or difflib.get_close_matches(str(name), list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def check_choice(option: str, name: str, known: Collection[str]) -> None:
    """Raises ConfigError unless `name` is one of the known."""
    if name not in known:
        raise ConfigError(
            f"{option}: expected one of {', '.join(known)}; got {name!r}.{suggestion(name, known)}"
        )
