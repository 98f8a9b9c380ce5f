"""What inspecting says of data whose faults are known."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from rilco.data import views
from rilco.data.formats import save_demonstrations
from rilco.data.inspect import Inspection, inspect, inspect_files, measure
from rilco.data.loading import load_demonstrations
from rilco.data.mixing import mix
from rilco.data.record import Demonstrations, non_finite_allowed
from rilco.errors import ConfigError, DemonstrationError


def make(pairs: int = 60, seed: int = 0, **known: Any) -> Demonstrations:
    rng = np.random.default_rng(seed)
    lengths = [pairs // 3, pairs // 2, pairs - pairs // 3 - pairs // 2]
    known = {"episode": np.repeat([0, 1, 2], lengths), **known}
    return Demonstrations(rng.normal(2.0, 3.0, (pairs, 3)), rng.uniform(-1, 1, (pairs, 2)), **known)


def write_damaged(path: Path) -> Path:
    """An npz as another program may leave it: NaN and infinite values among 60 pairs."""
    demos = make()
    obs, action = demos.obs.copy(), demos.action.copy()
    obs[3:8, 1], obs[9, 1], obs[0, 2] = np.nan, np.inf, -np.inf
    action[5, 0] = np.nan
    np.savez(path, obs=obs, action=action, episode=demos.episode)
    return path


def show(*inspections: Inspection, width: int = 100) -> str:
    text = io.StringIO()
    console = Console(file=text, width=width)
    for table in views.tables(inspections, width):
        console.print(table)
    return text.getvalue()


def test_numbers_of_ordinary_data() -> None:
    demos = make(reward=np.arange(60), expert=np.arange(60) < 45)
    found = inspect(demos)
    assert (found.pairs, found.episodes) == (60, 3)
    assert found.lengths.tolist() == [20, 30, 10]
    assert found.returns.tolist() == [190, sum(range(20, 50)), sum(range(50, 60))]
    assert found.mean_reward == 29.5
    assert found.noise_fraction == 0.25
    assert found.duplicated_episodes == 0
    assert found.remarks() == []


def test_dimensions_are_numpys() -> None:
    values = np.random.default_rng(0).normal(1000.0, size=(60, 4))  # sums of squares would not do
    found = measure(values, (999.0, 1001.0))
    np.testing.assert_allclose(found.mean, values.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.spread, values.std(axis=0), rtol=1e-9)
    assert np.array_equal(found.low, values.min(axis=0))
    assert np.array_equal(found.high, values.max(axis=0))
    outside = (values < 999.0) | (values > 1001.0)
    assert np.array_equal(found.outside, outside.sum(axis=0))
    assert found.rows_outside == outside.any(axis=1).sum()


def test_values_that_are_not_finite_are_counted_and_left_out() -> None:
    nan, inf = np.nan, np.inf
    values = np.array([[1.0, nan, nan], [3.0, 4.0, inf], [nan, -inf, nan]])
    found = measure(values)
    assert found.nan.tolist() == [1, 1, 2]
    assert found.infinite.tolist() == [0, 1, 1]
    assert found.finite.tolist() == [2, 1, 0]
    np.testing.assert_array_equal(found.mean, [2.0, 4.0, nan])
    np.testing.assert_array_equal(found.low, [1.0, 4.0, nan])
    np.testing.assert_array_equal(found.spread, [1.0, 0.0, nan])
    assert found.constant.tolist() == [False, False, False]  # one value alone does not make it constant


def test_constant_dimensions() -> None:
    obs = np.random.default_rng(0).normal(size=(10, 3))
    obs[:, 1] = 0.25
    found = inspect(Demonstrations(obs, obs))
    assert found.obs.constant.tolist() == [False, True, False]
    assert "obs never changes in dimension 1." in found.remarks()


def test_duplicated_episodes_also_where_their_pairs_are_scattered() -> None:
    rng = np.random.default_rng(0)
    obs, action = rng.normal(size=(4, 2)), rng.normal(size=(4, 1))
    twice = Demonstrations(
        np.repeat(obs, 2, axis=0),
        np.repeat(action, 2, axis=0),
        episode=np.tile([7, 3], 4),
        reward=np.arange(8),
    )
    found = inspect(twice)
    assert found.duplicated_episodes == 1
    assert found.lengths.tolist() == [4, 4]
    assert found.returns.tolist() == [1 + 3 + 5 + 7, 0 + 2 + 4 + 6]  # by number: 3, then 7
    assert "1 of 2 episodes repeat an earlier one, pair for pair." in found.remarks()
    changed = twice.action.copy()
    changed[3] += 1e-3
    other = Demonstrations(twice.obs, changed, episode=twice.episode)
    assert inspect(other).duplicated_episodes == 0


def test_episodes_in_two_files() -> None:
    one, other = make(), make(seed=1)
    both = Demonstrations(
        np.concatenate([one.obs[:20], other.obs]),
        np.concatenate([one.action[:20], other.action]),
        episode=np.concatenate([one.episode[:20], other.episode + 5]),
    )
    found = [inspect(one, name="one"), inspect(other, name="other"), inspect(both, name="both")]
    assert views.remarks(found) == [
        "one and both: 1 episode is in both, pair for pair.",
        "other and both: 3 episodes are in both, pair for pair.",
    ]


def test_actions_outside_the_bounds() -> None:
    action = np.array([[0.0, 1.0], [1.5, -2.0], [-1.0, 3.0]])
    found = inspect(Demonstrations(action, action))
    assert found.action.outside.tolist() == [1, 2]
    assert found.action.rows_outside == 2
    assert found.obs.rows_outside == 0
    said = "66.7% of the pairs have an action outside [-1, 1]."
    assert f"{said} The environment's own bounds may be others: name it by --env." in found.remarks()
    assert said in inspect(Demonstrations(action, action), bounds=(-1.0, 1.0)).remarks()
    assert inspect(Demonstrations(action, action), bounds=(-2.0, 3.0)).action.rows_outside == 0
    each = inspect(Demonstrations(action, action), bounds=(np.array([-1.0, 0.0]), np.array([1.5, np.inf])))
    assert each.action.outside.tolist() == [0, 1]
    assert "33.3% of the pairs have an action outside its dimension's bounds." in each.remarks()
    with pytest.raises(ConfigError, match="lower one first"):
        inspect(Demonstrations(action, action), bounds=(1.0, -1.0))


def test_demonstrators_of_a_mixture() -> None:
    expert = make(600, reward=np.full(600, 3.0), demonstrator_names=("expert",))
    others = [
        make(600, seed=k, reward=np.full(600, float(-k)), demonstrator_names=(f"bad{k}",)) for k in (1, 2)
    ]
    found = inspect(mix(expert, others, 0.4))
    assert [who.name for who in found.demonstrators] == ["expert", "bad1", "bad2"]
    assert [who.pairs for who in found.demonstrators] == [600, 225, 225]
    assert [who.expert_fraction for who in found.demonstrators] == [1.0, 0.0, 0.0]
    assert [who.mean_reward for who in found.demonstrators] == [3.0, -1.0, -2.0]
    assert found.demonstrators[0].mean_return == 600.0
    assert found.noise_rate == 0.4
    assert found.noise_fraction == pytest.approx(3 / 7)
    assert "57.1% (noise rate 0.4)" in show(found)


def test_damaged_file_is_reported_where_training_refuses_it(tmp_path: Path) -> None:
    path = write_damaged(tmp_path / "damaged.npz")
    with pytest.raises(DemonstrationError, match="must be finite"):
        load_demonstrations(path)
    (found,) = inspect_files(path)
    assert found.obs.nan.tolist() == [0, 5, 0]
    assert found.obs.infinite.tolist() == [0, 1, 1]
    assert found.action.nan.tolist() == [1, 0]
    assert np.isfinite(found.obs.mean).all()
    remarks = "\n".join(found.remarks())
    assert "obs holds 5 NaN and 2 infinite values, in dimensions 1 and 2" in remarks
    assert "5 NaN, 1 infinite" in show(found)
    json.dumps(found.to_json(), allow_nan=False)
    with pytest.raises(DemonstrationError, match="must be finite"):
        load_demonstrations(path)  # the leniency is over


def test_leniency_ends_with_its_block_also_after_an_error() -> None:
    with pytest.raises(DemonstrationError, match="not a single pair"), non_finite_allowed():
        Demonstrations(np.zeros((0, 1)), np.zeros((0, 1)))
    with pytest.raises(DemonstrationError, match="must be finite"):
        Demonstrations(np.full((2, 1), np.nan), np.zeros((2, 1)))


def test_rewards_that_are_not_finite() -> None:
    reward = np.ones(60)
    reward[[0, 1, 55]] = np.inf, -np.inf, np.nan
    found = inspect(make(reward=reward))
    assert "2 episodes hold rewards that are NaN or infinite." in found.remarks()
    assert found.to_json()["return"]["mean"] == 30.0
    json.dumps(found.to_json(), allow_nan=False)


def test_files_are_inspected_one_at_a_time(tmp_path: Path) -> None:
    save_demonstrations(make(), tmp_path / "a.npz")
    (tmp_path / "b.npz").write_bytes(b"PK\x03\x04 cut short")
    found = inspect_files([tmp_path / "a.npz", tmp_path / "b.npz"])
    assert next(found).pairs == 60
    with pytest.raises(DemonstrationError, match=r"b\.npz"):
        next(found)


def test_files_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        save_demonstrations(make(), tmp_path / folder / "a.npz")
    names = [found.name for found in inspect_files([tmp_path / "one", tmp_path / "two"])]
    assert names == [str(tmp_path / folder / "a.npz") for folder in ("one", "two")]


def test_tables_side_by_side_as_wide_as_the_terminal() -> None:
    three = [inspect(make(seed=k), name=f"file-{k}.npz") for k in range(3)]
    wide, narrow = (show(*three, width=width).splitlines() for width in (110, 60))
    assert any(all(one.name in line for one in three) for line in wide)
    assert not any(three[0].name in line and three[1].name in line for line in narrow)
    assert sum("obs 2" in line for line in wide) == 1
    assert sum("obs 2" in line for line in narrow) == 3
    assert max(map(len, narrow)) <= 60


def test_files_of_different_dimensions_are_shown_and_remarked() -> None:
    small = inspect(Demonstrations(np.zeros((3, 1)), np.zeros((3, 1))), name="small")
    text = show(small, inspect(make(), name="large"))
    assert "obs 2" in text
    assert any("different environments" in remark for remark in views.remarks([small, inspect(make())]))


def test_names_are_never_markup() -> None:
    found = inspect(
        make(demonstrator=np.arange(60) % 2, demonstrator_names=("[red]a", "[/x]b")), name="[bold]c"
    )
    text = show(found)
    assert all(name in text for name in ("[red]a", "[/x]b", "[bold]c"))


@pytest.mark.shared
def test_published_file(shared_dir: Path) -> None:
    (found,) = inspect_files(next((shared_dir / "demos" / "AntBulletEnv-v0").glob("*P1.0*")))
    assert (found.pairs, found.episodes) == (10_000, 10)
    assert found.returns.mean() == pytest.approx(3471, abs=1)
    assert found.noise_fraction == 0.0
