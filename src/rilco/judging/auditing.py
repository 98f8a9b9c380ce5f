"""Audits from start to end: train where needed, score, judge, and write everything down."""

from __future__ import annotations

import dataclasses
import functools
import io
from collections.abc import Sequence
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
from rilco.judging.scoring import FORMING, Scores, check_auditable, score_run, stretch_iterations
from rilco.judging.windows import windows_csv
from rilco.runs.folder import Run
from rilco.runs.interrupt import StopSignal
from rilco.runs.progress import make_progress
from rilco.runs.standing import standing
from rilco.training import read_demonstrations, train_run

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


def audit_run(
    run: Run,
    *,
    pieces: int = 0,
    workers: int | None = None,
    quiet: bool = False,
    stop: StopSignal | None = None,
) -> Audited:
    """Judge the demonstrations that a RIL-Co run learns from."""
    return audit_runs([run], pieces=pieces, workers=workers, quiet=quiet, stop=stop)


def audit_runs(
    runs: Sequence[Run],
    *,
    pieces: int = 0,
    workers: int | None = None,
    quiet: bool = False,
    stop: StopSignal | None = None,
) -> Audited:
    """The same by several runs on the same demonstrations, whose seeds split them in different halves."""
    config = runs[0].config
    for run in runs:  # before a file is read that may be large
        check_auditable(run.config, run.path)
    whole = read_demonstrations(config)
    if whole is None:
        raise AuditError(f"{runs[0].path}: learns from no demonstrations.")
    demos, names = (in_pieces(whole, pieces), piece_names(whole, pieces)) if pieces else (whole, None)
    enough = functools.partial(formed, grouping=group(demos))
    parts = []
    for run in runs:
        # The display counts what scoring takes at least; going on for longer is the exception.
        stretch = stretch_iterations(config)
        total = max(run.config.iterations, FORMING * stretch) + STRETCHES * stretch
        shown = dataclasses.replace(run.config, steps=total * config.transitions_per_iteration)
        with make_progress(shown, run.path, quiet=quiet) as progress:
            progress.note("Scoring the demonstrations, while training goes on in memory.")
            parts.append(
                score_run(
                    run,
                    whole,
                    enough,
                    least=STRETCHES,
                    most=MOST_STRETCHES,
                    workers=workers,
                    progress=progress,
                    stop=stop,
                )
            )
    scores = Scores(
        np.concatenate([part.stretches for part in parts]),
        np.concatenate([part.policy for part in parts]),
        sum(part.transitions for part in parts),
    )
    audit, pairs = judge(
        scores,
        demos,
        task=config.task.name,
        files=config.demos or demos.demonstrator_names,
        seeds=[run.config.seed for run in runs],
        names=names,
        settings={
            "method": config.method,
            "loss": config.classifier.loss,
            "lambda": config.classifier.lam,
            **({"pairs in a piece": pieces} if pieces else {}),
        },
    )
    return Audited(demos, audit, pairs, scores, config)


def train_and_audit(
    config: RunConfig,
    out: Path,
    *,
    seeds: int = 1,
    pieces: int = 0,
    workers: int | None = None,
    quiet: bool = False,
    stop: StopSignal | None = None,
) -> Audited:
    """Train RIL-Co in `out` for as many transitions as the configuration has, scoring included, then judge.

    What an earlier call left in `out` is used: an interrupted audit goes on where it was.
    """
    check_auditable(config, out)
    before = training_steps(config)
    runs = []
    for seed in range(config.seed, config.seed + seeds):
        wanted = dataclasses.replace(config, seed=seed, steps=before, evaluate_every=-1)
        runs.append(train_if_needed(wanted, out / f"seed-{seed}", workers=workers, quiet=quiet, stop=stop))
    return audit_runs(runs, pieces=pieces, workers=workers, quiet=quiet, stop=stop)


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
