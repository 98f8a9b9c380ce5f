"""Choices all the way: demonstrations, training, resuming, deployment, and CartPole from noisy demonstrations."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from tests.environments import Named, Steps, env_id

import rilco
from rilco.bc.training import clone
from rilco.data.collect import collect
from rilco.data.formats import save_demonstrations
from rilco.data.inspect import inspect
from rilco.data.record import Demonstrations
from rilco.data.run_data import read_data
from rilco.errors import ConfigError, RunError
from rilco.judging.audit_config import AuditConfig
from rilco.judging.classifiers import score_by
from rilco.methods import METHODS
from rilco.options import make_config
from rilco.policy.saved import Policy
from rilco.runs.how import How
from rilco.runs.progress import Progress
from rilco.tasks.table import Task
from rilco.training import go_on

TINY: dict[str, Any] = {"num_envs": 8, "num_steps": 20, "evaluation_episodes": 5, "final_episodes": 20}
NETWORKS: dict[str, Any] = {"acktr.hidden_sizes": [16], "classifier.hidden": [16]}


def demonstrations(start: int = 0, episodes: int = 60) -> Demonstrations:
    """An expert that steps home, and stays there."""
    env, rows = Steps(start), []
    for episode in range(episodes):
        obs, _ = env.reset(seed=episode)
        ended = False
        while not ended:
            action = start + (0 if obs[0] > 0.2 else 2 if obs[0] < -0.2 else 1)
            rows.append((obs, action, episode))
            obs, _, ended, _, _ = env.step(action)
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return Demonstrations(columns[0], columns[1], episode=columns[2])


@pytest.fixture
def file(tmp_path: Path) -> Path:
    save_demonstrations(demonstrations(), tmp_path / "expert.npz")
    return tmp_path / "expert.npz"


def agreement(policy: Policy, demos: Demonstrations) -> float:
    return float((policy.predict(demos.obs) == demos.action[:, 0]).mean())


def test_cloning_by_cross_entropy(tmp_path: Path) -> None:
    """With values that do not start at 0, and from a file alone."""
    demos = demonstrations(start=-1)
    policy = clone(demos, gradient_steps=2000)
    assert policy.actions.choices == (3,)
    assert agreement(policy, demonstrations(start=-1, episodes=80)) > 0.95
    policy.save(tmp_path / "policy.safetensors")
    read = rilco.load_policy(tmp_path / "policy.safetensors")
    assert read.predict(demos.obs).dtype == np.int64
    assert set(np.unique(read.predict(demos.obs))) == {-1, 0, 1}
    assert read.predict(demos.obs[0]).shape == ()
    sampled = read.predict(np.tile(demos.obs[0], (500, 1)), deterministic=False, rng=np.random.default_rng(0))
    assert (sampled == read.predict(demos.obs[0])).mean() > 0.5


def test_saved_policy_acts_without_jax_and_gymnasium(tmp_path: Path) -> None:
    policy = clone(demonstrations(episodes=5), gradient_steps=5)
    policy.save(tmp_path / "policy.safetensors")
    code = (
        "import sys; sys.modules['jax'] = sys.modules['gymnasium'] = None\n"
        "import rilco\n"
        f"print(rilco.load_policy({str(tmp_path / 'policy.safetensors')!r}).predict([0.5, 0.0]).item())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(policy.predict(np.float32([0.5, 0.0])).item()), done.stderr


def test_choices_of_another_environment_are_refused() -> None:
    policy = clone(demonstrations(episodes=5), gradient_steps=5, env=Steps)
    assert policy.predict(np.zeros(2)) in (0, 1, 2)
    said = "gives 3, a choice of 3 from 0 on, but .*Steps shows 2 and takes 3, a choice of 3 from 1 on"
    with pytest.raises(RunError, match=said):
        rilco.evaluate(policy, env_kwargs={"start": 1}, episodes=1)


def test_run_with_choices_resumes_bit_by_bit_and_can_be_collected_from(tmp_path: Path, file: Path) -> None:
    options: dict[str, Any] = {
        "env": env_id("Steps"),
        "demos": file,
        "quiet": True,
        "settings": {**TINY, **NETWORKS},
    }
    whole = rilco.train(tmp_path / "whole", steps=640, workers=1, **options)
    assert "log_std" not in whole.metrics()[-1]
    rilco.train(tmp_path / "part", steps=320, workers=1, **options)
    resumed = rilco.train(tmp_path / "part", resume=True, steps=640, workers=2, quiet=True)
    for name, array in whole.last_policy.arrays().items():
        assert np.array_equal(array, resumed.last_policy.arrays()[name]), name

    made = collect(whole.last_policy, whole.config.task, episodes=3, deterministic=False)
    assert made.discrete
    assert set(np.unique(made.action)) <= {0.0, 1.0, 2.0}
    assert not inspect(made).action.rows_outside
    with pytest.raises(ConfigError, match="whose actions are choices"):
        collect(whole.last_policy, whole.config.task, episodes=3, action_noise=0.1)


@pytest.mark.parametrize("method", ["acktr", "ppo"])
def test_two_choices_at_once_are_learned(tmp_path: Path, method: str) -> None:
    """On the true reward, which is least bad at home."""
    settings = {**TINY, f"{method}.hidden_sizes": [16], "evaluate_every": -1, "num_steps": 20, "num_envs": 16}
    settings |= {"acktr.kl_clip": 0.01} if method == "acktr" else {"ppo.learning_rate": 3e-3}
    run = rilco.train(
        tmp_path / "run",
        env=env_id("TwoSteps"),
        method=method,
        steps=64_000,
        workers=2,
        quiet=True,
        settings=settings,
    )
    returns = [record["episode_return"] for record in run.metrics()]
    assert np.mean(returns[-20:]) > 0.7 * np.mean(returns[2:22])  # they are negative: a smaller loss


REWARDED = [name for name, method in METHODS.items() if method.make_reward is not None and name != "vild"]


@pytest.mark.slow
@pytest.mark.parametrize("method", [*REWARDED, "bc"])
def test_every_method_learns_from_two_choices_at_once(tmp_path: Path, method: str) -> None:
    one = demonstrations(episodes=20)
    demos = replace(one, action=np.concatenate([one.action > 0, one.action], axis=1).astype(int))
    own = {"bc.hidden_sizes": [16]} if method == "bc" else {**NETWORKS, "classifier.batch": 16}
    settings = {**TINY, **own, "evaluate_every": -1, "final_episodes": 2}
    common: dict[str, Any] = {"steps": 320, "workers": 1, "quiet": True, "settings": settings}
    run = rilco.train(tmp_path / "run", env=env_id("TwoSteps"), method=method, demos=demos, **common)
    assert run.policy.actions.choices == (2, 3)
    chosen = run.policy.predict(demos.obs)
    assert chosen.shape == (len(demos), 2)
    assert chosen.min() >= 0
    assert (chosen.max(axis=0) <= (1, 2)).all()


def test_classifiers_of_an_audit_score_choices(tmp_path: Path, file: Path) -> None:
    run = rilco.train(tmp_path / "run", env=env_id("Steps"), demos=file, steps=640, seed=1, quiet=True)
    rules = AuditConfig(stretch_transitions=640, forming=1, stretches=1, most_stretches=1, scorings=1)
    with go_on(run, How(1, quiet=True)) as trainer:
        progress = Progress(run.config, run.path, quiet=True)
        scores = score_by(trainer, rules, lambda scores, count: None, progress=progress)
        assert scores.stretches.shape == (1, len(trainer.data.demos or ()))
    assert np.isfinite(scores.stretches).all()
    assert scores.spread is None


@pytest.mark.slow
def test_an_audit_asks_classifiers_about_named_parts_and_choices() -> None:
    """Given in memory, with the discrete part as a number and in an order of the user's."""
    demos = demonstrations()
    parts = {"state": {"y": demos.obs, "a": (demos.obs[:, 0] > 0).astype(int)}, "clock": demos.obs[:, 1]}
    given = {"obs": parts, "action": demos.action.astype(int), "episode": demos.episode}
    rules = AuditConfig(stretch_transitions=640, forming=1, stretches=1, most_stretches=1, scorings=1)
    keys = ["state/y", "state/a"]
    audit = rilco.audit(given, env=env_id("Named"), obs_keys=keys, steps=6400, config=rules)
    assert audit.scores is not None
    assert audit.scores.shape == (len(demos),)
    assert audit.demonstrations.obs.tolist() == np.column_stack([demos.obs, parts["state"]["a"]]).tolist()


def test_vild_is_refused_before_anything_is_read(tmp_path: Path, file: Path) -> None:
    with pytest.raises(ConfigError, match="--method vild: models noise on quantities, which has no meaning"):
        rilco.train(tmp_path / "run", env=env_id("Steps"), method="vild", demos=file, quiet=True)
    assert not (tmp_path / "run").exists()


def test_named_observations_in_environment_and_file(tmp_path: Path) -> None:
    """A Minari dataset with a Dict space, whose discrete part is one number, fits the environment's own order."""
    env, folder = Named(), tmp_path / "named.minari" / "data"
    folder.mkdir(parents=True)
    demos = demonstrations(episodes=20)
    with h5py.File(folder / "main_data.hdf5", "w") as stored:
        for k, part in enumerate(demos.episodes()):
            group, after = stored.create_group(f"episode_{k}"), np.concatenate([part.obs, part.obs[-1:]])
            group["observations/state/y"] = after
            group["observations/state/a"] = (after[:, 0] > 0).astype(np.int64)
            group["observations/clock"] = after[:, 1:]
            group["actions"] = part.action[:, 0].astype(np.int64)
            group["rewards"] = np.zeros(len(part))
            group["terminations"] = group["truncations"] = np.arange(len(part)) == len(part) - 1
    (folder / "metadata.json").write_text('{"total_episodes": 20, "data_format": "hdf5"}')
    common: dict[str, Any] = {"env": env_id("Named"), "demos": tmp_path / "named.minari", "method": "bc"}
    common |= {"steps": 64_000, "quiet": True, "workers": 1}
    settings = {**TINY, "bc.hidden_sizes": [16], "evaluate_every": -1}
    run = rilco.train(tmp_path / "all", **common, settings=settings)
    assert run.last_policy.obs_dim == 5
    flat = Task(env=env_id("Named")).spaces().observations
    env.reset(seed=1)
    expected = demos.action[:, 0]
    seen = np.stack([demos.obs[:, 1], demos.obs[:, 0] <= 0, demos.obs[:, 0] > 0, *demos.obs.T], axis=1)
    assert flat.width == seen.shape[1]
    assert (run.last_policy.predict(seen) == expected).mean() > 0.85
    chosen = rilco.train(tmp_path / "some", **common, settings={**settings, "obs_keys": "state/y"})
    assert chosen.last_policy.obs_dim == 2
    assert chosen.last_policy.card["obs_keys"] == ["state/y"]
    assert rilco.evaluate(chosen.path, episodes=2, workers=1).returns.shape == (2,)
    obs, _ = env.reset(seed=1)
    assert run.last_policy.predict(run.config.task.flatten(obs)).shape == ()
    assert chosen.config.task.flatten(obs).tolist() == obs["state"]["y"].tolist()


@pytest.mark.parametrize("one_hot", [True, False], ids=["one-hot", "number"])
def test_keys_choose_columns_of_flat_demonstrations(tmp_path: Path, one_hot: bool) -> None:
    """A file without named parts that holds the whole vector, in the stated order: clock, state/a, state/y."""
    clock, side, y = np.arange(6.0)[:, None], np.arange(6) % 2, np.arange(6.0, 18.0).reshape(6, 2)
    sides = np.eye(2)[side] if one_hot else side[:, None]
    save_demonstrations(Demonstrations(np.hstack([clock, sides, y]), side), tmp_path / "flat.npz")
    options = {"env": env_id("Named"), "method": "bc", "demos": tmp_path / "flat.npz"}
    chosen = read_data(make_config({**options, "obs_keys": "state/y,clock"}), print).demos
    assert chosen.obs.tolist() == np.hstack([y, clock]).tolist()
    every = read_data(make_config(options), print).demos
    assert every.obs.tolist() == np.hstack([clock, np.eye(2)[side], y]).tolist()


@pytest.mark.slow
def test_cart_pole_is_learned_from_noisy_demonstrations(tmp_path: Path) -> None:
    """RIL-Co from 40% noise; it reaches 500, the most there is, after 400,000 transitions."""
    benchmarks = pytest.importorskip(
        "benchmarks.discrete", reason="the benchmarks are not part of the package"
    )
    game = benchmarks.cart_pole()
    files = benchmarks.make_demonstrations(game, tmp_path / "demos")
    assert benchmarks.train(game, files, "ril-co", 1, tmp_path, 450_000) > 450
