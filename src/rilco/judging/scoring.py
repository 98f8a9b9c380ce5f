"""Scores of the demonstrations that a run learns from, steadied over a stretch of training.

Training goes on in memory from the run's last checkpoint; its folder is only read. So an audit can be made of any
RIL-Co run, finished or not, and interrupting one loses nothing.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rilco.clean import config as cleaning
from rilco.config import RunConfig
from rilco.data.record import Demonstrations
from rilco.judging.checks import AuditError
from rilco.judging.scores import Average, CrossFitted
from rilco.methods import num_classifiers
from rilco.rewards.learner import DemoArrays
from rilco.rewards.ril import split
from rilco.rollout.pool import RolloutPool, default_workers
from rilco.runs.folder import Run, open_run
from rilco.runs.interrupt import StopSignal
from rilco.runs.progress import Progress, Silent
from rilco.training import Trainer, pool_sizes, read_known

STRETCH_TRANSITIONS = 32_000
"""About so many transitions make a stretch."""
FORMING = 4
"""Training is taken no notice of for as long as so many stretches: until the learner has outgrown the worst
demonstrators, theirs may score above the expert's, and steadily."""
SCORINGS = 5
"""How often the demonstrations are scored in a stretch."""


class Scores(NamedTuple):
    """Cross-fitted scores of every pair, in stretches of training that follow one another."""

    stretches: np.ndarray  # [S, N] float32, means over a stretch; high is expert-like
    policy: np.ndarray  # [S] mean score of the learner's own pairs
    transitions: int
    """With which the classifiers were trained by the end of the last stretch."""

    @property
    def pairs(self) -> np.ndarray:
        """[N] over all stretches."""
        return self.stretches.mean(0)


def stretch_iterations(config: RunConfig) -> int:
    """Of one stretch: whole intervals between its scorings."""
    return SCORINGS * max(1, config.every(STRETCH_TRANSITIONS) // SCORINGS)


def check_auditable(config: RunConfig, path: Path) -> None:
    """Raises AuditError unless each pair of the run has a classifier that never took it for an expert's."""
    if config.method == cleaning.METHOD:
        raise AuditError(
            f"{path}: a run of {config.method} is audited as it goes: see {path / 'audit'}. To audit again, give its "
            f"first phase: {path / cleaning.PHASES / cleaning.SEARCH}."
        )
    if num_classifiers(config.method) != 2:
        raise AuditError(
            f"{path}: trained by {config.method}, which has no two classifiers on halves of the demonstrations, so no "
            "classifier could judge a pair that it did not learn from. Train with --method ril-co, or let the audit "
            "train: rilco audit --task ... --demos ..."
        )


def score_run(
    run: Run,
    demos: Demonstrations,
    enough: Callable[[Scores, int], bool],
    *,
    least: int,
    most: int,
    workers: int | None = None,
    progress: Progress | None = None,
    stop: StopSignal | None = None,
) -> Scores:
    """Go on training from the run's last checkpoint for at least `least` stretches, at most `most`, until the scores
    of the newest `least` are `enough`, of so many that there were; returns those."""
    config = run.config
    check_auditable(config, run.path)
    interval = stretch_iterations(config) // SCORINGS
    halves = split(len(demos), num_classifiers(config.method), config.seed)
    with _going_on(run, config, demos, workers) as trainer:
        _iterate(trainer, FORMING * stretch_iterations(config) - trainer.iteration, progress, stop)
        action = trainer.pool.sizes.actions.encode(demos.action)
        judge = CrossFitted(DemoArrays(demos.obs, action, demos.demonstrator), halves)
        stretches: list[np.ndarray] = []
        policy: list[float] = []
        while len(stretches) < most:
            scores = Average(len(demos))
            policy_scores: list[float] = []
            for _ in range(SCORINGS):
                policy_scores += _iterate(trainer, interval, progress, stop)
                scores.add(judge(trainer.state))
            stretches.append(scores.mean.astype(np.float32))
            policy.append(float(np.mean(policy_scores)))
            newest = Scores(np.array(stretches[-least:]), np.array(policy[-least:]), trainer.transitions)
            if len(stretches) >= least and enough(newest, len(stretches)):
                break
        return newest


def _iterate(
    trainer: Trainer, iterations: int, progress: Progress | None, stop: StopSignal | None
) -> list[float]:
    """Train for so many iterations; the mean score of the learner's pairs in each."""
    levels = []
    for _ in range(iterations):
        record = trainer.iterate()
        levels.append(record["policy_score"])
        (progress or Silent()).update(record)
        if stop is not None:
            stop.raise_if_requested()
    return levels


@contextlib.contextmanager
def _going_on(run: Run, config: RunConfig, demos: Demonstrations, workers: int | None) -> Iterator[Trainer]:
    """The run as its last checkpoint left it, in a copy of its folder."""
    if not (run.path / "checkpoints").is_dir():
        raise AuditError(
            f"{run.path}: has no checkpoint, and an audit goes on from one. Was the folder thinned, or did training "
            "not begin? Expected the folder of `rilco train`."
        )
    sizes = pool_sizes(config, demos, workers := workers or default_workers())
    with tempfile.TemporaryDirectory(prefix="rilco-audit-") as temporary:
        copy = Path(temporary) / "run"
        shutil.copytree(run.path, copy, ignore=shutil.ignore_patterns("events", "policy", "audit", ".lock"))
        with (
            open_run(copy, config, resume=True) as folder,
            RolloutPool(config.task, sizes, seed=config.seed, num_workers=workers) as pool,
        ):
            trainer = Trainer(config, demos, read_known(config), pool, folder, Silent())
            trainer.restore()
            if trainer.iteration == 0:
                raise AuditError(f"{run.path}: nothing was learned yet. Let it train first: --resume.")
            yield trainer
