"""With an environment: train RIL-Co where needed, and ask its classifiers for an opinion."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rilco.config import RunConfig
from rilco.data.record import Demonstrations
from rilco.errors import AuditError, ConfigError
from rilco.judging.audit_config import AuditConfig
from rilco.judging.classifiers import Scores, check_auditable, score_by, stretch_iterations
from rilco.judging.opinion import Opinion
from rilco.judging.ruling import Ruling, opinion_of, rule, why_go_on
from rilco.judging.windows import group, in_pieces
from rilco.runs.folder import Run
from rilco.runs.how import How
from rilco.runs.progress import Progress
from rilco.runs.standing import standing
from rilco.training import Trainer, go_on, train_in


class Classified(NamedTuple):
    """Demonstrations as RIL-Co's classifiers see them."""

    demos: Demonstrations
    """Those that were judged; in pieces, where that was asked for."""
    scores: Scores
    ruling: Ruling
    opinion: Opinion

    @property
    def keep(self) -> np.ndarray:
        """[N] whether the cut keeps a pair's demonstration."""
        return self.ruling.kept[group(self.demos).of_pair]


def train_and_classify(
    config: RunConfig,
    out: Path,
    rules: AuditConfig,
    *,
    seeds: int = 1,
    pieces: int = 0,
    how: How | None = None,
) -> Classified:
    """Train RIL-Co in `out` for as many transitions as the configuration has, scoring included, then ask it.

    What an earlier call left in `out` is used: an interrupted audit goes on where it was.
    """
    check_auditable(config, out)
    before, how = training_steps(config, rules), how or How()
    trainings = {}
    for seed in range(config.seed, config.seed + seeds):
        wanted = dataclasses.replace(config, seed=seed, steps=before, evaluate_every=-1)
        path = out / f"seed-{seed}"
        trainings[path] = trained(wanted, path, dataclasses.replace(how, tensorboard=False))
    return classify_by(trainings, rules, pieces=pieces, how=how)


def classify_run(run: Run, rules: AuditConfig, *, pieces: int = 0, how: How | None = None) -> Classified:
    """By a run that there is."""
    how = how or How()
    check_auditable(run.config, run.path)  # before a file is read that may be large
    return classify_by({run.path: go_on(run, how)}, rules, pieces=pieces, how=how)


@contextlib.contextmanager
def trained(config: RunConfig, path: Path, how: How) -> Iterator[Trainer]:
    """The run in this folder at its end: begun, gone on with or left alone, depending on how far it is."""
    state = standing(config, path).state
    with (
        go_on(Run(path), how) if state == "finished" else train_in(config, path, how, resume=state != "new")
    ) as trainer:
        if not isinstance(trainer, Trainer):
            raise AuditError(f"{path}: trained by {config.method}, which has no classifiers.")
        yield trainer


def classify_by(
    trainings: Mapping[Path, AbstractContextManager[Trainer]],
    rules: AuditConfig,
    *,
    pieces: int = 0,
    how: How,
) -> Classified:
    """By one run, or by several on the same demonstrations, whose seeds split them in different halves."""
    parts: list[Scores] = []
    trainers: list[Trainer] = []
    for path, training in trainings.items():
        with training as trainer:
            trainers.append(trainer)
            if trainer.fingerprint != trainers[0].fingerprint:
                raise AuditError(f"{path}: learns from other demonstrations than {next(iter(trainings))}.")
            if trainer.data.demos is None:
                raise AuditError(f"{path}: learns from no demonstrations.")
            demos = in_pieces(trainer.data.demos, pieces)
            parts.append(_score(trainer, path, demos, rules, how))
    scores = _joined(parts)
    ruling = rule(scores, group(demos), rules)
    return Classified(demos, scores, ruling, opinion_of(ruling, scores, demos, rules))


def _score(trainer: Trainer, path: Path, demos: Demonstrations, rules: AuditConfig, how: How) -> Scores:
    # The display counts what scoring takes at least; it says so when training goes on for longer.
    config, grouping = trainer.config, group(demos)
    stretch = stretch_iterations(config, rules)
    total = max(config.iterations, rules.forming * stretch) + rules.stretches * stretch
    shown = dataclasses.replace(config, steps=total * config.transitions_per_iteration)
    with Progress(shown, path, quiet=how.quiet) as progress:
        progress.note("Scoring the demonstrations, while training goes on in memory.")
        return score_by(
            trainer,
            rules,
            lambda scores, count: why_go_on(scores, count, grouping, rules),
            progress=progress,
            stop=how.stop,
        )


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


def training_steps(config: RunConfig, rules: AuditConfig, name: str = "--steps", besides: int = 0) -> int:
    """Transitions before scoring begins, so that with it there are no more than the configuration says.

    `besides` are made after the audit, for something else; they count in what is said to the user.
    """
    stretch = stretch_iterations(config, rules)
    before = config.steps // config.transitions_per_iteration - rules.stretches * stretch
    if before < rules.forming * stretch:
        least = (rules.forming + rules.stretches) * stretch * config.transitions_per_iteration
        raise ConfigError(
            f"{name} {config.steps + besides:,}: too few for an audit. Nothing can be said before the learner has "
            "outgrown the worst demonstrators, and scores are then averaged for a while; give at least "
            f"{least + besides:,}, better {300_000 + besides:,}."
        )
    return before * config.transitions_per_iteration
