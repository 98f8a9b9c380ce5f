"""Judge demonstrations: which of them are good, which are bad, and how sure is that?"""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rilco.data.formats import find_files, load_file, save_file
from rilco.data.loading import load_demonstrations
from rilco.data.record import Demonstrations, concatenate
from rilco.errors import AuditError
from rilco.files import write_atomically
from rilco.judging import before, record
from rilco.judging.audit_config import AuditConfig
from rilco.judging.joining import apply_cut, apply_decisions, join
from rilco.judging.offline import judge_offline
from rilco.judging.record import Source
from rilco.judging.verdict import Decision, Verdict
from rilco.judging.windows import in_pieces

if TYPE_CHECKING:
    from rilco.config import RunConfig
    from rilco.judging.simulator import Classified
    from rilco.runs.folder import Run
    from rilco.runs.interrupt import StopSignal
    from rilco.tasks.table import Task

STEPS = 300_000
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Audit:
    """Demonstrations and the verdict on them. `save` writes it with a page to look at."""

    demonstrations: Demonstrations
    """Those that were judged; in pieces, where that was asked for."""
    verdict: Verdict
    source: Source = field(default_factory=Source)
    """Where they came from."""
    config: AuditConfig = field(default_factory=AuditConfig)
    """Every number that was used."""
    scores: np.ndarray | None = None
    """[N] of every pair by RIL-Co's classifiers, where those were asked."""
    notes: tuple[str, ...] = ()
    """What a reader should know besides."""
    task: Task | None = None
    """The environment, where one was given: for pictures, and for formats that name it."""

    @property
    def kept(self) -> Demonstrations | None:
        """What the verdict keeps; None where that is nothing."""
        return self._part("keep")

    @property
    def dropped(self) -> Demonstrations | None:
        """What it drops."""
        return self._part("drop")

    @property
    def unsure(self) -> Demonstrations | None:
        """What it is unsure about: in neither of the two."""
        return self._part("unsure")

    def _part(self, decision: str) -> Demonstrations | None:
        chosen = np.array([one.decision == decision for one in self.verdict.demonstrations])
        pairs = chosen[self.verdict.of_pair]
        return self.demonstrations.select(pairs) if pairs.any() else None

    def decided(self, decisions: Mapping[int, Decision], why: str = "You decided so.") -> Audit:
        """The same with your decisions, by the demonstrations' index: keep, drop or unsure."""
        return dataclasses.replace(self, verdict=apply_decisions(self.verdict, decisions, why))

    def cut_at(self, score: float) -> Audit:
        """The same, keeping what scores at least so much and dropping the rest."""
        return dataclasses.replace(self, verdict=apply_cut(self.verdict, score))

    def save(self, folder: str | os.PathLike[str], *, pictures: bool = True) -> Path:
        """Write audit.json, demonstrations.csv, pairs.npz and the page into a folder; returns the page's path."""
        from rilco.judging.page import render_page
        from rilco.judging.pictures import Gallery, take_pictures

        out = Path(folder)
        gallery = take_pictures(self.verdict, self.demonstrations, self.task) if pictures else Gallery()
        # Everything is made before anything is written, and audit.json comes last.
        files = {record.PAGE: render_page(self, gallery).encode("utf-8", "replace")}
        files |= record.write_record(self.verdict, self.source, self.config, self.scores, self.notes)
        for name, data in files.items():
            write_atomically(out / name, data)
        return out / record.PAGE


def audit(
    demos: Demonstrations | Paths | None = None,
    *,
    env: str | None = None,
    task: str | None = None,
    offline: bool = False,
    good: Sequence[str | int] = (),
    bad: Sequence[str | int] = (),
    cut: float | None = None,
    pieces: int = 0,
    noise_rate: float | None = None,
    demo_kind: str | None = None,
    obs_keys: Sequence[str] = (),
    steps: int = STEPS,
    seed: int = 1,
    seeds: int = 1,
    out: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    quiet: bool = True,
    settings: Mapping[str, Any] | None = None,
    config: AuditConfig = AuditConfig(),
    progress: Callable[[str, float], None] | None = None,
    say: Say = lambda line: None,
    check: Callable[[Demonstrations], None] = lambda demos: None,
    stop: StopSignal | None = None,
) -> Audit:
    """Judge demonstrations, or files of them; the same as `rilco audit`.

    Without an environment it takes seconds. With `env` or a Bullet `task`, RIL-Co is trained for `steps` transitions
    in the folder `out`, and its classifiers are a further opinion; `offline` leaves them out. `good` and `bad` name
    demonstrators or demonstrations that you vouch for. `say` gets what should be known before training; `check` may refuse what
    was loaded.
    """
    from rilco.options import make_config

    run_config = None
    if env is not None or task is not None:
        given = None if isinstance(demos, Demonstrations) else demos
        options = {"task": task, "env": env, "demos": given, "noise_rate": noise_rate, "demo_kind": demo_kind}
        options |= {
            "obs_keys": tuple(obs_keys) or None,
            "steps": int(steps),
            "seed": seed,
            "method": "ril-co",
        }
        if isinstance(demos, Demonstrations):
            options["demos"] = "demonstrations.npz"  # written where training needs it
        run_config = make_config(options | dict(settings or {}))
    loaded, source = _load(demos, run_config, noise_rate, seed, obs_keys)
    check(loaded)
    source = dataclasses.replace(source, pieces=pieces, good=tuple(map(str, good)), bad=tuple(map(str, bad)))
    classify = None
    if run_config is not None and not offline:
        how: dict[str, Any] = {
            "seeds": seeds,
            "pieces": pieces,
            "workers": workers,
            "quiet": quiet,
            "stop": stop,
        }
        memory = loaded if isinstance(demos, Demonstrations) else None
        classify = _training(run_config, None if out is None else Path(out), memory, config, how)
    return _judge(loaded, source, config, run_config, classify, good, bad, cut, progress, say)


def audit_run(
    run: Run,
    *,
    offline: bool = False,
    good: Sequence[str | int] = (),
    bad: Sequence[str | int] = (),
    cut: float | None = None,
    pieces: int = 0,
    workers: int | None = None,
    quiet: bool = True,
    config: AuditConfig = AuditConfig(),
    progress: Callable[[str, float], None] | None = None,
    say: Say = lambda line: None,
    check: Callable[[Demonstrations], None] = lambda demos: None,
    stop: StopSignal | None = None,
) -> Audit:
    """Judge the demonstrations that a RIL-Co run learns from; its own classifiers are the further opinion."""
    from rilco.judging.classifiers import check_auditable
    from rilco.judging.simulator import classify_runs

    run_config = run.config
    if not offline:
        check_auditable(run_config, run.path)
    loaded, source = _load(None, run_config, run_config.noise_rate, run_config.seed, run_config.obs_keys)
    check(loaded)
    source = dataclasses.replace(source, pieces=pieces, good=tuple(map(str, good)), bad=tuple(map(str, bad)))

    def classify() -> Classified:
        return classify_runs([run], config, pieces=pieces, workers=workers, quiet=quiet, stop=stop)

    return _judge(
        loaded, source, config, run_config, None if offline else classify, good, bad, cut, progress, say
    )


def load_audit(folder: str | os.PathLike[str], demos: Demonstrations | Paths | None = None) -> Audit:
    """An audit that was saved, with its demonstrations read again: from `demos`, or from where they were."""
    verdict, source, config, scores, notes = record.read_record(Path(folder))
    if demos is None and not source.files:
        raise AuditError(
            f"{folder}: its demonstrations were given in memory, so they cannot be read again. Give them: demos=... in "
            "Python, --demos on the command line."
        )
    if isinstance(demos, Demonstrations):
        loaded = demos
    else:
        files = source.files if demos is None else demos
        loaded = load_demonstrations(files, source.noise_rate, seed=source.seed, obs_keys=source.obs_keys)
    if loaded.fingerprint() != source.fingerprint:
        raise AuditError(
            f"{folder}: the demonstrations have changed since they were judged. Give those that were (--demos), or audit again."
        )
    task = None
    if source.environment is not None:
        from rilco.tasks.robots import ROBOTS
        from rilco.tasks.table import Task

        name = source.environment
        task = Task(task=name) if name in ROBOTS else Task(env=name)
    return Audit(in_pieces(loaded, source.pieces), verdict, source, config, scores, notes, task)


# -- how it goes ---------------------------------------------------------------------------------------------------


def _load(
    demos: Demonstrations | Paths | None,
    config: RunConfig | None,
    noise_rate: float | None,
    seed: int,
    obs_keys: Sequence[str],
) -> tuple[Demonstrations, Source]:
    """The demonstrations, and where to find them again."""
    environment = None if config is None else config.task.name
    if isinstance(demos, Demonstrations):
        return demos, Source(environment=environment, fingerprint=demos.fingerprint())
    files: Sequence[str | os.PathLike[str]]
    if config is not None and not config.demos:
        from rilco.data.standard import standard_files

        files = standard_files(config.task, config.demo_kind)
    elif config is not None:
        files = config.demos
    elif demos is None:
        raise AuditError("No demonstrations were given. Name at least one file: --demos FILE.")
    else:
        files = [demos] if isinstance(demos, str | os.PathLike) else demos
    files = find_files(files)
    episodes: tuple[int, ...] = ()
    if noise_rate is None:
        parts = [load_file(file, obs_keys=obs_keys) for file in files]
        episodes = tuple(len(np.unique(part.episode)) for part in parts)
        loaded = concatenate(parts)
    else:
        loaded = load_demonstrations(files, noise_rate, seed=seed, obs_keys=obs_keys)
    return loaded, Source(
        tuple(str(file.absolute()) for file in files),
        episodes,
        noise_rate,
        seed,
        tuple(obs_keys),
        environment=environment,
        fingerprint=loaded.fingerprint(),
    )


def _training(
    config: RunConfig,
    out: Path | None,
    memory: Demonstrations | None,
    how: AuditConfig,
    options: dict[str, Any],
) -> Callable[[], Classified]:
    """Trains RIL-Co when called, in `out` or in a place that is removed again."""
    from rilco.judging.simulator import train_and_classify, training_steps

    training_steps(config, how)  # too few steps are refused at once

    def classify() -> Classified:
        with tempfile.TemporaryDirectory(prefix="rilco-audit-") as temporary:
            folder = Path(temporary) if out is None else out
            wanted = config
            if memory is not None:
                folder.mkdir(parents=True, exist_ok=True)
                save_file(memory, folder / "demonstrations.npz")
                wanted = dataclasses.replace(config, demos=(str((folder / "demonstrations.npz").absolute()),))
            return train_and_classify(wanted, folder, how, **options)

    return classify


def _judge(
    whole: Demonstrations,
    source: Source,
    config: AuditConfig,
    run_config: RunConfig | None,
    classify: Callable[[], Classified] | None,
    good: Sequence[str | int],
    bad: Sequence[str | int],
    cut: float | None,
    progress: Callable[[str, float], None] | None,
    say: Say,
) -> Audit:
    """The offline judges first, then RIL-Co's classifiers where they are asked, then the user's cut."""
    demos = in_pieces(whole, source.pieces)
    notes = before.check_demonstrations(demos, config.judges)
    if classify is not None and run_config is not None:
        notes += before.check_environment(whole, run_config.task)
    for note in notes:
        say(note)
    verdict = judge_offline(
        _plainly_named(demos), config.judges, good=_plain(good), bad=_plain(bad), progress=progress
    )
    scores = None
    if classify is not None:
        say(f"Without a simulator: {verdict.summary} Now RIL-Co's classifiers are asked.")
        classified = classify()
        verdict, scores = join(verdict, classified.opinion, config), classified.scores.pairs
    task = None if run_config is None else run_config.task
    made = Audit(demos, verdict, source, config, scores, notes, task)
    return made if cut is None else made.cut_at(cut)


def _plainly_named(demos: Demonstrations) -> Demonstrations:
    """With names that a terminal and a page show as they are."""
    names = tuple(before.plain(name) for name in demos.demonstrator_names)
    return (
        demos if names == demos.demonstrator_names else dataclasses.replace(demos, demonstrator_names=names)
    )


def _plain(names: Sequence[str | int]) -> list[str | int]:
    return [before.plain(name) if isinstance(name, str) else name for name in names]
