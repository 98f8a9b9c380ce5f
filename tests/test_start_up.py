"""The first iterations of a run: every observation is normalised from the first reset on, as published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file
from tests.environments import env_id

import rilco

NUM_ENVS, NUM_STEPS, MOVING = 4, 5, 3
SETTINGS = {
    "num_envs": NUM_ENVS,
    "num_steps": NUM_STEPS,
    "freeze_normalizer_after": MOVING,
    "evaluate_every": 40,
    "evaluation_episodes": 3,
    "final_episodes": 7,
}
SMALL: dict[str, dict[str, Any]] = {
    "acktr": {"acktr.hidden_sizes": [8, 8]},
    "ppo": {"ppo.hidden_sizes": [8, 8], "ppo.epochs": 1, "ppo.minibatch_size": 10},
    "ril-co": {
        "acktr.hidden_sizes": [8, 8],
        "classifier.hidden": [8, 8],
        "classifier.batch": 16,
        "classifier.candidates": 32,
        "classifier.selected": 8,
    },
}


def train(out: Path, method: str, *, workers: int = 1, **changes: Any) -> rilco.Run:
    steps = changes.pop("steps", 100)
    options: dict[str, Any] = {
        "env": env_id("FarOff"),
        "method": method,
        "steps": steps,
        "seed": 5,
        "quiet": True,
    }
    if method == "ril-co":
        file = out.parent / "demos.npz"
        rng = np.random.default_rng(0)
        np.savez(file, obs=1000.0 + rng.normal(size=(300, 2)), action=rng.uniform(-1.0, 1.0, size=(300, 1)))
        options["demos"] = file
    settings = {**SETTINGS, **SMALL[method], **changes}
    return rilco.train(out, settings=settings, workers=workers, **options)


def newest_checkpoint(run: rilco.Run) -> dict[str, np.ndarray]:
    return load_file(max((run.path / "checkpoints").glob("*.safetensors")))


def lines(run: rilco.Run) -> list[dict[str, Any]]:
    return [{name: value for name, value in line.items() if name != "seconds"} for line in run.metrics()]


@pytest.mark.parametrize("method", ["ril-co", "acktr"])
def test_what_enters_the_first_kfac_update_is_normalised(tmp_path: Path, method: str) -> None:
    """The environment's observations lie around 1000. Raw, they would be the inputs' second moment: a million."""
    after_one = newest_checkpoint(train(tmp_path / "run", method, steps=NUM_ENVS * NUM_STEPS))
    moments = [array for name, array in after_one.items() if "factors" in name and array.shape == (2, 2)]
    assert moments, "the input factors of the first layers"
    assert max(np.abs(array).max() for array in moments) < 10.0


def test_statistics_count_the_resets_and_every_step_and_are_then_frozen(tmp_path: Path) -> None:
    run = train(tmp_path / "run", "ril-co")
    table = newest_checkpoint(run)
    assert round(float(table["state.normalizer.count"])) == NUM_ENVS + MOVING * NUM_ENVS * NUM_STEPS
    assert table["state.normalizer.mean"][0] == pytest.approx(1000.0, abs=3.0)


def test_statistics_can_be_those_of_the_demonstrations(tmp_path: Path) -> None:
    run = train(tmp_path / "run", "ril-co", freeze_normalizer_after=0)
    table, obs = newest_checkpoint(run), np.load(tmp_path / "demos.npz")["obs"]
    assert round(float(table["state.normalizer.count"])) == len(obs)
    np.testing.assert_allclose(table["state.normalizer.mean"], obs.mean(0), rtol=1e-5)


def test_without_demonstrations_there_are_no_such_statistics(tmp_path: Path) -> None:
    with pytest.raises(rilco.RilcoError, match="freeze_normalizer_after must be at least 1"):
        train(tmp_path / "run", "acktr", freeze_normalizer_after=0)


def test_on_the_true_reward_statistics_go_on(tmp_path: Path) -> None:
    table = newest_checkpoint(train(tmp_path / "run", "acktr"))
    assert round(float(table["state.normalizer.count"])) == NUM_ENVS + 100


@pytest.mark.parametrize("method", ["ril-co", "ppo"])
def test_start_up_depends_neither_on_workers_nor_on_an_interruption_within_it(
    tmp_path: Path, method: str
) -> None:
    whole = train(tmp_path / "whole", method)
    assert lines(train(tmp_path / "three", method, workers=3)) == lines(whole)
    part = train(tmp_path / "part", method, steps=20)
    resumed = rilco.train(part.path, resume=True, steps=100, quiet=True)
    learned = [
        [{k: v for k, v in line.items() if not k.startswith("eval_")} for line in lines(run)]
        for run in (resumed, whole)
    ]
    assert learned[0] == learned[1]
    assert resumed.last_policy.arrays().keys() == whole.last_policy.arrays().keys()
    for name, array in resumed.last_policy.arrays().items():
        assert np.array_equal(array, whole.last_policy.arrays()[name])


def test_each_evaluation_has_start_states_of_its_own(tmp_path: Path) -> None:
    """In this environment a return shows where the episode began, whatever the policy does."""
    run = train(tmp_path / "run", "acktr", evaluate_every=20)
    found = [round(e["eval_return"], 3) for e in run.evaluations()]
    assert len(set(found)) == len(found) == 5
    assert [e["eval_episodes"] for e in run.evaluations()] == [3, 3, 3, 3, 7]


def test_a_run_of_the_former_start_up_is_read_but_not_gone_on_from(tmp_path: Path) -> None:
    run = train(tmp_path / "run", "acktr")
    file = run.path / "config.json"
    table = json.loads(file.read_text()) | {"format": "rilco-run-1"}
    del table["final_episodes"]
    file.write_text(json.dumps(table))
    before = {part: part.read_bytes() for part in run.path.rglob("*") if part.is_file()}
    assert rilco.Run(run.path).config.version == 1
    with pytest.raises(rilco.RilcoError, match=r"earlier version.*Start a new run with another --out"):
        rilco.train(run.path, resume=True, quiet=True)
    assert {part: part.read_bytes() for part in run.path.rglob("*") if part.is_file()} == before


def test_the_version_is_not_an_option(tmp_path: Path) -> None:
    with pytest.raises(rilco.RilcoError, match="version: no such option"):
        train(tmp_path / "run", "acktr", version=1)
