"""A run of `ril-co-clean` in phases, each of them an ordinary run or file in the folder `phases`, so that an interrupted
one goes on where it was and every phase can be looked at, evaluated and audited by itself.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rilco.bc.config import BcConfig
from rilco.clean.cloning import (
    DROPPED,
    KEPT,
    POLICY,
    Spent,
    as_method,
    clone_and_practise,
    combine,
    of_what_was_kept,
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
from rilco.judging.given import read_given
from rilco.judging.joining import verdict_of
from rilco.judging.offline import judge_offline
from rilco.judging.record import Source
from rilco.judging.record import read_record as read_audit
from rilco.judging.result import Audit
from rilco.judging.simulator import classify_by, trained, training_steps
from rilco.methods import find
from rilco.policy.saved import Policy
from rilco.runs.folder import Run, RunFolder, open_run
from rilco.runs.how import How
from rilco.runs.metrics import STOPPED
from rilco.runs.paths import AUDIT, PHASES, holds_run, policy_file
from rilco.training import train_if_needed

AUDITED, KNOWN = "2-audited.json", "known.npz"
RULES = AuditConfig(
    judges=JudgingConfig(majority_trust=((0.0, 1.0), (1.0, 1.0)), outnumbered_trust=1.0, sure=0.75)
)
"""Of the audit before cloning. As RIL-Co itself, it takes for granted that most pairs are an expert's."""
START, FINISH = "4-start.safetensors", "4-finish"


class Audited(NamedTuple):
    """What is remembered of the audit, with the search where there was one."""

    transitions: int
    seconds: float
    separated: bool
    """Whether good and bad were told apart."""


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
        clones, spent = clone_and_practise(config, phases, how, separated=audited.separated)
        spent += Spent(audited.transitions, audited.seconds)
        combined = combine(config, clones, phases, how, transitions=spent.transitions)
        spent += Spent(0, combined.seconds)
        finish = None
        if config.clean.finish != "none":
            how.say(f"{config.clean.finish}, from a clone on")
            # Their mean is a network several times as wide.
            _widen(clones[0].last_policy, config.clean.finish_std).save(phases / START)
            finish = train_if_needed(_finish_config(config, phases, spent.transitions), phases / FINISH, how)
        _copy_policies(finish, phases, out)
        # Last: complete metrics say that the run is.
        _put_together(config, folder, spent, combined.evaluation, finish)
    return Run(out)


def _check(config: RunConfig, phases: Path, judged: Audit | None) -> None:
    """Refuses what cannot end well before it begins."""
    for name in ("learning_rate", "decay_steps", "farthest"):
        if getattr(config.bc, name) != getattr(BcConfig(), name):
            raise ConfigError(
                f"bc.{name}: {config.method} sets it, from clean.learning_rate, clean.gradient_steps and clean.farthest. "
                "Set these instead."
            )
    practice = practised_steps(config.clean, config.num_envs)
    searched = Run(phases / SEARCH) if holds_run(phases / SEARCH) else None
    search = searched is not None or (judged is not None and not _settles(judged))
    wanted = _search_config(config) if search else None
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
    audited = (phases / AUDITED).exists()
    if audited and searched is not None and wanted is not None and searched.config.steps != wanted.steps:
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
    done = phases / AUDITED
    if judged is not None:
        phases.mkdir(exist_ok=True)
        if _settles(judged):
            judged.save(out)
            _save_parts(judged.kept, judged.dropped, config, phases)
            audited = Audited(0, 0.0, True)
        else:
            how.say(
                f"Without a simulator: {judged.verdict.summary} That is not sure enough; RIL-Co is asked."
            )
            audited = _search(config, phases, out, how)
        write_atomically(done, json.dumps(audited._asdict()).encode())
    how.say(f"The audit: {read_audit(out)[0].summary}")
    return read_record(Audited, done)


def _search(config: RunConfig, phases: Path, out: Path, how: How) -> Audited:
    """Train RIL-Co and ask its classifiers, in the same processes."""
    path, wanted = phases / SEARCH, _search_config(config)
    with trained(wanted, path, how) as trainer:
        begun = time.monotonic()
        classified = classify_by({path: contextlib.nullcontext(trainer)}, RULES, how=how)
        demos, keep = classified.demos, classified.keep
        source = Source(environment=wanted.task.name, fingerprint=demos.fingerprint())
        verdict = verdict_of(classified.opinion, read_given(demos), RULES)
        Audit(demos, verdict, source, RULES, scores=classified.scores.pairs).save(out)
        parts = (demos.select(keep) if keep.any() else None, None if keep.all() else demos.select(~keep))
        _save_parts(*parts, wanted, phases)
        seconds = time.monotonic() - begun
    seconds += Run(path).metrics()[-1]["seconds"]
    return Audited(classified.scores.transitions, round(seconds, 3), classified.opinion.standing > 0.0)


def _search_config(config: RunConfig) -> RunConfig:
    finishes, practice = config.clean.finish != "none", practised_steps(config.clean, config.num_envs)
    left = config.clean.search_steps if finishes else config.steps - practice
    if left < 1:
        raise ConfigError(
            f"--steps {config.steps:,}: the judges without a simulator are not sure, so RIL-Co must be asked, and practice "
            f"takes {practice:,}: none are left. Give more steps, or lower clean.practice_rounds or clean.clones."
        )
    wanted = as_method(config, "ril-co", steps=left)
    if finishes:
        steps = training_steps(wanted, RULES, "clean.search_steps")
    else:
        steps = training_steps(wanted, RULES, besides=practice)
    return dataclasses.replace(wanted, steps=steps)


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


def _finish_config(config: RunConfig, phases: Path, transitions: int) -> RunConfig:
    left = config.steps - transitions
    if left < config.transitions_per_iteration:
        raise ConfigError(
            f"--steps {config.steps:,}: search and practice took {transitions:,} transitions, so none are left to finish "
            "with. Resume with more steps."
        )
    known = phases / KNOWN
    takes = "nonexpert_demos" in find(config.clean.finish).reads and known.exists()
    wanted = dataclasses.replace(
        as_method(config, config.clean.finish, steps=left),
        **of_what_was_kept(phases) | {"nonexpert_demos": (str(known.absolute()),) if takes else ()},
        start_from=str((phases / START).absolute()),
    )
    # The rate falls to zero, so that it ends with a policy that has settled.
    decay: dict[str, Any] = {"learning_rate_decay": True, "total_updates": wanted.iterations}
    if wanted.policy_learner == "ppo":
        return dataclasses.replace(wanted, ppo=dataclasses.replace(wanted.ppo, **decay))
    return dataclasses.replace(wanted, acktr=dataclasses.replace(wanted.acktr, **decay))


def _widen(policy: Policy, std: float) -> Policy:
    """With at least this spread of its actions."""
    return dataclasses.replace(policy, log_std=np.maximum(policy.log_std, np.float32(np.log(std))))


def _copy_policies(finish: Run | None, phases: Path, out: Path) -> None:
    """The last phase's, as the run's own; of a clone there is but one."""
    for name in ("best", "last"):
        source = phases / POLICY if finish is None else policy_file(finish.path, name)
        if source.exists():
            write_atomically(policy_file(out, name), source.read_bytes())


def _put_together(
    config: RunConfig,
    folder: RunFolder,
    spent: Spent,
    evaluation: dict[str, float],
    finish: Run | None,
) -> None:
    """The run's own metrics: the clones' evaluation, after what was spent on them, and those of the finish.

    Without the search's: a final return is a mean over the last evaluations, and those are of another policy.
    """
    each = config.transitions_per_iteration
    end = max(1, -(-spent.transitions // each))
    early = {STOPPED: True} if finish is None and end < config.iterations else {}
    late = {"iteration": end, "transitions": end * each, "seconds": spent.seconds}
    records = [late | evaluation | {"phase": "clone"} | early]
    for record in finish.metrics() if finish is not None else ():
        moved = {name: record[name] + offset for name, offset in late.items()}
        records.append(record | moved | {"phase": config.clean.finish})
    folder.cut_metrics(0, None)
    for record in records:
        folder.append_metrics(record)
