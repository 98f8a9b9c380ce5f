"""Audits from start to end: train where needed, score, judge, and write everything down."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rilco.config import RunConfig
from rilco.data.record import Demonstrations
from rilco.errors import ConfigError
from rilco.files import write_atomically
from rilco.judging.checks import AuditError
from rilco.judging.grouping import group
from rilco.judging.judging import PairJudgements, formed, judge, names_of
from rilco.judging.page import write_page
from rilco.judging.pictures import take_pictures
from rilco.judging.record import Audit
from rilco.judging.scoring import FORMING, Scores, check_auditable, score, stretch_iterations
from rilco.judging.windows import windows_csv
from rilco.runs.folder import Run
from rilco.runs.how import How
from rilco.runs.progress import make_progress
from rilco.runs.standing import standing
from rilco.training import Trainer, go_on, train_in

STRETCHES = 2
"""Of training, that scores are averaged over."""
MOST_STRETCHES = 12
"""If the separation has not formed by then, the audit says so."""
JSON, CSV, WINDOWS, PAIRS, PAGE = (
    "audit.json",
    "demonstrations.csv",
    "windows.csv",
    "pairs.npz",
    "index.html",
)


class Audited(NamedTuple):
    demos: Demonstrations
    """Those that were judged; in pieces, where that was asked for."""
    audit: Audit
    pairs: PairJudgements
    scores: Scores
    config: RunConfig

    @property
    def kept(self) -> Demonstrations | None:
        return self.demos.select(self.pairs.keep) if self.pairs.keep.any() else None

    @property
    def dropped(self) -> Demonstrations | None:
        return None if self.pairs.keep.all() else self.demos.select(~self.pairs.keep)


def audit_run(run: Run, *, pieces: int = 0, how: How | None = None) -> Audited:
    """Judge the demonstrations that a RIL-Co run learns from."""
    how = how or How()
    check_auditable(run.config, run.path)  # before a file is read that may be large
    return audit_by({run.path: go_on(run, how)}, pieces=pieces, how=how)


def train_and_audit(
    config: RunConfig, out: Path, *, seeds: int = 1, pieces: int = 0, how: How | None = None
) -> Audited:
    """Train RIL-Co in `out` for as many transitions as the configuration has, scoring included, then judge.

    What an earlier call left in `out` is used: an interrupted audit goes on where it was.
    """
    check_auditable(config, out)
    before, how = training_steps(config), how or How()
    trainings = {}
    for seed in range(config.seed, config.seed + seeds):
        wanted = dataclasses.replace(config, seed=seed, steps=before, evaluate_every=-1)
        path = out / f"seed-{seed}"
        trainings[path] = trained(wanted, path, dataclasses.replace(how, tensorboard=False))
    return audit_by(trainings, pieces=pieces, how=how)


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


def audit_by(
    trainings: Mapping[Path, AbstractContextManager[Trainer]], *, pieces: int = 0, how: How
) -> Audited:
    """Judge demonstrations by one or several runs that learn from them, whose seeds split them in different halves."""
    scores: list[Scores] = []
    trainers: list[Trainer] = []
    for path, training in trainings.items():
        with training as trainer:
            trainers.append(trainer)
            if trainer.fingerprint != trainers[0].fingerprint:
                raise AuditError(f"{path}: learns from other demonstrations than {next(iter(trainings))}.")
            whole = trainer.data.demos
            if whole is None:
                raise AuditError(f"{path}: learns from no demonstrations.")
            demos = in_pieces(whole, pieces) if pieces else whole
            names = piece_names(whole, pieces) if pieces else None
            scores.append(_score(trainer, path, demos, how))
    config = trainers[0].config
    joined = Scores(
        np.concatenate([part.stretches for part in scores]),
        np.concatenate([part.policy for part in scores]),
        sum(part.transitions for part in scores),
    )
    audit, pairs = judge(
        joined,
        demos,
        task=config.task.name,
        files=config.demos or demos.demonstrator_names,
        seeds=[trainer.config.seed for trainer in trainers],
        names=names,
        settings={
            "method": config.method,
            "loss": config.classifier.loss,
            "lambda": config.classifier.lam,
            **({"pairs in a piece": pieces} if pieces else {}),
        },
    )
    return Audited(demos, audit, pairs, joined, config)


def _score(trainer: Trainer, path: Path, demos: Demonstrations, how: How) -> Scores:
    # The display counts what scoring takes at least; going on for longer is the exception.
    config, stretch = trainer.config, stretch_iterations(trainer.config)
    total = max(config.iterations, FORMING * stretch) + STRETCHES * stretch
    shown = dataclasses.replace(config, steps=total * config.transitions_per_iteration)
    enough = functools.partial(formed, grouping=group(demos))
    with make_progress(shown, path, quiet=how.quiet) as progress:
        progress.note("Scoring the demonstrations, while training goes on in memory.")
        return score(trainer, enough, least=STRETCHES, most=MOST_STRETCHES, progress=progress, stop=how.stop)


def training_steps(config: RunConfig, name: str = "--steps", besides: int = 0) -> int:
    """Transitions before scoring begins, so that with it there are no more than the configuration says.

    `besides` are made after the audit, for something else; they count in what is said to the user.
    """
    stretch = stretch_iterations(config)
    before = config.steps // config.transitions_per_iteration - STRETCHES * stretch
    if before < FORMING * stretch:
        least = (FORMING + STRETCHES) * stretch * config.transitions_per_iteration
        raise ConfigError(
            f"{name} {config.steps + besides:,}: too few for an audit. Nothing can be said before the learner has "
            "outgrown the worst demonstrators, and scores are then averaged for a while; give at least "
            f"{least + besides:,}, better {300_000 + besides:,}."
        )
    return before * config.transitions_per_iteration


def in_pieces(demos: Demonstrations, length: int) -> Demonstrations:
    """The same pairs, each stretch of so many a demonstration of its own."""
    return dataclasses.replace(demos, episode=group(demos).windows(length))


def piece_names(demos: Demonstrations, length: int) -> list[str]:
    """Of these pieces: where each was cut from."""
    grouping = group(demos)
    return [
        f"{name}, steps {first:,}\N{EN DASH}{min(first + length, pairs) - 1:,}"
        for name, pairs in zip(names_of(demos, grouping), grouping.pairs.tolist(), strict=True)
        for first in range(0, pairs, length)
    ]


def write_audit(audited: Audited, out: Path, *, pictures: bool = True) -> Path:
    """All of it into a folder; returns the page's path."""
    audit, pairs = audited.audit, audited.pairs
    out.mkdir(parents=True, exist_ok=True)
    write_atomically(out / JSON, audit.to_json().encode())
    write_atomically(out / CSV, audit.to_csv().encode())
    write_atomically(out / WINDOWS, windows_csv(audit).encode())
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **pairs._asdict())
    write_atomically(out / PAIRS, buffer.getvalue())
    gallery = take_pictures(audit, audited.demos, audited.config.task) if pictures else None
    write_page(audit, out / PAGE, gallery)
    return out / PAGE
