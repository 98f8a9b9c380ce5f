"""Choosing runs: filters, seeds, lengths and files with grids."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tests.experiment.tiny import tiny

from rilco.errors import ConfigError
from rilco.experiment import Grid
from rilco.experiment.grid import Job, make_jobs, run_name
from rilco.experiment.published import paper
from rilco.experiment.selection import load_grid, parse_seeds, select, with_seeds, with_steps


@pytest.fixture(scope="module")
def jobs() -> list[Job]:
    return make_jobs(paper())


def test_filters_are_anded_and_their_values_ored(jobs: list[Job]) -> None:
    chosen = select(jobs, ["task=ant", "noise_rate=0.4", "method=ril-co,gail-logistic", "seed=1,2"])
    assert [job.name for job in chosen if "gaussian" not in job.name] == [
        f"ant/noise-0.4/{method}/seed-{seed}" for seed in (1, 2) for method in ("ril-co", "gail-logistic")
    ]
    assert len(chosen) == 8  # Gaussian noise has rate 0.4 too
    assert len(select(jobs, ["demo_kind=gaussian"])) == 30
    assert len(select(jobs, ["noise_rate=0"])) == 200
    assert select(jobs, []) == jobs


def test_any_setting_can_be_filtered() -> None:
    jobs = make_jobs(
        Grid({"classifier.lam": [0.25, 0.5]}, task=["ant", "hopper"], noise_rate=0.4, method="ril-co")
    )
    assert [job.config.classifier.lam for job in select(jobs, ["lam=0.25", "task=ANT"])] == [0.25]
    assert len(select(jobs, ["classifier.lam=0.25"])) == 2


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        (["method=rilco"], r"no run of this grid has method=rilco.*Did you mean 'ril-co'"),
        (["task=walker"], "Did you mean 'walker2d'"),
        (["noise_rate=0.5"], "it has 0.0, 0.1, 0.2, 0.3, 0.4"),
        (["noise_rate=high"], "no run of this grid"),
        (["noise-rate=0.4"], "Did you mean 'noise_rate'"),
        (["metod=bc"], "Did you mean 'method'"),
        (["task"], "expected NAME=VALUE"),
        (["task="], "expected NAME=VALUE"),
        (["task=ant,"], "no run of this grid has task="),
        (["task=ant", "task=hopper"], "task=A,B"),
        (["demo_kind=gaussian", "task=hopper"], "no run fits all of that"),
    ],
)
def test_filters_that_cannot_work_say_why(jobs: list[Job], filters: list[str], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        select(jobs, filters)


def test_an_empty_grid() -> None:
    with pytest.raises(ConfigError, match="no runs"):
        select([], [])


@pytest.mark.parametrize(
    ("text", "seeds"), [("1", [1]), ("1-3", [1, 2, 3]), ("7,1-2", [7, 1, 2]), (" 1 - 2 , 4 ", [1, 2, 4])]
)
def test_seeds(text: str, seeds: list[int]) -> None:
    assert parse_seeds(text) == seeds


@pytest.mark.parametrize("text", ["", "a", "1-", "-1", "3-1", "1,,2", "1,1", "1-3,2", "0-99999999", "1.5"])
def test_bad_seeds(text: str) -> None:
    with pytest.raises(ConfigError, match="--seeds"):
        parse_seeds(text)


def test_seeds_replace_those_of_the_grid() -> None:
    jobs = make_jobs(Grid(task="ant", noise_rate=0.4, method=["ril-co", "bc"], seed=[1, 2]))
    changed = with_seeds(jobs, [2, 8])
    assert [(job.config.seed, job.config.method) for job in changed] == [
        (2, "ril-co"),
        (2, "bc"),
        (8, "ril-co"),
        (8, "bc"),
    ]
    assert changed[-1].name == "ant/noise-0.4/bc/seed-8"
    with pytest.raises(ConfigError, match="names its runs itself"):
        with_seeds(make_jobs([("mine", tiny())]), [1])


def test_steps_replace_those_of_the_grid() -> None:
    (job,) = with_steps(make_jobs([("mine", tiny())]), 1000)
    assert (job.name, job.config.steps) == ("mine", 1000)
    decay = tiny(**{"acktr.learning_rate_decay": True})
    assert decay.acktr.total_updates == 10
    (job,) = with_steps(make_jobs([decay]), 1000)
    assert job.config.acktr.total_updates == 50
    assert job.name == run_name(job.config) != run_name(decay)  # the folder says over how many updates


@pytest.mark.parametrize(
    ("settings", "expected"), [({}, 25), ({"classifier.lam_iterations": 7}, 7)], ids=["default", "given"]
)
def test_lambda_grows_in_the_first_half_of_the_new_length(settings: dict[str, Any], expected: int) -> None:
    options = {"task": "ant", "noise_rate": 0.4, "method": "ril-co", "steps": 10 * 640}
    (job,) = make_jobs([{**options, "lambda_schedule": "linear", **settings}])
    (longer,) = with_steps([job], 50 * 640)
    assert longer.config.classifier.lam_iterations == expected
    assert longer.name == run_name(longer.config)
    (constant,) = with_steps(make_jobs([options]), 50 * 640)
    assert constant.config.classifier.lam_iterations == 0


# -- a user's own file ---------------------------------------------------------------------------

GRID_FILE = """
from beside import RATES
from rilco.experiment import Grid

def grid():
    for rate in RATES:
        yield {"task": "hopper", "noise_rate": rate, "method": "ril-co", "steps": 1e6}

as_grid = Grid(task="ant", noise_rate=0.4, method="ril-co", seed=range(3))
broken = lambda: 1 / 0
"""


@pytest.fixture
def grid_file(tmp_path: Path) -> Path:
    (tmp_path / "beside.py").write_text("RATES = (0.1, 0.2)\n")
    (tmp_path / "mine.py").write_text(GRID_FILE)
    return tmp_path / "mine.py"


def test_a_grid_of_the_users(grid_file: Path) -> None:
    assert [job.name for job in load_grid(str(grid_file))] == [
        "hopper/noise-0.1/ril-co/seed-1",
        "hopper/noise-0.2/ril-co/seed-1",
    ]
    assert len(load_grid(f"{grid_file}:as_grid")) == 3


def test_an_error_of_theirs_is_shown_from_their_file_on(
    grid_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(grid_file.parent)
    for source in ("mine.py", str(grid_file)):
        with pytest.raises(
            ConfigError, match=r"(?s)mine\.py\", line \d+.*1 / 0.*ZeroDivisionError"
        ) as caught:
            load_grid(f"{source}:broken")
        assert "selection.py" not in str(caught.value)


def test_a_grid_may_define_dataclasses_and_hides_no_module(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text(
        "from __future__ import annotations\n"
        "import dataclasses\n\n"
        "@dataclasses.dataclass\n"
        "class Cell:\n"
        '    method: str = "acktr"\n\n'
        'grid = [{"env": "X-v0", **dataclasses.asdict(Cell())}]\n'
    )
    before = sys.modules["json"]
    assert [job.name for job in load_grid(str(tmp_path / "json.py"))] == ["X-v0/acktr/seed-1"]
    assert sys.modules["json"] is before


def test_grids_that_cannot_be_loaded(grid_file: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Did you mean 'as_grid'"):
        load_grid(f"{grid_file}:asgrid")
    with pytest.raises(ConfigError, match="ZeroDivisionError"):
        load_grid(f"{grid_file}:broken")
    with pytest.raises(ConfigError, match="Did you mean 'paper'"):
        load_grid("papre")
    with pytest.raises(ConfigError, match="no such grid"):
        load_grid(str(tmp_path / "nowhere.py"))
    (tmp_path / "wrong.py").write_text("import nothing_of_the_kind\n")
    with pytest.raises(ConfigError, match=r"(?s)wrong\.py.*nothing_of_the_kind"):
        load_grid(str(tmp_path / "wrong.py"))
    (tmp_path / "syntax.py").write_text("def grid(:\n")
    with pytest.raises(ConfigError, match="SyntaxError"):
        load_grid(str(tmp_path / "syntax.py"))
    (tmp_path / "number.py").write_text("grid = 3\n")
    with pytest.raises(ConfigError, match="not iterable"):
        load_grid(str(tmp_path / "number.py"))
