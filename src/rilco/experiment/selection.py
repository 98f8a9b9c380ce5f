"""Choosing runs, as the command line names them: grid files, filters, seeds and steps."""

from __future__ import annotations

import dataclasses
import re
import runpy
import sys
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rilco.errors import ConfigError, RilcoError, suggestion
from rilco.experiment.grid import Job, make_jobs, run_name
from rilco.options import SHORT

MOST_SEEDS = 10_000


def load_grid(source: str) -> list[Job]:
    """The runs of a user's grid `FILE.py:NAME`, where NAME holds runs or is a function that yields them.

    The file is executed. NAME is `grid` unless given.
    """
    file, _, name = source.partition(".py:")
    path = Path(source if not name else f"{file}.py")
    name = name or "grid"
    if path.suffix != ".py" or not path.is_file():
        raise ConfigError(
            f"{source}: no such grid. Expected `paper`, or a Python file and a name in it such as mygrid.py:grid."
            f"{suggestion(source, ['paper'])}"
        )
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)  # so that it, and the runs, find modules beside it
    try:
        defined = runpy.run_path(str(path), run_name=f"rilco_grid_{path.stem}")
        if name not in defined:
            raise ConfigError(
                f"{path}: defines no {name!r}. Name what yields the runs: {path}:NAME.{suggestion(name, defined)}"
            )
        found = defined[name]
        return make_jobs(found() if callable(found) else found)
    except RilcoError:
        raise
    except Exception as error:
        raise _user_error(path, error) from error


def _user_error(path: Path, error: Exception) -> ConfigError:
    """The user's traceback, from their file on."""
    frames = traceback.extract_tb(error.__traceback__)
    inside = [Path(frame.filename).resolve() == path.resolve() for frame in frames]
    first = inside.index(True) if any(inside) else len(frames)
    shown = "".join(traceback.format_list(frames[first:]) + traceback.format_exception_only(error))
    return ConfigError(f"{path}: raised an error while it made the grid.\n\n{shown.rstrip()}")


# -- filters -------------------------------------------------------------------------------------


def select(jobs: Sequence[Job], filters: Iterable[str]) -> list[Job]:
    """The runs that fit every filter, `NAME=VALUE[,VALUE...]`; at least one."""
    table = [(job, job.config.flat()) for job in jobs]
    wanted: dict[str, set[Any]] = {}
    for text in filters:
        name, values = _parse_filter(text, table)
        if name in wanted:
            raise ConfigError(
                f"--only {text}: {name} was given before. Give all its values at once: {name}=A,B."
            )
        wanted[name] = values
    chosen = [job for job, row in table if all(row[name] in values for name, values in wanted.items())]
    if not chosen:
        if not wanted:
            raise ConfigError("The grid has no runs.")
        said = " ".join(f"{name}={','.join(map(str, values))}" for name, values in wanted.items())
        raise ConfigError(
            f"--only {said}: no run fits all of that, although each value occurs in the grid. Leave some out."
        )
    return chosen


def _parse_filter(text: str, table: Sequence[tuple[Job, dict[str, Any]]]) -> tuple[str, set[Any]]:
    name, separator, listed = text.partition("=")
    if not separator or not listed:
        raise ConfigError(f"--only {text}: expected NAME=VALUE[,VALUE...], for example task=ant,hopper.")
    name = SHORT.get(name, name)
    names = list(table[0][1]) if table else []
    if name not in names:
        raise ConfigError(
            f"--only {text}: runs have no setting {name!r}; try task, noise_rate, demo_kind, method or seed."
            f"{suggestion(name.replace('-', '_'), names)}"
        )
    known = list(dict.fromkeys(row[name] for _, row in table))  # in the grid's order
    values = set()
    for item in listed.split(","):
        matching = [value for value in known if _same(value, item)]
        if not matching:
            shown = ", ".join(map(str, known[:12])) + (", ..." if len(known) > 12 else "")
            raise ConfigError(
                f"--only {text}: no run of this grid has {name}={item}; it has {shown}."
                f"{suggestion(item, map(str, known))}"
            )
        values |= set(matching)
    return name, values


def _same(value: Any, text: str) -> bool:
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(text) == value
        except ValueError:
            return False
    return str(value).lower() == text.lower()


# -- seeds and steps -----------------------------------------------------------------------------


def parse_seeds(text: str) -> list[int]:
    """`1-3,7` to [1, 2, 3, 7]."""
    seeds: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        if match is None:
            raise ConfigError(f"--seeds {text}: expected whole numbers and ranges, for example 1-3 or 1,2,7.")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ConfigError(f"--seeds {text}: {first}-{last} runs backwards; write {last}-{first}.")
        if last - first + len(seeds) >= MOST_SEEDS:
            raise ConfigError(f"--seeds {text}: more than {MOST_SEEDS:,} seeds.")
        seeds += range(first, last + 1)
    if len(set(seeds)) < len(seeds):
        raise ConfigError(f"--seeds {text}: names a seed twice. Name each once.")
    return seeds


def with_seeds(jobs: Sequence[Job], seeds: Sequence[int]) -> list[Job]:
    """The grid's runs with these seeds instead of its own, seed by seed."""
    named = [job.name for job in jobs if job.name != run_name(job.config)]
    if named:
        raise ConfigError(
            f"--seeds: this grid names its runs itself (for example {named[0]}), so runs with other seeds would have "
            "no name. Choose the seeds in the grid."
        )
    different = dict.fromkeys(dataclasses.replace(job.config, seed=0) for job in jobs)
    return make_jobs(dataclasses.replace(config, seed=seed) for seed in seeds for config in different)


def with_steps(jobs: Sequence[Job], steps: int) -> list[Job]:
    """The same runs with another length. Schedules over the length of a run follow."""
    changed = []
    for name, config in jobs:
        longer = dataclasses.replace(config, steps=steps)
        if config.policy_settings.total_updates == config.iterations:
            longer = longer.with_policy_settings(total_updates=longer.iterations)
        # Lambda grows in the first half of a run, unless the grid says otherwise.
        if config.classifier.lam_iterations == max(1, config.iterations // 2):
            half = max(1, longer.iterations // 2)
            classifier = dataclasses.replace(config.classifier, lam_iterations=half)
            longer = dataclasses.replace(longer, classifier=classifier)
        changed.append(Job(run_name(longer) if name == run_name(config) else name, longer))
    return changed
