"""Ladders: which snapshots are picked, and what is written about them."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from benchmarks.ladder import Rung, between, make_ladder, pick, screen, write_rung
from tests.reporting.runs import write_run

from rilco.errors import RunError
from rilco.experiment.published import PUBLISHED_RETURNS
from rilco.policy.saved import Policy, load_policy
from rilco.runs.folder import Run


def test_pick_takes_the_best_and_the_nearest_to_each_fraction() -> None:
    returns = [0.0, 400.0, 1000.0, 980.0, 510.0, 90.0, -300.0]
    ages = [1, 1, 9, 1, 1, 1, 1]
    assert pick(returns, [1.0, 0.5, 0.4, 0.1, 0.0, -0.4], ages) == [2, 4, 1, 5, 0, 6]


def test_pick_takes_beginners_only_and_not_experts_on_a_bad_day() -> None:
    assert pick([1000.0, 500.0, 520.0], [1.0, 0.5], ages=[10, 6, 5]) == [0, 2]


def test_where_to_look_further() -> None:
    """Between neighbours that a wanted quality lies between, and only where nobody has it yet."""
    known = {0: 0.0, 10: 20.0, 20: 1000.0}
    assert between(known, [1.0, 0.5]) == [15]
    assert between(known, [1.0, 0.01]) == [], "place 10 is near enough"
    assert between({**known, 15: 490.0}, [1.0, 0.5]) == []
    assert between({0: 0.0, 1: 1000.0}, [1.0, 0.5]) == [], "nothing lies between these"


def test_pick_never_takes_a_policy_twice() -> None:
    ages = [9, 1, 1, 1, 1, 1]
    chosen = pick([100.0, 50.0, 49.0, 48.0, 47.0, 46.0], [1.0, 0.5, 0.5, 0.5, 0.5, 0.5], ages)
    assert chosen == [0, 1, 2, 3, 4, 5]


def test_screening_keeps_the_ends_and_more_of_the_beginning() -> None:
    snapshots = [Path(f"{i}") for i in range(1000)]
    kept = [int(path.name) for path in screen(snapshots, 40)]
    assert kept[0] == 0
    assert kept[-1] == 999
    assert len(kept) <= 40
    assert sum(i < 100 for i in kept) > sum(i >= 900 for i in kept)
    assert screen(snapshots[:5], 40) == snapshots[:5]


def test_card(tmp_path: Path) -> None:
    layers = [(np.zeros((2, 1), np.float32), np.zeros(1, np.float32))]
    policy = Policy(
        np.zeros(2, np.float32), np.ones(2, np.float32), layers, np.zeros(1, np.float32), {"task": "ant"}
    )
    rung = Rung("ant", 2, 1400.0, 20.0, 20, 0.4, 0.4, 640, 1, "rilco experts train ...")
    write_rung(policy, rung, tmp_path)
    assert json.loads((tmp_path / "2.json").read_text())["mean_return"] == 1400.0
    assert load_policy(tmp_path / "2.safetensors").card["return"] == 1400.0


def test_run_without_snapshots_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="at least 6"):
        make_ladder([Run(tmp_path)], tmp_path / "out")


def test_published_table_is_complete() -> None:
    assert {task: len(returns) for task, returns in PUBLISHED_RETURNS.items()} == dict.fromkeys(
        ("halfcheetah", "hopper", "walker2d", "ant"), 6
    )


@pytest.mark.bullet
def test_a_ladder_is_measured_in_the_runs_own_task(tmp_path: Path) -> None:
    """Six policies of Hopper, in no order; the best of all is picked. A card that names a module imports nothing."""
    run = write_run(tmp_path / "run", [1.0], task="hopper", method="acktr", demos=(), noise_rate=None)
    for place, rung in enumerate((6, 2, 4, 1, 3, 5), start=1):
        policy = load_policy(f"hopper#{rung}")
        age = 1_000 if rung == 1 else place
        card = {"env": "no_such_module_of_ours:Evil-v0", "transitions": age, "seed": 1}
        dataclasses.replace(policy, card=card).save(run / "policy" / "snapshots" / f"{place}.safetensors")
    rungs = make_ladder([Run(run)], tmp_path / "out", episodes=2)
    ages = [rung.transitions for rung in rungs]
    assert ages[0] == 1_000
    assert ages[-1] == 1
    assert sorted(ages) == [1, 2, 3, 5, 6, 1_000]
    assert load_policy(tmp_path / "out" / "1.safetensors").card["return"] == rungs[0].mean_return
