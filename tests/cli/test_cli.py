"""The command line as a user meets it."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from rilco.cli import COMMANDS, cli
from rilco.cli.common import COUNT
from rilco.errors import RilcoError
from rilco.options import make_config
from rilco.policy.saved import Policy, load_policy

ROOT = Path(__file__).resolve().parents[2]


MAIN = "from rilco.cli import main; main()"


def python(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """In a process of its own."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def rilco(*arguments: object) -> Result:
    return CliRunner().invoke(cli, list(map(str, arguments)))


def refusal(*arguments: object) -> str:
    error = rilco(*arguments).exception
    assert isinstance(error, RilcoError), error
    return str(error)


@pytest.fixture
def hopper_policy(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    sizes = [(15, 8), (8, 8), (8, 3)]
    layers = [(rng.normal(0, 0.3, s).astype(np.float32), np.zeros(s[1], np.float32)) for s in sizes]
    zeros, ones = np.zeros(15, np.float32), np.ones(15, np.float32)
    Policy(zeros, ones, layers, np.zeros(3, np.float32), {"task": "hopper"}).save(tmp_path / "p.safetensors")
    return tmp_path / "p.safetensors"


def test_help_lists_every_command_and_imports_nothing_heavy() -> None:
    code = "import sys; from rilco.cli import cli; cli(['--help'], standalone_mode=False); print(sorted(sys.modules))"
    shown = python(code).stdout
    for command in COMMANDS:
        assert command in shown
    for module in ("'jax'", "'h5py'", "'pybullet'", "'matplotlib'"):
        assert module not in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    result = rilco(command, "--help")
    assert result.exit_code == 0, result.output
    assert "Usage" in result.stdout


def test_import_is_light() -> None:
    assert python("import rilco, sys; print('jax' in sys.modules)").stdout.strip() == "False"


def test_policy_deploys_without_jax_and_simulator(hopper_policy: Path) -> None:
    code = f"""
import sys
for name in ("jax", "jaxlib", "optax", "h5py", "gymnasium", "pybullet", "click", "rich"):
    sys.modules[name] = None  # importing it now fails
import numpy as np, rilco
policy = rilco.load_policy({str(hopper_policy)!r})
print(policy.predict(np.zeros(15)).shape, policy.predict(np.zeros((4, 15))).shape)
"""
    result = python(code)
    assert result.stdout.strip() == "(3,) (4, 3)", result.stderr


def test_errors_are_one_paragraph_without_a_traceback(tmp_path: Path) -> None:
    result = python(MAIN, "train", "--task", "walker", "--steps", "1k", "--out", tmp_path / "x")
    assert result.returncode == 1
    assert "Did you mean 'walker2d'" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "x").exists()


@pytest.mark.bullet
def test_evaluate_and_play(hopper_policy: Path, tmp_path: Path) -> None:
    result = rilco("evaluate", hopper_policy, "--episodes", 3, "--json")
    table = json.loads(result.stdout)
    assert len(table["returns"]) == 3
    assert table["mean"] == pytest.approx(np.mean(table["returns"]))
    again = json.loads(rilco("evaluate", hopper_policy, "--episodes", 3, "--json", "--workers", 1).stdout)
    assert again == table
    pytest.importorskip("imageio_ffmpeg")
    for ending in ("mp4", "gif"):
        video = tmp_path / f"v.{ending}"
        result = rilco("play", hopper_policy, "--video", video, "--max-steps", 5)
        assert result.exit_code == 0, result.output
        assert video.stat().st_size > 1000
    assert ".mp4 or .gif" in refusal("play", hopper_policy, "--video", tmp_path / "v.avi")


def test_bad_policy_file(tmp_path: Path) -> None:
    (tmp_path / "p.safetensors").write_bytes(b"not one")
    assert "not a readable policy file" in refusal("evaluate", tmp_path / "p.safetensors")


@pytest.mark.bullet
def test_policy_of_another_environment(hopper_policy: Path) -> None:
    policy = load_policy(hopper_policy)
    dataclasses.replace(policy, card={"task": "ant"}).save(hopper_policy)
    assert "trained for another environment" in refusal("evaluate", hopper_policy)


def test_expert_run_resumes_without_naming_its_options(tmp_path: Path) -> None:
    small = [f"--set={s}" for s in ("num_envs=4", "num_steps=5", "acktr.hidden_sizes=[8,8]")]
    env = "tests.environments:Drift-v0"
    how = ("--out", tmp_path / "run", "--quiet", "--workers", 1)
    options = f"--env {env} --steps 40 --snapshot-every 20 --evaluate-every 20 --no-decay".split()
    made = rilco("experts", "train", *options, *small, *how)
    assert made.exit_code == 0, made.exception
    assert len(list((tmp_path / "run" / "policy" / "snapshots").iterdir())) == 2
    again = rilco("experts", "train", *how, "--resume", "--trust-env", "--steps", 60)
    assert again.exit_code == 0, again.exception


def test_policy_file_is_the_same_every_time(hopper_policy: Path, tmp_path: Path) -> None:
    load_policy(hopper_policy).save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == hopper_policy.read_bytes()


@pytest.mark.parametrize(
    ("text", "number"), [("2e6", 2_000_000), ("300k", 300_000), ("5M", 5_000_000), ("1_000", 1000)]
)
def test_counts(text: str, number: int) -> None:
    assert COUNT.convert(text, None, None) == number


@pytest.mark.parametrize("text", ["many", "1.5", "", "k", "inf", "nan", "-inf"])
def test_bad_counts(text: str) -> None:
    import click

    with pytest.raises(click.BadParameter):
        COUNT.convert(text, None, None)


@pytest.mark.bullet
def test_bench_writes_the_documented_json(tmp_path: Path) -> None:
    result = python(MAIN, "bench", "--task", "hopper", "--iterations", 2, "--json", tmp_path / "bench.json")
    assert result.returncode == 0, result.stderr
    table = json.loads((tmp_path / "bench.json").read_text())
    found = table["methods"]["ril-co"]["hopper"]
    assert all(found[name] > 0 for name in ("bare", "pool", "train", "peak_rss_mb"))
    assert set(found["ms_per_iteration"]) == {"bare", "collect", "learn", "rest"}


def test_keyword_arguments_of_the_environment(tmp_path: Path) -> None:
    options = ("--env", "tests.environments:Units", "--method", "acktr", "--out", tmp_path / "run")
    done = rilco("train", *options, "--env-kwargs", "unit=3")
    assert done.exit_code == 2
    assert "is not a JSON object" in done.stderr
    assert "could not be made with {'speed': 3}" in refusal("train", *options, "--env-kwargs", '{"speed": 3}')


def test_an_audit_of_a_run_whose_module_is_gone_says_so(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    demos = tmp_path / "mine.npz"
    np.savez(
        demos, obs=rng.normal(size=(200, 3)), action=rng.normal(size=(200, 1)), episode=np.arange(200) // 10
    )
    options = {"env": "no_module_here:make", "demos": (str(demos),), "steps": 2000}
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json").write_text(make_config(options).to_json())
    said = refusal("audit", tmp_path / "run", "--trust-env")
    assert "No module named 'no_module_here'" in said
    assert "must be importable" in said


# -- messages


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    arrays = {"obs": rng.normal(size=(200, 3)), "action": rng.normal(size=(200, 1))}
    np.savez(tmp_path / "mine.npz", **arrays, episode=np.arange(200) // 20)
    return tmp_path / "mine.npz"


@pytest.mark.parametrize(
    ("options", "said", "unsaid"),
    [
        (["--method", "sac"], "known are", "Did you mean"),
        (["--steps", "0", "--method", "acktr"], "--steps 0: expected", "must be"),
        (["--steps", "5", "--method", "bc", "--demos", "x.npz"], "with --gradient-steps.", "the paper"),
        (["--resume"], "holds no run to go on with", "could not be read"),
    ],
)
def test_refusals_say_what_helps(tmp_path: Path, options: list[str], said: str, unsaid: str) -> None:
    message = refusal("train", "--env", "Pendulum-v1", "--out", tmp_path, *options)
    assert said in message
    assert unsaid not in message


def test_steps_that_are_no_whole_iterations_are_rounded_aloud(tmp_path: Path) -> None:
    sizes = ("--set=num_envs=4", "--set=num_steps=5", "--set=acktr.hidden_sizes=[8,8]")
    options = ("--env=Pendulum-v1", "--method=acktr", "--evaluate-every=-1", "--quiet", "--workers=1", *sizes)
    done = rilco("train", *options, "--steps", 30, "--out", tmp_path / "a")
    assert "--steps 30: training takes whole iterations of 20 transitions, so 40." in done.stderr
    assert "iterations of" not in rilco("train", *options, "--steps", 40, "--out", tmp_path / "b").stderr


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no folder that nobody can write to")
@pytest.mark.parametrize("option", ["--keep", "--out"])
def test_a_folder_that_cannot_be_written_is_refused_before_the_work(
    pairs: Path, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setattr("rilco.judging.audit.audit", lambda *_, **__: pytest.fail("judged"))
    message = refusal("audit", "--demos", pairs, option, "/proc/new/kept.npz")
    assert "/proc/new/kept.npz" in message
    assert "Make room" not in message
