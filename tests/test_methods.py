"""Every method as a run: it trains, stops and goes on exactly, and refuses what it has no use for."""

from __future__ import annotations

import functools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.environments import env_id

import rilco
from rilco.config import RunConfig
from rilco.data.formats import save_demonstrations
from rilco.data.record import Demonstrations
from rilco.errors import ConfigError
from rilco.methods import METHODS, find
from rilco.options import make_config
from rilco.policy.saved import load_policy

SIZES = {"num_envs": 4, "num_steps": 5, "evaluate_every": 60, "evaluation_episodes": 2}
CLASSIFIER = {
    "classifier.hidden": [8, 8],
    "classifier.batch": 16,
}
LABELS = {"classifier.candidates": 32, "classifier.selected": 8}


Begun = Callable[[str], rilco.Run]


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three demonstrators, six episodes."""
    rng = np.random.default_rng(0)
    given = Demonstrations(
        rng.standard_normal((300, 2), np.float32),
        rng.uniform(-1, 1, (300, 1)).astype(np.float32),
        episode=np.arange(300) // 50,
        demonstrator=np.arange(300) // 100,
    )
    file = tmp_path_factory.mktemp("demos") / "demos.npz"
    save_demonstrations(given, file)
    return file


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory, demos: Path) -> Begun:
    """Three iterations of a method, which are trained once. Not to be changed."""
    folder = tmp_path_factory.mktemp("begun")
    return functools.cache(lambda method: train(folder / method, method, demos, steps=60))


def settings_of(method: str) -> dict[str, object]:
    settings: dict[str, object] = dict(SIZES)
    reads = find(method).reads
    if "bc." in reads:
        return settings | {"bc.hidden_sizes": [8, 8], "bc.batch": 16}
    settings[f"{find(method).policy_learner or 'acktr'}.hidden_sizes"] = [8, 8]
    if "classifier." in reads:
        settings |= CLASSIFIER | {"freeze_normalizer_after": 2}
    if "classifier.candidates" in reads:
        settings |= LABELS
    if "vild." in reads:
        settings |= {"vild.hidden": [8, 8], "vild.cloning_steps": 5}
    return settings


def train(out: Path, method: str, demos: Path, *, steps: int = 100, **options: Any) -> rilco.Run:
    settings = {**settings_of(method), **options.pop("settings", {})}
    given = demos if find(method).imitates else None
    return rilco.train(
        out,
        env=env_id("Drift"),
        method=method,
        demos=given,
        steps=steps,
        seed=3,
        settings=settings,
        workers=1,
        quiet=True,
        **options,
    )


def lines(run: rilco.Run) -> list[dict]:
    """Metrics without the time that they took."""
    return [
        {name: value for name, value in json.loads(line).items() if name != "seconds"}
        for line in (run.path / "metrics.jsonl").read_text().splitlines()
    ]


ONE_RUN = [name for name, method in METHODS.items() if method.runner != "several"]  # see test_cleaning.py


@pytest.mark.parametrize("method", ONE_RUN)
def test_every_method_trains_and_goes_on_exactly(
    tmp_path: Path, demos: Path, begun: Begun, method: str
) -> None:
    whole = train(tmp_path / "whole", method, demos)
    assert begun(method).evaluations()
    shutil.copytree(begun(method).path, tmp_path / "part")
    resumed = rilco.train(tmp_path / "part", steps=100, resume=True, workers=1, quiet=True)
    assert lines(resumed)[-1] == lines(whole)[-1]
    for one in (whole, resumed):
        assert np.isfinite(load_policy(one.path / "policy" / "last.safetensors").predict(np.zeros(2))).all()
    last = [(run.path / "policy" / "last.safetensors").read_bytes() for run in (whole, resumed)]
    assert last[0] == last[1]


def test_methods_learn_different_things(begun: Begun) -> None:
    """No two methods are the same by a slip in the table."""
    methods = [name for name, method in METHODS.items() if method.make_reward and name != "gail"]
    rewards = {method: lines(begun(method))[-1]["reward"] for method in methods}
    assert len(set(rewards.values())) == len(methods), rewards


def test_gail_takes_any_loss(tmp_path: Path, demos: Path) -> None:
    same = [
        train(tmp_path / "a", "gail", demos, steps=40, settings={"classifier.loss": "ap"}),
        train(tmp_path / "b", "gail-ap", demos, steps=40),
    ]
    assert lines(same[0]) == lines(same[1])


# --- options that a method has no use for


@pytest.mark.parametrize(
    ("method", "options", "named"),
    [
        ("gail-ap", {"loss": "logistic"}, "classifier.loss"),
        ("gail-logistic", {"lam": 0.3}, "classifier.lam"),
        ("gail", {"lambda_schedule": "linear"}, "classifier.lam_schedule"),
        ("ril-co", {"ril_p_as_published": True}, "classifier.as_published"),
        ("fairl", {"nonexpert_demos": "bad.npz"}, "nonexpert_demos"),
        ("ril-co", {"episodes_as_demonstrators": True}, "episodes_as_demonstrators"),
        ("ril-co", {"vild.log_variance": 0.0}, "vild.log_variance"),
        ("ril-co", {"ppo.epochs": 3}, "ppo.epochs"),
        ("ril-co", {"policy_learner": "ppo", "acktr.damping": 0.1}, "acktr.damping"),
        ("ril-co", {"bc.batch": 3}, "bc.batch"),
        ("bc", {"loss": "ap"}, "classifier.loss"),
        ("bc", {"policy_learner": "ppo"}, "policy_learner"),
        ("bc", {"start_from": "run"}, "start_from"),
        ("ril-co", {"finish": "gail-ap"}, "clean.finish"),
        ("ril-co-clean", {"vild.log_variance": 0.0}, "vild.log_variance"),
    ],
)
def test_options_that_would_be_ignored_are_refused(method: str, options: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        make_config({"method": method, "task": "hopper", "demos": "demos.npz", **options})


def test_the_method_is_the_learner_on_the_true_reward() -> None:
    assert make_config({"method": "ppo", "task": "hopper"}).policy_learner == "ppo"
    with pytest.raises(ConfigError, match="policy-learner"):
        RunConfig(method="acktr", policy_learner="ppo")
    with pytest.raises(ConfigError, match="ppo"):
        make_config({"method": "ril-co", "task": "hopper", "demos": "d.npz", "policy_learner": "pppo"})


@pytest.mark.parametrize("options", [{"policy_learner": "ppo"}, {"method": "ril-co-clean"}])
def test_what_is_worked_out_of_a_wrong_size_waits_for_its_refusal(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="num_envs: expected at least 1"):
        make_config({"task": "hopper", "demos": "demos.npz", "num_envs": 0, **options})


# --- PPO as the policy learner


def test_ppo_has_longer_rollouts_and_as_many_classifier_steps_a_transition() -> None:
    config = make_config({"task": "hopper", "demos": "demos.npz", "policy_learner": "ppo"})
    usual = make_config({"task": "hopper", "demos": "demos.npz"})
    assert config.transitions_per_iteration == 4096
    assert config.classifier.minibatches / 4096 == pytest.approx(usual.classifier.minibatches / 640, rel=0.02)
    given = make_config(
        {"task": "hopper", "demos": "demos.npz", "policy_learner": "ppo", "num_envs": 8, "num_steps": 16}
    )
    assert (given.num_envs, given.num_steps, given.classifier.minibatches) == (8, 16, 1)


def test_ril_co_with_ppo_trains_and_goes_on_exactly(tmp_path: Path, demos: Path) -> None:
    settings = {"policy_learner": "ppo", "ppo.hidden_sizes": [8, 8], "ppo.epochs": 2}
    own = {name: value for name, value in settings_of("ril-co").items() if not name.startswith("acktr.")}

    def run(out: Path, steps: int, **more: Any) -> rilco.Run:
        return rilco.train(
            out,
            env=env_id("Drift"),
            demos=demos,
            steps=steps,
            seed=3,
            settings={**own, **settings},
            workers=1,
            quiet=True,
            **more,
        )

    whole = run(tmp_path / "whole", 100)
    run(tmp_path / "part", 60)
    resumed = rilco.train(tmp_path / "part", steps=100, resume=True, workers=1, quiet=True)
    assert lines(whole)[-1] == lines(resumed)[-1]
    assert "clip_fraction" in lines(whole)[-1]


# --- lambda and known non-experts, through the command line's options


def test_a_schedule_lasts_half_the_run_unless_told_otherwise() -> None:
    options = {"task": "hopper", "demos": "demos.npz", "steps": 64_000, "lambda_schedule": "linear"}
    assert make_config(options).classifier.lam_iterations == 50
    assert make_config({**options, "classifier.lam_iterations": 7}).classifier.lam_iterations == 7


def test_known_non_experts_change_what_is_learned_and_are_part_of_the_data(
    tmp_path: Path, demos: Path
) -> None:
    bad = tmp_path / "bad.npz"
    save_demonstrations(
        Demonstrations(np.full((40, 2), 3.0, np.float32), np.full((40, 1), -1.0, np.float32)), bad
    )
    plain = train(tmp_path / "plain", "ril-co", demos, steps=40)
    known = train(tmp_path / "known", "ril-co", demos, steps=40, settings={"nonexpert_demos": str(bad)})
    alone = train(
        tmp_path / "alone",
        "ril-co",
        demos,
        steps=40,
        settings={"nonexpert_demos": str(bad), "pseudo_labels": False},
    )
    assert len({lines(run)[-1]["risk"] for run in (plain, known, alone)}) == 3
    assert "selected" not in lines(alone)[-1]
    save_demonstrations(
        Demonstrations(np.full((40, 2), 4.0, np.float32), np.full((40, 1), -1.0, np.float32)), bad
    )
    with pytest.raises(rilco.errors.RunError, match="changed"):
        rilco.train(tmp_path / "known", steps=60, resume=True, workers=1, quiet=True)


def test_without_pseudo_labels_something_must_be_known() -> None:
    with pytest.raises(ConfigError, match="--nonexpert-demos"):
        make_config({"task": "hopper", "demos": "demos.npz", "pseudo_labels": False})


# --- demonstrators


def test_vild_sees_the_demonstrators_or_the_episodes(tmp_path: Path, demos: Path, begun: Begun) -> None:
    by_episode = train(
        tmp_path / "episodes", "vild", demos, steps=60, settings={"episodes_as_demonstrators": True}
    )
    count = [
        sum(name.startswith("noise_std") for name in lines(run)[-1]) for run in (begun("vild"), by_episode)
    ]
    assert count == [3, 6]


# --- beginning with a policy that there is


def test_a_run_can_begin_with_a_policy(tmp_path: Path, demos: Path) -> None:
    first = train(tmp_path / "first", "acktr", demos)
    held = {"hold_actor_for": 100, "start_from": str(first.path / "policy" / "last.safetensors")}
    later = train(tmp_path / "later", "gail-ap", demos, steps=60, settings=held)
    one, other = (load_policy(run.path / "policy" / "last.safetensors") for run in (first, later))
    obs = np.random.default_rng(0).standard_normal((5, 2), np.float32)
    np.testing.assert_array_equal(one.predict(obs), other.predict(obs), "held, so it is still the same")
    np.testing.assert_array_equal(one.obs_mean, other.obs_mean, "imitation keeps its statistics")
    moved = train(tmp_path / "moved", "gail-ap", demos, steps=60, settings={**held, "hold_actor_for": 1})
    assert not np.array_equal(
        load_policy(moved.path / "policy" / "last.safetensors").predict(obs), one.predict(obs)
    )


def test_beginning_with_a_policy_goes_on_exactly_and_needs_it_only_once(tmp_path: Path, demos: Path) -> None:
    first = train(tmp_path / "first", "acktr", demos)
    start = {"start_from": str(first.path), "hold_actor_for": 1}
    whole = train(tmp_path / "whole", "acktr", demos, settings=start)
    train(tmp_path / "part", "acktr", demos, steps=60, settings=start)
    shutil.rmtree(first.path)
    resumed = rilco.train(tmp_path / "part", steps=100, resume=True, workers=1, quiet=True)
    assert lines(whole)[-1] == lines(resumed)[-1]


def test_a_policy_of_another_size_is_refused(tmp_path: Path, demos: Path) -> None:
    first = train(tmp_path / "first", "acktr", demos, settings={"acktr.hidden_sizes": [4]})
    with pytest.raises(ConfigError, match="--start-from"):
        train(tmp_path / "later", "acktr", demos, settings={"start_from": str(first.path)})
