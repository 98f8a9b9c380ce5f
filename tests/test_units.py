"""Learning a task does not depend on the units of its actions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.environments import Drift, Units

import rilco
from rilco.bc.training import clone
from rilco.data.collect import collect
from rilco.data.formats import save_demonstrations
from rilco.data.record import Demonstrations
from rilco.runs.folder import Run
from rilco.tasks.table import Task

TINY: dict[str, Any] = {
    "num_envs": 8,
    "num_steps": 20,
    "evaluation_episodes": 5,
    "final_episodes": 5,
}


def tiny(method: str, learner: str = "acktr") -> dict[str, Any]:
    """Networks that compile quickly."""
    if method == "bc":
        return {**TINY, "bc.hidden_sizes": [16]}
    return {**TINY, "classifier.hidden": [16], f"{learner}.hidden_sizes": [16]}


def demonstrations(unit: float, shift: float) -> Demonstrations:
    """An expert that goes home, by an action in +-1, in other units."""
    env, rows = Drift(), []
    for episode in range(40):
        obs, _ = env.reset(seed=episode)
        ended = False
        while not ended:
            action = np.clip(-3.0 * obs[:1], -1.0, 1.0)
            rows.append((obs, shift + unit * action, episode))
            obs, _, ended, _, _ = env.step(action)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Demonstrations(columns[0], columns[1], episode=columns[2])


def train(
    folder: Path, method: str, unit: float, shift: float = 0.0, *, bounded: bool = True, **settings: Any
) -> Run:
    out = folder / f"{method}-{unit}-{shift}"
    save_demonstrations(demonstrations(unit, shift), folder / f"{unit}.npz")
    return rilco.train(
        out,
        env=Units,
        env_kwargs={"unit": unit, "shift": shift, "bounded": bounded},
        method=method,
        demos=[folder / f"{unit}.npz"],
        steps=settings.pop("steps", 800),
        workers=1,
        quiet=True,
        settings={**tiny(method, settings.get("policy_learner", "acktr")), **settings},
    )


def assert_alike(one: Run, other: Run) -> None:
    """The same run up to rounding, which learning magnifies a little."""
    for ours, theirs in zip(one.metrics(), other.metrics(), strict=True):
        assert ours.keys() == theirs.keys()
        for name in ours.keys() - {"seconds"}:
            assert ours[name] == pytest.approx(theirs[name], rel=5e-3, abs=5e-3), name


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("ril-co", {}),
        ("gail-logistic", {"policy_learner": "ppo"}),
        ("vild", {"episodes_as_demonstrators": True}),
        ("bc", {}),
    ],
)
def test_bounded_actions_are_in_units_of_their_range(
    tmp_path: Path, method: str, settings: dict[str, Any]
) -> None:
    small, large = (train(tmp_path, method, unit, **settings) for unit in (1.0, 20.0))
    assert_alike(small, large)
    obs = np.random.default_rng(0).normal(size=(50, 2))
    np.testing.assert_allclose(
        large.last_policy.predict(obs), 20.0 * small.last_policy.predict(obs), atol=0.05, rtol=1e-3
    )


@pytest.mark.parametrize("method", ["ril-co", "bc"])
def test_unbounded_actions_are_in_units_of_the_demonstrations(tmp_path: Path, method: str) -> None:
    small, large = (
        train(tmp_path, method, 1.0, bounded=False),
        train(tmp_path, method, 300.0, bounded=False),
    )
    assert_alike(small, large)
    assert large.last_policy.actions.scale[0] == pytest.approx(
        300.0 * small.last_policy.actions.scale[0], rel=1e-4
    )


def test_policy_file_gives_actions_of_the_environment(tmp_path: Path) -> None:
    """Evaluated, collected from and resumed, a policy acts in the environment's units."""
    run = train(tmp_path, "bc", 20.0, steps=64_000)
    policy = rilco.load_policy(run.path)
    assert policy.actions.scale == (20.0,)
    action = policy.predict(np.float32([0.2, 0.0]))
    assert action.shape == (1,)
    assert action[0] == pytest.approx(20.0 * -0.6, abs=3.0)
    made = collect(policy, Task(env=Units, env_kwargs={"unit": 20.0}), episodes=3)
    np.testing.assert_allclose(
        np.clip(made.action, -20.0, 20.0), policy.predict(made.obs), rtol=1e-4, atol=1e-3
    )
    outcome = rilco.evaluate(policy, episodes=5, seed=run.config.seed)
    expert = rilco.evaluate(policy, env=Units, env_kwargs={"unit": 20.0}, episodes=5, seed=run.config.seed)
    assert outcome.returns.tolist() == expert.returns.tolist()
    other = rilco.evaluate(policy, env_kwargs={"unit": 40.0}, episodes=5, seed=run.config.seed)
    assert other.returns.tolist() != expert.returns.tolist(), "its own environment, made otherwise"


def test_resumed_run_is_the_uninterrupted_one(tmp_path: Path) -> None:
    whole = train(tmp_path, "ril-co", 20.0)
    half = rilco.train(
        tmp_path / "half",
        env=Units,
        env_kwargs={"unit": 20.0},
        demos=[tmp_path / "20.0.npz"],
        steps=480,
        workers=1,
        quiet=True,
        settings={**tiny("ril-co"), "evaluate_every": -1},
    )
    resumed = rilco.train(half.path, resume=True, steps=800, workers=2, quiet=True)
    for name, array in whole.last_policy.arrays().items():
        assert np.array_equal(array, resumed.last_policy.arrays()[name]), name


def test_cloning_without_an_environment() -> None:
    obs = np.random.default_rng(0).normal(size=(50, 2))
    small, large = (clone(demonstrations(unit, 0.0), gradient_steps=500) for unit in (50.0, 5000.0))
    np.testing.assert_allclose(large.predict(obs), 100.0 * small.predict(obs), rtol=1e-3, atol=1.0)
