"""`ril-co-clean`: learn a little with RIL-Co, audit the demonstrations, and clone only what was kept, several times. The
clones practise; those who have learned from it, too, are tried out, and the one that does best in the eyes of RIL-Co's
classifiers is chosen.

A run in phases, each of them an ordinary run or file in the folder `phases`, so that an interrupted one goes on where
it was and every phase can be looked at, evaluated and audited by itself.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rilco.errors import ConfigError, RunError, suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rilco.cleaning.practice import Practice
    from rilco.config import RunConfig
    from rilco.demonstrations import Demonstrations
    from rilco.interrupt import StopSignal
    from rilco.run import Run, RunFolder

METHOD = "ril-co-clean"
PHASES, SEARCH, AUDITED = "phases", "1-ril-co", "2-audited.json"
CLONES, PRACTISED_CLONES = "3-clones", "3-practised"
START, FINISH = "4-start.safetensors", "4-finish"
KEPT, DROPPED, KNOWN = "kept.npz", "dropped.npz", "known.npz"
FINISHES = ("none", "ril-co", "gail-ap", "gail-logistic")
CLONE_SEEDS = 1_000_000  # apart from one another, and from those of a user's runs
SEEDS = 2**31  # that there are


@dataclass(frozen=True)
class CleanConfig:
    """What `ril-co-clean` has besides RIL-Co's and behaviour cloning's settings."""

    gradient_steps: int = 50_000
    """Of each behaviour cloning on the demonstrations that were kept."""
    start_weight: float = 5.0
    """`bc.start_weight` of the clones, where the audit dropped something. Where it did not, demonstrations may be pieces
    that all begin somewhere, and the bad ones would weigh more."""
    clones: int = 4
    """How many there are, to practise and to choose from, in the simulator; 1 takes the one there is, without either."""
    practice_starts: int = 192
    """From how many start states they practise, at least; 0 is none."""
    practice_steps: int = 300
    """How long an attempt is. Of a good one the first two thirds are imitated."""
    trial_steps: int = 900
    """How long each environment acts in a trial."""
    finish: str = "none"
    """What goes on from the clone: nothing, or `ril-co`, `gail-ap` or `gail-logistic` on the kept demonstrations.
    RIL-Co takes the dropped ones as known non-expert data."""
    finish_std: float = 0.1
    """Spread of the actions that the finish begins with, at least: a clone's own is that of its errors, far too small to
    learn from what lies beside the demonstrations."""
    search_steps: int = 300_000
    """Transitions of RIL-Co and the audit where there is a finish, which gets what the trials leave; without one they
    get that."""

    def __post_init__(self) -> None:
        for name in ("gradient_steps", "clones", "practice_steps", "trial_steps", "search_steps"):
            if getattr(self, name) < 1:
                raise ConfigError(f"clean.{name}: expected at least 1; got {getattr(self, name)}.")
        if self.practice_starts < 0:
            raise ConfigError(f"clean.practice_starts: expected 0 or more; got {self.practice_starts}.")
        for name in ("start_weight", "finish_std"):
            if not getattr(self, name) > 0.0:
                raise ConfigError(f"clean.{name}: expected a positive number; got {getattr(self, name)}.")
        if self.finish not in FINISHES:
            raise ConfigError(
                f"clean.finish={self.finish}: unknown; known are {', '.join(FINISHES)}."
                f"{suggestion(self.finish, FINISHES)}"
            )


class AuditFacts(NamedTuple):
    """What is remembered of the audit, once it is done."""

    transitions: int
    """Made by its end, from the beginning of the run."""
    seconds: float = 0.0


def train_clean(
    config: RunConfig,
    out: Path,
    *,
    resume: bool,
    workers: int | None,
    checkpoint_every: int,
    quiet: bool,
    tensorboard: bool,
    stop: StopSignal,
) -> Run:
    """All phases in the folder `out`, those that are done already left alone."""
    from rilco.cleaning.choosing import POLICY, choose
    from rilco.run import Run, open_run

    phases = out / PHASES
    _check(config, phases)
    how: dict[str, Any] = {"workers": workers, "quiet": quiet, "stop": stop}
    train_how = {**how, "checkpoint_every": checkpoint_every, "tensorboard": tensorboard}
    say = (lambda line: None) if quiet else functools.partial(print, file=sys.stderr)
    count = 3 if config.clean.finish == "none" else 4
    with open_run(out, config, resume=resume) as folder:
        say(f"Phase 1 of {count}: RIL-Co, to see which demonstrations are bad")
        search = _train(_search_config(config), phases / SEARCH, train_how)
        say(f"Phase 2 of {count}: the audit")
        audited = _audit(search, phases, out / "audit", say, how)
        say(f"Phase 3 of {count}: behaviour cloning of what was kept")
        clones = _clone(config, phases, CLONES, say, train_how)
        practice = _practise(config, search, clones, phases, say, workers, stop)
        practised = _clone(config, phases, PRACTISED_CLONES, say, train_how) if practice.good else []
        made = audited.transitions + practice.transitions
        choice = choose(
            config, search, practised or clones, phases, made=made, say=say, workers=workers, stop=stop
        )
        made += choice.transitions
        finish = None
        if config.clean.finish != "none":
            say(f"Phase 4 of {count}: {config.clean.finish}, from the clone on")
            _widen(phases / POLICY, phases / START, config.clean.finish_std)
            finish = _train(_finish_config(config, phases, made), phases / FINISH, train_how)
        _copy_policies(finish, phases, out)
        seconds = sum(part.seconds for part in (audited, practice, choice))
        seconds += sum(run.metrics()[-1]["seconds"] for run in (search, *clones, *practised))
        # Last: complete metrics say that the run is.
        _put_together(config, folder, made, seconds, choice.evaluation, finish)
    return Run(out)


def _check(config: RunConfig, phases: Path) -> None:
    """What cannot end well shall fail before it begins."""
    from rilco.config import RunConfig
    from rilco.run import Run

    search, attempts = _search_config(config), _attempts(config.clean, config.num_envs)
    if config.clean.finish != "none":
        if config.steps - config.clean.search_steps - attempts < config.transitions_per_iteration:
            raise ConfigError(
                f"--steps {config.steps:,}: clean.search_steps takes {config.clean.search_steps:,} of them, and practice and "
                f"trials of clones {attempts:,}, so none are left to finish with. Give more steps, or lower "
                "clean.search_steps, clean.practice_starts or clean.clones."
            )
        if config.bc.hidden_sizes != config.policy_settings.hidden_sizes:
            raise ConfigError(
                f"bc.hidden_sizes: the clone's are {config.bc.hidden_sizes}, but a finish goes on with "
                f"{config.policy_settings.hidden_sizes} of {config.policy_learner}. Set both to the same."
            )
    begun = phases / FINISH
    if (begun / "config.json").exists() and RunConfig.load(phases.parent).steps != config.steps:
        raise RunError(
            f"{phases.parent}: its finish has begun, with a learning rate that falls to zero at the end, so that it cannot "
            "become longer. Resume without --steps, or start a new run with another --out."
        )
    if (phases / AUDITED).exists() and Run(phases / SEARCH).config.steps != search.steps:
        raise RunError(
            f"{phases.parent}: the demonstrations were audited already, after fewer transitions; after more of them "
            "the audit might keep others. Start a new run with another --out."
        )


def _train(config: RunConfig, path: Path, how: dict[str, Any]) -> Run:
    from rilco.audit.auditing import train_if_needed

    return train_if_needed(config, path, **how)


def usual_steps(clean: CleanConfig, num_envs: int) -> int:
    """Of a run without a finish: more would not make the audit better."""
    return clean.search_steps + _attempts(clean, num_envs)


def _attempts(clean: CleanConfig, num_envs: int) -> int:
    """Transitions that practice and trials of the clones take."""
    from rilco.cleaning.choosing import trial_transitions
    from rilco.cleaning.practice import practice_transitions

    practice = practice_transitions(clean.clones, clean.practice_starts, num_envs, clean.practice_steps)
    return practice + trial_transitions(clean.clones, num_envs, clean.trial_steps)


def _search_config(config: RunConfig) -> RunConfig:
    from rilco.audit.auditing import training_steps

    finishes, attempts = config.clean.finish != "none", _attempts(config.clean, config.num_envs)
    left = config.clean.search_steps if finishes else config.steps - attempts
    if left < 1:
        raise ConfigError(
            f"--steps {config.steps:,}: practice and trials of {config.clean.clones} clones take {attempts:,} of them, so "
            "none are left to learn with. Give more steps, or lower clean.clones; 1 needs neither."
        )
    wanted = _as_method(config, "ril-co", steps=left)
    if finishes:
        steps = training_steps(wanted, "clean.search_steps")
    else:
        steps = training_steps(wanted, besides=attempts)
    return dataclasses.replace(wanted, steps=steps)


def _audit(search: Run, phases: Path, out: Path, say: Any, how: dict[str, Any]) -> AuditFacts:
    """Judge, and keep the two parts as files."""
    from rilco.audit.auditing import JSON, audit_run, write_audit
    from rilco.audit.record import Audit
    from rilco.files import write_atomically

    done = phases / AUDITED
    if not done.exists():
        begun = time.monotonic()
        audited = audit_run(search, **how)
        write_audit(audited, out)
        _save_parts(audited.kept, audited.dropped, search.config, phases)
        facts = AuditFacts(audited.audit.transitions, round(time.monotonic() - begun, 3))
        write_atomically(done, json.dumps(facts._asdict()).encode())
    say(Audit.load(out / JSON).verdict.sentence)
    return AuditFacts(**json.loads(done.read_text()))


def _save_parts(
    kept: Demonstrations | None, dropped: Demonstrations | None, config: RunConfig, phases: Path
) -> None:
    """The two parts as files, and all that is known to be non-expert by now."""
    from rilco.demonstrations import concatenate
    from rilco.formats import save_file
    from rilco.training import read_known

    known = [part for part in (dropped, read_known(config)) if part is not None]
    parts = {KEPT: kept, DROPPED: dropped, KNOWN: concatenate(known) if known else None}
    for name, part in parts.items():
        (phases / name).unlink(missing_ok=True)
        if part is not None:
            save_file(part, phases / name)


def _clone(config: RunConfig, phases: Path, name: str, say: Any, how: dict[str, Any]) -> list[Run]:
    """All clones of the kept demonstrations, and of practice for those of that name."""
    clones = []
    for number in range(1, config.clean.clones + 1):
        say(f"Clone {number} of {config.clean.clones}")
        clones.append(_train(_clone_config(config, phases, name, number), phases / name / str(number), how))
    return clones


def _clone_config(config: RunConfig, phases: Path, name: str, number: int) -> RunConfig:
    """Of the clone with this number. The first is that of plain behaviour cloning."""
    from rilco.cleaning.practice import PRACTISED

    iterations = -(-config.clean.gradient_steps // config.bc.steps_per_iteration)
    steps = iterations * config.transitions_per_iteration
    bc, files = config.bc, _files(phases)
    if name == PRACTISED_CLONES:
        files["demos"] += (str((phases / PRACTISED).absolute()),)
    elif (phases / DROPPED).exists():
        bc = dataclasses.replace(bc, start_weight=config.clean.start_weight)
    return dataclasses.replace(
        _as_method(config, "bc", steps=steps),
        **files,
        seed=(config.seed + (number - 1) * CLONE_SEEDS) % SEEDS,
        start_from="",
        policy_learner="acktr",
        bc=bc,
        evaluate_every=-1,
    )


def _practise(
    config: RunConfig,
    search: Run,
    clones: Sequence[Run],
    phases: Path,
    say: Any,
    workers: int | None,
    stop: StopSignal,
) -> Practice:
    """Made now or before; nothing where there is none to be."""
    from rilco.cleaning.attempts import make_pool
    from rilco.cleaning.practice import RECORD, Practice, practise
    from rilco.formats import load_file
    from rilco.rollout.pool import default_workers
    from rilco.training import load_state

    clean = config.clean
    if clean.clones == 1 or clean.practice_starts == 0:
        return Practice(0, 0, 0, 0.0)
    if not (phases / RECORD).exists():
        kept, policies = load_file(phases / KEPT), [clone.last_policy for clone in clones]
        with make_pool(config, policies[0], clean.practice_steps, workers or default_workers()) as pool:
            practise(policies, kept, load_state(search), pool, phases, clean.practice_starts, say, stop)
    practice = Practice(**json.loads((phases / RECORD).read_text()))
    say(practice.sentence())
    return practice


def _finish_config(config: RunConfig, phases: Path, transitions: int) -> RunConfig:
    left = config.steps - transitions
    if left < config.transitions_per_iteration:
        raise ConfigError(
            f"--steps {config.steps:,}: search, practice and trials took {transitions:,} transitions, so none are left to finish "
            "with. Resume with more steps."
        )
    known = phases / KNOWN
    takes = config.clean.finish == "ril-co" and known.exists()
    wanted = dataclasses.replace(
        _as_method(config, config.clean.finish, steps=left),
        **_files(phases) | {"nonexpert_demos": (str(known.absolute()),) if takes else ()},
        start_from=str((phases / START).absolute()),
    )
    # The rate falls to zero, so that it ends with a policy that has settled.
    decay: dict[str, Any] = {"learning_rate_decay": True, "total_updates": wanted.iterations}
    if wanted.policy_learner == "ppo":
        return dataclasses.replace(wanted, ppo=dataclasses.replace(wanted.ppo, **decay))
    return dataclasses.replace(wanted, acktr=dataclasses.replace(wanted.acktr, **decay))


def _widen(clone: Path, path: Path, std: float) -> None:
    """The clone's policy with at least this spread of its actions."""
    from rilco.policy.saved import load_policy

    policy = load_policy(clone)
    log_std = np.maximum(policy.log_std, np.float32(np.log(std)))
    dataclasses.replace(policy, log_std=log_std).save(path)


def _files(phases: Path) -> dict[str, Any]:
    """The kept demonstrations in the place of whatever the run was given."""
    kept = str((phases / KEPT).absolute())
    return {
        "demos": (kept,),
        "noise_rate": None,
        "demo_kind": "policy",
        "obs_keys": (),
        "nonexpert_demos": (),
    }


def _as_method(config: RunConfig, method: str, *, steps: int) -> RunConfig:
    from rilco.bc import BcConfig

    classifier = config.classifier
    bc = config.bc if method == "bc" else BcConfig()
    if method != "ril-co":  # where it has no effect, and without it something would have to be known
        classifier = dataclasses.replace(classifier, pseudo_labels=True)
    return dataclasses.replace(
        config, method=method, steps=steps, classifier=classifier, bc=bc, clean=CleanConfig()
    )


def _copy_policies(finish: Run | None, phases: Path, out: Path) -> None:
    """The last phase's, as the run's own; of a clone there is but one."""
    from rilco.cleaning.choosing import POLICY
    from rilco.files import write_atomically

    for name in ("best.safetensors", "last.safetensors"):
        source = phases / POLICY if finish is None else finish.path / "policy" / name
        if source.exists():
            write_atomically(out / "policy" / name, source.read_bytes())


def _put_together(
    config: RunConfig,
    folder: RunFolder,
    made: int,
    seconds: float,
    evaluation: dict[str, float],
    finish: Run | None,
) -> None:
    """The run's own metrics: the chosen clone's evaluation, after so many transitions and seconds, and those of the finish.

    Without the search's: a final return is a mean over the last evaluations, and those are of another policy.
    """
    each = config.transitions_per_iteration
    end = -(-made // each)
    if finish is None:
        end = max(end, config.iterations)
    late = {"iteration": end, "transitions": end * each, "seconds": seconds}
    records = [late | evaluation | {"phase": "clone"}]
    for record in finish.metrics() if finish is not None else ():
        moved = {name: record[name] + offset for name, offset in late.items()}
        records.append(record | moved | {"phase": config.clean.finish})
    folder.cut_metrics(0)
    for record in records:
        folder.append_metrics(record)
