"""With an environment: train RIL-Co where needed, and ask its classifiers for an opinion."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rilco.config import RunConfig
from rilco.data.record import Demonstrations
from rilco.errors import AuditError, ConfigError
from rilco.judging.audit_config import AuditConfig
from rilco.judging.classifiers import Scores, check_auditable, score_run, stretch_iterations
from rilco.judging.decision import Decision, decide, opinion_of, why_go_on
from rilco.judging.opinion import Opinion
from rilco.judging.windows import group, in_pieces
from rilco.runs.folder import Run
from rilco.runs.interrupt import StopSignal
from rilco.runs.progress import make_progress
from rilco.runs.standing import standing
from rilco.training import read_demonstrations, train_run


class Classified(NamedTuple):
    """Demonstrations as RIL-Co's classifiers see them."""

    demos: Demonstrations
    """Those that were judged; in pieces, where that was asked for."""
    scores: Scores
    decision: Decision
    opinion: Opinion

    @property
    def keep(self) -> np.ndarray:
        """[N] whether the cut keeps a pair's demonstration."""
        return self.decision.kept[group(self.demos).of_pair]


def train_and_classify(
    config: RunConfig,
    out: Path,
    how: AuditConfig,
    *,
    seeds: int = 1,
    pieces: int = 0,
    workers: int | None = None,
    quiet: bool = False,
    stop: StopSignal | None = None,
) -> Classified:
    """Train RIL-Co in `out` for as many transitions as the configuration has, scoring included, then ask it.

    What an earlier call left in `out` is used: an interrupted audit goes on where it was.
    """
    check_auditable(config, out)
    before = training_steps(config, how)
    runs = []
    for seed in range(config.seed, config.seed + seeds):
        wanted = dataclasses.replace(config, seed=seed, steps=before, evaluate_every=-1)
        runs.append(train_if_needed(wanted, out / f"seed-{seed}", workers=workers, quiet=quiet, stop=stop))
    return classify_runs(runs, how, pieces=pieces, workers=workers, quiet=quiet, stop=stop)


def classify_runs(
    runs: Sequence[Run],
    how: AuditConfig,
    *,
    pieces: int = 0,
    workers: int | None = None,
    quiet: bool = False,
    stop: StopSignal | None = None,
) -> Classified:
    """By one run, or by several on the same demonstrations, whose seeds split them in different halves."""
    config = runs[0].config
    for run in runs:  # before a file is read that may be large
        check_auditable(run.config, run.path)
    whole = read_demonstrations(config)
    if whole is None:
        raise AuditError(f"{runs[0].path}: learns from no demonstrations.")
    demos = in_pieces(whole, pieces)
    grouping = group(demos)
    parts = []
    for run in runs:
        # The display counts what scoring takes at least; it says so when training goes on for longer.
        stretch = stretch_iterations(config, how)
        total = max(run.config.iterations, how.forming * stretch) + how.stretches * stretch
        shown = dataclasses.replace(run.config, steps=total * config.transitions_per_iteration)
        with make_progress(shown, run.path, quiet=quiet) as progress:
            progress.note("Scoring the demonstrations, while training goes on in memory.")
            parts.append(
                score_run(
                    run,
                    whole,
                    how,
                    lambda scores, count: why_go_on(scores, count, grouping, how),
                    workers=workers,
                    progress=progress,
                    stop=stop,
                )
            )
    scores = _joined(parts)
    decision = decide(scores, grouping, how)
    return Classified(demos, scores, decision, opinion_of(decision, scores, demos, how))


def _joined(parts: Sequence[Scores]) -> Scores:
    """Of several runs; the learner that is furthest behind counts."""
    returns = [part.learner_return for part in parts if part.learner_return is not None]
    spreads = [part.spread for part in parts if part.spread is not None]
    return Scores(
        np.concatenate([part.stretches for part in parts]),
        np.concatenate([part.policy for part in parts]),
        sum(part.transitions for part in parts),
        max(spreads, default=None),
        min(returns, default=None),
    )


def training_steps(config: RunConfig, how: AuditConfig, name: str = "--steps", besides: int = 0) -> int:
    """Transitions before scoring begins, so that with it there are no more than the configuration says.

    `besides` are made after the audit, for something else; they count in what is said to the user.
    """
    stretch = stretch_iterations(config, how)
    before = config.steps // config.transitions_per_iteration - how.stretches * stretch
    if before < how.forming * stretch:
        least = (how.forming + how.stretches) * stretch * config.transitions_per_iteration
        raise ConfigError(
            f"{name} {config.steps + besides:,}: too few for an audit. Nothing can be said before the learner has "
            "outgrown the worst demonstrators, and scores are then averaged for a while; give at least "
            f"{least + besides:,}, better {300_000 + besides:,}."
        )
    return before * config.transitions_per_iteration


def train_if_needed(
    config: RunConfig,
    path: Path,
    *,
    workers: int | None = None,
    quiet: bool = False,
    stop: StopSignal | None = None,
    checkpoint_every: int = 100,
    tensorboard: bool = False,
) -> Run:
    """The run in this folder: begun, gone on with or left alone, depending on how far it is."""
    state = standing(config, path).state
    if state == "finished":
        return Run(path)
    return train_run(
        config,
        path,
        resume=state == "interrupted",
        workers=workers,
        quiet=quiet,
        stop=stop,
        checkpoint_every=checkpoint_every,
        tensorboard=tensorboard,
    )
