"""The standard datasets, from the policies that come with the package."""

from __future__ import annotations

import os
import shutil
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rilco.data import standard
from rilco.data.loading import load_demonstrations
from rilco.data.run_data import read_demonstrations
from rilco.data.standard import standard_files
from rilco.errors import ConfigError, RunError
from rilco.experiment.published import PUBLISHED_RETURNS
from rilco.options import make_config
from rilco.policy.saved import LADDERS, load_policy, shipped_rung
from rilco.tasks.table import Task

TASK = Task(task="hopper")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, and few pairs."""
    monkeypatch.setenv("RILCO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(standard, "PAIRS", 200)
    return tmp_path / "cache"


@pytest.fixture
def made(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """The standard dataset, made once for those who only read it."""
    monkeypatch.setenv("RILCO_CACHE", str(tmp_path_factory.getbasetemp() / "standard"))
    monkeypatch.setattr(standard, "PAIRS", 200)
    return standard_files(TASK)


@pytest.mark.bullet
def test_six_files_the_experts_first(made: tuple[str, ...]) -> None:
    parts = [load_demonstrations(file) for file in made]
    assert [part.noise_fraction for part in parts] == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert [part.demonstrator_names for part in parts] == [(f"hopper#{rung}",) for rung in range(1, 7)]
    assert all(len(part) >= 200 for part in parts)


@pytest.mark.bullet
def test_the_same_bytes_every_time_and_no_work_the_second_time(made: tuple[str, ...], cache: Path) -> None:
    said: list[str] = []
    files = standard_files(TASK, say=said.append)
    assert len(said) == 1
    assert standard_files(TASK, say=said.append) == files
    assert len(said) == 1, "the cache served it"
    for one, other in zip(files, made, strict=True):
        assert one != other
        assert Path(one).read_bytes() == Path(other).read_bytes()
    assert not [path for path in cache.iterdir() if path.name.startswith(".")], "nothing unfinished is left"


@pytest.mark.bullet
def test_what_a_killed_process_left_is_removed(
    made: tuple[str, ...], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where another process has finished in the meantime, and nothing has to be made."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of JAX's threads; the child needs none of them
        killed = os.fork()
    if killed == 0:
        monkeypatch.setattr("rilco.data.formats.save_demonstrations", lambda part, path: os._exit(9))
        standard_files(TASK)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(killed, 0)[1]) == 9
    (left,) = cache.iterdir()
    finished = Path(made[0]).parent
    shutil.copytree(finished, cache / finished.name)
    standard_files(TASK)
    assert left.exists(), "somebody may be writing it"
    os.utime(left, (0, 0))
    standard_files(TASK)
    assert [path.name for path in cache.iterdir()] == [finished.name]


@pytest.mark.bullet
def test_a_run_without_files_has_the_standard_mixture(made: tuple[str, ...]) -> None:
    config = make_config({"task": "hopper", "noise_rate": 0.4})
    demos = read_demonstrations(config)
    assert demos.noise_rate == 0.4
    assert demos.noise_fraction == pytest.approx(3 / 7, abs=0.02)
    assert config.demos == (), "nothing of this machine is in the configuration"
    assert demos.fingerprint() == load_demonstrations(made, 0.4, seed=1).fingerprint()


@pytest.mark.bullet
def test_what_is_recorded_is_what_the_shipped_policy_does(made: tuple[str, ...]) -> None:
    demos = load_demonstrations(made[0])
    policy, _ = shipped_rung("hopper", 1)
    np.testing.assert_allclose(policy.predict(demos.obs[:50]), demos.action[:50], rtol=1e-5, atol=1e-5)


@pytest.mark.bullet
def test_gaussian_non_experts_are_the_expert_with_noise(
    made: tuple[str, ...], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variances = [0.1, 0.2, 0.3, 0.4, 0.5]
    monkeypatch.setattr("rilco.data.collect.find_variances", lambda policy, task: variances)
    files = standard_files(TASK, "gaussian")
    policy, _ = shipped_rung("hopper", 1)
    assert Path(files[0]).parent.name != Path(made[0]).parent.name
    spread = []
    for file in files:
        demos = load_demonstrations(file)
        spread.append(float(np.var(demos.action - policy.predict(demos.obs))))
    assert spread == pytest.approx([0.0, *variances], rel=0.3, abs=1e-9)


@pytest.mark.bullet
def test_matched_non_experts_are_others_of_the_same_expert(made: tuple[str, ...]) -> None:
    """The demonstrators are called as their policies are."""
    matched = [load_demonstrations(file) for file in standard_files(TASK, "matched")]
    assert [part.demonstrator_names for part in matched] == [
        (f"hopper-matched#{rung}",) for rung in range(1, 7)
    ]
    expert, *others = (load_demonstrations(file) for file in made)
    np.testing.assert_array_equal(matched[0].action, expert.action)
    for one, other in zip(matched[1:], others, strict=True):
        assert not np.array_equal(one.action[:50], other.action[:50])
    policy = load_policy("hopper-matched#3")
    np.testing.assert_allclose(
        policy.predict(matched[2].obs[:50]), matched[2].action[:50], rtol=1e-5, atol=1e-5
    )


@pytest.mark.bullet
def test_a_cache_that_cannot_be_written_is_an_error_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standard, "PAIRS", 5)
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("RILCO_CACHE", str(tmp_path / "file"))
    with pytest.raises(RunError, match="RILCO_CACHE"):
        standard_files(TASK)


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RILCO_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert standard.cache_folder() == Path("/somewhere/rilco")


@pytest.mark.parametrize(
    "options", [{"task": "hopper"}, {"env": "Pendulum-v1", "noise_rate": 0.4}, {"env": "Pendulum-v1"}]
)
def test_no_files_and_no_standard_dataset_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="--demos"):
        make_config(options)


def test_files_and_a_kind_contradict_each_other() -> None:
    with pytest.raises(ConfigError, match="--demo-kind gaussian"):
        make_config({"task": "hopper", "noise_rate": 0.4, "demos": "x.npz", "demo_kind": "gaussian"})
    with pytest.raises(ConfigError, match="gaussian"):
        make_config({"task": "hopper", "noise_rate": 0.4, "demo_kind": "gausian"})


# --- the shipped policies themselves


@pytest.mark.parametrize("ladder", LADDERS)
def test_the_ladder_has_the_published_qualities(ladder: str) -> None:
    task = ladder.removesuffix("-matched")
    cards = [shipped_rung(ladder, rung)[1] for rung in range(1, 7)]
    assert cards[0]["mean_return"] >= 0.95 * PUBLISHED_RETURNS[task][0]
    for rung, card in enumerate(cards, 1):
        assert card["task"] == task
        assert card["rung"] == rung
        assert card["episodes"] >= 20
        assert card["fraction"] == pytest.approx(card["mean_return"] / cards[0]["mean_return"], abs=1e-3)
        assert abs(card["fraction"] - card["published_fraction"]) <= 0.15
        assert f"--task {task}" in card["command"]
        assert f"--seed {card['seed']}" in card["command"]


@pytest.mark.bullet
@pytest.mark.slow
@pytest.mark.parametrize("ladder", LADDERS)
def test_the_cards_say_what_the_policies_do(ladder: str) -> None:
    """Measured again, from other start states: within four standard errors of the difference. An expert may fall now and then."""
    from rilco.evaluation import evaluate

    for rung in range(1, 7):
        policy, card = shipped_rung(ladder, rung)
        returns = evaluate(policy, episodes=8, seed=17).returns
        error = (returns.var(ddof=1) / 8 + card["std_return"] ** 2 / card["episodes"]) ** 0.5
        assert abs(returns.mean() - card["mean_return"]) < 4 * error + 5, f"{ladder}#{rung}"


def test_the_documentation_shows_the_cards() -> None:
    text = (Path(__file__).parents[2] / "docs" / "demonstrations.md").read_text()
    for ladder in LADDERS:
        cards = [shipped_rung(ladder, rung)[1] for rung in range(1, 7)]
        returns = " | ".join(f"{card['mean_return']:,.0f} ± {card['std_return']:,.0f}" for card in cards)
        assert f"| {ladder} | {returns} |" in text


def test_a_shipped_policy_is_small_and_says_what_it_is() -> None:
    policy, card = shipped_rung("ant", 1)
    assert policy.card["task"] == "ant"
    assert policy.card["return"] == card["mean_return"]


def test_an_unknown_rung_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="1 to 6"):
        shipped_rung("ant", 7)


def test_a_task_without_matched_non_experts_says_which_has_them(cache: Path) -> None:
    with pytest.raises(ConfigError, match=r"ant-matched.*hopper-matched"):
        standard_files(Task(task="ant"), "matched")
