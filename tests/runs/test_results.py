"""Folders of results: what is read, what is passed over and said so, and thinned copies."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.experiment.tiny import fake_run, metrics_line, tiny

from rilco.config import RunConfig
from rilco.errors import RunError
from rilco.runs.results import Results, is_thinned, read_results, thin


def reasons(results: Results) -> dict[str, str]:
    return {item.path.name: item.reason for item in results.skipped}


def test_runs_at_any_depth_with_their_evaluations(tmp_path: Path) -> None:
    fake_run(tmp_path / "a" / "b" / "deep", tiny(seed=1))
    fake_run(tmp_path / "shallow", tiny(seed=2), iterations=7)
    runs, skipped = read_results(tmp_path)
    assert [run.path.name for run in runs] == ["deep", "shallow"]
    assert skipped == []
    deep, shallow = runs
    assert deep.config == tiny(seed=1)
    np.testing.assert_array_equal(deep.transitions, [60, 120, 180, 200])
    np.testing.assert_array_equal(deep.returns, [30, 60, 90, 100])
    np.testing.assert_array_equal(deep.stds, [1.5] * 4)
    assert (deep.finished, deep.done) == (True, 200)
    np.testing.assert_array_equal(shallow.transitions, [60, 120])
    assert (shallow.finished, shallow.done) == (False, 140)


def test_a_run_folder_itself_can_be_read(tmp_path: Path) -> None:
    fake_run(tmp_path / "run", tiny())
    assert [run.path for run in read_results(tmp_path / "run").runs] == [tmp_path / "run"]


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no such folder"):
        read_results(tmp_path / "nothing")


def test_a_line_that_is_being_written_does_not_count(tmp_path: Path) -> None:
    run = fake_run(tmp_path / "run", tiny(), iterations=4)
    with (run / "metrics.jsonl").open("a") as file:
        file.write('{"iteration":5,"transitions":100,"eval_return":5')
    (record,), skipped = read_results(tmp_path)
    assert record.done == 80
    assert len(record.returns) == 1
    assert skipped == []


def test_a_run_that_has_logged_nothing(tmp_path: Path) -> None:
    run = fake_run(tmp_path / "run", tiny())
    (run / "metrics.jsonl").unlink()
    (record,), _ = read_results(tmp_path)
    assert (record.finished, record.done, len(record.returns)) == (False, 0, 0)


def damage_line(run: Path, number: int, text: str) -> None:
    lines = (run / "metrics.jsonl").read_text().splitlines()
    lines[number - 1] = text
    (run / "metrics.jsonl").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("number", "text", "said"),
    [
        (2, '{"iteration":2,"transi', "line 2 is torn"),
        (3, '{"iteration":3,"eval_return"', "line 3 is not a line"),
        (3, '{"iteration":3,"eval_return":1.0,"eval_std":1.0}', "expected a number of transitions"),
        (3, '["eval_return"]', "line 3 is not a line"),
        (3, '{"transitions":60,"eval_return":null,"eval_std":1.0}', "not a finite number"),
        (3, '{"transitions":60,"eval_return":NaN,"eval_std":1.0}', "not a finite number"),
        (3, '{"transitions":"60","eval_return":1.0,"eval_std":1.0}', "expected a number of transitions"),
        (6, '{"transitions":60,"eval_return":1.0,"eval_std":1.0}', "goes back to 60"),
        (10, "half a li", "line 10 is not a line"),
    ],
)
def test_torn_metrics_are_skipped_and_listed(tmp_path: Path, number: int, text: str, said: str) -> None:
    fake_run(tmp_path / "whole", tiny(seed=1))
    damage_line(fake_run(tmp_path / "torn", tiny(seed=2)), number, text)
    results = read_results(tmp_path)
    assert [run.path.name for run in results.runs] == ["whole"]
    assert said in reasons(results)["torn"]


def test_foreign_files_and_other_versions_are_skipped_and_listed(tmp_path: Path) -> None:
    fake_run(tmp_path / "good", tiny())
    old = fake_run(tmp_path / "old", tiny(seed=2)) / "config.json"
    old.write_text(old.read_text().replace("rilco-run-2", "rilco-run-0"))
    newer = fake_run(tmp_path / "newer", tiny(seed=3)) / "config.json"
    newer.write_text(json.dumps({**json.loads(newer.read_text()), "a_later_field": 1}))
    unknown = fake_run(tmp_path / "unknown", tiny(seed=4)) / "config.json"
    unknown.write_text(unknown.read_text().replace('"acktr",', '"method-of-tomorrow",', 1))
    (fake_run(tmp_path / "torn", tiny(seed=5)) / "config.json").write_text('{"format": "rilco-ru')
    (fake_run(tmp_path / "bare", tiny(seed=6)) / "config.json").unlink()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "config.json").write_text('{"model": "of another program"}')
    (tmp_path / "table.csv").write_text("a,b\n")
    (tmp_path / "README.md").write_text("What this is.")
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "x.log").write_text("")
    results = read_results(tmp_path)
    assert [run.path.name for run in results.runs] == ["good"]
    said = reasons(results)
    assert set(said) == {"old", "newer", "unknown", "torn", "bare", "elsewhere", "table.csv"}
    assert "another version" in said["old"]
    assert "unknown method" in said["unknown"]
    assert "no config.json" in said["bare"]
    assert "not a run" in said["table.csv"]


def test_of_duplicates_the_furthest_is_used(tmp_path: Path) -> None:
    fake_run(tmp_path / "a", tiny(), iterations=4)
    fake_run(tmp_path / "b", tiny(steps=400))
    fake_run(tmp_path / "c", tiny(evaluate_every=20), iterations=6)
    fake_run(tmp_path / "d", tiny(seed=2), iterations=2)
    results = read_results(tmp_path)
    assert [run.path.name for run in results.runs] == ["b", "d"]
    assert set(reasons(results)) == {"a", "c"}
    assert f"the same run as {tmp_path / 'b'}" in reasons(results)["a"]


def test_runs_whose_learning_rate_decays_over_another_length_are_no_duplicates(tmp_path: Path) -> None:
    decay = {"acktr.learning_rate_decay": True}
    fake_run(tmp_path / "a", tiny(steps=200, **decay))
    fake_run(tmp_path / "b", tiny(steps=400, **decay))
    assert len(read_results(tmp_path).runs) == 2


def test_a_link_to_a_folder_above_ends(tmp_path: Path) -> None:
    fake_run(tmp_path / "runs" / "run", tiny())
    (tmp_path / "runs" / "loop").symlink_to(tmp_path / "runs")
    runs, skipped = read_results(tmp_path)
    assert len(runs) == 1
    assert skipped == []


# -- thinning ------------------------------------------------------------------------------------


def test_a_thinned_copy_reads_the_same_and_is_small(tmp_path: Path) -> None:
    fake_run(tmp_path / "runs" / "x" / "finished", tiny(seed=1))
    fake_run(tmp_path / "runs" / "half", tiny(seed=2), iterations=8)
    copied, skipped = thin(tmp_path / "runs", tmp_path / "thin")
    assert skipped == []
    before, after = read_results(tmp_path / "runs").runs, read_results(tmp_path / "thin").runs
    assert [run.path.relative_to(tmp_path / "thin").as_posix() for run in after] == ["half", "x/finished"]
    assert [run.path for run in copied] == [run.path for run in after]
    for whole, small in zip(before, after, strict=True):
        np.testing.assert_array_equal(whole.transitions, small.transitions)
        np.testing.assert_array_equal(whole.returns, small.returns)
        np.testing.assert_array_equal(whole.stds, small.stds)
        assert (whole.config, whole.finished, whole.done) == (small.config, small.finished, small.done)
        assert sorted(file.name for file in small.path.iterdir()) == ["config.json", "metrics.jsonl"]
        assert not is_thinned(whole.path)
        assert is_thinned(small.path)
    lines = [json.loads(line) for line in (after[1].path / "metrics.jsonl").read_text().splitlines()]
    assert [line["transitions"] for line in lines] == [60, 120, 180, 200]
    assert set(lines[0]) == {"transitions", "seconds", "eval_return", "eval_std", "eval_length"}


def test_thinning_again_brings_copies_up_to_date_but_never_back(tmp_path: Path) -> None:
    fake_run(tmp_path / "runs" / "run", tiny(), iterations=4)
    fake_run(tmp_path / "later" / "run", tiny())
    thin(tmp_path / "runs", tmp_path / "thin")
    thin(tmp_path / "later", tmp_path / "thin")
    assert read_results(tmp_path / "thin").runs[0].finished
    copied, skipped = thin(tmp_path / "runs", tmp_path / "thin")
    assert copied == []
    assert "only 80" in skipped[0].reason
    assert read_results(tmp_path / "thin").runs[0].finished


def test_thinning_does_not_write_over_what_is_something_else(tmp_path: Path) -> None:
    fake_run(tmp_path / "runs" / "run", tiny())
    real = fake_run(tmp_path / "real" / "run", tiny())
    before = (real / "metrics.jsonl").read_bytes()
    assert "a run of its own" in thin(tmp_path / "runs", tmp_path / "real").skipped[0].reason
    assert (real / "metrics.jsonl").read_bytes() == before
    thin(tmp_path / "runs", tmp_path / "thin")
    fake_run(tmp_path / "others" / "run", tiny(seed=9))
    assert "another configuration" in thin(tmp_path / "others", tmp_path / "thin").skipped[0].reason
    for out in (tmp_path / "runs", tmp_path / "runs" / "inside", tmp_path):
        with pytest.raises(RunError, match="folder of their own"):
            thin(tmp_path / "runs", out)


def test_thinned_copies_do_not_name_this_machine(tmp_path: Path) -> None:
    config = RunConfig(method="ril-co", demos=(str(tmp_path / "secret" / "demos.npz"),), steps=640)
    fake_run(tmp_path / "runs" / "run", config)
    (copy,), _ = thin(tmp_path / "runs", tmp_path / "thin")
    assert copy.config.demos == ("demos.npz",)
    assert "secret" not in (copy.path / "config.json").read_text()
    assert len(thin(tmp_path / "runs", tmp_path / "thin").runs) == 1  # and can be thinned again


def test_a_run_that_logged_nothing_is_not_copied(tmp_path: Path) -> None:
    (fake_run(tmp_path / "runs" / "run", tiny()) / "metrics.jsonl").unlink()
    copied, skipped = thin(tmp_path / "runs", tmp_path / "thin")
    assert copied == []
    assert "nothing was logged" in skipped[0].reason


def test_a_run_that_is_never_evaluated_keeps_how_far_it_came(tmp_path: Path) -> None:
    config = tiny(evaluate_every=-1)
    run = fake_run(tmp_path / "runs" / "run", config)
    lines = [metrics_line(config, i) for i in range(1, 11)]
    (run / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (copy,), _ = thin(tmp_path / "runs", tmp_path / "thin")
    assert (copy.finished, len(copy.returns)) == (True, 0)
