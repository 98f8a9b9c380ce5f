"""`ril-co-clean`: a run in phases, of drivers of whom five in six give little throttle."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.drivers import (
    OPTIONS,
    STEPS,
    STRETCH,
    contents,
    demonstrate,
    short_stretches,
    write_files,
)
from tests.stops import StopsWhen

import rilco
from rilco.api import train_config
from rilco.clean import cloning
from rilco.clean import phases as phases_module
from rilco.clean.config import CleanConfig
from rilco.cli.bench import read_methods
from rilco.cli.train import STEPS as STEPS_HELP
from rilco.config import RunConfig
from rilco.data.formats import load_file, save_demonstrations
from rilco.errors import ConfigError, RunError
from rilco.judging.record import read_record
from rilco.options import make_config
from rilco.policy.saved import Policy, load_policy
from rilco.runs.folder import Run, RunFolder
from rilco.runs.how import How
from rilco.runs.metrics import read_metrics
from rilco.runs.results import read_results, thin
from rilco.runs.standing import standing

__all__ = ["short_stretches"]
pytestmark = pytest.mark.usefixtures("short_stretches")

RULES = phases_module.RULES
EACH = 640  # transitions of an iteration
OWN: dict[str, Any] = {
    "method": "ril-co-clean",
    "evaluate_every": 6400,
    "evaluation_episodes": 2,
    "bc.hidden_sizes": [16],
    "clean.gradient_steps": 2000,
    "clean.clones": 2,
    "clean.practice_rounds": 2,
    "clean.practice_starts": 30,
    "clean.practice_steps": 40,
}
SCAN = 2 * EACH  # the clones' mean from 32 starts, in a round
PRACTICE = 3 * SCAN  # and at most both clones again
CLONES = [f"3-clones/{practised}/{number}" for practised in (0, 1, 2) for number in (1, 2)]
HOW = How(workers=1, quiet=True, tensorboard=False)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return write_files(tmp_path_factory.mktemp("drivers"))


def make(files: list[str], **more: Any) -> RunConfig:
    return make_config({**OPTIONS, **OWN, "steps": STEPS + 2 * PRACTICE, "demos": files, **more})


@pytest.fixture(scope="module")
def run(files: list[str], tmp_path_factory: pytest.TempPathFactory, short_stretches: None) -> Run:
    return train_config(make(files), tmp_path_factory.mktemp("runs") / "run", how=HOW)


def shortfall(path: Path) -> float:
    """How far a policy's throttle is from the expert's: 0 is the expert, 1 is standing still."""
    obs = demonstrate(1.0, 5, seed=1).obs
    return float(np.abs(np.clip(load_policy(path).predict(obs), -2.0, 2.0) - 2.0).mean() / 2.0)


def last_policy(path: Path) -> bytes:
    return (path / "policy" / "last.safetensors").read_bytes()


# --- what it does


@pytest.mark.slow
def test_it_imitates_only_the_expert(run: Run) -> None:
    """A clone of all drivers gives six tenths of the throttle, and the search alone has hardly begun."""
    assert shortfall(run.path / "policy" / "last.safetensors") < 0.05
    assert shortfall(run.path) < 0.05, "the best by evaluation"
    assert shortfall(run.path / "phases" / "1-ril-co") > 0.1
    kept, dropped = (load_file(run.path / "phases" / name) for name in ("kept.npz", "dropped.npz"))
    assert kept.expert.all()
    assert not dropped.expert.any()
    assert len(kept) + len(dropped) == 35 * 60


@pytest.mark.slow
def test_every_phase_is_a_run_or_a_file_of_its_own(run: Run) -> None:
    assert sorted(path.name for path in (run.path / "phases").iterdir()) == [
        "1-ril-co",
        "2-audited.json",
        "3-clones",
        "3-policy.json",
        "3-policy.safetensors",
        "3-practice",
        "dropped.npz",
        "kept.npz",
        "known.npz",
    ]
    search = Run(run.path / "phases" / "1-ril-co")
    assert (search.config.method, search.config.steps) == ("ril-co", STEPS - 2 * STRETCH)
    clones = [Run(run.path / "phases" / name) for name in CLONES]
    assert [clone.config.method for clone in clones] == ["bc"] * 6
    assert [clone.config.seed for clone in clones] == [1, 1_000_001] * 3
    assert [clone.metrics()[-1]["gradient_steps"] for clone in clones] == [2000] * 6
    assert last_policy(run.path) == (run.path / "phases" / "3-policy.safetensors").read_bytes()
    verdict = read_record(run.path / "audit")[0]
    assert set(verdict.decisions) == {"keep", "drop"}
    assert (run.path / "audit" / "index.html").exists()


@pytest.mark.slow
def test_the_policy_is_the_mean_of_the_last_clones(run: Run) -> None:
    phases = run.path / "phases"
    ours = load_policy(phases / "3-policy.safetensors")
    assert ours.hidden_sizes == (32,)
    assert ours.card["transitions"] == STEPS + 2 * SCAN
    assert ours.card["method"] == "ril-co-clean"
    assert is_mean_of(ours, run, practised=2)


def is_mean_of(ours: Policy, run: Run, practised: int) -> bool:
    obs = demonstrate(1.0, 2, seed=3).obs
    folder = run.path / "phases" / "3-clones" / str(practised)
    clones = [Run(folder / number).last_policy.mean(obs) for number in ("1", "2")]
    assert not np.allclose(clones[0], clones[1], atol=1e-5)
    return np.allclose(ours.mean(obs), np.mean(clones, axis=0), atol=1e-5)


def same(ours: Policy, theirs: Policy) -> bool:
    tables = [{name: a.tobytes() for name, a in policy.arrays().items()} for policy in (ours, theirs)]
    return tables[0] == tables[1]


@pytest.fixture(scope="module")
def settled(files: list[str], tmp_path_factory: pytest.TempPathFactory, short_stretches: None) -> Run:
    """Where the judges without a simulator are sure enough, by the rules that users have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(phases_module, "RULES", RULES)
        return train_config(make(files), tmp_path_factory.mktemp("runs") / "settled", how=HOW)


@pytest.mark.slow
def test_where_the_offline_verdict_is_sure_nothing_is_searched(settled: Run) -> None:
    phases = settled.path / "phases"
    assert not (phases / "1-ril-co").exists()
    kept, dropped = (load_file(phases / name) for name in ("kept.npz", "dropped.npz"))
    assert kept.expert.all()
    assert not dropped.expert.any()
    assert shortfall(settled.path / "policy" / "last.safetensors") < 0.05
    verdict = read_record(settled.path / "audit")[0]
    assert verdict.confidence >= RULES.judges.sure
    assert {one.judge for one in verdict.demonstrations} <= {
        "families",
        "consensus",
        "records",
        "held",
        "manner",
    }


@pytest.mark.slow
def test_it_takes_only_the_transitions_of_practice(settled: Run, files: list[str], tmp_path: Path) -> None:
    (line,) = settled.metrics()
    assert line["transitions"] == 2 * SCAN
    assert line["stopped_early"]
    assert load_policy(settled.path / "phases" / "3-policy.safetensors").card["transitions"] == 2 * SCAN
    assert standing(make(files), settled.path).state == "finished"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(phases_module, "RULES", RULES)
        few = train_config(make(files, steps=2 * PRACTICE), tmp_path / "few", how=HOW)
    assert last_policy(few.path) == last_policy(settled.path), "no search, so that no steps are left for one"
    before = contents(settled.path)
    rilco.train(settled.path, resume=True, workers=1, quiet=True)
    assert contents(settled.path) == before


@pytest.mark.slow
def test_clones_learn_with_a_rate_that_falls_and_see_what_lies_far_out(
    run: Run, files: list[str], tmp_path: Path
) -> None:
    own = Run(run.path / "phases" / CLONES[0]).config.bc
    assert (own.learning_rate, own.decay_steps, own.farthest) == (3e-3, 2000, 5.0)
    for name, value in {"learning_rate": 1e-2, "decay_steps": 5, "farthest": 3}.items():
        with pytest.raises(ConfigError, match=rf"bc\.{name}: ril-co-clean sets it, from clean"):
            train_config(make(files, **{f"bc.{name}": value}), tmp_path / "run", how=HOW)


@pytest.mark.slow
def test_starts_may_weigh_more_where_something_was_dropped(
    run: Run, files: list[str], tmp_path: Path
) -> None:
    config = make(files, **{"clean.start_weight": 5.0})
    assert cloning._clone_config(config, run.path / "phases", 0, 1).bc.start_weight == 5.0
    assert cloning._clone_config(config, run.path / "phases", 1, 1).bc.start_weight == 1.0, "starts already"
    kept_all = cloning._clone_config(config, tmp_path, 0, 1)
    assert kept_all.bc.start_weight == 1.0, "of pieces that are all starts, the bad ones would weigh more"


@pytest.mark.slow
def test_what_was_practised_is_imitated_beside_what_was_kept(run: Run) -> None:
    phases = run.path / "phases"
    files = [phases / "kept.npz", phases / "3-practice" / "1.npz", phases / "3-practice" / "2.npz"]
    for file in files[1:]:
        practised, record = load_file(file), json.loads(file.with_suffix(".json").read_text())
        assert (record["starts"], record["good"], record["transitions"]) == (32, 32, SCAN)
        assert len(practised) == 32 * 27
        assert np.abs(practised.action - 2.0).mean() < 0.2, "full throttle"
    for name in CLONES:
        config, rounds = Run(phases / name).config, int(name.split("/")[1])
        assert config.demos == tuple(map(str, files[: rounds + 1]))
    first, second = (load_file(file).obs for file in files[1:])
    assert not np.isclose(first[0], second[0]).any(), "each round has starts of its own"


def before_practice(run: Run, out: Path) -> Path:
    """The run as it was when its first clones were made, in another place."""
    copy_phases(run, out)
    (out / "phases" / "3-policy.json").unlink()
    shutil.rmtree(out / "phases" / "3-practice")
    return out


@pytest.mark.slow
def test_where_nothing_was_practised_well_the_first_clones_stay(
    run: Run, files: list[str], tmp_path: Path
) -> None:
    out = before_practice(run, tmp_path / "run")
    (out / "phases" / "3-practice").mkdir()
    poor = {"starts": 32, "good": 3, "transitions": PRACTICE, "seconds": 1.0}
    (out / "phases" / "3-practice" / "1.json").write_text(json.dumps(poor))
    finished = train_config(make(files), out, resume=True, how=HOW)
    assert [file.name for file in (out / "phases" / "3-practice").iterdir()] == ["1.json"]
    ours = load_policy(out / "phases" / "3-policy.safetensors")
    assert is_mean_of(ours, run, practised=0)
    assert ours.card["transitions"] == STEPS + PRACTICE
    assert finished.metrics()[-1]["transitions"] == STEPS + PRACTICE
    assert standing(make(files), out).state == "finished"


@pytest.mark.slow
def test_where_the_audit_is_not_sure_nobody_practises(run: Run, files: list[str], tmp_path: Path) -> None:
    out = before_practice(run, tmp_path / "run")
    record = out / "phases" / "2-audited.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"separated": False}))
    train_config(make(files), out, resume=True, how=HOW)
    assert not (out / "phases" / "3-practice").exists()
    ours = load_policy(out / "phases" / "3-policy.safetensors")
    assert ours.card["transitions"] == STEPS
    assert is_mean_of(ours, run, practised=0)


def test_practice_can_be_left_out(files: list[str]) -> None:
    config = make(files, steps=STEPS, **{"clean.practice_rounds": 0})
    assert phases_module._search_config(config).steps == STEPS - 2 * STRETCH


@pytest.mark.slow
def test_its_metrics_are_those_of_a_finished_run(run: Run, files: list[str], tmp_path: Path) -> None:
    lines = run.metrics()
    transitions = [line["transitions"] for line in lines]
    assert transitions == sorted(set(transitions))
    assert [line["phase"] for line in lines] == ["clone"], "a report's final return is not of the search"
    assert all(line["transitions"] == EACH * line["iteration"] for line in lines)
    search, *clones = (Run(run.path / "phases" / name).metrics()[-1] for name in ("1-ril-co", *CLONES))
    assert lines[-1]["seconds"] > search["seconds"] + sum(clone["seconds"] for clone in clones)
    (record,) = read_results(run.path.parent).runs
    assert record.finished
    assert record.done == STEPS + 2 * SCAN
    assert record.returns[-1] > 1.5 * search["eval_return"]
    assert standing(make(files), run.path).state == "finished"
    thinned = thin(run.path.parent, tmp_path / "thin")
    assert not thinned.skipped
    assert standing(make(files), tmp_path / "thin" / "run").state == "finished"


@pytest.mark.slow
def test_resuming_what_is_finished_changes_nothing(run: Run) -> None:
    before = contents(run.path)
    again = rilco.train(run.path, resume=True, workers=1, quiet=True)
    assert again.path == run.path
    assert contents(run.path) == before


@pytest.mark.slow
def test_without_evaluations_it_is_finished_too(run: Run, files: list[str], tmp_path: Path) -> None:
    """Phases that are there already are taken as they are: only their configurations must fit."""
    out = tmp_path / "run"
    copy_phases(run, out, lambda config: dataclasses.replace(config, evaluate_every=-1))
    (out / "phases" / "3-policy.json").unlink()
    config = make(files, evaluate_every=-1)
    finished = train_config(config, out, resume=True, how=HOW)
    (line,) = finished.metrics()
    assert line["phase"] == "clone"
    assert "eval_return" not in line
    assert standing(config, out).state == "finished"


def copy_phases(
    run: Run, out: Path, change: Callable[[RunConfig], RunConfig] = lambda config: config
) -> None:
    """A run whose phases are done, in another place and with changed configurations."""
    shutil.copytree(run.path, out, ignore=shutil.ignore_patterns("metrics.jsonl", "policy"))
    runs = (out / "phases" / name for name in ("1-ril-co", *CLONES))
    for folder in (out, *runs):
        shutil.copytree(run.path / folder.relative_to(out) / "policy", folder / "policy")
        config = change(RunConfig.load(folder))
        if config.method == "bc":
            demos = tuple(str(out / Path(file).relative_to(run.path)) for file in config.demos)
            config = dataclasses.replace(config, demos=demos, evaluate_every=-1)
        (folder / "config.json").write_text(config.to_json())
        if folder != out:
            shutil.copy(run.path / folder.relative_to(out) / "metrics.jsonl", folder)


# --- stopping and going on


class Killed(BaseException):
    """Takes the place of a SIGKILL: nothing handles it."""


def stop_signal(where: str, phases: Path) -> StopsWhen:
    """Asks the run to stop within a phase."""
    if where == "search":
        return StopsWhen(looks=12)
    begun = {
        "scoring": phases / "1-ril-co" / ".lock",
        "clone": phases / "3-clones" / "0" / "1" / "config.json",
        "practice": phases / "3-practice",
    }
    return StopsWhen(lambda: where in begun and begun[where].exists())


KILLED_BEFORE = {
    "kept": "phases/kept.npz",
    "practice's record": "phases/3-practice/1.json",
    "policy": "phases/3-policy.safetensors",
    "end": "run/policy/last.safetensors",
}


@pytest.mark.slow
@pytest.mark.parametrize("where", ["search", "scoring", "clone", "practice", *KILLED_BEFORE])
def test_interrupted_anywhere_it_goes_on_to_the_same_end(
    run: Run, files: list[str], tmp_path: Path, where: str
) -> None:
    config, out = make(files), tmp_path / "run"
    if where != "search":  # what comes before is the same; it is taken over
        out.mkdir()
        (out / "phases").mkdir()
        shutil.copytree(run.path / "phases" / "1-ril-co", out / "phases" / "1-ril-co")
    how, replace = dataclasses.replace(HOW, stop=stop_signal(where, out / "phases")), os.replace

    def die_before(source: str, target: str) -> None:
        if str(target).endswith(KILLED_BEFORE.get(where, " ")):
            raise Killed
        replace(source, target)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", die_before)
        with pytest.raises((KeyboardInterrupt, Killed)):
            train_config(config, out, how=how)
    assert standing(config, out).state == "interrupted"
    resumed = rilco.train(out, resume=True, workers=1, quiet=True)
    assert last_policy(resumed.path) == last_policy(run.path)
    for name in ("audit/audit.json", "phases/kept.npz"):
        assert (out / name).read_bytes() == (run.path / name).read_bytes()
    assert without_seconds(out) == without_seconds(run.path)


def without_seconds(path: Path) -> list[dict]:
    return [{name: v for name, v in line.items() if name != "seconds"} for line in read_metrics(path)]


@pytest.mark.slow
def test_after_the_audit_more_steps_would_be_another_run(run: Run) -> None:
    before = contents(run.path)
    with pytest.raises(RunError, match="audited already"):
        rilco.train(run.path, resume=True, steps=2 * STEPS, workers=1, quiet=True)
    assert contents(run.path) == before


# --- clean data


@pytest.mark.slow
def test_of_clean_data_all_is_kept_and_the_policy_is_that_of_plain_cloning(
    files: list[str], tmp_path: Path
) -> None:
    """To the bit, though the demonstrations went through a file of the run's own."""
    alone = {"clean.clones": 1, "steps": STEPS}
    clean = train_config(make(files[:1], **alone), tmp_path / "clean", how=HOW)
    assert "drop" not in read_record(tmp_path / "clean" / "audit")[0].decisions
    assert not (clean.path / "phases" / "dropped.npz").exists()
    recipe = {"bc.hidden_sizes": [16], "bc.learning_rate": 3e-3, "bc.decay_steps": 2000, "bc.farthest": 5}
    plain = {**OPTIONS, "method": "bc", "demos": files[0], "steps": 400 * EACH, **recipe}
    own = {name: value for name, value in plain.items() if not name.startswith(("acktr.", "classifier."))}
    cloned = train_config(make_config({**own, "evaluate_every": -1}), tmp_path / "bc", how=HOW)
    assert same(
        load_policy(clean.path / "policy" / "last.safetensors"),
        load_policy(cloned.path / "policy" / "last.safetensors"),
    )


# --- a finish


@pytest.mark.slow
@pytest.mark.parametrize("finish", ["ril-co", "gail-ap"])
def test_a_finish_goes_on_from_the_clone(run: Run, files: list[str], tmp_path: Path, finish: str) -> None:
    out = tmp_path / "run"
    steps = STEPS + 2 * PRACTICE + 2 * EACH  # practice leaves some of its own
    updates = (steps - STEPS - 2 * SCAN) // EACH
    options = {"finish": finish, "clean.search_steps": STEPS, "steps": steps, "hold_actor_for": 4}
    config = make(files, **options)
    copy_phases(run, out, lambda config: dataclasses.replace(config, hold_actor_for=4))
    (out / "config.json").write_text(config.to_json())
    finished = train_config(config, out, resume=True, how=HOW)
    phase = Run(out / "phases" / "4-finish")
    clone = out / "phases" / "3-clones" / "2" / "1" / "policy" / "last.safetensors"
    begun_with = rilco.load_policy(phase.config.start_from)
    own = rilco.load_policy(clone)
    assert all(
        np.array_equal(a, b)
        for ours, theirs in zip(begun_with.layers, own.layers, strict=True)
        for a, b in zip(ours, theirs, strict=True)
    )
    assert np.allclose(begun_with.log_std, np.log(0.1)), "its own spread is too small to learn with"
    assert own.log_std.max() < np.log(0.1)
    assert phase.config.acktr.learning_rate_decay
    assert phase.config.acktr.total_updates == updates
    assert phase.config.demos == (str(out / "phases" / "kept.npz"),)
    known = (str(out / "phases" / "known.npz"),) if finish == "ril-co" else ()
    assert phase.config.nonexpert_demos == known, "GAIL has no use for pairs that are known to be bad"
    assert last_policy(finished.path) == last_policy(phase.path)
    assert last_policy(phase.path) != clone.read_bytes()
    assert shortfall(out / "policy" / "last.safetensors") < 0.1
    lines = finished.metrics()
    transitions = [line["transitions"] for line in lines]
    assert transitions == sorted(set(transitions))
    assert [line["phase"] for line in lines] == ["clone"] + [finish] * updates
    assert lines[-1]["transitions"] == steps
    assert standing(config, out).state == "finished"
    before = contents(out)
    with pytest.raises(RunError, match="cannot become longer"):
        rilco.train(out, resume=True, steps=2 * steps, workers=1, quiet=True)
    assert contents(out) == before


def test_transitions_that_are_no_whole_iterations_do_not_leave_a_run_unfinished(
    files: list[str], tmp_path: Path
) -> None:
    """Search and trials took half an iteration, for which the finish has one less; it is counted as a whole one."""
    made = 100 * EACH + EACH // 2
    config = make(files, finish="ril-co", steps=110 * EACH + EACH // 4, **{"clean.search_steps": STEPS})
    left = -(-(config.steps - made) // EACH)
    finish = tmp_path / "finish"
    finish.mkdir()
    records = [{"iteration": n, "transitions": n * EACH, "seconds": 1.0} for n in range(1, left + 1)]
    (finish / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in records))
    folder = RunFolder(tmp_path)
    phases_module._put_together(config, folder, made, 1.0, {}, Run(finish))
    last = read_metrics(tmp_path)[-1]
    assert last["iteration"] >= config.iterations
    assert last["transitions"] == last["iteration"] * EACH


@pytest.mark.slow
def test_what_was_known_before_stays_known(run: Run, files: list[str], tmp_path: Path) -> None:
    save_demonstrations(load_file(files[-1]), tmp_path / "given.npz")
    config = make(files, nonexpert_demos=str(tmp_path / "given.npz"))
    kept, dropped = (load_file(run.path / "phases" / name) for name in ("kept.npz", "dropped.npz"))
    phases_module._save_parts(kept, dropped, config, tmp_path)
    known = load_file(tmp_path / "known.npz")
    assert len(known) == len(dropped) + 180
    phases_module._save_parts(kept, None, make(files), tmp_path)
    assert not (tmp_path / "dropped.npz").exists()
    assert not (tmp_path / "known.npz").exists()


def test_without_pseudo_labels_the_clone_needs_nothing_to_be_known(files: list[str], tmp_path: Path) -> None:
    config = make(files, nonexpert_demos="bad.npz", pseudo_labels=False)
    assert cloning._clone_config(config, tmp_path, 0, 1).nonexpert_demos == ()


# --- options


def test_it_has_a_length_of_its_own(files: list[str]) -> None:
    options = {name: value for name, value in OPTIONS.items() if name != "steps"}
    assert make_config({**options, **OWN, "demos": files}).steps == CleanConfig.search_steps + 2 * PRACTICE
    assert (
        make_config({**options, **OWN, "demos": files, "clean.clones": 1}).steps == CleanConfig.search_steps
    )
    assert make_config({**options, **OWN, "demos": files, "finish": "ril-co"}).steps == RunConfig.steps
    assert make(files, steps=123_456).steps == 123_456
    usual = make_config({"method": "ril-co-clean", "task": "hopper", "noise_rate": 0.4}).steps
    assert f"of ril-co-clean {usual / 1000:.0f}k]" in STEPS_HELP


@pytest.mark.parametrize("option", [{"finish": "gail-ap"}, {"clean.gradient_steps": 10}])
@pytest.mark.parametrize("method", ["ril-co", "gail-ap", "bc", "acktr"])
def test_other_methods_have_no_use_for_its_options(method: str, option: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"clean\."):
        make_config({"task": "hopper", "noise_rate": 0.4, "method": method, **option})


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"steps": 6400 + 2 * PRACTICE}, r"--steps 14,080: too few.*at least 26,880, better 307,680"),
        ({"steps": 2 * PRACTICE}, r"--steps 7,680: .*not sure.*practice takes 7,680.*clean\.clones"),
        ({"finish": "ril-co", "clean.search_steps": 6400}, r"clean\.search_steps 6,400: too few"),
        ({"finish": "ril-co", "clean.search_steps": STEPS}, "none are left to finish with"),
        (
            {"finish": "gail-ap", "clean.search_steps": 19_200, "bc.hidden_sizes": [8]},
            r"bc\.hidden_sizes.*\(8,\).*\(16,\)",
        ),
    ],
)
def test_what_cannot_end_well_fails_before_it_begins(
    files: list[str], tmp_path: Path, options: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ConfigError, match=complaint):
        train_config(make(files, **options), tmp_path / "run", how=HOW)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_its_configuration_is_stored_whole(run: Run, files: list[str]) -> None:
    config = make(files, finish="gail-ap", **{"clean.search_steps": 19_200})
    assert RunConfig.from_json(config.to_json(), "here") == config
    assert run.config == make(files)


def test_benchmarks_know_it() -> None:
    assert "ril-co-clean" not in read_methods("all")
    with pytest.raises(ConfigError, match="ril-co,bc"):
        read_methods("ril-co,ril-co-clean")
