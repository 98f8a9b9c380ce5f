"""`rilco sweep` and `rilco results` as a user meets them; nothing here trains."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import click
import pytest
from click import Command
from click.testing import CliRunner, Result
from tests.experiment.tiny import fake_run, tiny

from rilco.cli.results import command as results
from rilco.cli.sweep import command as sweep
from rilco.errors import ConfigError, RilcoError, RunError
from rilco.experiment.grid import run_name

GRID = """
from tests.experiment.tiny import tiny
grid = [tiny(seed=seed) for seed in (1, 2, 3)]
"""


@pytest.fixture
def grid(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(GRID)
    return str(tmp_path / "mine.py")


def call(command: Command, *arguments: object) -> Result:
    return CliRunner().invoke(command, list(map(str, arguments)))


def refusal(*arguments: object) -> RilcoError:
    error = call(sweep, *arguments).exception
    assert isinstance(error, RilcoError), error
    return error


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["papper"], "Did you mean 'paper'"),
        (["paper", "--part", "mian"], "Did you mean 'main'"),
        (["paper", "--only", "method=ril_co"], "Did you mean 'ril-co'"),
        (["paper", "--only", "task=ant", "method=gial-ap"], "Did you mean 'gail-ap'"),
        (["paper", "--seeds", "3-1"], "runs backwards"),
        (["paper", "--seeds", "6", "--only", "seed=1"], "no run of this grid has seed=1; it has 6"),
        (["--only", "task=ant", "noise_rate=0.4"], "the grid comes first"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(tmp_path: Path, arguments: list[str], said: str) -> None:
    assert said in str(refusal(*arguments, "--out", tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_options_that_are_about_something_else(tmp_path: Path, grid: str) -> None:
    assert "for the paper's grid only" in str(refusal(grid, "--part", "main", "--out", tmp_path))
    assert "--engine ray" in str(refusal(grid, "--address", "auto", "--out", tmp_path / "out"))


def test_a_folder_with_a_run_of_another_configuration_is_refused(tmp_path: Path, grid: str) -> None:
    fake_run(tmp_path / "out" / run_name(tiny(seed=2)), tiny(seed=2, evaluation_episodes=9))
    error = refusal(grid, "--out", tmp_path / "out")
    assert isinstance(error, RunError)
    assert "evaluation_episodes: 9 -> 3" in str(error)


def test_what_is_finished_is_not_begun_again(tmp_path: Path, grid: str) -> None:
    for seed in (1, 2, 3):
        fake_run(tmp_path / "out" / run_name(tiny(seed=seed)), tiny(seed=seed))
    done = call(sweep, grid, "--out", tmp_path / "out")
    assert done.exit_code == 0
    assert "3 runs, 3 of them finished already" in done.output


def test_dry_run_lists_the_runs_and_the_time(
    tmp_path: Path, grid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rilco.experiment import cost

    def speeds(kinds: Iterable[str], *how: object) -> tuple[dict[str, cost.Speed], dict[str, str]]:
        click.echo("measured")
        return {name: cost.Speed(3600.0, 0.0) for name in kinds}, {}

    monkeypatch.setattr(cost, "measure", speeds)
    fake_run(tmp_path / "out" / run_name(tiny(seed=1)), tiny(seed=1))
    fake_run(tmp_path / "out" / run_name(tiny(seed=2)), tiny(seed=2), iterations=4)
    shown = call(sweep, grid, "--dry-run", "--jobs", 2, "--workers", 1, "--out", tmp_path / "out")
    assert shown.exit_code == 0, shown.exception
    listed, estimated = shown.stdout.split("measured")
    assert [line.split()[2:] for line in listed.splitlines()] == [["finished"], ["at", "80"], ["new"]]
    assert estimated.splitlines()[1].split()[1:] == ["2", "runs", "16", "h", "00", "min"]
    assert "3 runs, 1 of them finished.\nThe rest takes about 16.0 core hours.\n" in shown.stdout
    assert "10 h 00 min on 2 cores here" in shown.stdout
    assert "10 h 00 min on 1,000 such cores" in shown.stdout
    assert not (tmp_path / "out" / run_name(tiny(seed=3))).exists()


def test_results_list_and_thin(tmp_path: Path) -> None:
    fake_run(tmp_path / "runs" / "a", tiny(seed=1))
    fake_run(tmp_path / "runs" / "b", tiny(seed=2), iterations=4)
    (tmp_path / "runs" / "notes.txt").write_text("")
    listed = call(results, "list", tmp_path / "runs")
    assert "100 ± 2" in listed.stdout
    assert "80 of 200" in listed.stdout
    assert "2 runs, 1 of them finished" in listed.stdout
    assert "notes.txt: not a run" in listed.stderr
    thinned = call(results, "thin", tmp_path / "runs", "--out", tmp_path / "thin")
    assert thinned.exit_code == 0
    assert "2 runs" in thinned.stdout
    assert (
        json.loads((tmp_path / "thin" / "a" / "metrics.jsonl").read_text().splitlines()[-1])["transitions"]
        == 200
    )


def test_thinning_into_itself_is_refused(tmp_path: Path) -> None:
    fake_run(tmp_path / "runs" / "a", tiny())
    error = call(results, "thin", tmp_path / "runs", "--out", tmp_path / "runs").exception
    assert isinstance(error, RunError)
    assert not isinstance(error, ConfigError)
