"""Environments by name: ids, classes, functions and specifications, so that a worker can make them again."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from dataclasses import asdict

import gymnasium
import numpy as np
import pytest
from tests.environments import Units, env_id, make_drift

from rilco.config import RunConfig
from rilco.errors import ConfigError, TaskError
from rilco.evaluation import task_of
from rilco.options import make_config
from rilco.policy.saved import Policy
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import RolloutPool
from rilco.tasks.table import Task


def policy(card: dict | None = None) -> Policy:
    layer = (np.zeros((2, 1), np.float32), np.full(1, 9.0, np.float32))
    return Policy(
        np.zeros(2, np.float32), np.ones(2, np.float32), [layer], np.zeros(1, np.float32), card or {}
    )


@pytest.mark.parametrize(
    ("given", "name", "kwargs"),
    [
        (Units, "tests.environments:Units", {"unit": 20.0}),
        (make_drift, "tests.environments:make_drift", {"unit": 20.0}),
        (functools.partial(make_drift, unit=20.0), "tests.environments:make_drift", {}),
        ("tests.environments:Units", "tests.environments:Units", {"unit": 20.0}),
    ],
)
def test_factories_are_stored_by_name_and_made_by_workers(
    given: str | Callable[..., gymnasium.Env], name: str, kwargs: dict
) -> None:
    task = Task(env=given, env_kwargs=kwargs)
    assert (task.env, task.env_kwargs) == (name, {"unit": 20.0})
    assert Task(**json.loads(json.dumps(asdict(task)))) == task
    assert task.spaces().actions.scale == (20.0,)
    sizes = Sizes(2, 4, 2, task.spaces().actions, ())
    with RolloutPool(task, sizes, seed=1, num_workers=2) as pool:
        pool.start()
        assert pool.collect(policy(), 0).reward.shape == (4, 2)
        lengths = pool.evaluate(policy(), episodes=2, seed=1).lengths
    assert (lengths == 5).all() if "make_drift" in name else (lengths >= 7).all()


def test_specifications() -> None:
    spec = copy.deepcopy(gymnasium.spec("CartPole-v1"))
    assert Task(env=spec) == Task(env="CartPole-v1")
    spec.max_episode_steps = 7
    task = Task(env=spec, env_kwargs={"sutton_barto_reward": True})
    assert task.env_kwargs == {"sutton_barto_reward": True, "max_episode_steps": 7}
    assert task.dimensions() == (4, 2)
    own = Task(env=gymnasium.spec("Drift-v0"))
    assert own.env == Task(env="Drift-v0").env == env_id("Drift"), "workers import its module"
    wrapped = gymnasium.wrappers.FlattenObservation(gymnasium.make("CartPole-v1"))
    assert wrapped.spec is not None
    with pytest.raises(ConfigError, match="has wrappers"):
        Task(env=wrapped.spec)


def test_what_no_worker_could_make_is_refused_with_advice() -> None:
    class Local(Units):
        pass

    advice = "top of a module of its own"
    for given in (lambda: Units(), Local, functools.partial(Local, unit=2.0)):
        with pytest.raises(ConfigError, match=advice):
            Task(env=given)
    program = type("InProgram", (Units,), {"__module__": "__main__"})
    with pytest.raises(ConfigError, match=f"program that was started.*{advice}"):
        Task(env=program)
    gone = type("Gone", (Units,), {"__module__": "tests.environments", "__qualname__": "Gone"})
    with pytest.raises(ConfigError, match=advice):
        Task(env=gone)
    with pytest.raises(ConfigError, match="made already cannot be used"):
        Task(env=Units())
    with pytest.raises(ConfigError, match="only set keyword arguments"):
        Task(env=functools.partial(Units, 2.0))


def test_keyword_arguments_must_fit_into_json_and_the_environment() -> None:
    with pytest.raises(ConfigError, match=r"unit is <built-in function print>; expected what JSON"):
        Task(env=Units, env_kwargs={"unit": print})
    with pytest.raises(ConfigError, match="--task hopper takes none"):
        Task(task="hopper", env_kwargs={"unit": 2})
    with pytest.raises(TaskError, match=r"could not be made with \{'speed': 3\}.*speed"):
        Task(env=Units, env_kwargs={"speed": 3}).spaces()
    with pytest.raises(TaskError, match="made a dict; expected a gymnasium"):
        Task(env="builtins:dict").spaces()
    with pytest.raises(TaskError, match=r"no_such_module.*importable"):
        Task(env="no_such_module:make").spaces()


def test_runs_and_policies_remember_how_their_environment_is_made() -> None:
    options = {"env": Units, "env_kwargs": {"unit": 3.0}, "method": "acktr", "obs_keys": "a,b"}
    config = make_config(options)
    assert config.task == Task(env="tests.environments:Units", env_kwargs={"unit": 3.0}, obs_keys=("a", "b"))
    stored = RunConfig.from_json(config.to_json(), "config.json")
    assert stored == config
    assert make_config({"steps": 5}, stored=stored).task == config.task
    card = config.task.card()
    assert task_of(policy(json.loads(json.dumps(card)))) == config.task
    assert Task(env="CartPole-v1").card() == {"task": None, "env": "CartPole-v1"}
