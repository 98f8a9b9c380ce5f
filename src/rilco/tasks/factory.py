"""How an environment is named, so that a worker process and a later run can make it again, and how it is made.

A name is a Gymnasium id, `module:Id-v0`, or `module:factory` for a class or function of a module; keyword arguments go
beside it. Nothing is pickled: whoever makes an environment imports it.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import json
import operator
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec

from rilco.errors import ConfigError, TaskError
from rilco.tasks.robots import ROBOTS

MOVE_IT = (
    "Worker processes import environments by name. Define it at the top of a module of its own, for example "
    "my_envs.py, and give that: env=my_envs.make_env, or --env my_envs:make_env."
)


def name_environment(env: Any, kwargs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """A name and keyword arguments by which anybody can make what was given: an id, a factory or an `EnvSpec`."""
    if not isinstance(kwargs, Mapping):
        raise ConfigError(f'--env-kwargs {kwargs!r}: expected a table, such as {{"gravity": 3.7}}.')
    if isinstance(env, functools.partial):
        if env.args:
            raise ConfigError(
                f"env={env}: a partial may only set keyword arguments, so that they can be stored."
            )
        return name_environment(env.func, {**env.keywords, **kwargs})
    spec = gymnasium.registry.get(env) if isinstance(env, str) else env
    if isinstance(spec, EnvSpec) and (spec is env or not _known_everywhere(spec)):
        return _name_specification(spec, kwargs)
    if isinstance(env, str):
        return env, _storable(env, kwargs)
    if isinstance(env, gymnasium.Env) or not callable(env):
        raise ConfigError(
            f"env={env!r}: expected a Gymnasium id, a class or function that makes an environment, or an EnvSpec. A run "
            "makes many environments, so one that is made already cannot be used."
        )
    name = _name_callable(env)
    return name, _storable(name, kwargs)


def make_environment(
    name: str, kwargs: Mapping[str, Any] | None = None, *, render: bool = False
) -> gymnasium.Env[Any, Any]:
    """Make an environment by its name. Errors say what was asked for, and what to do."""
    options = {**(kwargs or {}), **({"render_mode": "rgb_array"} if render else {})}
    try:
        factory = find_factory(name)
        env = gymnasium.make(name, **options) if factory is None else factory(**options)
    except Exception as error:  # an environment's constructor may raise anything
        given = f" with {options}" if options else ""
        meant = f" Did you mean --task {name}?" if name in ROBOTS else ""
        raise TaskError(
            f"--env {name}: it could not be made{given} ({type(error).__name__}: {error}).{meant} Check the "
            "name and its keyword arguments. An environment of yours is named 'module:EnvId-v0' or 'module:factory'. "
            "Workers import that module, and know no id that only your program registers. It must be importable "
            "(set PYTHONPATH=. for one in this folder)."
        ) from error
    if not isinstance(env, gymnasium.Env):
        raise TaskError(f"--env {name}: it made a {type(env).__name__}; expected a gymnasium.Env.")
    return env


def find_factory(name: str) -> Callable[..., Any] | None:
    """The class or function of a module that a name means; None where Gymnasium is to look for an id."""
    module, _, path = name.rpartition(":")
    if not module or not all(part.isidentifier() for part in path.split(".")):
        return None
    imported = importlib.import_module(module)
    if path in gymnasium.registry:
        return None
    try:
        found = operator.attrgetter(path)(imported)
    except AttributeError:
        return None
    return found if callable(found) else None


def _name_callable(factory: Callable[..., Any]) -> str:
    module, path = getattr(factory, "__module__", None), getattr(factory, "__qualname__", None)
    shown = f"env={path or factory!r}"
    if module is None or path is None or "<" in path:  # <lambda> or <locals>
        raise ConfigError(f"{shown}: is a lambda, is made inside a function, or has no name. {MOVE_IT}")
    if module == "__main__":
        raise ConfigError(f"{shown}: is defined in the program that was started. {MOVE_IT}")
    name = f"{module}:{path}"
    try:
        found = find_factory(name)
    except ImportError as error:
        raise ConfigError(f"{shown}: {module} cannot be imported ({error}). {MOVE_IT}") from error
    if found is not factory:
        raise ConfigError(f"{shown}: {name} is something else now. {MOVE_IT}")
    return name


def _name_specification(spec: EnvSpec, kwargs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    registered = gymnasium.registry.get(spec.id)
    if registered is None:
        raise ConfigError(
            f"env={spec.id}: no environment of that id is registered. Register it in a module, and import that first."
        )
    if spec.additional_wrappers != registered.additional_wrappers or spec.entry_point is None:
        raise ConfigError(
            f"env={spec.id}: the specification has wrappers or no entry point. Give a function that makes the wrapped "
            f"environment. {MOVE_IT}"
        )
    given = {name: value for name, value in spec.kwargs.items() if registered.kwargs.get(name) != value}
    if spec.max_episode_steps != registered.max_episode_steps:
        given["max_episode_steps"] = spec.max_episode_steps
    name = spec.id if _known_everywhere(spec) else f"{_module_of(spec)}:{spec.id}"
    return name, _storable(name, {**given, **kwargs})


def _known_everywhere(spec: EnvSpec) -> bool:
    """Whether a new process knows the id: Gymnasium or one of its plugins registers it, or rilco does."""
    plugins = [entry.module for entry in importlib.metadata.entry_points(group="gymnasium.envs")]
    roots = {module.split(".")[0] for module in ("gymnasium", "rilco", *plugins)}
    return _module_of(spec).split(".")[0] in roots


def _module_of(spec: EnvSpec) -> str:
    """The module that an environment comes from, and that is expected to register it."""
    entry = spec.entry_point or ""
    return (entry if isinstance(entry, str) else _name_callable(entry)).partition(":")[0]


def _storable(name: str, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments, once it is sure that a run's folder can hold them."""
    for key, value in kwargs.items():
        try:
            same = json.loads(json.dumps(value)) == (list(value) if isinstance(value, tuple) else value)
        except (TypeError, ValueError):
            same = False
        if not same:
            raise ConfigError(
                f"--env-kwargs of {name}: {key} is {value!r}; expected what JSON can hold: numbers, text, true, false, "
                "null, lists and tables. Let a function of a module make the rest."
            )
    return {key: list(value) if isinstance(value, tuple) else value for key, value in kwargs.items()}
