"""Options, as given on the command line or from Python, to a run's configuration."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

import numpy as np

from rilco.clean import config as cleaning
from rilco.config import RunConfig
from rilco.errors import ConfigError, suggestion
from rilco.files import fits
from rilco.methods import check_options, find
from rilco.policy.saved import shipped_name
from rilco.tasks.observations import read_keys
from rilco.tasks.table import Task

# Options that are spelled shorter than the field they set.
SHORT = {
    "loss": "classifier.loss",
    "lam": "classifier.lam",
    "lambda_schedule": "classifier.lam_schedule",
    "pseudo_labels": "classifier.pseudo_labels",
    "finish": "clean.finish",
    "ril_p_as_published": "classifier.as_published",
}
OF_THE_TASK = ("task", "env", "env_kwargs")
PATHS = ("demos", "nonexpert_demos")
PPO_ROLLOUT = 4096  # transitions in an iteration with PPO, unless its sizes are given


def make_config(options: Mapping[str, Any], *, stored: RunConfig | None = None) -> RunConfig:
    """A configuration from the options that were given (None: not given), on top of a stored one.

    A name with a dot reaches into a part: `acktr.learning_rate`.
    """
    given = {SHORT.get(name, name): value for name, value in options.items() if value is not None}
    gradient_steps = given.pop("gradient_steps", None)
    new, base = stored is None, stored or RunConfig.defaults()
    settings = _read(given, base, new=new)
    method = settings.get("method", base.method)
    usual_learner = find(method).policy_learner or base.policy_learner
    settings = {"policy_learner": usual_learner, **settings}
    check_options(method, settings["policy_learner"], [name for name in given if new or "." in name])
    for usual in (_sizes_for_ppo, _steps_of_cleaning, _lengths) if new else (_lengths,):
        settings = {**usual(settings, base), **settings}
    own = {name: value for name, value in settings.items() if "." not in name}
    config = dataclasses.replace(base, **own, **_parts(settings, base))
    if gradient_steps is None:
        return config
    if "steps" in given:
        raise ConfigError("--gradient-steps and --steps both say how long a run is: give one of them.")
    return _cloning(config, _fitting(gradient_steps, config, "steps", "gradient_steps"))


def _cloning(config: RunConfig, gradient_steps: int) -> RunConfig:
    """As many gradient steps, in whole iterations. An iteration of cloning stands for the transitions of one that acts."""
    if find(config.method).runner != "cloning":
        raise ConfigError(
            f"--gradient-steps: only bc is counted in them. {config.method} acts, and --steps counts its transitions."
        )
    iterations = -(-gradient_steps // config.bc.steps_per_iteration)
    return dataclasses.replace(config, steps=iterations * config.transitions_per_iteration)


def _read(given: Mapping[str, Any], base: RunConfig, *, new: bool) -> dict[str, Any]:
    """The options as settings: the run's own in their types, those of its parts as they are, and the environment."""
    settings = {
        name: value if "." in name else _top_level(name, value, base)
        for name, value in given.items()
        if name not in OF_THE_TASK
    }
    nowhere = new and not {"task", "env"} & set(given)
    usual = {"method": RunConfig.method} if new else {}
    never = {"evaluate_every": -1} if nowhere else {}
    return {**usual, **never, **settings, "task": _task(Task() if nowhere else base.task, given, settings)}


def _task(stored: Task, given: Mapping[str, Any], settings: Mapping[str, Any]) -> Task:
    """The environment that was given, else the stored one, with what was said about it. To name the stored one again is
    the user's word for it."""
    how = {"env_kwargs": given["env_kwargs"]} if "env_kwargs" in given else {}
    if "obs_keys" in settings:
        how["obs_keys"] = settings["obs_keys"]
    if {"task", "env"} & set(given):
        named = Task.of(given.get("task"), given.get("env"), **how)
        if named.name != stored.name:
            return named
        stored = dataclasses.replace(stored, named_by="")
    return dataclasses.replace(stored, **how)


# -- settings that are usual beside those that were given ------------------------------------------


def _sizes_for_ppo(settings: Mapping[str, Any], base: RunConfig) -> dict[str, Any]:
    """PPO learns from longer rollouts than ACKTR, and the classifiers take as many steps a transition as with it."""
    if settings["policy_learner"] != "ppo":
        return {}
    num_envs = settings.get("num_envs", 32 if settings["task"].task else 16)
    num_steps = settings.get("num_steps", max(1, PPO_ROLLOUT // max(1, num_envs)))
    sizes = {"num_envs": num_envs, "num_steps": num_steps}
    if "classifier." not in find(settings["method"]).reads:
        return sizes
    minibatches = base.classifier.minibatches * num_envs * num_steps / base.transitions_per_iteration
    return {**sizes, "classifier.minibatches": max(1, round(minibatches))}


def _steps_of_cleaning(settings: Mapping[str, Any], base: RunConfig) -> dict[str, Any]:
    """Without a finish, more transitions than the audit and practice need would not make it better."""
    if "clean." not in find(settings["method"]).reads:
        return {}
    own = {name: value for name, value in settings.items() if name.startswith("clean.")}
    clean = _parts(own, base).get("clean", base.clean)
    if clean.finish != "none":
        return {}
    return {"steps": cleaning.usual_steps(clean, max(1, settings.get("num_envs", base.num_envs)))}


def _lengths(settings: Mapping[str, Any], base: RunConfig) -> dict[str, Any]:
    """Schedules last as long as the run unless their length is given; lambda grows in its first half."""
    sizes = {name: settings[name] for name in ("steps", "num_envs", "num_steps") if name in settings}
    iterations = dataclasses.replace(base, **sizes).iterations
    learner, lengths = settings["policy_learner"], {}
    if settings.get(f"{learner}.learning_rate_decay") is True:
        lengths[f"{learner}.total_updates"] = iterations
    if settings.get("classifier.lam_schedule", "constant") != "constant":
        lengths["classifier.lam_iterations"] = max(1, iterations // 2)
    return lengths


# -- values ----------------------------------------------------------------------------------------


def _top_level(name: str, value: Any, base: RunConfig) -> Any:
    """A field of the run itself, in its type."""
    _require_field(RunConfig, name, name)
    if name in PATHS:
        return _paths(value, name)
    if name == "start_from":
        return value if isinstance(value, str) and shipped_name(value) else _paths([value], name)[0]
    if name == "obs_keys":
        return read_keys(value)
    if dataclasses.is_dataclass(getattr(base, name)):
        first = dataclasses.fields(getattr(base, name))[0].name
        raise ConfigError(f"{name}: is set field by field, for example {name}.{first}=VALUE.")
    return _fitting(value, base, name, name)


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """`["classifier.lam=0.3"]` to a table; values are read as JSON, or else as text."""
    table = {}
    for setting in settings:
        name, separator, text = setting.partition("=")
        if not separator:
            raise ConfigError(f"--set {setting}: expected NAME=VALUE, for example classifier.lam=0.3.")
        try:
            table[name] = json.loads(text)
        except ValueError:
            table[name] = text
    return table


def _parts(settings: Mapping[str, Any], base: RunConfig) -> dict[str, Any]:
    """The parts of a run that settings with a dot reach into."""
    changed: dict[str, dict[str, Any]] = {}
    for name, value in settings.items():
        part, dot, inner = name.partition(".")
        if not dot:
            continue
        _require_field(RunConfig, part, name)
        holder = getattr(base, part)
        if not dataclasses.is_dataclass(holder) or isinstance(holder, Task):
            raise ConfigError(f"{name}: {part} has no settings of its own.")
        _require_field(type(holder), inner, name)
        changed.setdefault(part, {})[inner] = _fitting(value, holder, inner, name)
    return {part: dataclasses.replace(getattr(base, part), **values) for part, values in changed.items()}


def _fitting(value: Any, record: object, field: str, name: str) -> Any:
    """The value in the type of a record's field, or an error that shows what it holds now. A count may be written 1e5,
    and numbers may be NumPy's."""
    wanted = get_type_hints(type(record))[field]
    value = value.item() if isinstance(value, np.generic) else value
    if wanted is int and isinstance(value, float) and value.is_integer():
        value = int(value)
    value = tuple(value) if isinstance(value, list) else value
    if not fits(value, wanted):
        like = getattr(record, field)
        expected = "a number" if like is None else f"a value like {like!r}"
        raise ConfigError(f"{name}: expected {expected}, got {value!r}.")
    return float(value) if type(value) is int and wanted in (float, float | None) else value


def _require_field(record: type, name: str, shown: str) -> None:
    known = [field.name for field in dataclasses.fields(record)]
    if record is RunConfig:
        known = [*(own for own in known if own != "version"), "env", "env_kwargs"]
    if name not in known:
        raise ConfigError(f"{shown}: no such option; known are {', '.join(known)}.{suggestion(name, known)}")


def _paths(paths: Any, name: str) -> tuple[str, ...]:
    paths = [paths] if isinstance(paths, str | os.PathLike) else paths
    if not isinstance(paths, list | tuple) or not all(isinstance(path, str | os.PathLike) for path in paths):
        raise ConfigError(
            f"{name}: expected paths of files; got {str(paths)[:100]}. Save it first, and name the file."
        )
    # Absolute, so that a run can be resumed from another folder.
    return tuple(os.path.abspath(os.fspath(path)) for path in paths)
