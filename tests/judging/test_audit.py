"""`rilco audit` and `rilco.audit` from start to end: offline, applied, and of bad input."""

from __future__ import annotations

import csv
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from tests.drivers import HOW_SHORT, OPTIONS, write_files
from tests.judging.examples import make_audit, two_kinds

import rilco
from rilco.cli import cli
from rilco.data.formats import load_file, save_demonstrations
from rilco.data.record import Demonstrations
from rilco.errors import AuditError, RilcoError
from rilco.judging.audit import Audit, audit, audit_run, load_audit
from rilco.judging.before import plain
from rilco.judging.record import read_record
from rilco.runs.folder import Run
from rilco.runs.how import How

GOOD, BAD = 24, 10


def command(*arguments: object) -> Result:
    result = CliRunner().invoke(cli, ["audit", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, RilcoError | SystemExit):
        raise result.exception
    return result


def refused(result: Result) -> str:
    assert isinstance(result.exception, RilcoError | SystemExit), result.output
    return str(result.exception) if isinstance(result.exception, RilcoError) else result.output


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """A file of good demonstrations and one of bad ones."""
    demos = two_kinds(GOOD, BAD)
    found = []
    for k, name in enumerate(demos.demonstrator_names):
        part = demos.select(demos.demonstrator == k)
        part = dataclasses.replace(part, demonstrator=np.zeros(len(part), int), demonstrator_names=(name,))
        found.append(str(tmp_path / name))
        save_demonstrations(part, found[-1])
    return found


# --- offline


def test_files_are_judged_without_a_simulator(files: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = command("--demos", files[0], "--demos", files[1], "--out", out)
    assert result.exit_code == 0, result.output
    assert (
        f"Probably bad: {BAD} of {GOOD + BAD} demonstrations, 29.4% of the pairs (not sure, " in result.output
    )
    assert "Assumed: Most demonstrations are good." in result.output
    assert {path.name for path in out.iterdir()} == {
        "audit.json",
        "demonstrations.csv",
        "episodes_to_delete.txt",
        "index.html",
        "pairs.npz",
    }
    rows = list(csv.DictReader((out / "demonstrations.csv").read_text().splitlines()))
    assert [row["decision"] for row in rows] == ["keep"] * GOOD + ["drop"] * BAD
    assert "There are 2 families" not in result.output, "that is on the page"


def test_judging_offline_needs_no_jax(files: list[str]) -> None:
    import subprocess

    code = f"import sys, rilco; rilco.audit({files!r}); assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_python_and_the_command_line_say_the_same(files: list[str], tmp_path: Path) -> None:
    made = rilco.audit(files)
    assert isinstance(made, rilco.Audit)
    command("--demos", files[0], "--demos", files[1], "--out", tmp_path / "out")
    again = rilco.load_audit(tmp_path / "out")
    assert again.verdict.demonstrations == made.verdict.demonstrations
    assert again.verdict.families == made.verdict.families
    assert again.config == made.config
    assert again.source == made.source
    assert made.kept is not None
    assert made.dropped is not None
    assert (len(made.kept), len(made.dropped), made.unsure) == (40 * GOOD, 40 * BAD, None)


def test_naming_the_good_turns_everything_round(files: list[str]) -> None:
    made = audit(files, good=["ben.npz"])
    assert made.verdict.decisions.tolist()[GOOD:] == ["keep"] * BAD
    assert "keep" not in made.verdict.decisions[:GOOD]
    assert {one.judge for one in made.verdict.demonstrations if one.decision == "keep"} == {"you"}


def test_one_that_is_vouched_for_is_counted_as_one() -> None:
    said = audit(two_kinds(), good=[0]).verdict.majority.sentence
    assert said == "You vouched for 1 demonstration; the judges keep it anyway."
    said = audit(two_kinds(), good=[17]).verdict.majority.sentence
    assert said == "You vouched for 1 demonstration; the others are compared with it."


def test_an_unknown_name_is_refused_with_a_suggestion(files: list[str], tmp_path: Path) -> None:
    said = refused(
        command("--demos", files[0], "--demos", files[1], "--good", "benn.npz", "--out", tmp_path / "out")
    )
    assert "Did you mean 'ben.npz'" in said
    assert not (tmp_path / "out").exists()


def test_pieces_of_a_file_without_episodes(tmp_path: Path) -> None:
    demos = two_kinds(GOOD, BAD)
    whole = Demonstrations(demos.obs, demos.action)
    with pytest.raises(AuditError, match=r"only one demonstration.*--pieces 50"):
        audit(whole)
    made = audit(whole, pieces=40)
    assert made.verdict.decisions.tolist() == ["keep"] * GOOD + ["drop"] * BAD
    save_demonstrations(whole, tmp_path / "whole.npz")
    made = audit(tmp_path / "whole.npz", pieces=40)
    made.save(tmp_path / "out")
    assert len(load_audit(tmp_path / "out").verdict.demonstrations) == GOOD + BAD


# --- what is done with a verdict


def test_kept_and_dropped_are_written_in_any_format(files: list[str], tmp_path: Path) -> None:
    keep, drop = tmp_path / "good.npz", tmp_path / "bad.robomimic.hdf5"
    result = command(
        "--demos", files[0], "--demos", files[1], "--out", tmp_path / "out", "--keep", keep, "--drop", drop
    )
    assert result.exit_code == 0, result.output
    assert (len(load_file(keep)), len(load_file(drop))) == (40 * GOOD, 40 * BAD)


def test_decisions_are_applied(files: list[str], tmp_path: Path) -> None:
    audit(files).save(tmp_path / "out")
    decisions = tmp_path / "decisions.csv"
    decisions.write_text("index,name,decision\n0,anna.npz #0,drop\n33,ben.npz #9,unsure\n")
    keep, drop = tmp_path / "good.npz", tmp_path / "bad.npz"
    result = command("apply", tmp_path / "out", decisions, "--keep", keep, "--drop", drop)
    assert result.exit_code == 0, result.output
    assert (len(load_file(keep)), len(load_file(drop))) == (40 * (GOOD - 1), 40 * BAD)
    assert "Unsure about 1 demonstration, in neither file" in result.output
    again = command("apply", tmp_path / "out", decisions, "--unsure", "keep", "--keep", keep, "--overwrite")
    assert again.exit_code == 0, again.output
    assert len(load_file(keep)) == 40 * GOOD


def test_a_cut_is_applied(files: list[str], tmp_path: Path) -> None:
    audit(files).save(tmp_path / "out")
    keep = tmp_path / "good.npz"
    command("apply", tmp_path / "out", "--cut", "-1000", "--keep", keep, "--out", tmp_path / "anew")
    assert len(load_file(keep)) == 40 * (GOOD + BAD)
    assert set(load_audit(tmp_path / "anew").verdict.decisions) == {"keep"}
    result = command(
        "--demos",
        files[0],
        "--demos",
        files[1],
        "--cut",
        1000,
        "--keep",
        tmp_path / "x.npz",
        "--out",
        tmp_path / "o",
    )
    assert "nothing to keep" in result.output
    assert not (tmp_path / "x.npz").exists()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("index,decision\n0,kepe\n", "line 2.*'kepe'.*Did you mean 'keep'"),
        ("index,decision\n99,keep\n", "line 2.*'99'.*0 to 33"),
        ("index,decision\n0,keep\n0,drop\n", "line 3.*twice"),
        ("index,name,decision\n0,someone else #1,keep\n", "another audit"),
        ("index,decision\n", "no decision"),
        ("what\nis this\n", "line 2"),
    ],
)
def test_decisions_that_cannot_be_are_refused(
    files: list[str], tmp_path: Path, text: str, named: str
) -> None:
    audit(files).save(tmp_path / "out")
    (tmp_path / "decisions.csv").write_text(text)
    said = refused(
        command("apply", tmp_path / "out", tmp_path / "decisions.csv", "--keep", tmp_path / "good.npz")
    )
    import re

    assert re.search(named, said), said
    assert not (tmp_path / "good.npz").exists()


def test_other_demonstrations_than_were_judged_are_refused(files: list[str], tmp_path: Path) -> None:
    audit(files).save(tmp_path / "out")
    save_demonstrations(two_kinds(3, 3), files[1])
    with pytest.raises(AuditError, match="have changed since"):
        load_audit(tmp_path / "out")


def test_demonstrations_in_memory_are_given_again(tmp_path: Path) -> None:
    demos = two_kinds(GOOD, BAD)
    audit(demos).save(tmp_path / "out")
    with pytest.raises(AuditError, match="in memory"):
        load_audit(tmp_path / "out")
    assert load_audit(tmp_path / "out", demos).kept is not None


@pytest.mark.parametrize("name", ["all.minari", "all.lerobot"])
def test_verdicts_are_written_as_episode_metadata(files: list[str], tmp_path: Path, name: str) -> None:
    pytest.importorskip("pyarrow")
    target = tmp_path / name
    result = command(
        "--demos", files[0], "--demos", files[1], "--out", tmp_path / "out", "--annotate", target
    )
    assert result.exit_code == 0, result.output
    if name == "all.minari":
        import h5py

        with h5py.File(target / "data" / "main_data.hdf5") as file:
            found = [file[f"episode_{k}"].attrs["rilco_decision"] for k in range(GOOD + BAD)]
    else:
        import pyarrow.parquet as pq

        table = pq.read_table(target / "meta" / "episodes" / "chunk-000" / "file-000.parquet")
        found = table["rilco_decision"].to_pylist()
        assert set(table.column_names) >= {"rilco_reason", "rilco_family", "rilco_score", "episode_index"}
    assert found == ["keep"] * GOOD + ["drop"] * BAD
    assert len(load_file(target)) == 40 * (GOOD + BAD)


def test_episodes_to_delete_are_numbered_in_their_file(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    demos = two_kinds(GOOD, BAD)
    save_demonstrations(demos, tmp_path / "all.lerobot")
    audit(tmp_path / "all.lerobot").save(tmp_path / "out")
    text = (tmp_path / "out" / "episodes_to_delete.txt").read_text()
    wanted = list(range(GOOD, GOOD + BAD))
    assert [int(line) for line in text.splitlines() if not line.startswith("#")] == wanted
    assert f'--operation.type delete_episodes --operation.episode_indices "{wanted}"' in text
    # As LeRobot 0.4.4 takes it; the dataset itself stays as it is.
    assert (
        f"# HF_LEROBOT_HOME={tmp_path} lerobot-edit-dataset --repo_id all.lerobot --new_repo_id all.lerobot_kept "
        in text
    )


def test_episodes_to_delete_have_the_names_of_their_file(tmp_path: Path) -> None:
    """Files of robosuite begin at demo_1, and where demonstrations were deleted there are gaps."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "all.robomimic.hdf5"
    save_demonstrations(two_kinds(GOOD, BAD), path)
    with h5py.File(path, "a") as file:
        for k in reversed(range(GOOD + BAD)):
            file.move(f"data/demo_{k}", f"data/demo_{2 * k + 1}")
        for key in [key for key in file if key != "data"]:
            del file[key]
    audit(path).save(tmp_path / "out")
    text = (tmp_path / "out" / "episodes_to_delete.txt").read_text()
    assert text.splitlines() == [f"# {path}", *(f"demo_{2 * k + 1}" for k in range(GOOD, GOOD + BAD))]


# --- what is known before is said before


def test_what_a_format_cannot_hold_is_said_before_anything_is_judged(
    files: list[str], tmp_path: Path, monkeypatch: Any
) -> None:
    """imitation's format refuses what this stand-in refuses; nothing may have been judged by then."""
    from rilco.data import formats
    from rilco.data.formats import imitation
    from rilco.errors import DemonstrationError

    def save(*_: object) -> None:
        raise DemonstrationError("No room for these.")

    judged: list[object] = []
    monkeypatch.setattr("rilco.judging.audit.judge_offline", lambda *a, **k: judged.append(a))
    known = tuple(
        each._replace(save=save) if each.save is imitation.save else each for each in formats.FORMATS
    )
    monkeypatch.setattr(formats, "FORMATS", known)
    said = refused(
        command(
            "--demos",
            files[0],
            "--demos",
            files[1],
            "--keep",
            tmp_path / "x.imitation",
            "--out",
            tmp_path / "out",
        )
    )
    assert "--keep" in said
    assert "No room for these." in said
    assert "such as npz" in said
    assert not judged
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--keep", "same.npz", "--drop", "same.npz"], "one would replace the other"),
        (["--keep", "good.what"], "not one that rilco writes"),
        (["--annotate", "all.npz"], "ends in .minari or .lerobot"),
        (["--steps", "1000"], "nothing is trained without an environment"),
        (["--seeds", "3", "--task", "hopper", "--offline"], "--seeds"),
    ],
)
def test_options_that_cannot_work(files: list[str], tmp_path: Path, arguments: list[str], named: str) -> None:
    said = refused(command("--demos", files[0], "--demos", files[1], "--out", tmp_path / "out", *arguments))
    assert named in said
    assert not (tmp_path / "out").exists()


def test_actions_in_another_unit_and_absurd_observations_are_said_before_training() -> None:
    from rilco.judging.before import check_environment
    from rilco.tasks.table import Task

    demos = two_kinds(4, 4)
    pendulum = Demonstrations(np.zeros((8, 3)), np.linspace(-20, 20, 8)[:, None], episode=np.arange(8) // 4)
    (note,) = check_environment(pendulum, Task(env="Pendulum-v1"))
    assert "from -20 to 20" in note
    assert "another unit" in note
    fine = dataclasses.replace(pendulum, action=pendulum.action / 10)
    assert check_environment(fine, Task(env="Pendulum-v1")) == ()
    absurd = np.array(pendulum.obs)
    absurd[5, 1] = 1e30
    with pytest.raises(AuditError, match=r"observation 1 is 1e\+30 in row 5.*--offline"):
        check_environment(dataclasses.replace(pendulum, obs=absurd), Task(env="Pendulum-v1"))
    with pytest.raises(RilcoError, match="another environment"):
        check_environment(demos, Task(env="Pendulum-v1"))


# --- bad input


def test_few_demonstrations_are_unsure_with_the_reason() -> None:
    for count in (2, 3):
        made = audit(two_kinds(count, 0, names=("anna.npz",)))
        assert set(made.verdict.decisions) == {"unsure"}
        assert made.kept is None
        assert not made.verdict.sure


def test_identical_demonstrations_are_no_two_kinds(tmp_path: Path) -> None:
    one = two_kinds(1, 0, names=("anna.npz",))
    demos = Demonstrations(
        np.tile(one.obs, (10, 1)), np.tile(one.action, (10, 1)), episode=np.repeat(np.arange(10), 40)
    )
    made = audit(demos)
    assert "drop" not in made.verdict.decisions
    assert made.notes == (
        "Copies of an earlier one, pair for pair: 9 of 10 demonstrations. Each is judged once.",
    )
    assert made.save(tmp_path / "out").exists()


def test_constant_actions(tmp_path: Path) -> None:
    demos = dataclasses.replace(two_kinds(GOOD, BAD), action=np.ones((40 * (GOOD + BAD), 2)))
    made = audit(demos)
    assert len(made.verdict.demonstrations) == GOOD + BAD
    assert made.notes[0].startswith("All actions are the same")
    assert made.save(tmp_path / "out").exists()


def test_some_demonstrations_may_be_too_short(tmp_path: Path) -> None:
    demos = two_kinds(GOOD, BAD)
    short = demos.select(np.arange(len(demos)) < 40 * (GOOD + BAD - 1) + 2)
    made = audit(short)
    assert made.verdict.decisions[-1] == "unsure"
    assert made.verdict.demonstrations[-1].family == -1
    assert f"1 of {GOOD + BAD} demonstrations, of fewer than 5 pairs" in made.notes[0]
    made.save(tmp_path / "out")
    assert load_audit(tmp_path / "out", short).verdict.demonstrations == made.verdict.demonstrations


@pytest.mark.parametrize("count", [100, 1_000_000])
def test_one_pair_each_is_refused_with_what_to_do(count: int, tmp_path: Path) -> None:
    demos = Demonstrations(
        np.random.default_rng(0).normal(size=(count, 2)), np.zeros((count, 1)), episode=np.arange(count)
    )
    with pytest.raises(AuditError, match=rf"{count:,} demonstrations.*--pieces 50"):
        audit(demos)


def test_files_that_cannot_be_used_leave_nothing_behind(tmp_path: Path) -> None:
    save_demonstrations(two_kinds(6, 3), tmp_path / "one.npz")
    save_demonstrations(Demonstrations(np.ones((20, 5)), np.ones((20, 3))), tmp_path / "other.npz")
    np.savez(tmp_path / "nan.npz", obs=np.full((20, 2), np.nan), action=np.ones((20, 2)))
    out = tmp_path / "out"
    said = refused(command("--demos", tmp_path / "one.npz", "--demos", tmp_path / "other.npz", "--out", out))
    assert "same environment" in said
    said = refused(command("--demos", tmp_path / "nan.npz", "--out", out))
    assert "NaN" in said
    assert "No demonstrations were given" in refused(command("--out", out))
    assert not out.exists()


def test_names_with_control_characters_are_spelled_out(tmp_path: Path) -> None:
    turned = "anna\u202enpz.exe"
    made = audit(two_kinds(GOOD, BAD, names=(turned, "ben\n\x1b[31m.npz")))
    names = {one.demonstrator for one in made.verdict.demonstrations}
    assert names == {"anna\\u202enpz.exe", "ben\\n\\x1b[31m.npz"}
    made.save(tmp_path / "out")
    for file in ("index.html", "demonstrations.csv", "audit.json"):
        assert "\u202e" not in (tmp_path / "out" / file).read_text()
    assert audit(two_kinds(GOOD, BAD, names=(turned, "ben")), good=[turned]).kept is not None
    assert made.kept is not None
    assert made.kept.demonstrator_names[0] == turned, "the data itself is left alone"
    assert plain("Füße 机器人") == "Füße 机器人"


# --- the record


def test_the_record_gives_everything_back(tmp_path: Path) -> None:
    made = make_audit(consensus=[0.9] * 12 + [0.3] * 6)
    made.save(tmp_path)
    verdict, source, config, scores, notes = read_record(tmp_path)
    assert verdict.demonstrations == made.verdict.demonstrations
    assert (verdict.families, verdict.majority) == (made.verdict.families, made.verdict.majority)
    assert (source, config, scores, notes) == (made.source, made.config, None, ())
    for ours, theirs in zip(verdict.opinions, made.verdict.opinions, strict=True):
        np.testing.assert_allclose(ours.good, theirs.good, rtol=1e-5)
        assert (ours.reasons, ours.why) == (theirs.reasons, theirs.why)
    np.testing.assert_array_equal(verdict.of_pair, made.verdict.of_pair)


def damage(table: dict[str, Any], what: str) -> None:
    match what:
        case "format":
            table["format"] = "rilco-audit-1"
        case "length":
            table["demonstrations"]["score"].pop()
        case "decision":
            table["demonstrations"]["decision"][3] = "maybe"
        case "missing":
            del table["majority"]
        case "setting":
            table["config"]["judges"]["unknown"] = 1
        case "type":
            table["demonstrations"]["name"][2] = ["a list"]
        case "type in a part":
            table["families"][0]["name"] = None
        case "no table":
            table["source"] = []
        case "pairs":
            table["demonstrations"]["pairs"][0] = 7


@pytest.mark.parametrize(
    ("what", "named"),
    [
        ("format", "another version"),
        ("length", "is shorter than"),
        ("decision", "demonstration 3"),
        ("missing", "majority"),
        ("setting", "config: judges: 'unknown' is not among"),
        ("type", r"demonstration 2: expected name to be str, found \['a list'\]"),
        ("type in a part", "families: expected name to be str, found None"),
        ("no table", "source: expected names and values"),
        ("pairs", "pairs.npz"),
    ],
)
def test_a_damaged_record_is_refused(tmp_path: Path, what: str, named: str) -> None:
    make_audit().save(tmp_path)
    table = json.loads((tmp_path / "audit.json").read_text())
    damage(table, what)
    (tmp_path / "audit.json").write_text(json.dumps(table))
    with pytest.raises(AuditError, match=named):
        read_record(tmp_path)


def test_no_probability_stands_beside_unsure(tmp_path: Path) -> None:
    made = make_audit(decisions=["keep"] * 12 + ["unsure"] * 6)
    made.save(tmp_path)
    rows = list(csv.DictReader((tmp_path / "demonstrations.csv").read_text().splitlines()))
    assert {row["probability"] for row in rows if row["decision"] == "unsure"} == {""}
    assert {row["probability"] for row in rows if row["decision"] == "keep"} == {"0.970"}


# --- with an environment


@pytest.mark.slow
def test_with_an_environment_the_classifiers_are_a_further_opinion(tmp_path: Path) -> None:
    files = write_files(tmp_path)
    said: list[str] = []
    settings = {name: value for name, value in OPTIONS.items() if name not in ("env", "steps")}
    made = audit(
        files,
        env=OPTIONS["env"],
        steps=OPTIONS["steps"],
        out=tmp_path / "out",
        settings=settings,
        config=HOW_SHORT,
        how=How(1, quiet=True),
        say=said.append,
    )
    assert [opinion.judge for opinion in made.verdict.opinions][-1] == "ril-co"
    assert made.scores is not None
    assert len(made.scores) == len(made.demonstrations)
    assert any("Now RIL-Co" in line for line in said)
    page = made.save(tmp_path / "out", pictures=False)
    assert "RIL-Co's classifiers" in page.read_text()
    again = load_audit(tmp_path / "out")
    assert again.config == HOW_SHORT
    assert again.task == made.task
    of_run = audit_run(Run(tmp_path / "out" / "seed-1"), config=HOW_SHORT, how=How(1, quiet=True))
    assert of_run.verdict.demonstrations == made.verdict.demonstrations
    offline = audit(files, env=OPTIONS["env"], offline=True)
    assert "ril-co" not in [opinion.judge for opinion in offline.verdict.opinions]


def test_audits_have_no_pickle(tmp_path: Path) -> None:
    made: Audit = make_audit()
    made.save(tmp_path)
    with np.load(tmp_path / "pairs.npz", allow_pickle=False) as arrays:
        kinds = {name: array.dtype.kind for name, array in arrays.items()}
    assert kinds == {"demonstration": "i", "keep": "b", "drop": "b"}


def test_too_few_demonstrations_are_said_before_anything_is_judged(tmp_path: Path) -> None:
    said: list[str] = []
    page = audit(arrays(2), say=said.append).save(tmp_path)
    assert "Only 2 demonstrations" in said[0]
    assert "--pieces" in said[0]
    assert said[0] in page.read_text()
    assert not audit(arrays(6)).notes


def arrays(count: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    obs = rng.normal(size=(20 * count, 2)).astype(np.float32)
    return {"obs": obs, "action": obs[:, :1] * 0.5, "episode": np.repeat(np.arange(count), 20)}


def test_a_name_that_turns_the_writing_round_is_spelled_out_everywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("a\u202eb.npz", **arrays(6))
    result = command("--demos", "a\u202eb.npz")
    assert result.exit_code == 0
    assert "\u202e" not in result.output
    page = (tmp_path / "audit-a\\u202eb" / "index.html").read_text()
    assert "Audit of a\\u202eb.npz" in page
    assert "\u202e" not in page
