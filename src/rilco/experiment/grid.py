"""Grids of runs: anything that yields configurations. Each run has a folder named after its settings."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from rilco.config import RunConfig, in_words
from rilco.errors import ConfigError
from rilco.options import make_config

_LONGEST = 100  # characters of one part of a name; file systems allow 255 bytes


class Job(NamedTuple):
    """One run of a grid."""

    name: str
    """Its folder below the sweep's, with forward slashes."""
    config: RunConfig


class Grid:
    """All combinations of some options of `rilco train`. Those given as a list or range vary, the last fastest.

        Grid(seed=range(1, 6), task="hopper", noise_rate=[0.0, 0.4], method=["ril-co", "gail-logistic"], steps=2e6)

    Options whose name has a dot go first, in a table: `Grid({"classifier.lam": [0.25, 0.5]}, task="ant", ...)`.
    """

    def __init__(self, settings: Mapping[str, Any] | None = None, /, **options: Any) -> None:
        axes = {**(settings or {}), **options}
        self.axes = {
            name: list(value) if isinstance(value, list | range) else [value]
            for name, value in axes.items()  # a tuple is one value, of several files for instance
        }
        empty = [name for name, values in self.axes.items() if not values]
        if empty:
            raise ConfigError(
                f"Grid: {', '.join(empty)} has no values, so there are no runs. Give at least one."
            )

    def __iter__(self) -> Iterator[RunConfig]:
        for values in itertools.product(*self.axes.values()):
            yield make_config(dict(zip(self.axes, values, strict=True)))


def make_jobs(items: Iterable[Any]) -> list[Job]:
    """Jobs from configurations, tables of options, or pairs of a name and one of these."""
    jobs: dict[str, Job] = {}
    for item in items:
        job = _job(item)
        if job.name not in jobs:
            jobs[job.name] = job
        elif jobs[job.name].config == job.config:
            raise ConfigError(
                f"{job.name}: the grid yields this run twice. Yield every configuration once, or with other seeds."
            )
        else:
            changes = in_words(jobs[job.name].config.difference(job.config))
            raise ConfigError(
                f"{job.name}: two runs of the grid would share this folder. They differ in {changes}. Yield pairs "
                "(NAME, CONFIG) to name their folders yourself."
            )
    return list(jobs.values())


def _job(item: Any) -> Job:
    name, config = item if isinstance(item, tuple) and len(item) == 2 else (None, item)
    if isinstance(config, Mapping):
        config = make_config(config)
    if not isinstance(config, RunConfig):
        raise ConfigError(
            "A grid yields a RunConfig, a table of options such as {'task': 'hopper', 'seed': 1}, or a pair of a name "
            f"and one of these. This one yielded {item!r}."
        )
    return Job(run_name(config) if name is None else _checked_name(name), config)


def run_name(config: RunConfig) -> str:
    """`ant/noise-0.4/ril-co/seed-1`. Settings other than the defaults follow the method."""
    changed = [f"{name}={_short(value)}" for name, value in config.changed().items()]
    method = ",".join([config.method, *changed])
    parts = [config.task.name, _data(config), method, f"seed-{config.seed}"]
    return "/".join(_part(part) for part in parts if part)


def _data(config: RunConfig) -> str:
    """The demonstrations, or nothing where there are none."""
    if config.noise_rate is not None:
        return f"{'noise' if config.demo_kind == 'policy' else config.demo_kind}-{config.noise_rate:g}"
    return "+".join(PurePosixPath(file).stem for file in config.demos)


def _short(value: Any) -> str:
    if isinstance(value, tuple):
        return "-".join(PurePosixPath(str(item)).stem for item in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _part(text: str) -> str:
    """One part of a path, without characters that shells or file systems mind, and not too long."""
    plain = re.sub(r"[^\w.,=+-]+", "-", text, flags=re.ASCII).strip("-") or "-"
    if len(plain) <= _LONGEST:
        return plain
    return f"{plain[: _LONGEST - 9]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _checked_name(name: Any) -> str:
    path = PurePosixPath(str(name))
    if not isinstance(name, str) or not name or path.is_absolute() or {"..", "."} & set(Path(name).parts):
        raise ConfigError(
            f"{name!r}: a run's name is a path below the sweep's folder, such as 'small/seed-1'."
        )
    return str(path)
