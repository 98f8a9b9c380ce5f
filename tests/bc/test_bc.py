"""Behaviour cloning: what it learns, when it stops, and as a run that can be interrupted anywhere."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from tests.environments import env_id
from tests.stops import CrashAfter, StopsWhen

import rilco
from rilco.bc.config import BcConfig
from rilco.bc.data import CloningData, held_out, prepare, statistics
from rilco.bc.learner import INTERVAL, LEAST_STD, BcLearner, BcState, cloning_loss, judge
from rilco.bc.training import Cloner, clone
from rilco.data.formats import save_demonstrations
from rilco.data.index import EpisodeIndex
from rilco.data.record import Demonstrations
from rilco.errors import ConfigError, DemonstrationError, RunError, TrainingError
from rilco.options import make_config
from rilco.policy.saved import Policy
from rilco.runs.how import How
from rilco.runs.results import thin
from rilco.runs.standing import standing
from rilco.training import train_run

ROOT = Path(__file__).resolve().parents[2]
HOW = How(workers=1, quiet=True)
# Compiling takes most of the time here, so tests share a few settings and sizes of data.
TINY = BcConfig(hidden_sizes=(8,), batch=16, validation=0.1)
AVERAGING = BcConfig(
    hidden_sizes=(8,), batch=16, learning_rate=0.01, steps_per_iteration=1, average_over=1000, validation=0.1
)


def expert_demos(
    pairs: int = 300, *, episodes: int = 10, noise: float = 0.0, seed: int = 0
) -> Demonstrations:
    """A tanh expert's pairs of two observations and one action, in episodes one after the other."""
    rng = np.random.default_rng(seed)
    obs = rng.standard_normal((pairs, 2)) * (1.0, 20.0) + (0.0, 5.0)
    action = np.tanh(obs[:, :1] - 0.05 * obs[:, 1:]) + noise * rng.standard_normal((pairs, 1))
    return Demonstrations(obs, action, episode=np.arange(pairs) * episodes // pairs)


def train(
    config: BcConfig, data: CloningData, *cuts: int, seed: int = 1, after: BcState | None = None
) -> BcState:
    """Iterations from 0 (or the first cut, after another state) to the last cut, in as many calls."""
    learner, key = BcLearner(config), jax.random.key(seed)
    first = 0
    if after is None:
        state = learner.init(key, data.obs.shape[1], data.action.shape[1])
    else:
        state, first, cuts = after, cuts[0], cuts[1:]
    for last in cuts:
        state, nonfinite = learner.train(state, data, first, last, key)
        assert nonfinite == 0
        first = last
    return state


def same(a: object, b: object) -> bool:
    return all(jax.tree.leaves(jax.tree.map(lambda x, y: bool((x == y).all()), a, b)))


# -- what it learns ------------------------------------------------------------------------------


def test_linear_policy_reaches_least_squares() -> None:
    """Noisy actions, so that the optimum is a fit, not an interpolation; the constant feature has no say."""
    rng = np.random.default_rng(3)
    obs = rng.standard_normal((400, 3)) * (1.0, 10.0, 0.0) + (2.0, -30.0, 7.0)
    action = (
        (obs - (2.0, -30.0, 0.0)) @ [[0.3, -0.2], [0.02, 0.05], [0.0, 0.0]]
        + 0.2
        + 0.3 * rng.standard_normal((400, 2))
    )
    config = BcConfig(hidden_sizes=(), learning_rate=3e-3, average_over=500)
    policy = clone(Demonstrations(obs, action), config, gradient_steps=4000)
    design = np.column_stack([obs[:, :2], np.ones(400)])
    solution, residual, *_ = np.linalg.lstsq(design, action, rcond=None)
    np.testing.assert_allclose(policy.predict(obs), design @ solution, atol=0.01)
    # The spread is that of what the fit leaves over.
    np.testing.assert_allclose(np.exp(policy.log_std), np.sqrt(residual / 400), rtol=0.01)


def test_tanh_expert_is_learned_to_a_small_held_out_loss() -> None:
    demos = expert_demos(2000)
    policy = clone(demos, gradient_steps=10_000)
    fresh = expert_demos(500, seed=1)
    assert np.mean((policy.predict(fresh.obs) - fresh.action) ** 2) < 1e-3
    assert np.var(fresh.action) > 0.3  # what predicting nothing would leave


def test_policy_is_the_network_that_was_trained() -> None:
    demos = expert_demos()
    data = prepare(demos, BcConfig(validation=0.1), seed=1)
    state = train(TINY, data, 20)
    policy = BcLearner(TINY).policy(state, data)
    held = np.asarray(data.checked_rows)
    error = policy.predict(demos.obs[held]) - demos.action[held]
    assert np.mean(error**2) == pytest.approx(float(BcLearner(TINY).loss(state, data)), rel=1e-4)
    np.testing.assert_allclose(np.exp(policy.log_std), np.sqrt(np.mean(error**2, axis=0)), rtol=1e-4)


def test_exactly_fitted_actions_leave_a_finite_spread() -> None:
    demos = Demonstrations(np.zeros((300, 2)), np.zeros((300, 1)), episode=expert_demos().episode)
    policy = clone(demos, TINY, gradient_steps=5)
    assert policy.predict(np.zeros(2))[0] == 0.0
    np.testing.assert_allclose(np.exp(policy.log_std), LEAST_STD, rtol=1e-5)


def test_weights_pull_in_proportion() -> None:
    """Every other pair says the opposite, with a third of the weight."""
    other = np.arange(400) % 2 == 1
    demos = Demonstrations(np.zeros((400, 2)), np.where(other, -1.0, 1.0)[:, None])
    config = BcConfig(hidden_sizes=(), learning_rate=3e-3)
    policy = clone(demos, config, gradient_steps=1500, weights=np.where(other, 1.0, 3.0) * 17)
    assert policy.predict(np.zeros(2))[0] == pytest.approx(0.5, abs=0.1)


def test_pairs_of_weight_zero_leave_no_trace() -> None:
    demos = expert_demos()
    out = np.arange(len(demos)) % 3 == 0
    changed = Demonstrations(
        np.where(out[:, None], 1e3, demos.obs),
        np.where(out[:, None], -9.0, demos.action),
        episode=demos.episode,
    )
    ours, theirs = (clone(d, TINY, gradient_steps=100, weights=~out) for d in (demos, changed))
    assert same(ours.arrays(), theirs.arrays())


def test_first_pairs_of_every_episode_weigh_more() -> None:
    for episode, steps, expected in (
        ([4] * 5 + [2] * 2 + [9] * 3, 3, [7, 7, 7, 1, 1, 7, 7, 7, 7, 7]),
        ([1, 2, 1, 2, 1, 2, 2], 2, [7, 7, 7, 7, 1, 1, 1]),
    ):
        pairs = np.ones((len(episode), 1))
        demos = Demonstrations(pairs, pairs, episode=np.array(episode))
        weight = prepare(demos, BcConfig(start_weight=7.0, start_steps=steps), seed=1).weight
        np.testing.assert_allclose(weight, np.array(expected) / np.mean(expected), rtol=1e-6)
        assert prepare(demos, BcConfig(start_steps=steps), seed=1).weight is None, (
            "as if there were no such thing"
        )


def test_starts_pull_by_their_weight() -> None:
    """Half of every episode says the opposite of its first half."""
    late = np.arange(400) % 20 >= 10
    demos = Demonstrations(
        np.zeros((400, 2)), np.where(late, -1.0, 1.0)[:, None], episode=np.arange(400) // 20
    )
    config = BcConfig(hidden_sizes=(), learning_rate=3e-3, start_weight=3.0, start_steps=10)
    policy = clone(demos, config, gradient_steps=1500)
    assert policy.predict(np.zeros(2))[0] == pytest.approx(0.5, abs=0.1)
    opposed = clone(demos, config, gradient_steps=1500, weights=np.where(late, 3.0, 1.0))
    assert opposed.predict(np.zeros(2))[0] == pytest.approx(0.0, abs=0.1)


def test_unit_of_the_weights_does_not_matter() -> None:
    demos = expert_demos()
    weight = np.random.default_rng(0).uniform(0.1, 1.0, len(demos))
    data = [prepare(demos, BcConfig(validation=0.1), seed=1, weights=unit * weight) for unit in (1.0, 400.0)]
    np.testing.assert_allclose(data[0].weight, data[1].weight, rtol=1e-5)
    for rows in (data[0].trained_rows, data[0].checked_rows):  # losses compare with those without weights
        assert data[0].weight[rows].mean() == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("weights", [[1.0, 2.0], np.full(300, np.nan), -np.ones(300), np.zeros(300)])
def test_bad_weights(weights: np.ndarray | list[float]) -> None:
    with pytest.raises(DemonstrationError, match="weight"):
        clone(expert_demos(), TINY, weights=weights)


def test_weight_decay_shrinks_the_weights() -> None:
    data = prepare(expert_demos(noise=0.5), BcConfig(validation=0.1), seed=1)

    def size(config: BcConfig) -> float:
        state = train(config, data, 400)
        return float(sum((leaf**2).sum() for leaf in jax.tree.leaves(state.params)))

    assert size(dataclasses.replace(TINY, weight_decay=1.0)) < 0.7 * size(TINY)


def test_averaged_weights_fit_better_and_steadier_than_the_last() -> None:
    data = prepare(expert_demos(noise=0.5), BcConfig(validation=0.1), seed=1)
    state, losses = train(AVERAGING, data, 2000), []
    for last in range(2200, 3001, 200):
        state = train(AVERAGING, data, last - 200, last, after=state)
        losses.append([cloning_loss(p, data, data.trained_rows) for p in (state.average, state.params)])
    of_average, of_last = np.array(losses).T
    assert of_average.mean() < of_last.mean()
    assert of_average.std() < 0.5 * of_last.std()


def test_average_is_the_mean_of_the_weights_at_first() -> None:
    data = prepare(expert_demos(), BcConfig(validation=0.1), seed=1)
    states = [train(AVERAGING, data, 1)]
    for last in range(2, 11):
        states.append(train(AVERAGING, data, last - 1, last, after=states[-1]))
    mean = np.mean([state.params[0]["w"] for state in states], axis=0)
    np.testing.assert_allclose(states[-1].average[0]["w"], mean, rtol=1e-5)


# -- calls and cuts ------------------------------------------------------------------------------


@pytest.mark.parametrize("config", [TINY, AVERAGING])
def test_cutting_a_run_into_calls_changes_no_bit(config: BcConfig) -> None:
    data = prepare(expert_demos(), BcConfig(validation=0.1), seed=1)
    whole = train(config, data, 57)
    assert same(whole, train(config, data, 1, 2, 30, 57))
    assert not same(whole.params, train(config, data, 57, seed=2).params)


def test_every_cut_is_compiled_once() -> None:
    data = prepare(expert_demos(), BcConfig(validation=0.1), seed=1)
    compiled = BcLearner(TINY).train._cache_size  # type: ignore[attr-defined]
    state = train(TINY, data, 1)
    before = compiled()
    train(TINY, data, 1, 4, 5, 105, after=state)
    assert compiled() == before


def test_training_loss_is_the_mean_over_mini_batches() -> None:
    data = prepare(expert_demos(), BcConfig(validation=0.1), seed=1)
    state = train(dataclasses.replace(TINY, learning_rate=1e-12), data, 40)
    assert state.loss_count == 200
    all_pairs = float(cloning_loss(state.params, data, data.trained_rows))
    assert float(state.loss_sum) / 200 == pytest.approx(all_pairs, rel=0.05)


# -- holding out ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_episodes_are_held_out_whole_and_spread_over_the_files(seed: int) -> None:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 40, 60)
    episode = np.repeat(rng.permutation(60), lengths)  # numbered in no order
    index = EpisodeIndex.of(episode)
    held = held_out(index, 0.1, seed)
    for number in range(60):
        assert len(set(held[episode == number])) == 1
    order = np.repeat(np.arange(60), lengths)
    chosen = np.unique(order[held])
    assert len(chosen) == 6
    assert len(set(chosen // 10)) == 6  # one in each ten episodes
    assert not np.array_equal(held, held_out(index, 0.1, seed + 1))
    assert np.array_equal(held, held_out(index, 0.1, seed))


def test_a_single_episode_holds_out_consecutive_pairs() -> None:
    held = held_out(EpisodeIndex.of(np.zeros(200, int)), 0.1, seed=1)
    rows = np.flatnonzero(held)
    assert len(rows) == 20
    assert np.array_equal(rows, np.arange(rows[0], rows[0] + 20))


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99])
@pytest.mark.parametrize("episodes", [1, 2, 7])
def test_both_parts_have_something(share: float, episodes: int) -> None:
    held = held_out(EpisodeIndex.of(np.arange(14) * episodes // 14), share, seed=1)
    assert 0 < held.sum() < 14


def test_held_out_pairs_are_never_trained_on() -> None:
    """Whatever the held-out actions and observations are, the weights come out the same."""
    demos = expert_demos()
    held = held_out(demos.index, TINY.validation, seed=1)
    changed = Demonstrations(
        np.where(held[:, None], 1e3, demos.obs),
        np.where(held[:, None], -9.0, demos.action),
        episode=demos.episode,
    )
    policies = [clone(d, TINY, gradient_steps=100) for d in (demos, changed)]
    for ours, theirs in zip(policies[0].layers, policies[1].layers, strict=True):
        assert same(ours, theirs)
    assert np.array_equal(policies[0].obs_mean, policies[1].obs_mean)


def test_one_pair_cannot_be_split() -> None:
    lonely = Demonstrations(np.ones((1, 2)), np.ones((1, 1)))
    with pytest.raises(DemonstrationError, match=r"bc\.validation to 0"):
        clone(lonely, TINY)
    assert prepare(lonely, BcConfig(validation=0.0), seed=1).trained_rows.tolist() == [0]


def test_statistics_are_of_the_chosen_rows_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rilco.bc.data.BLOCK", 7)
    rng = np.random.default_rng(0)
    obs = (rng.standard_normal((100, 3)) * (1.0, 1e-3, 0.0) + (1e4, 0.0, 0.7)).astype(np.float32)
    rows = np.arange(0, 100, 3)
    got = statistics(obs, rows)
    chosen = obs[rows].astype(np.float64)
    np.testing.assert_allclose(got.mean, chosen.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(got.var[:2], chosen.var(axis=0)[:2], rtol=1e-4)
    assert got.var[2] == 1.0  # a constant feature keeps its unit
    weight = rng.integers(0, 4, 100)
    repeated = np.repeat(obs, weight, axis=0).astype(np.float64)
    np.testing.assert_allclose(statistics(obs, np.arange(100), weight).mean, repeated.mean(axis=0), rtol=1e-6)


def test_what_lies_far_out_is_not_clipped_where_that_is_asked_for() -> None:
    obs = np.zeros((1000, 3), np.float32)
    obs[:, 0], obs[0, 0], obs[:, 1] = np.arange(1000) % 2, 500.0, np.linspace(-1, 1, 1000)
    rows = np.arange(1000)
    plain, wide = statistics(obs, rows), statistics(obs, rows, farthest=5.0)
    assert abs(obs[0, 0] - plain.mean[0]) / np.sqrt(plain.var[0]) > 10
    assert abs(obs[0, 0] - wide.mean[0]) / np.sqrt(wide.var[0]) == pytest.approx(5.0, rel=1e-5)
    assert wide.var[1:].tolist() == plain.var[1:].tolist(), (
        "nothing of these lies far out, and one never varies"
    )
    assert np.array_equal(wide.mean, plain.mean)


def test_a_rate_that_falls_to_zero_settles_and_then_stays() -> None:
    """Around the mean of noise that nothing explains."""
    action = np.random.default_rng(0).normal(size=(400, 1))
    demos = Demonstrations(np.zeros((400, 2)), action)
    excess = []
    for decay_steps in (0, 2000):
        config = BcConfig(hidden_sizes=(), learning_rate=0.1, decay_steps=decay_steps)
        cloner = Cloner(config, demos, seed=1, iterations=500)
        while cloner.iteration < 400:
            cloner.advance(400)
        settled = cloner.policy.predict(np.zeros(2))
        excess.append(abs(settled[0] - action.mean()))
    assert excess[1] < 0.01 < excess[0]
    cloner.advance(500)
    assert cloner.policy.predict(np.zeros(2)) == settled


def test_validation_of_many_pairs_takes_an_even_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rilco.bc.data.MOST_CHECKED", 10)
    rows = np.asarray(prepare(expert_demos(), BcConfig(validation=0.5), seed=1).checked_rows)
    assert len(set(rows.tolist())) == 10
    assert set(np.asarray(prepare(expert_demos(), BcConfig(validation=0.0), seed=1).checked_rows)) <= set(
        range(300)
    )


# -- stopping early ------------------------------------------------------------------------------

OVERFITS = BcConfig(hidden_sizes=(64, 64), learning_rate=3e-3, validation=0.5, patience=4)


def noisy_few() -> Demonstrations:
    return expert_demos(60, noise=0.7)


def test_held_out_loss_tells_overfitting_and_the_best_weights_are_returned() -> None:
    demos = noisy_few()
    data, key = prepare(demos, BcConfig(validation=0.5), seed=1), jax.random.key(1)
    learner = BcLearner(OVERFITS)
    state = learner.init(key, 2, 1)
    losses: list[float] = []
    policies: list[Policy] = []
    while not learner.stopped(state) and len(losses) < 50:
        first = len(losses) * INTERVAL
        state, _ = learner.train(state, data, first, first + INTERVAL, key)
        losses.append(float(learner.loss(state, data)))
        policies.append(state.average)
        state = judge(state, learner.loss(state, data))
    lowest = int(np.argmin(losses))
    assert len(losses) == lowest + 1 + OVERFITS.patience
    assert losses[-1] > 1.1 * losses[lowest]  # it overfitted
    on_trained = [float(cloning_loss(p, data, data.trained_rows)) for p in (policies[lowest], policies[-1])]
    assert on_trained[1] < on_trained[0]  # while the loss on what it trains on fell
    assert same(state.best, policies[lowest])
    stopped = clone(demos, OVERFITS, gradient_steps=25_000)
    assert np.array_equal(stopped.layers[0][0], np.asarray(policies[lowest][0]["w"]))


def test_without_patience_the_last_weights_are_the_policy() -> None:
    data = prepare(expert_demos(), BcConfig(validation=0.1), seed=1)
    judged = judge(train(TINY, data, 10), np.float32(0.0))
    later = train(TINY, data, 10, 20, after=judged)
    policy = BcLearner(TINY).policy(later, data)
    assert np.array_equal(policy.layers[0][0], np.asarray(later.params[0]["w"]))
    assert not BcLearner(TINY).stopped(later._replace(waited=np.int32(10**6)))


# -- as a run ------------------------------------------------------------------------------------

SMALL = {
    "num_envs": 4,
    "num_steps": 5,
    "evaluate_every": 1200,  # 60 iterations
    "evaluation_episodes": 3,
    "final_episodes": 3,
    "bc.hidden_sizes": [8, 8],
    "bc.batch": 16,
    "bc.validation": 0.1,
}


@pytest.fixture(scope="module")
def demos_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("demos") / "demos.npz"
    save_demonstrations(expert_demos(), path)
    return path


def small_config(demos: Path, **settings: Any) -> rilco.RunConfig:
    options = {"method": "bc", "env": env_id("Drift"), "demos": demos, "steps": 5000, "seed": 5}
    return make_config({**options, **SMALL, **settings})


@pytest.fixture(scope="module")
def left_alone(tmp_path_factory: pytest.TempPathFactory, demos_file: Path) -> rilco.Run:
    """250 iterations from start to end; tests compare with it and must not change it."""
    out = tmp_path_factory.mktemp("left_alone") / "run"
    return train_run(small_config(demos_file, snapshot_every=1400), out, how=HOW)


def metrics(folder: Path) -> list[dict]:
    """Without the wall clock."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]


def policy_files(run: rilco.Run) -> dict[str, bytes]:
    folder = run.path / "policy"
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.safetensors")}


def test_run_folder(left_alone: rilco.Run) -> None:
    lines = metrics(left_alone.path)
    assert [line["iteration"] for line in lines] == [60, 100, 120, 180, 200, 240, 250]
    assert [line["iteration"] for line in lines if "eval_return" in line] == [60, 120, 180, 240, 250]
    for line in lines:
        assert line["gradient_steps"] == 5 * line["iteration"]
        assert line["transitions"] == 20 * line["iteration"]
    assert lines[-1]["train_loss"] < 0.5 * lines[0]["train_loss"]
    assert lines[-1]["validation_loss"] < 0.5 * lines[0]["validation_loss"]
    snapshots = sorted(int(file.stem) for file in (left_alone.path / "policy" / "snapshots").iterdir())
    assert snapshots == [1400, 2800, 4200, 5000]
    assert left_alone.last_policy.card["method"] == "bc"
    best = max(line["eval_return"] for line in lines if "eval_return" in line)
    assert left_alone.policy.card["return"] == pytest.approx(best, rel=1e-3)


def test_run_is_the_library_function_in_a_folder(left_alone: rilco.Run) -> None:
    config = left_alone.config
    policy = clone(expert_demos(), config.bc, gradient_steps=1250, seed=config.seed)
    for name, array in policy.arrays().items():
        assert np.array_equal(array, left_alone.last_policy.arrays()[name]), name


def test_evaluating_does_not_change_what_is_learned(
    tmp_path: Path, demos_file: Path, left_alone: rilco.Run
) -> None:
    quiet = train_run(small_config(demos_file, evaluate_every=-1), tmp_path / "run", how=HOW)
    lines = metrics(quiet.path)
    assert [line["iteration"] for line in lines] == [100, 200, 250]
    # After 60 and 100 iterations; a loss is the mean since the last line.
    first, second, *_ = (line["train_loss"] for line in metrics(left_alone.path))
    assert lines[0]["train_loss"] == pytest.approx(0.6 * first + 0.4 * second, rel=1e-4)
    assert policy_files(quiet)["last.safetensors"] == policy_files(left_alone)["last.safetensors"]


def test_a_run_that_never_evaluates_starts_no_process(
    tmp_path: Path, demos_file: Path, left_alone: rilco.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    run = train_run(small_config(demos_file, evaluate_every=-1), tmp_path / "run", how=HOW)
    assert policy_files(run)["last.safetensors"] == policy_files(left_alone)["last.safetensors"]


@pytest.mark.parametrize("checkpoint_at", [1, 7, 100, 203])
def test_resume_continues_exactly(tmp_path: Path, checkpoint_at: int, left_alone: rilco.Run) -> None:
    """After a crash, what came after the last checkpoint is done again, with the same outcome."""
    stops = sorted({*range(60, 250, 60), *range(70, 250, 70), 100, 200, checkpoint_at})
    looks = stops.index(checkpoint_at) + 2  # a stop further, so that there is something to forget
    how = How(workers=1, quiet=True, checkpoint_every=checkpoint_at, stop=CrashAfter(looks))
    with pytest.raises(RuntimeError, match="crash"):
        train_run(left_alone.config, tmp_path / "run", how=how)
    newest = int(max((tmp_path / "run" / "checkpoints").glob("*.json")).stem)
    assert newest >= checkpoint_at
    assert newest % checkpoint_at == 0
    resumed = rilco.train(tmp_path / "run", resume=True, quiet=True, workers=1)
    assert metrics(resumed.path) == metrics(left_alone.path)
    assert policy_files(resumed) == policy_files(left_alone)


def test_interrupt_leaves_a_checkpoint_and_resumes_exactly(tmp_path: Path, left_alone: rilco.Run) -> None:
    how = How(workers=1, quiet=True, stop=StopsWhen(looks=3))
    with pytest.raises(KeyboardInterrupt):
        train_run(left_alone.config, tmp_path / "run", how=how)
    assert [line["iteration"] for line in metrics(tmp_path / "run")] == [60]
    resumed = rilco.train(tmp_path / "run", resume=True, quiet=True, workers=1)
    assert metrics(resumed.path) == metrics(left_alone.path)
    assert policy_files(resumed) == policy_files(left_alone)


def test_resume_can_go_on_for_longer(tmp_path: Path, demos_file: Path) -> None:
    long = train_run(small_config(demos_file, steps=4800), tmp_path / "long", how=HOW)
    short = train_run(small_config(demos_file, steps=2400), tmp_path / "short", how=HOW)
    resumed = rilco.train(short.path, resume=True, steps=4800, quiet=True, workers=1)
    assert metrics(resumed.path) == metrics(long.path)


def test_early_stop_finishes_the_run_with_the_best_weights(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_demonstrations(noisy_few(), tmp_path / "demos.npz")
    settings = {f"bc.{name}": value for name, value in dataclasses.asdict(OVERFITS).items()}
    config = small_config(tmp_path / "demos.npz", **settings, evaluate_every=0, steps=100_000)
    run = train_run(config, tmp_path / "run", how=HOW)
    lines = metrics(run.path)
    losses = [line["validation_loss"] for line in lines]
    assert len(losses) == int(np.argmin(losses)) + 1 + 4
    assert "eval_return" in lines[-1]  # the end, wherever it is, is evaluated
    demos = noisy_few()
    held = held_out(demos.index, 0.5, config.seed)
    error = run.last_policy.best(demos.obs[held]) - demos.action[held]  # before the environment's bounds
    assert np.mean(error**2) == pytest.approx(min(losses), rel=1e-3)
    assert standing(config, run.path).state == "finished", "a sweep leaves it alone"
    (thinned,) = thin(run.path, tmp_path / "thin").runs
    assert thinned.finished
    assert standing(config, thinned.path).state == "finished"
    before = policy_files(run)
    capsys.readouterr()
    rilco.train(run.path, resume=True, steps=200_000, workers=1)
    assert "finished early" in capsys.readouterr().err
    assert metrics(run.path) == lines
    assert policy_files(run) == before


def test_ground_truth_does_not_reach_training(
    tmp_path: Path, demos_file: Path, left_alone: rilco.Run
) -> None:
    demos = expert_demos()
    known = Demonstrations(
        demos.obs, demos.action, episode=demos.episode, expert=np.arange(300) < 100, reward=np.arange(300)
    )
    save_demonstrations(known, tmp_path / "known.npz")
    config = small_config(tmp_path / "known.npz", snapshot_every=1400)
    run = train_run(config, tmp_path / "run", how=HOW)
    assert metrics(run.path) == metrics(left_alone.path)


# -- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"classifier.batch": 64}, r"no use for classifier\.batch"),
        ({"loss": "hinge"}, r"no use for classifier\.loss"),
        ({"acktr.discount": 0.9}, r"no use for acktr\.discount"),
        ({"freeze_normalizer_after": 3}, r"no use for freeze_normalizer_after"),
        ({"method": "gail-ap", "bc.batch": 64}, r"no use for bc\.batch"),
        ({"demos": None}, "needs demonstrations"),
        ({"bc.batch": 0}, r"bc\.batch: expected a positive"),
        ({"bc.hidden": [8]}, "Did you mean 'hidden_sizes'"),
    ],
)
def test_bad_options(settings: dict[str, Any], said: str) -> None:
    options = {"method": "bc", "env": env_id("Drift"), "demos": "x.npz", **settings}
    with pytest.raises(ConfigError, match=said):
        make_config(options)


def test_its_length_may_be_given_in_gradient_steps() -> None:
    options = {"method": "bc", "demos": "demos.npz"}
    assert make_config({**options, "gradient_steps": 156_250}).steps == 20_000_000  # the paper's
    assert make_config({**options, "gradient_steps": 11, "bc.steps_per_iteration": 2}).iterations == 6
    with pytest.raises(ConfigError, match="give one of them"):
        make_config({**options, "gradient_steps": 10, "steps": 10})
    with pytest.raises(ConfigError, match=r"only bc is counted in them\. gail-ap acts"):
        make_config({**options, "method": "gail-ap", "task": "hopper", "gradient_steps": 10})


def test_settings_survive_the_folder(left_alone: rilco.Run) -> None:
    assert left_alone.config.bc == BcConfig(hidden_sizes=(8, 8), batch=16, validation=0.1)


@pytest.mark.parametrize(
    ("demos", "said"),
    [
        (Demonstrations(np.zeros((50, 3)), np.zeros((50, 1))), "3 observation and 1 action dimensions"),
        (Demonstrations(np.zeros((50, 2)), np.zeros((50, 4))), "2 observation and 4 action dimensions"),
    ],
)
def test_demonstrations_of_another_environment(tmp_path: Path, demos: Demonstrations, said: str) -> None:
    save_demonstrations(demos, tmp_path / "demos.npz")
    with pytest.raises(DemonstrationError, match=said):
        train_run(small_config(tmp_path / "demos.npz"), tmp_path / "run", how=HOW)
    assert not (tmp_path / "run").exists()


def test_resume_with_other_episodes_is_refused(tmp_path: Path) -> None:
    """The pairs are the same, but others would be held out."""
    demos = expert_demos()
    save_demonstrations(demos, tmp_path / "demos.npz")
    config = small_config(tmp_path / "demos.npz", evaluate_every=-1)
    train_run(config, tmp_path / "run", how=HOW)
    (tmp_path / "demos.npz").unlink()
    save_demonstrations(
        Demonstrations(demos.obs, demos.action, episode=np.arange(300) // 7), tmp_path / "demos.npz"
    )
    with pytest.raises(RunError, match="not those that this run began with"):
        rilco.train(tmp_path / "run", resume=True, steps=6000, quiet=True)


def test_a_learning_rate_that_explodes_is_reported(tmp_path: Path, demos_file: Path) -> None:
    settings = {"bc.learning_rate": 1e38, "evaluate_every": -1}
    with pytest.raises(TrainingError, match="NaN or infinity in policy"):
        train_run(small_config(demos_file, **settings), tmp_path / "run", how=HOW)
    with pytest.raises(TrainingError, match="NaN or infinity in policy"):
        clone(expert_demos(), BcConfig(hidden_sizes=(8, 8), batch=16, learning_rate=1e38, validation=0.1))


# -- from the command line -----------------------------------------------------------------------


def cli(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from rilco.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_command_line(tmp_path: Path, demos_file: Path) -> None:
    small = [f"--set={name}={json.dumps(value)}" for name, value in SMALL.items() if name != "evaluate_every"]
    made = cli(
        *(
            "train",
            "--method",
            "bc",
            "--env",
            env_id("Drift"),
            "--demos",
            demos_file,
            "--gradient-steps",
            500,
        ),
        *("--evaluate-every", 1000, "--workers", 1, "--out", tmp_path / "run", *small),
    )
    assert made.returncode == 0, made.stderr
    assert "after 500 gradient steps" in made.stdout
    again = cli(
        "train",
        "--out",
        tmp_path / "run",
        "--resume",
        "--trust-env",
        "--gradient-steps",
        1000,
        "--workers",
        1,
    )
    assert again.returncode == 0, again.stderr
    assert "Resuming after 500 gradient steps" in again.stderr
    assert [line["iteration"] for line in metrics(tmp_path / "run")] == [50, 100, 150, 200]
    refused = cli("train", "--out", tmp_path / "run", "--resume", "--trust-env", "--steps", 8000)
    assert "bc makes no transitions. Say how long with --gradient-steps" in refused.stderr


def test_no_environment_is_needed(tmp_path: Path, demos_file: Path) -> None:
    small = [f"--set={name}={json.dumps(value)}" for name, value in SMALL.items() if name != "evaluate_every"]
    given = ("--demos", demos_file, "--gradient-steps", 500, "--out", tmp_path / "run", *small)
    made = cli("train", "--method", "bc", *given)
    assert made.returncode == 0, made.stderr
    assert "bc without an environment, so without evaluations, seed 1, 500 gradient steps" in made.stderr
    again = cli("train", "--out", tmp_path / "run", "--resume", "--gradient-steps", 1000)
    assert again.returncode == 0, again.stderr
    policy = rilco.load_policy(tmp_path / "run")
    assert policy.predict(np.zeros(2)).shape == (1,)
    shown = cli("evaluate", tmp_path / "run", "--env", env_id("Drift"), "--episodes", 2)
    assert "over 2 episodes" in shown.stdout, shown.stderr
    refused = cli("evaluate", tmp_path / "run")
    assert "does not say what environment it is for" in refused.stderr
    refused = cli("train", "--method", "bc", "--evaluate-every", 1000, *given)
    assert "Choose an environment" in refused.stderr


def test_authors_expert_is_cloned(tmp_path: Path, shared_dir: Path) -> None:
    """Seconds of training give the expert's return of 2500; one episode in four may end upside down."""
    pytest.importorskip("pybullet")
    name = "HalfCheetahBulletEnv-v0"
    file = shared_dir / "demos" / name / f"{name}_TRAJ-N10000_P1.0_det.h5"
    options = {"method": "bc", "task": "halfcheetah", "demos": file, "steps": 20_000 * 128}
    settings = {"bc.average_over": 2000, "evaluate_every": 0, "final_episodes": 20}
    run = train_run(make_config({**options, **settings}), tmp_path / "run", how=HOW)
    assert run.metrics()[-1]["gradient_steps"] == 20_000
    assert "validation_loss" not in run.metrics()[-1]  # nothing is held out unless asked for
    assert run.evaluations()[-1]["eval_return"] > 1500
