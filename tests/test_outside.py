"""Methods, formats and judges from outside the package: an entry in a table is all that it takes."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.environments import env_id
from tests.reporting.runs import write_run

import rilco
from rilco.config import RunConfig
from rilco.data import formats
from rilco.data.formats import save_demonstrations
from rilco.data.record import Demonstrations
from rilco.errors import AuditError, ConfigError, RunError
from rilco.experiment.grid import run_name
from rilco.judging import opinion
from rilco.methods import METHODS, Look, Method, find, register
from rilco.options import make_config
from rilco.outside import MODULES
from rilco.reporting.build import report as write_report
from rilco.runs.folder import Run

MODULE = '''
from rilco.methods import LOSS, REWARD, Look, Method, register


def red(config, num_demonstrators):
    """Random expert distillation is another idea; this is GAIL whose reward is the score, cut at zero."""
    import jax.numpy as jnp

    from rilco.rewards.gail import gail

    return gail(config.classifier, loss=config.classifier.loss, reward_of_score=lambda g: jnp.maximum(g, 0.0))


register("cut-gail", Method("GAIL, never punishing", reads=(*REWARD, *LOSS), make_reward=red,
                            look=Look("Cut GAIL", "#123456", "h")))
'''
SETTINGS = {
    **{"num_envs": 4, "num_steps": 5, "evaluate_every": 60, "evaluation_episodes": 2},
    **{"acktr.hidden_sizes": [8, 8], "freeze_normalizer_after": 2},
    **{"classifier.hidden": [8, 8], "classifier.batch": 16, "classifier.loss": "logistic"},
}


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a module that registers `cut-gail`, found by Python as a user's own would be."""
    (tmp_path / "my_methods.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    yield tmp_path
    METHODS.pop("cut-gail", None)
    sys.modules.pop("my_methods", None)


@pytest.fixture
def demos(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    pairs = rng.standard_normal((100, 2), np.float32), rng.uniform(-1, 1, (100, 1)).astype(np.float32)
    save_demonstrations(Demonstrations(*pairs), tmp_path / "demos.npz")
    return tmp_path / "demos.npz"


def train(out: Path, demos: Path, steps: int, method: str = "cut-gail") -> Run:
    own = method == "cut-gail"
    return rilco.train(
        out,
        env=env_id("Drift"),
        method=method,
        demos=demos,
        steps=steps,
        settings={name: value for name, value in SETTINGS.items() if own or "classifier" not in name},
        workers=1,
        quiet=True,
    )


def lines(run: Run) -> list[dict[str, float]]:
    """Metrics without the time that they took."""
    return [
        {k: v for k, v in json.loads(text).items() if k != "seconds"} for text in metrics(run).splitlines()
    ]


def metrics(run: Run) -> str:
    return (run.path / "metrics.jsonl").read_text()


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from rilco.cli import main; main()", *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_it_trains_goes_on_evaluates_and_is_reported(
    outside: Path, demos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MODULES, "my_methods")
    whole = train(outside / "whole", demos, 100)
    rewards = [line["reward"] for line in lines(whole)]
    assert min(rewards) >= 0.0 < max(rewards), "its reward learner is the one that learned"
    part = train(outside / "results" / "mine", demos, 60)
    done = command(
        "train",
        "--out",
        str(part.path),
        "--resume",
        "--trust-env",
        "--steps",
        "100",
        "--workers",
        "1",
        "--quiet",
    )
    assert done.returncode == 0, done.stderr
    assert lines(part)[-1] == lines(whole)[-1]
    assert len(rilco.evaluate(part.path, episodes=3, workers=1).returns) == 3
    write_run(outside / "results" / "ant", np.arange(9.0), task="ant", method="cut-gail")
    page = write_report(outside / "results", outside / "report").read_text()
    assert "Cut GAIL" in page
    assert "#123456" in (outside / "report" / "figures" / "final.svg").read_text()


def test_what_the_entry_says_holds_everywhere(outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODULES, "my_methods")
    config = make_config({"method": "cut-gail", "task": "ant", "noise_rate": 0.4, "loss": "ap"})
    assert run_name(config) == "ant/noise-0.4/cut-gail/seed-1"
    with pytest.raises(ConfigError, match=r"no use for classifier\.lam"):
        make_config({"method": "cut-gail", "task": "ant", "noise_rate": 0.4, "lam": 0.3})


def test_a_stored_run_of_an_unknown_method_says_what_to_import(outside: Path, demos: Path) -> None:
    import my_methods  # type: ignore[import-not-found]  # noqa: F401 (registers)

    run = train(outside / "run", demos, 20)
    done = command("train", "--out", str(run.path), "--resume")
    assert done.returncode == 1
    for part in (str(run.path), "cut-gail", f"{MODULES}=MODULE"):
        assert part in done.stderr
    METHODS.pop("cut-gail")
    with pytest.raises(RunError, match=r"config\.json.*cut-gail.*unknown"):
        RunConfig.load(run.path)


def test_a_module_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MODULES, "no_such_module_of_mine")
    with pytest.raises(ConfigError, match=f"{MODULES}=no_such_module_of_mine.*PYTHONPATH"):
        find("mine")
    assert find("ril-co").imitates, "modules are only looked at for methods that rilco does not have"


@pytest.mark.parametrize(
    ("name", "fields", "said"),
    [
        ("ril-co", {}, "own methods"),
        ("Mine!", {}, "folder names"),
        ("mine", {"runner": "flying"}, "runner 'flying'"),
        ("mine", {"make_reward": None}, "either a reward"),
        ("mine", {"policy_learner": "acktr"}, "either a reward"),
    ],
)
def test_entries_that_cannot_work_are_refused(name: str, fields: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        register(
            name,
            Method("", **{"make_reward": find("gail").make_reward, "look": Look("M", "#000", "o"), **fields}),
        )
    assert "mine" not in METHODS


@pytest.fixture
def documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Modules as docs/extending.md shows them: documented_method, documented_format, documented_judge."""
    page = (Path(__file__).parents[1] / "docs" / "extending.md").read_text()
    for name, code in zip(
        ("method", "format", "judge"), re.findall(r"```python\n(.*?)```", page, re.DOTALL), strict=True
    ):
        (tmp_path / f"documented_{name}.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    monkeypatch.setenv(MODULES, "documented_method, documented_format, documented_judge")
    yield tmp_path
    METHODS.pop("near", None)
    formats._OUTSIDE.pop("table", None)
    opinion._OUTSIDE.pop("short", None)
    for name in ("method", "format", "judge"):
        sys.modules.pop(f"documented_{name}", None)


def test_the_documented_method_learns(documented: Path, demos: Path) -> None:
    run = train(documented / "run", demos, 60, "near")
    rewards = [line["reward"] for line in lines(run)]
    assert 0.0 < min(rewards) < max(rewards) < 1.0


def test_the_documented_format_is_read_written_and_converted(documented: Path) -> None:
    (documented / "mine.table").write_text("#table\n0.5 1.0\n-0.5 -1.0\n")
    demos = rilco.load_demonstrations(documented / "mine.table")
    assert demos.obs.tolist() == [[0.5], [-0.5]]
    rilco.save_demonstrations(demos, documented / "more.table")
    assert rilco.load_demonstrations(documented / "more.table").action.tolist() == [[1.0], [-1.0]]
    assert {file.suffix for file in formats.find_files(documented)} == {".table"}
    done = command("demos", "convert", str(documented / "mine.table"), str(documented / "mine.npz"))
    assert done.returncode == 0, done.stderr
    assert rilco.load_demonstrations(documented / "mine.npz").obs.tolist() == [[0.5], [-0.5]]


def test_formats_that_cannot_work_are_refused() -> None:
    own = formats.FORMATS[1]
    with pytest.raises(ConfigError, match="own formats"):
        formats.register(own)
    with pytest.raises(ConfigError, match="with its dot"):
        formats.register(own._replace(name="mine", extensions=("mine",)))
    assert formats.formats() == formats.FORMATS


def cut_short() -> Demonstrations:
    """Noise, of which no judge can tell anything but that two of twelve demonstrations are short."""
    rng = np.random.default_rng(0)
    episode = np.repeat(np.arange(12), [20] * 10 + [4] * 2)
    obs = rng.standard_normal((len(episode), 2))
    return Demonstrations(obs, rng.uniform(-1, 1, (len(episode), 1)), episode=episode)


def test_the_documented_judge_is_asked_and_stored(documented: Path) -> None:
    judged = rilco.audit(cut_short())
    says = judged.verdict.opinions[-1]
    assert (says.judge, says.good.tolist()) == ("short", [0.98] * 10 + [0.02] * 2)
    assert "judge short" in judged.verdict.summary
    assert [one.decision != "keep" for one in judged.verdict.demonstrations[-2:]] == [True, True]
    judged.save(documented / "audit")
    stored = rilco.load_audit(documented / "audit", cut_short())
    assert stored.verdict.opinions[-1].reasons[-1] == "It has 4 pairs; usual are 20."


def test_judges_that_cannot_work_are_refused(documented: Path) -> None:
    for name in ("ril-co", "My judge"):
        with pytest.raises(ConfigError, match=f"cannot be called '{name}'"):
            opinion.register(name, opinion.Opinion)
    rilco.audit(cut_short())
    right = opinion._OUTSIDE["short"]
    for wrong in ({"good": np.ones(3)}, {"good": np.full(12, 1.5)}):
        spoiled = dataclasses.replace(right(cut_short()), **wrong)
        opinion.register("short", lambda demos, said=spoiled: said)  # type: ignore[misc]
        with pytest.raises(AuditError, match="The judge 'short'"):
            rilco.audit(cut_short())
