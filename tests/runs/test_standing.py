"""Where runs are before a sweep begins, and what a sweep refuses to touch."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from tests.experiment.tiny import fake_run, tiny

from rilco.config import RunConfig
from rilco.errors import RunError
from rilco.experiment.grid import make_jobs
from rilco.experiment.sweep import survey
from rilco.runs.results import thin
from rilco.runs.standing import Progress, read_progress, standing


def test_new_interrupted_and_finished(tmp_path: Path) -> None:
    assert standing(tiny(), tmp_path / "none").state == "new"
    half = standing(tiny(), fake_run(tmp_path / "half", tiny(), iterations=4))
    assert half == ("interrupted", Progress(80, 30.0, seconds=0.4))
    assert standing(tiny(), fake_run(tmp_path / "whole", tiny())) == (
        "finished",
        Progress(200, 100.0, seconds=1.0),
    )


def test_without_its_last_checkpoint_a_run_is_not_finished(tmp_path: Path) -> None:
    run = fake_run(tmp_path / "run", tiny())
    (run / "checkpoints" / "00000010.json").rename(run / "checkpoints" / "00000008.json")
    assert standing(tiny(), run).state == "interrupted"


def test_a_longer_run_covers_a_shorter_one_and_a_shorter_one_can_grow(tmp_path: Path) -> None:
    run = fake_run(tmp_path / "run", tiny(steps=400))
    assert standing(tiny(steps=200), run).state == "finished"
    assert standing(tiny(steps=800), run).state == "interrupted"
    half = fake_run(tmp_path / "half", tiny(steps=400), iterations=4)
    with pytest.raises(RunError, match="steps: 400 -> 200"):  # what would its config.json say?
        standing(tiny(steps=200), half)
    decay = {"acktr.learning_rate_decay": True}
    with pytest.raises(RunError, match="steps: 200 -> 400"):
        standing(tiny(steps=400, **decay), fake_run(tmp_path / "decay", tiny(steps=200, **decay)))


def test_runs_of_another_configuration_are_refused_all_at_once(tmp_path: Path) -> None:
    jobs = make_jobs([(f"run{seed}", tiny(seed=seed)) for seed in range(6)])
    for job in jobs[:5]:
        fake_run(tmp_path / job.name, dataclasses.replace(job.config, evaluation_episodes=4))
    with pytest.raises(RunError, match=r"(?s)run0.*evaluation_episodes: 4 -> 3.*run1.*and 2 more"):
        survey(jobs, tmp_path)


def test_thinned_copies_count_as_finished_or_are_refused(tmp_path: Path) -> None:
    fake_run(tmp_path / "runs" / "whole", tiny(seed=1))
    fake_run(tmp_path / "runs" / "half", tiny(seed=2), iterations=4)
    thin(tmp_path / "runs", tmp_path / "thin")
    assert standing(tiny(seed=1), tmp_path / "thin" / "whole").state == "finished"
    with pytest.raises(RunError, match="thinned copy"):
        standing(tiny(seed=2), tmp_path / "thin" / "half")


def test_a_thinned_copy_names_demonstrations_without_their_folder(tmp_path: Path) -> None:
    config = RunConfig(method="ril-co", demos=("/somewhere/demos.npz",), steps=640)
    fake_run(tmp_path / "runs" / "run", config)
    thin(tmp_path / "runs", tmp_path / "thin")
    assert standing(config, tmp_path / "thin" / "run").state == "finished"


def test_progress_of_what_is_not_whole(tmp_path: Path) -> None:
    assert read_progress(tmp_path / "nothing") == Progress()
    run = fake_run(tmp_path / "run", tiny(), iterations=4)
    with (run / "metrics.jsonl").open("a") as file:
        file.write('{"transitions": 10')
    assert read_progress(run) == Progress(80, 30.0, seconds=0.4)
    (run / "metrics.jsonl").write_text("not json\n")
    assert read_progress(run) == Progress()


def test_progress_reads_the_end_of_long_metrics(tmp_path: Path) -> None:
    config = tiny(steps=200_000)
    assert read_progress(fake_run(tmp_path / "run", config)) == Progress(200_000, 100_000.0, seconds=1000.0)
