"""A stranger's file may name an environment, but its module is imported only if the user says so."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from tests.experiment.tiny import SMALL, tiny

import rilco
from rilco.cli import cli
from rilco.cli.train import resume_command
from rilco.config import RunConfig
from rilco.data.formats import load_file, save_demonstrations
from rilco.data.record import Demonstrations
from rilco.errors import TaskError
from rilco.experiment.grid import Job
from rilco.experiment.launch import Settings, ask_to_stop, how_it_ended, search_path, start_run
from rilco.judging.audit import audit
from rilco.policy.saved import load_policy
from rilco.tasks import table, trust

NAME = "stranger:Trap"
MODULE = """
from pathlib import Path
from tests.environments import Drift as Trap
Path(__file__).with_name("imported").touch()
"""
HOW = {"workers": 1, "quiet": True}
COMMANDS = (
    "evaluate run --episodes 1 --workers 1",
    "evaluate run/policy/last.safetensors",
    "play run --video run.gif",
    "train --out run --resume --steps 60 --quiet",
    "experts train --out run --resume --steps 60 --quiet",
    "demos collect run --out collected.npz",
    "audit run --quiet",
)


def begin(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """The stranger's folder, which is the working directory and is searched for modules."""
    (folder / "stranger.py").write_text(MODULE)
    patch.chdir(folder)
    patch.syspath_prepend(str(folder))


def forget() -> None:
    """As in a new process."""
    trust._TRUSTED.discard(NAME)
    table._gym_spaces.cache_clear()
    sys.modules.pop("stranger", None)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with its policies, and an audit, that all name the stranger's environment."""
    folder, rng = tmp_path_factory.mktemp("stranger"), np.random.default_rng(0)
    obs, action = rng.normal(size=(400, 2)), rng.normal(size=(400, 1))
    save_demonstrations(Demonstrations(obs, action, episode=np.arange(400) // 20), folder / "demos.npz")
    with pytest.MonkeyPatch.context() as patch:
        begin(folder, patch)
        settings = {**SMALL, "classifier.hidden": [8], "evaluate_every": 20}
        rilco.train("run", env=NAME, demos="demos.npz", steps=20, settings=settings, **HOW)
        rilco.evaluate("run", episodes=1, workers=1)  # its own run is no stranger's
        rilco.train("run", resume=True, steps=40, **HOW)
        audit("demos.npz", env=NAME, offline=True).save("audit", pictures=False)
        assert (folder / "imported").exists()
        forget()
    return folder


@pytest.fixture
def home(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    for name in ("run", "audit"):
        shutil.copytree(made / name, tmp_path / name)
    begin(tmp_path, monkeypatch)
    yield tmp_path
    forget()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_imports_what_a_file_names_only_if_told(home: Path, command: str) -> None:
    refused = CliRunner().invoke(cli, command.split())
    assert isinstance(refused.exception, TaskError), refused.output
    said = str(refused.exception)
    assert "run/" in said  # which file
    assert f"names the environment {NAME!r}" in said
    assert "the module 'stranger' would be imported" in said
    assert "add --trust-env" in said
    assert not (home / "imported").exists()
    (home / "stranger.py").write_text("raise RuntimeError('it runs')")
    allowed = CliRunner().invoke(cli, [*command.split(), "--trust-env"])
    assert "RuntimeError: it runs" in str(allowed.exception)


def test_what_the_user_names_is_imported(home: Path) -> None:
    done = CliRunner().invoke(
        cli, ["train", "--out", "run", "--resume", "--env", NAME, "--steps", "60", "--quiet"]
    )
    assert done.exit_code == 0, done.output
    forget()
    assert len(rilco.evaluate("run", env=NAME, episodes=1, workers=1).returns) == 1


def test_a_run_that_the_user_names_again_keeps_its_keyword_arguments(home: Path) -> None:
    settings = {**SMALL, "evaluate_every": -1}
    rilco.train(
        "own",
        env="tests.environments:Units",
        env_kwargs={"unit": 3.0},
        method="acktr",
        steps=20,
        settings=settings,
        **HOW,
    )
    rilco.train("own", env="tests.environments:Units", resume=True, steps=40, **HOW)
    assert RunConfig.load("own").task.env_kwargs == {"unit": 3.0}


def test_python_asks_for_the_same_word(home: Path) -> None:
    for function in (
        lambda **word: rilco.evaluate("run", episodes=1, workers=1, **word),
        lambda **word: rilco.train("run", resume=True, steps=60, **HOW, **word),
    ):
        with pytest.raises(TaskError, match="trust_env=True"):
            function()
        assert not (home / "imported").exists()
        function(trust_env=True)
        assert (home / "imported").exists()
        forget()
        (home / "imported").unlink()


def test_no_code_of_any_module_runs(home: Path) -> None:
    """`os:system` is imported already, and a file may give keyword arguments."""
    policy = load_policy("run")
    card = {**policy.card, "env": "os:system", "env_kwargs": {"command": "touch ran"}}
    dataclasses.replace(policy, card=card).save("p.safetensors")
    for name in ("os:system", *trust.ADAPTERS):
        dataclasses.replace(policy, card={**card, "env": name}).save("p.safetensors")
        with pytest.raises(TaskError, match=f"p.safetensors: names the environment '{name}'"):
            rilco.evaluate("p.safetensors", episodes=1)
    assert not (home / "ran").exists()


def test_an_audit_is_applied_without_its_environment(home: Path) -> None:
    """A Minari dataset describes its environment, for which it would be imported."""
    apply = ["audit", "apply", "audit", "--unsure", "keep"]
    done = CliRunner().invoke(
        cli, [*apply, "--keep", "kept.minari", "--annotate", "all.minari", "--out", "again"]
    )
    assert done.exit_code == 0, done.output
    assert len(load_file("kept.minari")) == 400
    assert not (home / "imported").exists()
    done = CliRunner().invoke(cli, [*apply, "--annotate", "described.minari", "--trust-env"])
    assert done.exit_code == 0, done.output
    assert (home / "imported").exists()


def test_the_advice_to_go_on_can_be_followed(home: Path) -> None:
    assert resume_command(Path("run")) == "rilco train --out run --resume --trust-env"
    config = dataclasses.replace(tiny(), task=table.Task(task="hopper"))
    Path("bullet").mkdir()
    Path("bullet/config.json").write_text(config.to_json())
    assert resume_command(Path("bullet")) == "rilco train --out bullet --resume"


def test_a_sweep_passes_the_users_word_on(home: Path) -> None:
    job = Job("one", dataclasses.replace(tiny(steps=20), task=table.Task(env=NAME)))
    process = start_run(Settings(home, 1).request(job), search_path())
    ended = how_it_ended(process)
    ask_to_stop(process)  # closes our end
    assert ended == "finished", (home / "logs" / "one.log").read_text()


def test_a_file_cannot_vouch_for_itself(home: Path) -> None:
    text = Path("run/config.json").read_text()
    Path("run/config.json").write_text(text.replace('"task": {', '"task": {"named_by": "",', 1))
    assert RunConfig.load("run").task.named_by == "run/config.json"
