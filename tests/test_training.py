"""Runs: what they write, how they stop and go on, and how they refuse."""

from __future__ import annotations

import io
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from tests.environments import env_id
from tests.experiment.tiny import RIL_CO, SMALL
from tests.stops import CrashAfter

import rilco
from rilco.data.formats import save_demonstrations
from rilco.data.record import Demonstrations
from rilco.errors import (
    ConfigError,
    DemonstrationError,
    RilcoError,
    RunError,
    TaskError,
    TrainingError,
    WorkerError,
)
from rilco.options import make_config
from rilco.runs.checkpoint import load_checkpoint
from rilco.runs.how import How
from rilco.tasks.gym_batch import DISPLAYS
from rilco.training import train_run

ROOT = Path(__file__).resolve().parents[1]


def write_demonstrations(path: Path, pairs: int = 300, obs_dim: int = 2) -> Path:
    rng = np.random.default_rng(0)
    demos = Demonstrations(
        rng.standard_normal((pairs, obs_dim), np.float32), rng.uniform(-1, 1, (pairs, 1)).astype(np.float32)
    )
    save_demonstrations(demos, path)
    return path


@pytest.fixture
def demos(tmp_path: Path) -> Path:
    return write_demonstrations(tmp_path / "demos.npz")


def small_run(out: Path, **options: Any) -> rilco.Run:
    options = {"env": env_id("Drift"), "method": "acktr", "steps": 200, "seed": 5, "quiet": True, **options}
    small = SMALL if options["method"] == "acktr" else RIL_CO
    settings = {**small, **options.pop("settings", {})}
    return rilco.train(out, settings=settings, workers=1, **options)


def tiny_config(env: str, steps: int) -> rilco.RunConfig:
    return make_config({"env": env_id(env), "method": "acktr", "steps": steps, **SMALL, "evaluate_every": -1})


def metrics(folder: Path) -> list[dict]:
    """Without the wall clock."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]


# -- what a run is -------------------------------------------------------------------------------


def test_run_folder(left_alone: rilco.Run) -> None:
    run = left_alone
    lines = run.metrics()
    assert [line["iteration"] for line in lines] == list(range(1, 11))
    assert [line["transitions"] for line in lines] == list(range(20, 201, 20))
    assert {"risk", "demo_risk", "called_nonexpert", "reward", "policy_loss", "seconds"} <= set(lines[0])
    assert [line["transitions"] for line in run.evaluations()] == [60, 120, 180, 200]
    assert (run.path / "metrics.jsonl").stat().st_size < 10 * 700
    assert run.policy.predict(np.zeros(2)).shape == (1,)
    assert run.last_policy.card["transitions"] == 200
    assert run.policy.card["return"] == pytest.approx(
        max(e["eval_return"] for e in run.evaluations()), rel=1e-3
    )
    assert run.config.method == "ril-co"


def test_same_seed_same_run_and_another_seed_another(tmp_path: Path) -> None:
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        small_run(tmp_path / name, seed=seed)
    assert metrics(tmp_path / "a") == metrics(tmp_path / "b")
    assert metrics(tmp_path / "a") != metrics(tmp_path / "c")


def test_runs_of_one_process_share_their_programs(
    tmp_path: Path, demos: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever their seeds, lengths and files."""
    settings = {"acktr.discount": 0.97}  # as no other test has it
    with jax.log_compiles():
        small_run(tmp_path / "one", method="ril-co", demos=demos, settings=settings)
        other = write_demonstrations(tmp_path / "other.npz", pairs=200)
        small_run(tmp_path / "two", method="ril-co", demos=other, settings=settings, seed=6, steps=220)
    assert [caplog.text.count(f"Compiling jit({name})") for name in ("init", "learn")] == [1, 1]


def test_tensorboard_events(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    watch = rilco.TensorBoard(tmp_path / "mine")
    small_run(tmp_path / "run", callback=[watch, lambda record: record["iteration"] < 6])
    small_run(tmp_path / "run", callback=watch, resume=True)
    for folder in (tmp_path / "run" / "events", tmp_path / "mine"):
        assert len(list(folder.iterdir())) == 2, "a file for each process"
        events = EventAccumulator(str(folder))
        events.Reload()
        assert "evaluation/return" in events.Tags()["scalars"]
        assert [event.step for event in events.Scalars("evaluation/return")] == [60, 120, 180, 200]
        assert b"| classifier.lam | 0.5 |" in events.Tensors("configuration")[0].tensor_proto.string_val[0]
        assert b"num_envs" in events.SummaryMetadata("_hparams_/session_start_info").plugin_data.content


def test_tensorboard_forgets_what_came_after_the_checkpoint(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    watch = rilco.TensorBoard(tmp_path)
    for first, end in ((1, 6), (3, 4)):  # the second time from the checkpoint after 2
        watch.begin(rilco.RunConfig(method="acktr"))
        for iteration in range(first, end):
            watch({"iteration": iteration * 10, "transitions": iteration, "reward": float(first)})
    events = EventAccumulator(str(tmp_path))
    events.Reload()
    values = [(event.step, event.value) for event in events.Scalars("learning/reward")]
    assert values == [(1, 1.0), (2, 1.0), (3, 3.0)]


@pytest.mark.bullet
def test_tensorboard_shows_the_policy_at_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tensorboard")
    from PIL import Image
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    def train(out: Path, **options: Any) -> rilco.Run:
        settings = {"num_envs": 2, "num_steps": 10, "evaluate_every": -1}
        watch = rilco.TensorBoard(tmp_path / "events", video=True)
        return rilco.train(
            out, method="acktr", workers=1, quiet=True, callback=watch, settings=settings, **options
        )

    train(tmp_path / "run", task="hopper", steps=40)
    events = EventAccumulator(str(tmp_path / "events"))
    events.Reload()
    (shown,) = events.Images("policy")
    assert shown.step == 40
    moving = Image.open(io.BytesIO(shown.encoded_image_string))
    assert moving.format == "GIF"
    assert getattr(moving, "n_frames", 1) > 1
    for name in DISPLAYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("gymnasium.envs.mujoco.MujocoEnv.render", lambda env: 1 / 0)
    with pytest.raises(TaskError, match=r"MuJoCo cannot draw here .*MUJOCO_GL=egl"):
        train(tmp_path / "none", env="InvertedPendulum-v5", steps=40)
    assert not (tmp_path / "none").exists(), "refused before anything is learned"


def test_ground_truth_does_not_reach_training(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    obs, action = rng.standard_normal((300, 2), np.float32), rng.uniform(-1, 1, (300, 1)).astype(np.float32)
    for name, flip in (("a", False), ("b", True)):
        expert = (np.arange(300) < 200) ^ flip
        save_demonstrations(Demonstrations(obs, action, expert=expert), tmp_path / f"{name}.npz")
        small_run(tmp_path / name, method="ril-co", demos=tmp_path / f"{name}.npz")
    assert metrics(tmp_path / "a") == metrics(tmp_path / "b")


# -- stopping and going on -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def left_alone(tmp_path_factory: pytest.TempPathFactory) -> rilco.Run:
    """A small imitation run from start to end; tests compare with it and must not change it."""
    folder = tmp_path_factory.mktemp("left_alone")
    return small_run(folder / "run", method="ril-co", demos=write_demonstrations(folder / "demos.npz"))


@pytest.mark.parametrize(("every", "crash"), [(1, 1), (1, 4), (4, 6), (8, 9)])
def test_resume_continues_exactly(tmp_path: Path, every: int, crash: int, left_alone: rilco.Run) -> None:
    """After a crash, what came after the last checkpoint is done again, with the same outcome."""
    how = How(checkpoint_every=every, quiet=True, stop=CrashAfter(crash))
    with pytest.raises(RuntimeError, match="crash"):
        train_run(left_alone.config, tmp_path / "run", how=how)
    assert len(metrics(tmp_path / "run")) == crash
    resumed = rilco.train(tmp_path / "run", resume=True, quiet=True, workers=2)
    assert metrics(resumed.path) == metrics(left_alone.path)
    for name in ("last", "best"):
        files = [run.path / "policy" / f"{name}.safetensors" for run in (resumed, left_alone)]
        assert files[0].read_bytes() == files[1].read_bytes()


def test_evaluating_does_not_change_what_is_learned(tmp_path: Path, left_alone: rilco.Run) -> None:
    quiet = small_run(
        tmp_path / "run", method="ril-co", demos=left_alone.config.demos, settings={"evaluate_every": -1}
    )
    learned = [
        {k: v for k, v in line.items() if not k.startswith("eval_")} for line in metrics(left_alone.path)
    ]
    assert metrics(quiet.path) == learned
    assert not quiet.evaluations()


def test_resume_can_go_on_for_longer(tmp_path: Path) -> None:
    long = small_run(tmp_path / "long", steps=400, settings={"evaluate_every": 100})
    small_run(tmp_path / "short", steps=200, settings={"evaluate_every": 100})
    rilco.train(tmp_path / "short", resume=True, steps=400, quiet=True)
    assert metrics(tmp_path / "short") == metrics(long.path)


def test_resume_of_a_finished_run_changes_nothing(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run")
    before = metrics(run.path)
    rilco.train(run.path, resume=True, quiet=True)
    assert metrics(run.path) == before


def test_torn_checkpoint_is_passed_over(tmp_path: Path) -> None:
    whole = small_run(tmp_path / "whole", steps=4040, settings={"evaluate_every": -1})
    shutil.copytree(whole.path, tmp_path / "torn")
    newest = max((tmp_path / "torn" / "checkpoints").glob("*.safetensors"))
    newest.write_bytes(newest.read_bytes()[:-100])
    rilco.train(tmp_path / "torn", resume=True, quiet=True)
    assert metrics(tmp_path / "torn") == metrics(whole.path)


def cli(*arguments: object) -> list[str]:
    return [sys.executable, "-c", "from rilco.cli import main; main()", *map(str, arguments)]


def start_cli(*arguments: object, env: dict[str, str] | None = None) -> subprocess.Popen:
    return subprocess.Popen(
        cli(*arguments), cwd=ROOT, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def arguments_for(out: Path, demos: Path, steps: int = 12_000) -> list[object]:
    small = [
        f"--set={name}={json.dumps(value)}" for name, value in RIL_CO.items() if name != "evaluate_every"
    ]
    return [
        *("train", "--env", env_id("Drift"), "--demos", demos, "--steps", steps, "--seed", 2, "--out", out),
        *("--evaluate-every", 2000, "--checkpoint-every", 20, "--workers", 2, *small),
    ]


def wait_for(condition: Callable[[], object], process: subprocess.Popen) -> None:
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


@pytest.mark.slow
def test_kill_minus_nine_at_any_moment_then_resume(tmp_path: Path, demos: Path) -> None:
    """Killed twice at whatever moment, a run ends with the bytes of one that was left alone.

    Compiled as users have it, where optimised programs could tell other bits than ours do.
    """
    env = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    options: Any = {"cwd": ROOT, "env": env, "check": True, "capture_output": True}
    subprocess.run(cli(*arguments_for(tmp_path / "whole", demos)), **options)
    out = tmp_path / "killed"
    command = arguments_for(out, demos)
    for checkpoint in (20, 340):
        process = start_cli(*command, env=env)

        def reached(wanted: int = checkpoint) -> bool:
            return any(int(f.stem) >= wanted for f in (out / "checkpoints").glob("*.json"))

        wait_for(reached, process)
        process.kill()
        process.communicate()
        command = ["train", "--out", out, "--resume", "--trust-env"]
    finished = subprocess.run(cli(*command), **options, text=True)
    assert "Resuming after" in finished.stderr
    assert metrics(out) == metrics(tmp_path / "whole")
    for name in ("last", "best"):
        files = [folder / "policy" / f"{name}.safetensors" for folder in (out, tmp_path / "whole")]
        assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.slow
def test_ctrl_c_leaves_a_checkpoint_and_says_how_to_go_on(tmp_path: Path, demos: Path) -> None:
    out = tmp_path / "run"
    process = start_cli(*arguments_for(out, demos, steps=5_000_000))
    wait_for(lambda: (out / "metrics.jsonl").exists(), process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130
    assert f"rilco train --out {out} --resume" in errors
    assert list((out / "checkpoints").glob("*.json"))
    assert len(metrics(out)) == json.loads(max((out / "checkpoints").glob("*.json")).read_text())["iteration"]


# -- refusals ------------------------------------------------------------------------------------


def test_folder_with_another_run_is_refused(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run")
    before = {file: file.read_bytes() for file in run.path.rglob("*") if file.is_file()}
    with pytest.raises(RunError, match="holds a run already"):
        small_run(tmp_path / "run", seed=9)
    assert {file: file.read_bytes() for file in run.path.rglob("*") if file.is_file()} == before


def test_resume_with_a_changed_configuration_is_refused(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run")
    with pytest.raises(RunError, match=r"seed: 5 -> 6"):
        rilco.train(run.path, resume=True, seed=6, quiet=True)
    with pytest.raises(RunError, match=r"steps: 200 -> 100"):
        rilco.train(run.path, resume=True, steps=100, quiet=True)


def test_demonstrations_may_be_named_another_way(
    tmp_path: Path, demos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = small_run(tmp_path / "run", method="ril-co", demos=demos)
    monkeypatch.chdir(tmp_path)
    rilco.train(run.path, resume=True, demos="./demos.npz", steps=220, quiet=True)


def test_resume_with_changed_demonstrations_is_refused(tmp_path: Path, demos: Path) -> None:
    small_run(tmp_path / "run", method="ril-co", demos=demos)
    demos.unlink()
    write_demonstrations(demos, pairs=299)
    with pytest.raises(RunError, match="not those that this run began with"):
        rilco.train(tmp_path / "run", resume=True, steps=400, quiet=True)


def test_resume_where_there_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="not a run folder"):
        rilco.train(tmp_path / "nothing", resume=True, quiet=True)
    assert not (tmp_path / "nothing").exists()


def test_folder_in_use_is_refused(tmp_path: Path) -> None:
    import fcntl

    run = small_run(tmp_path / "run")
    with (run.path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(RunError, match="another process"):
            rilco.train(run.path, resume=True, steps=400, quiet=True)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs a file system that is read-only even for root")
def test_read_only_folder() -> None:
    with pytest.raises(RunError, match="could not be written"):
        small_run(Path("/proc/rilco/run"))


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RunError, match=r"could not be written|is a file"):
        small_run(tmp_path / "file" / "run")


def test_full_disk_stops_with_the_last_checkpoint_intact(tmp_path: Path) -> None:
    """A limit on file size stands in for a full disk: both are an OSError in the middle of a write."""
    script = f"""
import resource, signal
from pathlib import Path
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
import rilco
from tests.environments import env_id
from tests.experiment.tiny import SMALL
small = {{**SMALL, "evaluate_every": -1}}
run = dict(env=env_id("Drift"), method="acktr", seed=5, quiet=True, workers=1)
rilco.train({str(tmp_path / "run")!r}, steps=200, settings=small, **run)
room = Path({str(tmp_path / "run" / "config.json")!r}).stat().st_size + 100  # enough for the new number of steps
resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
try:
    rilco.train({str(tmp_path / "run")!r}, resume=True, steps=4000, quiet=True)
except rilco.RilcoError as error:
    print(error)
"""
    result = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "could not be written" in result.stdout, result.stderr
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    assert not list((tmp_path / "run").rglob("*.part"))
    rilco.train(tmp_path / "run", resume=True, quiet=True)  # with room again it goes on
    assert len(metrics(tmp_path / "run")) == 200


def test_nan_stops_the_run_and_names_the_term(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="policy_loss") as caught:
        small_run(tmp_path / "run", env=env_id("Explodes"), steps=2000)
    assert "NaN or infinity" in str(caught.value)
    for line in metrics(tmp_path / "run"):
        assert all(np.isfinite(value) for value in line.values() if isinstance(value, float))


def test_worker_error_leaves_the_last_checkpoint(tmp_path: Path) -> None:
    """The run before the error is intact; one that fails before its first iteration leaves no folder."""
    with pytest.raises(WorkerError, match="the gripper is stuck"):
        train_run(tiny_config("Raises", steps=400), tmp_path / "run", how=How(checkpoint_every=2, quiet=True))
    checkpoint, complaints = load_checkpoint(tmp_path / "run" / "checkpoints")
    assert complaints == []
    assert checkpoint is not None
    assert checkpoint.iteration == 6
    with pytest.raises(WorkerError):
        train_run(tiny_config("Dies", steps=400), tmp_path / "never", how=How(quiet=True))
    assert not (tmp_path / "never").exists()


def test_all_checkpoints_damaged_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    run = small_run(tmp_path / "run")
    for file in (run.path / "checkpoints").glob("*.safetensors"):
        file.write_bytes(file.read_bytes()[:-1])
    before = (run.path / "metrics.jsonl").read_bytes()
    with pytest.raises(RunError, match="no checkpoint is whole"):
        rilco.train(run.path, resume=True, steps=400, quiet=True)
    assert (run.path / "metrics.jsonl").read_bytes() == before


@pytest.mark.parametrize("victim", ["safetensors", "json", "last", "best"])
def test_killed_in_the_middle_of_any_write(
    tmp_path: Path, victim: str, monkeypatch: pytest.MonkeyPatch, left_alone: rilco.Run
) -> None:
    """Die just before each kind of file is renamed into place; what is resumed ends with the same bytes."""
    real = os.replace
    seen = []

    def die(source: Path, target: Path) -> None:
        name = Path(target).name
        wanted = name.startswith(victim) if victim in ("last", "best") else name == f"00000006.{victim}"
        if wanted:
            seen.append(name)
            if len(seen) == (2 if victim == "last" else 1):
                raise KeyboardInterrupt  # not an Exception: nothing tidies up after it but `finally`
        real(source, target)

    monkeypatch.setattr(os, "replace", die)
    with pytest.raises(KeyboardInterrupt):
        train_run(left_alone.config, tmp_path / "run", how=How(checkpoint_every=3, quiet=True))
    monkeypatch.undo()
    resumed = rilco.train(tmp_path / "run", resume=True, quiet=True)
    assert metrics(resumed.path) == metrics(left_alone.path)
    for name in ("last", "best"):
        files = [run.path / "policy" / f"{name}.safetensors" for run in (resumed, left_alone)]
        assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"method": "gial"}, ConfigError, "unknown method"),
        ({"env": None, "task": "cheetah"}, ConfigError, "Did you mean 'halfcheetah'"),
        ({"method": "ril-co", "settings": {"classifier.loss": "logistc"}}, ConfigError, "logistic"),
        ({"settings": {"classifier.loss": "hinge"}}, ConfigError, "no use for classifier.loss"),
        (
            {"method": "gail-ap", "settings": {"classifier.lam": 0.2}},
            ConfigError,
            "no use for .*classifier.lam",
        ),
        ({"settings": {"num_envs": "abc"}}, ConfigError, "num_envs: expected a value like 32"),
        ({"settings": {"num_envs": 2.5}}, ConfigError, "num_envs"),
        ({"settings": {"acktr": 5}}, ConfigError, "field by field"),
        ({"settings": {"acktr.hidden_sizes": ["a"]}}, ConfigError, "hidden_sizes"),
        ({"settings": {"acktr.hidden_sizes": [8, 0]}}, ConfigError, "hidden_sizes: expected positive widths"),
        ({"settings": {"acktr.discount": 2.0}}, ConfigError, "less than 1"),
        ({"seed": 2**40}, ConfigError, "seed"),
        ({"settings": {"acktr.learning_rat": 1.0}}, ConfigError, "Did you mean 'learning_rate'"),
        ({"method": "ril-co"}, ConfigError, "needs demonstrations"),
        ({"demos": "x.h5"}, ConfigError, "takes no --demos"),
        ({"method": "ril-co", "demos": "nowhere.h5"}, DemonstrationError, "nowhere.h5"),
        ({"method": "ril-co", "demos": "x.h5", "noise_rate": 0.5}, ConfigError, "less than 0.5"),
        ({"method": "ril-co", "demos": "x.h5", "noise_rate": -0.1}, ConfigError, "less than 0.5"),
        ({"steps": 0}, ConfigError, "steps"),
    ],
)
def test_bad_options_write_nothing(
    tmp_path: Path, options: dict[str, Any], error: type[RilcoError], said: str
) -> None:
    with pytest.raises(error, match=said):
        small_run(tmp_path / "run", **options)
    assert not (tmp_path / "run").exists()


def test_demonstrations_of_another_environment(tmp_path: Path) -> None:
    wrong = write_demonstrations(tmp_path / "wrong.npz", obs_dim=3)
    with pytest.raises(DemonstrationError, match="3"):
        small_run(tmp_path / "run", method="ril-co", demos=wrong)
    assert not (tmp_path / "run").exists()


def test_fewer_demonstrations_than_a_batch_work_with_a_warning(tmp_path: Path) -> None:
    few = write_demonstrations(tmp_path / "few.npz", pairs=5)
    with pytest.warns(UserWarning, match="Only 5 demonstration pairs"):
        run = small_run(tmp_path / "run", method="ril-co", demos=few, steps=40)
    assert len(run.metrics()) == 2


def test_an_observation_is_made_of_the_parts_that_are_named(tmp_path: Path) -> None:
    import h5py

    rng = np.random.default_rng(0)
    with h5py.File(tmp_path / "named.robomimic.hdf5", "w") as file:
        demo = file.create_group("data/demo_0")
        demo["actions"] = rng.uniform(-1, 1, (300, 1)).astype(np.float32)
        for part in ("place", "speed", "camera"):
            demo[f"obs/{part}"] = rng.standard_normal((300, 1), np.float32)
        demo["rewards"] = demo["dones"] = np.zeros(300)
        demo.attrs["num_samples"] = file["data"].attrs["total"] = 300
    options = {"method": "ril-co", "demos": tmp_path / "named.robomimic.hdf5", "steps": 40}
    run = small_run(tmp_path / "run", **options, settings={"obs_keys": "place, speed"})
    assert run.config.obs_keys == ("place", "speed")
    with pytest.raises(DemonstrationError, match="place"):
        small_run(tmp_path / "wrong", **options, settings={"obs_keys": ["plaice", "speed"]})
