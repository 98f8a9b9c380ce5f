"""`rilco demos`, as a user meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
from click.testing import CliRunner, Result
from tests.environments import env_id

from rilco.cli import cli
from rilco.cli.demos import demonstrator_names
from rilco.data.formats import load_file, save_demonstrations
from rilco.data.mixing import mix
from rilco.data.record import Demonstrations
from rilco.errors import ConfigError, DemonstrationError, RilcoError
from rilco.policy.saved import Policy

DRIFT = env_id("Drift")


def rilco(*arguments: object) -> Result:
    """Runs in this process; our own errors come through as they are."""
    result = CliRunner().invoke(cli, ["demos", *map(str, arguments)])
    if isinstance(result.exception, RilcoError):
        raise result.exception
    return result


def save_policy(path: Path, gain: float = 0.5, card: dict | None = None) -> Path:
    layers = [(np.array([[gain], [0.0]], np.float32), np.zeros(1, np.float32))]
    zeros, ones = np.zeros(2, np.float32), np.ones(2, np.float32)
    Policy(zeros, ones, layers, np.zeros(1, np.float32), {"env": DRIFT} if card is None else card).save(path)
    return path


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return save_policy(tmp_path / "me.safetensors")


def save_demos(path: Path, pairs: int = 400, seed: int = 0, expert: bool | None = None) -> Path:
    rng = np.random.default_rng(seed)
    truth = None if expert is None else np.full(pairs, expert)
    demos = Demonstrations(
        rng.normal(size=(pairs, 2)),
        rng.normal(size=(pairs, 1)),
        expert=truth,
        demonstrator_names=(path.name,),
    )
    save_demonstrations(demos, path)
    return path


def no_leftovers(folder: Path, *expected: Path) -> bool:
    return sorted(entry for entry in folder.rglob("*") if entry.is_file()) == sorted(expected)


# -- collect


def test_collect(policy: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder" / "demos.npz"
    result = rilco("collect", policy, "--pairs", "0.2k", "--expert", "--out", out)
    assert result.exit_code == 0, result.output
    assert "demos.npz" in result.output
    demos = load_file(out)
    assert 200 <= len(demos) < 213
    assert demos.noise_fraction == 0.0
    assert demos.demonstrator_names == ("me.safetensors",)
    first = out.read_bytes()
    with pytest.raises(ConfigError, match="--overwrite"):
        rilco("collect", policy, "--pairs", 200, "--out", out)
    rilco("collect", policy, "--pairs", 200, "--expert", "--out", out, "--overwrite")
    assert out.read_bytes() == first
    rilco("collect", policy, "--pairs", 200, "--expert", "--seed", 1, "--out", out, "--overwrite")
    assert out.read_bytes() != first


def test_collect_from_several_policies(policy: Path, tmp_path: Path) -> None:
    other = save_policy(tmp_path / "other.safetensors", gain=-0.5)
    out = tmp_path / "demos.npz"
    rilco("collect", policy, other, "--episodes", 3, "--non-expert", "--stochastic", "--out", out)
    demos = load_file(out)
    assert demos.demonstrator_names == ("me.safetensors", "other.safetensors")
    assert [len(np.unique(demos.episode[demos.demonstrator == k])) for k in (0, 1)] == [3, 3]
    residual = demos.action[:, 0] - 0.5 * demos.obs[:, 0]
    assert residual[demos.demonstrator == 0].std() > 0.5  # the policy's own noise
    assert demos.noise_fraction == 1.0


def test_collect_says_nothing_of_the_truth_unless_told(policy: Path, tmp_path: Path) -> None:
    out = tmp_path / "demos.npz"
    rilco("collect", policy, "--episodes", 1, "--action-noise", 4.0, "--out", out)
    demos = load_file(out)
    assert demos.expert is None
    assert (demos.action[:, 0] - 0.5 * demos.obs[:, 0]).std() > 0.8


def test_collect_in_an_environment_that_the_policy_does_not_name(tmp_path: Path) -> None:
    nameless = save_policy(tmp_path / "p.safetensors", card={})
    out = tmp_path / "demos.npz"
    with pytest.raises(RilcoError, match="what environment it is for"):
        rilco("collect", nameless, "--episodes", 1, "--out", out)
    rilco("collect", nameless, "--env", DRIFT, "--episodes", 1, "--out", out)
    assert len(np.unique(load_file(out).episode)) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--out", "demos.xyz"), r"'\.xyz' is not one that rilco writes"),
        (("--out", "demos.npz", "--format", "papyrus"), "'papyrus' is not one that rilco writes"),
        (("--out", "demos.npz", "--pairs", "5", "--episodes", "5"), "choose one of the two"),
        (("--out", "demos.npz", "--pairs", "0"), "--pairs 0"),
        (("--out", "demos.npz", "--action-noise", "-1"), "--action-noise -1"),
    ],
)
def test_collect_refuses_before_it_plays(
    policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rilco.tasks.gym_batch.GymBatch.step", lambda *_: pytest.fail("played"))
    with pytest.raises(ConfigError, match=message):
        rilco("collect", policy, *options)
    assert no_leftovers(tmp_path, policy)


def test_collect_from_a_policy_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RilcoError, match="no such policy file"):
        rilco("collect", tmp_path / "absent.safetensors", "--out", tmp_path / "a.npz")
    with pytest.raises(ConfigError, match="No snapshot 9 of ant"):
        rilco("collect", "ant#9", "--out", tmp_path / "a.npz")


def test_shipped_policies_know_whether_they_are_experts(
    policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rilco.policy.saved.shipped_file", lambda task, rung: policy)
    out = tmp_path / "demos.npz"
    rilco("collect", "ant#1", "ant#2", "--episodes", 1, "--out", out)
    demos = load_file(out)
    assert demos.demonstrator_names == ("ant#1", "ant#2")
    assert [demos.expert[demos.demonstrator == k].all() for k in (0, 1)] == [True, False]


def test_collect_tells_formats_that_have_a_place_for_it_the_environment(policy: Path, tmp_path: Path) -> None:
    out = tmp_path / "demos.robomimic.hdf5"
    rilco("collect", policy, "--episodes", 1, "--out", out)
    with h5py.File(out) as file:
        assert json.loads(file["data"].attrs["env_args"])["env_name"] == DRIFT


def test_policies_of_different_environments_are_not_put_together(policy: Path, tmp_path: Path) -> None:
    other = save_policy(tmp_path / "other.safetensors", card={"env": env_id("Forgetful")})
    with pytest.raises(ConfigError, match="different environments"):
        rilco("collect", policy, other, "--out", tmp_path / "demos.npz")


def test_demonstrators_are_named_apart() -> None:
    assert demonstrator_names(("a/best.safetensors", "b.safetensors")) == [
        "best.safetensors",
        "b.safetensors",
    ]
    assert demonstrator_names(("a/x", "b/x", "y")) == ["a/x", "b/x", "y"]


# -- mix


def test_mix_takes_the_first_file_for_the_expert(tmp_path: Path) -> None:
    files = [save_demos(tmp_path / f"{name}.npz", seed=k) for k, name in enumerate("cab")]
    out = tmp_path / "mixed.npz"
    result = rilco("mix", *files, "--noise-rate", 0.4, "--out", out)
    assert result.exit_code == 0, result.output
    expected = mix(load_file(files[0]), [load_file(file) for file in files[1:]], 0.4)
    mixed = load_file(out)
    assert mixed.fingerprint() == expected.fingerprint()
    assert mixed.noise_rate == 0.4
    assert mixed.noise_fraction == pytest.approx(3 / 7)
    assert mixed.demonstrator_names == ("c.npz", "a.npz", "b.npz")


def test_mix_goes_by_the_ground_truth_where_files_hold_it(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    save_demos(tmp_path / "in" / "a.npz", expert=False)
    save_demos(tmp_path / "in" / "z.npz", seed=1, expert=True)
    rilco("mix", tmp_path / "in", "--noise-rate", 0.3, "--out", tmp_path / "mixed.npz")
    assert load_file(tmp_path / "mixed.npz").demonstrator_names == ("z.npz", "a.npz")


@pytest.mark.parametrize(
    ("truth", "says"),
    [
        ((False, None), "0 are known as expert and 2 as non-expert"),
        ((True, True), "2 are known as expert and 0 as non-expert"),
        ((False, False), "0 are known as expert and 2 as non-expert"),
    ],
)
def test_mix_never_goes_against_the_ground_truth(
    tmp_path: Path, truth: tuple[bool | None, ...], says: str
) -> None:
    files = [save_demos(tmp_path / f"{k}.npz", seed=k, expert=known) for k, known in enumerate(truth)]
    with pytest.raises(DemonstrationError, match=f"0.npz; 1.npz: .*{says}"):
        rilco("mix", *files, "--noise-rate", 0.2, "--out", tmp_path / "mixed.npz")
    assert no_leftovers(tmp_path, *files)


def test_mix_with_too_much_noise_or_too_few_pairs(tmp_path: Path) -> None:
    expert, other = save_demos(tmp_path / "e.npz"), save_demos(tmp_path / "o.npz", pairs=20, seed=1)
    with pytest.raises(ConfigError, match=r"less than 0\.5"):
        rilco("mix", expert, other, "--noise-rate", 0.5, "--out", tmp_path / "m.npz")
    with pytest.raises(DemonstrationError, match="Collect more"):
        rilco("mix", expert, other, "--noise-rate", 0.4, "--out", tmp_path / "m.npz")
    assert no_leftovers(tmp_path, expert, other)


# -- inspect


def test_inspect_side_by_side(tmp_path: Path) -> None:
    files = [
        save_demos(tmp_path / f"{name}.npz", pairs, seed=pairs) for name, pairs in (("a", 1234), ("b", 400))
    ]
    result = rilco("inspect", *files)
    assert result.exit_code == 0, result.output
    line = next(line for line in result.output.splitlines() if "pairs" in line)
    assert line.split() == ["pairs", "1,234", "400"]


def test_inspect_reports_what_training_refuses(tmp_path: Path) -> None:
    obs = np.zeros((5, 2))
    obs[1:3, 0] = np.nan
    np.savez(tmp_path / "bad.npz", obs=obs, action=np.zeros((5, 1)))
    result = rilco("inspect", tmp_path / "bad.npz")
    assert result.exit_code == 0, result.output
    assert "bad.npz: obs holds 2 NaN and 0 infinite values, in dimension 0" in result.output
    with pytest.raises(DemonstrationError, match="must be finite"):
        rilco("convert", tmp_path / "bad.npz", tmp_path / "out.h5")
    assert no_leftovers(tmp_path, tmp_path / "bad.npz")


def test_inspect_as_json(tmp_path: Path) -> None:
    file = save_demos(tmp_path / "a.npz")
    result = rilco("inspect", file, "--json", "--bounds", -0.5, 0.5)
    (found,) = json.loads(result.stdout)
    assert found["pairs"] == 400
    assert len(found["obs"]) == 2
    outside = np.abs(load_file(file).action[:, 0]) > 0.5
    assert found["pairs_with_action_outside"] == outside.sum()


def test_inspect_knows_the_bounds_of_an_environment(tmp_path: Path) -> None:
    action = np.linspace(-2.2, 2.2, 45)[:, None]
    np.savez(tmp_path / "a.npz", obs=np.zeros((45, 3)), action=action)
    assert "53.3% of the pairs have an action outside [-1, 1]" in rilco("inspect", tmp_path / "a.npz").output
    shown = rilco("inspect", tmp_path / "a.npz", "--env", "Pendulum-v1")
    assert "8.9% of the pairs have an action outside [-2, 2]" in shown.output
    with pytest.raises(ConfigError, match="an action has 1 dimensions, but 2 in the environment"):
        rilco("inspect", tmp_path / "a.npz", "--env", env_id("TwoSteps"))


def test_inspect_refuses_what_it_cannot_do(tmp_path: Path) -> None:
    save_demos(tmp_path / "a.npz")
    with pytest.raises(DemonstrationError, match=r"Did you mean a\.npz"):
        rilco("inspect", tmp_path / "aa.npz")


def test_observations_in_named_parts(policy: Path, tmp_path: Path) -> None:
    source = tmp_path / "demos.robomimic.hdf5"
    with h5py.File(source, "w") as file:
        demo = file.create_group("data/demo_0")
        demo["actions"] = np.zeros((4, 1))
        demo["obs/place"], demo["obs/speed"] = np.ones((4, 2)), np.full((4, 3), 5.0)
    result = rilco("inspect", source, "--obs-keys", "speed", "--json")
    assert [dimension["mean"] for dimension in json.loads(result.stdout)[0]["obs"]] == [5.0] * 3
    rilco("convert", source, tmp_path / "out.npz", "--obs-keys", "speed, place")
    assert load_file(tmp_path / "out.npz").obs[0].tolist() == [5.0, 5.0, 5.0, 1.0, 1.0]


# -- convert


def test_convert_there_and_back(tmp_path: Path) -> None:
    source = save_demos(tmp_path / "a.npz")
    result = rilco("convert", source, tmp_path / "b.h5")
    assert result.exit_code == 0, result.output
    rilco("convert", tmp_path / "b.h5", tmp_path / "c.data", "--format", "npz")
    original, back = load_file(source), load_file(tmp_path / "c.data")
    assert np.array_equal(original.obs, back.obs)
    assert np.array_equal(original.action, back.action)


def test_failed_convert_leaves_what_was_there(tmp_path: Path) -> None:
    target = save_demos(tmp_path / "out.npz")
    before = target.read_bytes()
    (tmp_path / "in.npz").write_bytes(b"PK\x03\x04 cut short")
    with pytest.raises(DemonstrationError, match=r"in\.npz"):
        rilco("convert", tmp_path / "in.npz", target, "--overwrite")
    with pytest.raises(ConfigError, match="something of that name"):
        rilco("convert", target, target)
    with pytest.raises(ConfigError, match="remove it first"):
        rilco("convert", target, tmp_path, "--overwrite", "--format", "minari")
    assert target.read_bytes() == before
    with pytest.raises(RilcoError, match="writes"):
        rilco("convert", target, tmp_path / "out.xyz")
    assert no_leftovers(tmp_path, target, tmp_path / "in.npz")


def test_errors_are_one_paragraph(tmp_path: Path) -> None:
    code = "from rilco.cli import main; main()"
    command = [sys.executable, "-c", code, "demos", "inspect", str(tmp_path / "absent.npz")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.startswith("rilco: ")
    assert len(result.stderr.strip().splitlines()) == 1
