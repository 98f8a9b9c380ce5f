"""Nothing is mixed silently: what was changed or damaged in a run's folder is found, and hurts no other run."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.environments import env_id
from tests.experiment.tiny import SMALL, fake_run, tiny

import rilco
from rilco.clean.cloning import Combined
from rilco.clean.phases import Audited
from rilco.clean.practice import Practice
from rilco.config import RunConfig
from rilco.errors import RilcoError, RunError
from rilco.experiment.grid import make_jobs
from rilco.experiment.sweep import survey
from rilco.files import fits, read_record, scratch
from rilco.policy.saved import Policy, load_policy
from rilco.runs.checkpoint import written_metrics
from rilco.runs.folder import Run
from rilco.runs.metrics import INEXACT, read_progress
from rilco.runs.results import read_results
from rilco.runs.standing import standing

SETTINGS = {**SMALL, "evaluate_every": -1}
MUTANTS = 300


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("trained") / "run"
    return rilco.train(out, env=env_id("Drift"), method="acktr", steps=200, **_how(SETTINGS)).path


def _how(settings: dict[str, Any]) -> dict[str, Any]:
    return {"settings": settings, "workers": 1, "quiet": True}


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Path:
    """One of its own for each test."""
    return Path(shutil.copytree(trained, tmp_path / "run"))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def edit(file: Path, pattern: str, text: str) -> None:
    before = file.read_text()
    after = re.sub(pattern, text, before, count=1)
    assert after != before
    file.write_text(after)


# -- changed files -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "text", "said"),
    [
        (r'"seed": \d+', '"seed": 77', "seed: 1 -> 77"),
        (r'"discount": 0\.99', '"discount": 0.5', "discount=0.5"),
        (r'"steps": 200', '"steps": 100', "steps: 200 -> 100"),
    ],
)
def test_a_configuration_that_was_edited_is_refused_and_nothing_is_changed(
    run: Path, pattern: str, text: str, said: str
) -> None:
    edit(run / "config.json", pattern, text)
    before = contents(run)
    with pytest.raises(RunError, match=rf"config\.json: was changed after the run began.*{re.escape(said)}"):
        rilco.train(run, resume=True, workers=1, quiet=True)
    assert contents(run) == before


def test_a_run_may_be_moved_with_its_demonstrations(tmp_path: Path) -> None:
    """Only names count: a folder is of one machine. Their content has a fingerprint."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    np.savez(here / "demos.npz", obs=np.random.default_rng(0).normal(size=(50, 2)), action=np.zeros((50, 1)))
    settings = {"evaluate_every": -1, "bc.hidden_sizes": [8], "num_envs": 4, "num_steps": 5}
    options = {"env": env_id("Drift"), "method": "bc", "demos": here / "demos.npz", "steps": 200}
    rilco.train(here / "run", **options, **_how(settings))
    here.rename(there)
    edit(there / "run" / "config.json", re.escape(str(here)), str(there))
    moved = rilco.train(there / "run", resume=True, steps=400, workers=1, quiet=True)
    assert moved.metrics()[-1]["transitions"] == 400


def test_a_changed_digit_of_the_metrics_is_found(run: Path) -> None:
    edit(run / "metrics.jsonl", r'"policy_loss":(-?)\d', r'"policy_loss":\g<1>7')
    for read in (lambda: Run(run).metrics(), lambda: rilco.train(run, resume=True, steps=240, quiet=True)):
        with pytest.raises(RunError, match=r"metrics\.jsonl: its first \d+ bytes are not those"):
            read()
    results = read_results(run.parent)
    assert results.runs == []
    assert "not those that the run wrote" in results.skipped[0].reason


def test_what_comes_after_the_last_checkpoint_has_no_checksum_yet(run: Path) -> None:
    with (run / "metrics.jsonl").open("a") as file:
        file.write('{"iteration":11,"transitions":220,"seconds":1.0}\n')
    assert Run(run).metrics()[-1]["transitions"] == 220
    assert written_metrics(run / "checkpoints").size < (run / "metrics.jsonl").stat().st_size


def test_every_changed_bit_of_a_policy_is_found_or_harmless(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    layers = [(rng.normal(size=(2, 1)), rng.normal(size=1))]
    policy = Policy(np.zeros(2), np.ones(2), layers, np.zeros(1), {"task": "hopper", "return": 1.5})
    file = tmp_path / "policy.safetensors"
    policy.save(file)
    data, original = file.read_bytes(), load_policy(file)
    found = 0
    for i in range(len(data)):
        file.write_bytes(data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :])
        try:
            loaded = load_policy(file)
        except RunError:
            found += 1
            continue
        assert loaded.card == original.card
        assert {n: a.tobytes() for n, a in loaded.arrays().items()} == {
            n: a.tobytes() for n, a in original.arrays().items()
        }
    assert found > 0.9 * len(data)


def test_policies_of_the_first_version_are_read(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    policy = Policy(np.zeros(2), np.ones(2), [(np.ones((2, 1)), np.zeros(1))], np.zeros(1))
    header = {"rilco": json.dumps({"format": "rilco-policy-1", "card": {}})}
    save_file(policy.arrays(), tmp_path / "old.safetensors", metadata=header)
    assert load_policy(tmp_path / "old.safetensors").obs_dim == 2


# -- damaged files -------------------------------------------------------------------------------


def test_a_damaged_best_policy_is_found_before_anything_is_changed(tmp_path: Path) -> None:
    """Training may never write it again."""
    settings = {**SMALL, "evaluate_every": 60, "evaluation_episodes": 1}
    run = rilco.train(tmp_path / "run", env=env_id("Drift"), method="acktr", steps=200, **_how(settings)).path
    best = run / "policy" / "best.safetensors"
    data = bytearray(best.read_bytes())
    data[-1] ^= 1
    best.write_bytes(data)
    before = contents(run)
    with pytest.raises(RunError, match=r"best\.safetensors: does not match its checksum.*Restore it"):
        rilco.train(run, resume=True, steps=400, workers=1, quiet=True)
    assert contents(run) == before


def mutants(data: bytes, seed: int) -> Iterator[bytes]:
    """Bytes changed, cut, doubled, or replaced by what JSON readers stumble over."""
    rng = random.Random(seed)
    bits = [
        b"\xff\xfe",
        b"\x00",
        b'"\\ud800"',
        b"1e999",
        b"NaN",
        b"[" * 100_000,
        b"9" * 5000,
        b"null",
        b"{}",
        b"-0",
    ]
    for _ in range(MUTANTS):
        i = rng.randrange(len(data))
        j = min(len(data), i + rng.randrange(1, 12))
        kind = rng.randrange(4)
        if kind == 0:
            yield data[:i] + bytes([rng.randrange(256)]) + data[i + 1 :]
        elif kind == 1:
            yield data[:i] + data[j:]
        elif kind == 2:
            yield data[:j] + data[i:]
        else:
            values = [m.span(1) for m in re.finditer(rb":\s*([^,{}\[\]\s]+)", data)]
            i, j = rng.choice(values)
            yield data[:i] + rng.choice(bits) + data[j:]


@pytest.mark.parametrize("name", ["config.json", "metrics.jsonl", "checkpoints/00000010.json"])
def test_damage_is_our_error_and_leaves_the_other_runs_alone(
    trained: Path, tmp_path: Path, name: str
) -> None:
    config = RunConfig.load(trained)
    run = shutil.copytree(trained, tmp_path / "runs" / "damaged")
    fake_run(tmp_path / "runs" / "whole", tiny(seed=9))
    for data in mutants((trained / name).read_bytes(), seed=1):
        (run / name).write_bytes(data)
        found = {record.path.name for record in read_results(tmp_path / "runs").runs}
        assert "whole" in found
        read_progress(run)
        for read in (lambda: RunConfig.load(run), lambda: standing(config, run), lambda: Run(run).metrics()):
            try:
                read()
            except RilcoError as error:
                assert len(str(error)) < 2000  # noqa: PT017 (the error is not what is tested)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("steps", float("inf")),
        ("steps", 200.0),
        ("steps", "200"),
        ("steps", 10**400),
        ("seed", True),
        ("noise_rate", "0.4"),
        ("demos", "demos.npz"),
        ("demos", [1]),
        ("method", ["acktr"]),
        ("task", "hopper"),
        ("acktr", {"discount": None}),
        ("acktr", {"hidden_sizes": [8.0]}),
        ("acktr", []),
        ("bc", {"no_such": 1}),
        ("start_from", "\ud800"),
        ("format", ["rilco-run-2"]),
    ],
)
def test_wrong_types_in_a_configuration_are_named(tmp_path: Path, name: str, value: object) -> None:
    run = fake_run(tmp_path / "run", tiny())
    table = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps({**table, name: value}))
    with pytest.raises(RunError, match=rf"config\.json.*{name if name != 'format' else 'rilco-run-2'}"):
        RunConfig.load(run)


def test_a_sweep_goes_on_without_a_run_that_cannot_be_read(tmp_path: Path) -> None:
    jobs = make_jobs([(f"run{seed}", tiny(seed=seed)) for seed in range(2)])
    fake_run(tmp_path / "run0", tiny(seed=0))
    (fake_run(tmp_path / "run1", tiny(seed=1)) / "config.json").write_bytes(b"\xff\xfe\x00")
    assert [there.state for there in survey(jobs, tmp_path)] == ["finished", "unreadable"]
    with pytest.raises(
        RunError, match=r"config\.json: not a rilco run's configuration.*is not JSON"
    ):  # what becomes of it then
        rilco.train(tmp_path / "run1", resume=True, quiet=True)


@pytest.mark.parametrize("record", [Audited, Practice, Combined])
@pytest.mark.parametrize(
    "data", [b"", b"\xff", b"[]", b"{}", b'{"transitions": "many"}', b'{"seconds": NaN}']
)
def test_what_a_run_in_phases_remembers_is_read_with_care(
    tmp_path: Path, record: type[Audited | Practice | Combined], data: bytes
) -> None:
    (tmp_path / "record.json").write_bytes(data)
    with pytest.raises(RunError, match=r"record\.json"):
        read_record(record, tmp_path / "record.json")


# -- what is left behind -------------------------------------------------------------------------


def test_a_temporary_folder_is_gone_after_a_kill_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    code = "import sys; from rilco.files import scratch\nwith scratch('audit') as folder:\n print(folder, flush=True); sys.stdin.read()"
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    pipes: dict[str, Any] = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "text": True,
        "env": environment,
    }
    processes = [subprocess.Popen([sys.executable, "-c", code], **pipes) for _ in range(2)]
    killed, alive = (Path(process.stdout.readline().strip()) for process in processes)
    processes[0].kill()
    processes[0].communicate()
    with scratch("audit"):
        assert killed.exists(), "it is so young that its lock may not be there yet"
    for folder in (killed, alive):
        os.utime(folder / ".in-use", (0, 0))
    with scratch("audit") as own:
        assert not killed.exists()
        assert alive.exists()
        assert own.exists()
    processes[1].communicate()
    assert not list(tmp_path.iterdir())


def test_what_a_killed_process_left_half_written_is_removed(run: Path) -> None:
    places = ["", "policy/", "policy/snapshots/", "checkpoints/"]
    for place in places:
        (run / place).mkdir(exist_ok=True)
        (run / f"{place}.best.safetensors.abc123.part").write_bytes(b"half")
    rilco.train(run, resume=True, workers=1, quiet=True)
    assert not list(run.rglob("*.part"))


# -- environments that do not repeat -------------------------------------------------------------


@pytest.mark.parametrize("env", ["Forgetful", "Moody", "Drift"])
def test_that_an_environment_does_not_repeat_is_said_and_kept(
    tmp_path: Path, env: str, recwarn: pytest.WarningsRecorder
) -> None:
    out = tmp_path / "run"
    rilco.train(out, env=env_id(env), method="acktr", steps=60, **_how(SETTINGS))
    rilco.train(out, resume=True, steps=120, workers=1, quiet=True)
    warned = [str(warning.message) for warning in recwarn if "bit-identically" in str(warning.message)]
    marked = [line["iteration"] for line in Run(out).metrics() if INEXACT in line]
    assert (len(warned), marked) == ((0, []) if env == "Drift" else (1, [4]))


# -- compiled programs ---------------------------------------------------------------------------


@pytest.mark.slow
def test_damaged_programs_in_the_cache_are_compiled_again_and_change_nothing(tmp_path: Path) -> None:
    """JAX writes them in place, so a kill or a full disk leaves halves."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    environment |= {"RILCO_CACHE": str(tmp_path / "cache"), "JAX_PLATFORMS": "cpu"}
    how = f"env={env_id('Drift')!r}, method='acktr', steps=60, **{_how(SETTINGS)}"

    def train(name: str) -> tuple[bytes, str]:
        command = [sys.executable, "-c", f"import rilco; rilco.train({str(tmp_path / name)!r}, {how})"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return (tmp_path / name / "policy" / "last.safetensors").read_bytes(), done.stderr

    before = train("whole")
    programs = {file: file.read_bytes() for file in (tmp_path / "cache").glob("*/*-cache")}
    assert len(programs) >= 2, "first weights, and an iteration of learning"
    for file, data in programs.items():
        file.write_bytes(data[: len(data) // 2])
    assert train("torn") == before == (before[0], "")
    assert all(zlib.decompress(file.read_bytes()) for file in programs), "whole again"
    for file, data in programs.items():
        file.write_bytes(bytes([*data[:-40], data[-40] ^ 4, *data[-39:]]))
        os.utime(file, (1, 1))  # as if it had been looked at before
    policy, said = train("flipped")
    assert policy == before[0]
    assert "incorrect data check" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "value, wanted, does",
    [
        ((("long", 1.6), ("late", 0.8)), tuple[tuple[str, float], ...], True),
        ((("long", "late"),), tuple[tuple[str, float], ...], False),
        ((1.0, 2.0, 3.0), tuple[float, float], False),
        (1.0, tuple[float, ...], False),
        ((), tuple[float, ...], True),
    ],
)
def test_values_fit_tuples_place_by_place(value: object, wanted: object, does: bool) -> None:
    assert fits(value, wanted) is does
