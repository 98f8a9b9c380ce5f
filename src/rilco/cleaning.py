"""`ril-co-clean`: learn a little with RIL-Co, audit the demonstrations, and imitate only what was kept.

A run in phases, each of them an ordinary run or file in the folder `phases`, so that an interrupted one goes on where
it was and every phase can be looked at, evaluated and audited by itself.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rilco.errors import ConfigError, suggestion

if TYPE_CHECKING:
    from rilco.audit.auditing import Audited
    from rilco.config import RunConfig
    from rilco.interrupt import StopSignal
    from rilco.run import Run, RunFolder

METHOD = "ril-co-clean"
FINISHES = ("none", "ril-co", "gail-ap", "gail-logistic")
STEPS = 300_000
"""Transitions of a run without a finish, unless others are asked for."""
EVALUATIONS = 5  # of the clone, while it learns


@dataclass(frozen=True)
class CleanConfig:
    """What `ril-co-clean` has besides RIL-Co's and behaviour cloning's settings."""

    gradient_steps: int = 50_000
    """Of behaviour cloning on the demonstrations that were kept."""
    finish: str = "none"
    """What goes on from the clone: nothing, or `ril-co`, `gail-ap` or `gail-logistic` on the kept demonstrations.
    RIL-Co takes the dropped ones as known non-expert data."""
    search_steps: int = 300_000
    """Transitions of RIL-Co and the audit where there is a finish, which gets the rest; without one they get all."""

    def __post_init__(self) -> None:
        for name in ("gradient_steps", "search_steps"):
            if getattr(self, name) < 1:
                raise ConfigError(f"clean.{name}: expected at least 1; got {getattr(self, name)}.")
        if self.finish not in FINISHES:
            raise ConfigError(
                f"clean.finish={self.finish}: unknown; known are {', '.join(FINISHES)}."
                f"{suggestion(self.finish, FINISHES)}"
            )


def train_clean(
    config: RunConfig,
    out: Path,
    *,
    resume: bool,
    workers: int | None,
    quiet: bool,
    stop: StopSignal,
) -> Run:
    """All phases in the folder `out`, those that are done already left alone."""
    from rilco.run import Run, open_run

    with open_run(out, config, resume=resume) as folder:
        how: dict[str, Any] = {"workers": workers, "quiet": quiet, "stop": stop}
        say = (lambda line: None) if quiet else functools.partial(print, file=sys.stderr)
        phases = out / "phases"
        count = 3 if config.clean.finish == "none" else 4
        say(f"Phase 1 of {count}: RIL-Co, to see which demonstrations are bad")
        search = _search(config, phases / "1-ril-co", how)
        say(f"Phase 2 of {count}: the audit")
        transitions = _audit(search, phases, out / "audit", say, how)
        say(f"Phase 3 of {count}: behaviour cloning of what was kept")
        clone = _clone(config, phases, how)
        last, finish = clone, None
        if config.clean.finish != "none":
            say(f"Phase 4 of {count}: {config.clean.finish}, from the clone on")
            last = finish = _finish(config, phases, transitions, how)
        _put_together(config, folder, search, clone, finish, transitions)
        for name in ("best", "last"):
            source = last.path / "policy" / f"{name}.safetensors"
            if source.exists():
                shutil.copy(source, out / "policy" / source.name)
    return Run(out)


def _search(config: RunConfig, path: Path, how: dict[str, Any]) -> Run:
    from rilco.audit.auditing import train_if_needed, training_steps

    steps = config.steps if config.clean.finish == "none" else config.clean.search_steps
    wanted = _as_method(config, "ril-co", steps=steps)
    return train_if_needed(dataclasses.replace(wanted, steps=training_steps(wanted)), path, **how)


def _audit(search: Run, phases: Path, out: Path, say: Any, how: dict[str, Any]) -> int:
    """Judge, keep the two parts as files, and say how many transitions were made by then."""
    from rilco.audit.auditing import JSON, audit_run, write_audit
    from rilco.audit.record import Audit

    done = phases / "2-audited.json"
    if not done.exists():
        audited = audit_run(search, **how)
        write_audit(audited, out)
        _save_parts(audited, phases)
        from rilco.files import write_atomically

        write_atomically(done, json.dumps({"transitions": audited.audit.transitions}).encode())
    say(Audit.load(out / JSON).verdict.sentence)
    return int(json.loads(done.read_text())["transitions"])


def _save_parts(audited: Audited, phases: Path) -> None:
    from rilco.formats import save_file

    for name, part in (("kept.npz", audited.kept), ("dropped.npz", audited.dropped)):
        (phases / name).unlink(missing_ok=True)
        if part is not None:
            save_file(part, phases / name)


def _clone(config: RunConfig, phases: Path, how: dict[str, Any]) -> Run:
    from rilco.audit.auditing import train_if_needed

    iterations = -(-config.clean.gradient_steps // config.bc.steps_per_iteration)
    steps = iterations * config.transitions_per_iteration
    wanted = dataclasses.replace(
        _as_method(config, "bc", steps=steps),
        **_files(phases),
        policy_learner="acktr",
        evaluate_every=-1 if config.evaluate_every < 0 else steps // EVALUATIONS,
    )
    return train_if_needed(wanted, phases / "3-clone", **how)


def _finish(config: RunConfig, phases: Path, transitions: int, how: dict[str, Any]) -> Run:
    from rilco.audit.auditing import train_if_needed

    left = config.steps - transitions
    if left < config.transitions_per_iteration:
        raise ConfigError(
            f"--steps {config.steps:,}: the search took {transitions:,} transitions, so none are left to finish with. "
            "Give more steps, or lower clean.search_steps."
        )
    known = phases / "dropped.npz"
    wanted = dataclasses.replace(
        _as_method(config, config.clean.finish, steps=left),
        **_files(phases),
        start_from=str(phases.absolute() / "3-clone" / "policy" / "last.safetensors"),
    )
    if config.clean.finish == "ril-co" and known.exists():
        wanted = dataclasses.replace(wanted, nonexpert_demos=(str(known.absolute()),))
    return train_if_needed(wanted, phases / "4-finish", **how)


def _files(phases: Path) -> dict[str, Any]:
    """The kept demonstrations in the place of whatever the run was given."""
    kept = str((phases / "kept.npz").absolute())
    return {"demos": (kept,), "noise_rate": None, "demo_kind": "policy", "obs_keys": ()}


def _as_method(config: RunConfig, method: str, *, steps: int) -> RunConfig:
    return dataclasses.replace(config, method=method, steps=steps, clean=CleanConfig())


def _put_together(
    config: RunConfig, folder: RunFolder, search: Run, clone: Run, finish: Run | None, transitions: int
) -> None:
    """The run's own metrics, from those of its phases: what was evaluated, by transitions from the beginning."""
    each = config.transitions_per_iteration
    records = [
        dict(record, phase="ril-co")
        for record in search.evaluations()
        if finish or record["transitions"] < transitions
    ]
    end = transitions // each if finish is not None else max(transitions // each, config.iterations)
    cloned = clone.evaluations()[-1:]
    records += [dict(record, phase="clone", iteration=end, transitions=end * each) for record in cloned]
    for record in finish.metrics() if finish is not None else ():
        late = {"iteration": record["iteration"] + end, "transitions": record["transitions"] + end * each}
        records.append({**record, **late, "phase": config.clean.finish})
    folder.cut_metrics(0)
    for record in records:
        folder.append_metrics(record)
