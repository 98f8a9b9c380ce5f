"""The record of demonstrations, the paper's mixtures, and loading from files."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rilco.data.formats import save_demonstrations
from rilco.data.index import Demonstrator, demonstrators
from rilco.data.loading import load_demonstrations
from rilco.data.mixing import RUN_LENGTH, mix, pairs_from_each, run_starts
from rilco.data.record import Demonstrations, concatenate
from rilco.errors import ConfigError, DemonstrationError, check_noise_rate


def make(pairs: int = 6, obs_dim: int = 3, action_dim: int = 2, **known: Any) -> Demonstrations:
    """Observations that count rows, so that it shows which ones were taken."""
    obs = np.repeat(np.arange(pairs, dtype=np.float32)[:, None], obs_dim, axis=1)
    return Demonstrations(obs, np.ones((pairs, action_dim)), **known)


# --- the record


def test_converts_and_fills_in() -> None:
    demos = Demonstrations([[1, 2], [3, 4]], np.ones((2, 1), np.float64), reward=[1, 2], expert=[0, 1])
    assert demos.obs.dtype == demos.action.dtype == np.float32
    assert demos.reward is not None
    assert demos.reward.dtype == np.float32
    assert demos.expert is not None
    assert demos.expert.dtype == bool
    assert demos.episode.tolist() == demos.demonstrator.tolist() == [0, 0]
    assert demos.demonstrator_names == ("demonstrator 0",)
    assert (len(demos), demos.obs_dim, demos.action_dim) == (2, 2, 1)


def test_is_read_only_but_leaves_the_callers_arrays_alone() -> None:
    obs = np.ones((2, 2), np.float32)
    demos = Demonstrations(obs, np.ones((2, 1)))
    assert np.shares_memory(demos.obs, obs)
    with pytest.raises(ValueError, match="read-only"):
        demos.obs[0] = 0
    with pytest.raises(FrozenInstanceError):
        demos.obs = obs  # type: ignore[misc]
    obs[0] = 0


def test_repr_prints_shapes() -> None:
    assert repr(make()) == "Demonstrations(obs=[6, 3], action=[6, 2], episodes=1, demonstrators=1, known=[])"
    full = make(reward=np.ones(6), expert=[1, 1, 1, 1, 1, 0], episode=[0, 0, 0, 4, 4, 4], noise_rate=0.1)
    assert repr(full) == (
        "Demonstrations(obs=[6, 3], action=[6, 2], episodes=2, demonstrators=1, known=[reward, expert], "
        "noise_rate=0.1, noise_fraction=0.1667)"
    )


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"obs": np.ones(6)}, r"obs has the shape \[6\]; expected \[pairs, obs_dim\]"),
        ({"obs": np.float32(1)}, r"obs has the shape \[\]"),
        ({"obs": np.ones((6, 0))}, "at least one dimension"),
        ({"action": np.ones((6, 2, 1))}, r"action has the shape \[6, 2, 1\]"),
        ({"obs": np.ones((0, 3)), "action": np.ones((0, 2))}, "not a single pair"),
        ({"action": np.ones((5, 2))}, r"action has the shape \[5, 2\]; expected \[6, 2\]"),
        ({"episode": np.zeros(5, int)}, r"episode has the shape \[5\]; expected \[6\]"),
        ({"episode": np.zeros(0, np.int32)}, r"episode has the shape \[0\]"),
        ({"demonstrator": np.zeros((6, 1), int)}, r"demonstrator has the shape \[6, 1\]"),
        ({"terminated": np.zeros(7, bool)}, r"terminated has the shape \[7\]"),
        ({"truncated": np.zeros(7, bool)}, r"truncated has the shape \[7\]"),
        ({"expert": np.zeros(7, bool)}, r"expert has the shape \[7\]"),
        ({"reward": np.zeros(7)}, r"reward has the shape \[7\]"),
        ({"obs": np.ones((6, 3), object)}, "obs has the type object; expected numbers"),
        ({"obs": [[1, 2], [3]]}, "obs is not a regular array"),
        ({"action": np.full((6, 2), "a")}, "action has the type <U1"),
        ({"action": np.ones((6, 2), complex)}, "action has the type complex128"),
        ({"episode": np.zeros(6)}, "episode has the type float64; expected whole numbers"),
        ({"episode": np.full(6, 2**31)}, "episode holds values from 2147483648"),
        ({"expert": np.full(6, 2)}, "expert holds values from 2 to 2; expected 0 to 1"),
        ({"expert": np.zeros(6)}, "expert has the type float64; expected true and false"),
        ({"demonstrator": np.full(6, 6)}, "the id 6; expected ids from 0 to 5"),
        ({"obs": np.full((6, 3), 1e39)}, "obs holds 18 values that are NaN or infinite as float32"),
        ({"obs": [[np.nan], *[[0.0]] * 5]}, "obs holds 1 value that is NaN"),
    ],
)
def test_refuses(changes: dict[str, Any], message: str) -> None:
    fields = {"obs": np.ones((6, 3)), "action": np.ones((6, 2))} | changes
    with pytest.raises(DemonstrationError, match=f"^here: .*{message}"):
        Demonstrations(**fields, where="here")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["obs", "action"])
def test_names_the_first_value_that_is_not_finite(name: str, value: float) -> None:
    fields = {"obs": np.ones((6, 3)), "action": np.ones((6, 3))}
    fields[name][4, 2] = fields[name][5, 0] = value
    message = f"my.h5: {name} holds 2 values .* the first is {value} in row 4, dimension 2"
    with pytest.raises(DemonstrationError, match=message):
        Demonstrations(**fields, demonstrator_names=("my.h5",))


def test_select_by_mask_rows_and_slice() -> None:
    demos = make(reward=np.arange(6), episode=[3, 3, 3, 5, 5, 5], noise_rate=0.1)
    mask = demos.select(np.arange(6) % 2 == 1)
    rows = demos.select([1, 3, -1])
    for chosen in (mask, rows):
        assert chosen.obs[:, 0].tolist() == [1, 3, 5]
        assert chosen.reward is not None
        assert chosen.reward.tolist() == [1, 3, 5]
        assert chosen.episode.tolist() == [3, 5, 5]
        assert chosen.expert is None
        assert chosen.noise_rate is None
    assert np.shares_memory(demos.select(slice(1, 3)).obs, demos.obs)


@pytest.mark.parametrize(
    "which, message",
    [
        ([True, False], r"boolean index .* axis is 2; expected a mask \[6\]"),
        ([0.5], "must be of integer"),
        ([[0, 1]], r"shape \[1, 2, 3\]"),
        ([6], "index 6 is out of bounds .*; .* rows from 0 to 5"),
        ([-7], "index -7"),
        ([], "not a single pair"),
        (np.zeros(6, bool), "not a single pair"),
    ],
)
def test_select_refuses(which: Any, message: str) -> None:
    with pytest.raises(DemonstrationError, match=message):
        make().select(which)


def test_episodes_in_order_of_appearance() -> None:
    demos = make(episode=[7, 7, 2, 2, 2, 4])
    episodes = list(demos.episodes())
    assert [episode.obs[:, 0].tolist() for episode in episodes] == [[0, 1], [2, 3, 4], [5]]
    assert all(np.shares_memory(episode.obs, demos.obs) for episode in episodes)
    apart = make(episode=[1, 0, 1, 0, 1, 0])
    assert [episode.obs[:, 0].tolist() for episode in apart.episodes()] == [[0, 2, 4], [1, 3, 5]]


def test_concatenate_keeps_ids_apart() -> None:
    first = make(
        3, episode=[4, 4, 9], demonstrator=[0, 1, 1], expert=[1, 0, 0], reward=[1, 2, 3], noise_rate=0.2
    )
    second = make(2, expert=[1, 1], demonstrator_names=("me", "nobody"))
    third = make(2, expert=[0, 1], demonstrator_names=("you",))
    whole = concatenate([first, second, third])
    assert whole.episode.tolist() == [0, 0, 1, 2, 2, 3, 3]
    assert whole.demonstrator.tolist() == [0, 1, 1, 2, 2, 4, 4]
    assert whole.demonstrator_names == ("demonstrator 0", "demonstrator 1", "me", "nobody", "you")
    assert whole.expert is not None
    assert whole.expert.tolist() == [1, 0, 0, 1, 1, 0, 1]
    assert whole.reward is None  # known of the first part only
    assert whole.noise_rate is None
    assert whole.obs[:, 0].tolist() == [0, 1, 2, 0, 1, 0, 1]
    assert concatenate([first]) is first


def test_concatenate_refuses() -> None:
    with pytest.raises(DemonstrationError, match="Give at least one"):
        concatenate([])
    for other in (make(obs_dim=4), make(action_dim=3)):
        with pytest.raises(
            DemonstrationError, match=r"b\.h5: a pair has . observation and . action.*, but 3 .* 2 .* in a.h5"
        ):
            concatenate([make(demonstrator_names=("a.h5",)), replace(other, demonstrator_names=("b.h5",))])


def test_the_index_knows_the_episodes_wherever_their_pairs_stand() -> None:
    index = make(episode=[7, 3, 7, 3, 3, 9], demonstrator=[1, 0, 1, 0, 0, 1]).index
    assert (index.ids.tolist(), index.length.tolist()) == ([3, 7, 9], [3, 2, 1])
    assert index.demonstrator.tolist() == [0, 1, 1]
    assert index.number.tolist() == [1, 0, 1, 0, 0, 2]
    assert index.step.tolist() == [0, 0, 1, 1, 2, 0]
    assert index.by_appearance.tolist() == [1, 0, 2]
    assert index.sums(np.array([1, 2, 4, 8, 16, 32])).tolist() == [26, 5, 32]
    assert [np.arange(6)[index.rows(k)].tolist() for k in range(3)] == [[1, 3, 4], [0, 2], [5]]
    assert index.rows(2) == slice(5, 6), "neighbours are a view"


def test_demonstrators_in_numbers() -> None:
    demos = make(
        reward=[1, 2, 3, 4, 5, 6],
        episode=[0, 0, 1, 1, 2, 2],
        demonstrator=[1, 1, 1, 1, 0, 0],
        expert=[1, 1, 1, 1, 0, 0],
        demonstrator_names=("bad", "good", "absent"),
    )
    bad = Demonstrator("bad", 2, 1, mean_return=11.0, mean_reward=5.5, expert_fraction=0.0)
    good = Demonstrator("good", 4, 2, mean_return=5.0, mean_reward=2.5, expert_fraction=1.0)
    assert demonstrators(demos) == [bad, good]
    assert demonstrators(make())[0][3:] == (None, None, None)


def test_fingerprint_covers_what_training_reads_and_nothing_else() -> None:
    demos = make()
    mark = demos.fingerprint()
    # A pinned value: a run started with an older version must still know its demonstrations.
    assert mark == "0105543240151f1dbf2ccbc09ae2189c4bbfae59e90ff8e94ab49742225a80ac"
    others = {"expert": np.ones(6, bool), "reward": np.ones(6), "episode": np.arange(6), "noise_rate": 0.4}
    assert replace(demos, **others, demonstrator_names=("a", "b")).fingerprint() == mark
    changed = np.array(demos.obs)
    changed[5, 2] = np.nextafter(changed[5, 2], np.float32(9))
    marks = {
        mark,
        replace(demos, obs=changed).fingerprint(),
        replace(demos, action=demos.action * 2).fingerprint(),
        replace(demos, demonstrator=[0, 0, 0, 0, 0, 1], demonstrator_names=()).fingerprint(),
        Demonstrations(demos.obs[:, :2], np.hstack([demos.action, demos.action[:, :1]])).fingerprint(),
    }
    assert len(marks) == 5
    strided = Demonstrations(np.asfortranarray(demos.obs), demos.action)
    assert strided.fingerprint() == mark


def test_the_record_alone_imports_no_heavy_library() -> None:
    code = "import sys, rilco.data.record; print({'jax', 'h5py'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# --- mixtures

PAPER = [(0.0, 0, Fraction(0)), (0.1, 200, Fraction(1, 11)), (0.2, 500, Fraction(1, 5))]
PAPER += [(0.3, 1000, Fraction(1, 3)), (0.4, 1500, Fraction(3, 7))]


def snapshots(lengths: list[int], episode_length: int = 1000) -> list[Demonstrations]:
    """Non-experts whose observations are (which snapshot, which row)."""
    return [
        Demonstrations(
            np.stack([np.full(length, k), np.arange(length)], axis=1),
            np.zeros((length, 1)),
            episode=np.arange(length) // episode_length,
            demonstrator_names=(f"snapshot {k}",),
        )
        for k, length in enumerate(lengths)
    ]


@pytest.mark.parametrize("rate, pairs, fraction", PAPER)
def test_paper_mixtures(rate: float, pairs: int, fraction: Fraction) -> None:
    expert, *others = snapshots([10000, 10000, 10205, 10007, 10000, 10192])
    mixed = mix(expert, others, rate)
    assert mixed.noise_rate == rate
    assert mixed.noise_fraction == pytest.approx(float(fraction), abs=1e-12)
    counts = np.bincount(mixed.obs[:, 0].astype(int), minlength=6)
    assert counts.tolist() == [10000, *[pairs] * 5]
    assert (mixed.demonstrator == mixed.obs[:, 0]).all()
    assert mixed.expert is not None
    assert (mixed.expert == (mixed.demonstrator == 0)).all()
    np.testing.assert_array_equal(mixed.obs[:10000], expert.obs)
    for k in range(1, 6 if pairs else 0):
        runs = mixed.obs[mixed.demonstrator == k, 1].reshape(-1, RUN_LENGTH)
        assert (np.diff(runs, axis=1) == 1).all()
        assert (np.diff(runs[:, 0]) >= RUN_LENGTH).all()


def test_rates_between_the_papers_are_interpolated() -> None:
    assert pairs_from_each(0.35, 10000, 5) == 1250
    assert pairs_from_each(0.05, 10000, 5) == 100
    assert pairs_from_each(0.45, 10000, 5) == 1750
    assert pairs_from_each(0.1 + 0.2, 10000, 5) == pairs_from_each(1 - 0.7, 10000, 5) == 1000
    assert pairs_from_each(0.4, 1000, 1) == 750
    assert pairs_from_each(0.4, 10000, 0) == 0


@given(st.floats(0.0, 0.4999999), st.integers(1, 30_000), st.integers(1, 8))
@example(0.4999999, 1, 1)
@example(0.4999999, 10_000, 5)
def test_the_expert_keeps_the_majority(rate: float, expert_pairs: int, non_experts: int) -> None:
    pairs = pairs_from_each(rate, expert_pairs, non_experts)
    assert 0 <= pairs * non_experts < expert_pairs
    assert pairs <= pairs_from_each(min(rate + 0.01, 0.4999999), expert_pairs, non_experts)


@given(st.integers(1, 3000), st.integers(0, 500), st.integers(0, 100))
def test_runs_stay_apart_and_inside(pairs: int, spare: int, offset: int) -> None:
    length = pairs + spare
    starts = run_starts(length, pairs, offset)
    assert len(starts) == -(-pairs // RUN_LENGTH)
    sizes = np.append(np.full(len(starts) - 1, RUN_LENGTH), pairs - RUN_LENGTH * (len(starts) - 1))
    assert starts[0] >= 0
    assert (starts[1:] >= (starts + sizes)[:-1]).all()
    assert (starts + sizes)[-1] <= length


@pytest.mark.parametrize("pairs", [200, 500, 1000, 1500])
def test_runs_show_all_of_the_file_and_all_of_an_episode(pairs: int) -> None:
    runs = pairs // RUN_LENGTH
    starts = np.concatenate([run_starts(10000, pairs, offset=k * runs) for k in range(5)])
    # Even distances would put every run of the 0.2 mixture at the start of an episode.
    for values, top in ((starts % 1000, 1000), (starts, 10000)):
        assert set((values * 5 // top).tolist()) == {0, 1, 2, 3, 4}
    assert len(np.unique(starts % 1000)) > len(starts) // 2


def test_each_run_is_an_episode_and_two_where_it_passes_an_end() -> None:
    expert, other = snapshots([1000, 1000], episode_length=75)
    mixed = mix(expert, [other], 0.4)
    noise = mixed.select(mixed.demonstrator == 1)
    assert len(noise) == 750
    boundary = np.arange(1, 750) % RUN_LENGTH == 0
    passes = (noise.obs[1:, 1] // 75) != (noise.obs[:-1, 1] // 75)
    assert (passes & ~boundary).any()
    np.testing.assert_array_equal(np.diff(noise.episode) == 1, boundary | passes)
    assert noise.episode[0] == mixed.episode[:1000].max() + 1
    assert len(np.unique(mixed.episode[:1000])) == 14


def test_mixing_is_deterministic_and_leaves_its_sources_alone() -> None:
    expert, *others = snapshots([2000, 1500, 1600])
    first, second = mix(expert, others, 0.3), mix(expert, others, 0.3)
    assert first.fingerprint() == second.fingerprint()
    np.testing.assert_array_equal(first.episode, second.episode)
    assert expert.expert is None
    assert others[0].noise_rate is None


def test_a_number_of_pairs_that_is_no_multiple_of_50() -> None:
    expert, other = snapshots([1000, 135])
    mixed = mix(expert, [other], 0.12)
    assert (mixed.demonstrator == 1).sum() == 130
    rows = mixed.obs[mixed.demonstrator == 1, 1]
    assert len(np.unique(rows)) == len(rows)
    assert np.unique(mixed.episode[1000:], return_counts=True)[1].tolist() == [50, 50, 30]


def test_mix_refuses() -> None:
    expert, small = snapshots([1000, 100])
    with pytest.raises(
        DemonstrationError, match=r"snapshot 1: a noise rate of 0\.4 takes 750 .* this one has 100"
    ):
        mix(expert, [small], 0.4)
    with pytest.raises(DemonstrationError, match="takes no pair from 0 non-experts"):
        mix(expert, [], 0.1)
    with pytest.raises(DemonstrationError, match="takes no pair from 1 non-experts beside 3"):
        mix(expert.select(slice(3)), [small], 0.1)


@pytest.mark.parametrize("rate", [-0.1, 0.5, 1.0, float("nan"), float("inf")])
def test_noise_rates_are_below_one_half(rate: float) -> None:
    expert, other = snapshots([1000, 1000])
    with pytest.raises(ConfigError, match=r"at least 0 and less than 0\.5"):
        check_noise_rate(rate)
    with pytest.raises(ConfigError):
        mix(expert, [other], rate)
    with pytest.raises(ConfigError):
        make(noise_rate=rate)
    with pytest.raises(ConfigError):  # before any file is looked at
        load_demonstrations("no such file", rate)


# --- files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files named as the authors name theirs; observations say which of them, and which row."""
    for demos, grade in zip(snapshots([1000] * 6, 300), (1.0, 0.4, 0.3, 0.2, 0.1, 0.0), strict=True):
        save_demonstrations(demos, tmp_path / f"Task_TRAJ-N1000_P{grade}_det.h5")
    return tmp_path


def test_a_folder_of_published_files_is_mixed(folder: Path) -> None:
    mixed = load_demonstrations(folder, 0.4)
    assert len(mixed) == 1750
    assert mixed.noise_rate == 0.4
    assert mixed.noise_fraction == pytest.approx(3 / 7)
    assert (mixed.demonstrator == mixed.obs[:, 0]).all()
    assert [name[-10:-7] for name in mixed.demonstrator_names] == ["1.0", "0.4", "0.3", "0.2", "0.1", "0.0"]
    by_hand = load_demonstrations(sorted(map(str, folder.iterdir())), 0.4)
    assert by_hand.fingerprint() == mixed.fingerprint()


def test_no_noise_is_the_expert_alone(folder: Path) -> None:
    alone = load_demonstrations(folder, 0.0)
    assert (alone.obs[:, 0] == 0).all()
    assert (len(alone), alone.noise_rate, alone.noise_fraction) == (1000, 0.0, 0.0)
    single = load_demonstrations(folder / "Task_TRAJ-N1000_P1.0_det.h5", 0)
    assert single.fingerprint() == alone.fingerprint()


def test_without_a_noise_rate_all_pairs_are_used(folder: Path) -> None:
    whole = load_demonstrations(folder)
    assert len(whole) == 6000
    assert whole.noise_rate is None
    assert whole.noise_fraction == pytest.approx(5 / 6)
    assert len(np.unique(whole.episode)) == 24


def test_other_files_are_put_together_as_given(tmp_path: Path) -> None:
    parts = snapshots([30, 20])
    save_demonstrations(parts[0], tmp_path / "z.npz")
    save_demonstrations(parts[1], tmp_path / "a.h5")
    both = load_demonstrations([tmp_path / "z.npz", tmp_path / "a.h5"])
    assert both.demonstrator.tolist() == [0] * 30 + [1] * 20
    assert both.demonstrator_names == ("snapshot 0", "a.h5")
    assert both.expert is None
    with pytest.raises(
        DemonstrationError, match="of these 2 files 0 are known as expert and 0 as non-expert"
    ):
        load_demonstrations(tmp_path, 0.2)


def test_mixtures_can_be_saved_and_are_not_mixed_again(folder: Path, tmp_path: Path) -> None:
    mixed = load_demonstrations(folder, 0.3)
    save_demonstrations(mixed, tmp_path / "mixed.npz")
    back = load_demonstrations(tmp_path / "mixed.npz")
    assert back.noise_rate == 0.3
    assert back.fingerprint() == mixed.fingerprint()
    with pytest.raises(DemonstrationError, match="or leave the noise rate out"):
        load_demonstrations(tmp_path / "mixed.npz", 0.3)


def test_mixing_needs_one_expert_and_others(folder: Path) -> None:
    with pytest.raises(DemonstrationError, match="0 are known as expert and 1 as non-expert"):
        load_demonstrations(folder / "Task_TRAJ-N1000_P0.4_det.h5", 0.1)
    with pytest.raises(DemonstrationError, match="takes no pair from 0 non-experts"):
        load_demonstrations(folder / "Task_TRAJ-N1000_P1.0_det.h5", 0.1)
    (folder / "Other_P1.0_det.h5").write_bytes((folder / "Task_TRAJ-N1000_P1.0_det.h5").read_bytes())
    with pytest.raises(DemonstrationError, match="2 are known as expert"):
        load_demonstrations(folder, 0.1)


@pytest.mark.parametrize("rate, pairs, fraction", PAPER)
@pytest.mark.parametrize("task", ["HalfCheetah", "Hopper", "Walker2D", "Ant"])
def test_published_mixtures(shared_dir: Path, task: str, rate: float, pairs: int, fraction: Fraction) -> None:
    mixed = load_demonstrations(shared_dir / "demos" / f"{task}BulletEnv-v0", rate)
    assert len(mixed) == 10000 + 5 * pairs
    assert mixed.noise_fraction == pytest.approx(float(fraction), abs=1e-12)
    parts = demonstrators(mixed)
    assert [part.pairs for part in parts] == [10000] + [pairs] * (5 if pairs else 0)
    # The runs must not flatter a snapshot: their mean reward is near that of its whole file.
    for part in parts:
        whole = load_demonstrations(shared_dir / "demos" / f"{task}BulletEnv-v0" / part.name)
        assert whole.reward is not None
        assert mixed.reward is not None
        mine = mixed.reward[mixed.demonstrator == mixed.demonstrator_names.index(part.name)]
        assert mine.mean() == pytest.approx(whole.reward.mean(), abs=0.35)
