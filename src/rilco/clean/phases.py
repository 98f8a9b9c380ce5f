"""A run of `ril-co-clean` in phases, each of them an ordinary run or file in the folder `phases`, so that an interrupted
one goes on where it was and every phase can be looked at, evaluated and audited by itself.
"""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rilco.bc.config import BcConfig
from rilco.clean.cloning import (
    CLONES,
    DROPPED,
    KEPT,
    POLICY,
    as_method,
    clone_and_practise,
    combine,
    of_what_was_kept,
    once,
)
from rilco.clean.config import SEARCH, practised_steps
from rilco.config import RunConfig
from rilco.data.formats import save_demonstrations
from rilco.data.record import Demonstrations, concatenate
from rilco.data.run_data import read_demonstrations, read_known
from rilco.errors import ConfigError, RunError
from rilco.files import read_record, write_atomically
from rilco.judging.audit_config import AuditConfig
from rilco.judging.config import JudgingConfig
from rilco.judging.joining import verdict_of
from rilco.judging.offline import judge_offline
from rilco.judging.record import Source
from rilco.judging.record import read_record as read_audit
from rilco.judging.result import Audit
from rilco.judging.roster import read_roster
from rilco.judging.simulator import classify_by, trained, training_steps
from rilco.methods import find
from rilco.policy.saved import Policy
from rilco.runs.folder import Run, RunFolder, open_run
from rilco.runs.how import How
from rilco.runs.metrics import STOPPED, read_progress
from rilco.runs.paths import AUDIT, PHASES, holds_run, policy_file
from rilco.training import Trainer, train_if_needed

AUDITED, KNOWN = "2-audited.json", "known.npz"
RULES = AuditConfig(
    judges=JudgingConfig(majority_trust=((0.0, 1.0), (1.0, 1.0)), outnumbered_trust=1.0, sure=0.75)
)
"""Of the audit before cloning. As RIL-Co itself, it takes for granted that most pairs are an expert's."""
START, FINISH = "4-start.safetensors", "4-finish"


class Audited(NamedTuple):
    """What is remembered of the audit."""

    transitions: int
    """Of the search, where there was one."""
    separated: bool
    """Whether good and bad were told apart."""
    seconds: float = 0.0
    """Without those of the search."""


def train_clean(config: RunConfig, out: Path, how: How, *, resume: bool) -> Run:
    """All phases in the folder `out`, those that are done already left alone."""
    phases = out / PHASES
    judged = None if (phases / AUDITED).exists() else _judge_offline(config)
    _check(config, phases, judged)
    with how.stop, open_run(out, config, resume=resume) as folder:
        if resume:
            folder.save_config(config)
        audited = _audit(config, judged, phases, out / AUDIT, how)
        how.say("Behaviour cloning of what was kept")
        clones, rounds = clone_and_practise(config, phases, how, separated=audited.separated)
        transitions = audited.transitions + sum(each.transitions for each in rounds)
        combined = combine(config, clones, phases, how, transitions=transitions)
        runs = (phases / SEARCH, *(phases / CLONES).glob("*/*"))
        parts: list[Any] = [audited, *rounds, combined, *map(read_progress, runs)]
        seconds = sum(part.seconds for part in parts)
        finish = None
        if config.clean.finish != "none":
            finish = _finish(config, clones[0].last_policy, phases, how, transitions=transitions)
        _copy_policies(finish, phases, out)
        # Last: complete metrics say that the run is.
        _put_together(config, folder, transitions, seconds, combined.evaluation, finish)
    return Run(out)


def _check(config: RunConfig, phases: Path, judged: Audit | None) -> None:
    """Refuses what cannot end well before it begins. Nothing is `judged` where the audit is done."""
    for name in ("learning_rate", "decay_steps", "farthest"):
        if getattr(config.bc, name) != getattr(BcConfig(), name):
            raise ConfigError(
                f"bc.{name}: {config.method} sets it, from clean.learning_rate, clean.gradient_steps and clean.farthest. "
                "Set these instead."
            )
    practice = practised_steps(config.clean, config.num_envs)
    searched = holds_run(phases / SEARCH)
    search = searched or (judged is not None and not _settles(judged))
    steps = _search_config(config).steps if search else 0
    if config.clean.finish != "none":
        before = practice + (config.clean.search_steps if search else 0)
        if config.steps - before < config.transitions_per_iteration:
            raise ConfigError(
                f"--steps {config.steps:,}: search and practice take {before:,} of them, so none are left to finish with. "
                "Give more steps, or lower clean.search_steps, clean.practice_rounds or clean.clones."
            )
        if config.bc.hidden_sizes != config.policy_settings.hidden_sizes:
            raise ConfigError(
                f"bc.hidden_sizes: the clone's are {config.bc.hidden_sizes}, but a finish goes on with "
                f"{config.policy_settings.hidden_sizes} of {config.policy_learner}. Set both to the same."
            )
    if holds_run(phases / FINISH) and RunConfig.load(phases.parent).steps != config.steps:
        raise RunError(
            f"{phases.parent}: its finish has begun, with a learning rate that falls to zero at the end, so that it cannot "
            "become longer. Resume without --steps, or start a new run with another --out."
        )
    if searched and judged is None and RunConfig.load(phases / SEARCH).steps != steps:
        raise RunError(
            f"{phases.parent}: the demonstrations were audited already, after fewer transitions; after more of them "
            "the audit might keep others. Start a new run with another --out."
        )


# -- the audit ----------------------------------------------------------------------------------------------------------


def _judge_offline(config: RunConfig) -> Audit:
    demos = read_demonstrations(config)
    if demos is None:
        raise RunError(f"{config.method} has no demonstrations to judge.")
    source = Source(environment=config.task.name, fingerprint=demos.fingerprint())
    return Audit(demos, judge_offline(demos, RULES.judges), source, RULES, task=config.task)


def _settles(audit: Audit) -> bool:
    """Whether the verdict without a simulator is enough: it is sure, and keeps several that hold most pairs."""
    kept = audit.kept
    several = kept is not None and len(np.unique(kept.episode)) > 1
    return several and audit.verdict.sure and 2 * len(kept or ()) > len(audit.demonstrations)


def _audit(config: RunConfig, judged: Audit | None, phases: Path, out: Path, how: How) -> Audited:
    """The kept and the dropped demonstrations as files: by the judges without a simulator, or else by RIL-Co."""
    phases.mkdir(exist_ok=True)
    done = phases / AUDITED
    if judged is not None and _settles(judged):
        once(Audited, done, lambda: _take_over(judged, config, phases, out))
    elif judged is not None:
        how.say(f"Without a simulator: {judged.verdict.summary} That is not sure enough; RIL-Co is asked.")
        path, wanted = phases / SEARCH, _search_config(config)
        with trained(wanted, path, how) as trainer:
            once(Audited, done, lambda: _ask(trainer, path, wanted, out, how))
    how.say(f"The audit: {read_audit(out)[0].summary}")
    return read_record(Audited, done)


def _take_over(audit: Audit, config: RunConfig, phases: Path, out: Path) -> Audited:
    audit.save(out)
    _save_parts(audit.kept, audit.dropped, config, phases)
    return Audited(0, True)


def _ask(trainer: Trainer, path: Path, config: RunConfig, out: Path, how: How) -> Audited:
    """Ask RIL-Co's classifiers, in the same processes."""
    classified = classify_by({path: contextlib.nullcontext(trainer)}, RULES, how=how)
    demos, keep, scores = classified.demos, classified.keep, classified.scores
    source = Source(environment=config.task.name, fingerprint=demos.fingerprint())
    verdict = verdict_of(classified.opinion, read_roster(demos), RULES)
    Audit(demos, verdict, source, RULES, scores=scores.pairs).save(out)
    kept, dropped = (demos.select(part) if part.any() else None for part in (keep, ~keep))
    _save_parts(kept, dropped, config, path.parent)
    return Audited(scores.transitions, classified.opinion.standing > 0.0)


def _search_config(config: RunConfig) -> RunConfig:
    finishes, practice = config.clean.finish != "none", practised_steps(config.clean, config.num_envs)
    left = config.clean.search_steps if finishes else config.steps - practice
    if left < 1:
        raise ConfigError(
            f"--steps {config.steps:,}: the judges without a simulator are not sure, so RIL-Co must be asked, and practice "
            f"takes {practice:,}: none are left. Give more steps, or lower clean.practice_rounds or clean.clones."
        )
    wanted = as_method(config, "ril-co", steps=left)
    named: Any = {"name": "clean.search_steps"} if finishes else {"besides": practice}
    return dataclasses.replace(wanted, steps=training_steps(wanted, RULES, **named))


def _save_parts(
    kept: Demonstrations | None, dropped: Demonstrations | None, config: RunConfig, phases: Path
) -> None:
    """The two parts as files, and all that is known to be non-expert by now."""
    known = [part for part in (dropped, read_known(config)) if part is not None]
    parts = {KEPT: kept, DROPPED: dropped, KNOWN: concatenate(known) if known else None}
    for name, part in parts.items():
        (phases / name).unlink(missing_ok=True)
        if part is not None:
            save_demonstrations(part, phases / name)


# -- what comes after it ------------------------------------------------------------------------------------------------


def _finish(config: RunConfig, clone: Policy, phases: Path, how: How, *, transitions: int) -> Run:
    """Go on from a clone. Not from the clones' mean, which is a network several times as wide."""
    how.say(f"{config.clean.finish}, from a clone on")
    spread = np.maximum(clone.log_std, np.float32(np.log(config.clean.finish_std)))
    dataclasses.replace(clone, log_std=spread).save(phases / START)
    return train_if_needed(_finish_config(config, phases, transitions), phases / FINISH, how)


def _finish_config(config: RunConfig, phases: Path, transitions: int) -> RunConfig:
    known = phases / KNOWN  # and some transitions are left, as was checked before anything began
    takes = "nonexpert_demos" in find(config.clean.finish).reads and known.exists()
    wanted = dataclasses.replace(
        as_method(config, config.clean.finish, steps=config.steps - transitions),
        **of_what_was_kept(phases) | {"nonexpert_demos": (str(known.absolute()),) if takes else ()},
        start_from=str((phases / START).absolute()),
    )
    # The rate falls to zero, so that it ends with a policy that has settled.
    return wanted.with_policy_settings(learning_rate_decay=True, total_updates=wanted.iterations)


def _copy_policies(finish: Run | None, phases: Path, out: Path) -> None:
    """The last phase's, as the run's own; of a clone there is but one."""
    for name in ("best", "last"):
        source = phases / POLICY if finish is None else policy_file(finish.path, name)
        if source.exists():
            write_atomically(policy_file(out, name), source.read_bytes())


def _put_together(
    config: RunConfig,
    folder: RunFolder,
    transitions: int,
    seconds: float,
    evaluation: dict[str, float],
    finish: Run | None,
) -> None:
    """The run's own metrics: the clones' evaluation, after what led to them, and those of the finish.

    Without the search's: a final return is a mean over the last evaluations, and those are of another policy.
    """
    each = config.transitions_per_iteration
    end = max(1, -(-transitions // each))
    early = {STOPPED: True} if finish is None and end < config.iterations else {}
    late = {"iteration": end, "transitions": end * each, "seconds": seconds}
    records = [late | evaluation | {"phase": "clone"} | early]
    for record in finish.metrics() if finish is not None else ():
        moved = {name: record[name] + offset for name, offset in late.items()}
        records.append(record | moved | {"phase": config.clean.finish})
    folder.cut_metrics(0, None)
    for record in records:
        folder.append_metrics(record)
