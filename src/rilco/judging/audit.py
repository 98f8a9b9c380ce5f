"""Judge demonstrations: which of them are good, which are bad, and how sure is that?"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rilco.data.formats import find_files, load_file, save_demonstrations
from rilco.data.loading import Given, Paths, are_paths, from_memory, load_demonstrations
from rilco.data.record import Demonstrations, concatenate
from rilco.errors import AuditError
from rilco.files import scratch
from rilco.judging import before
from rilco.judging.audit_config import AuditConfig
from rilco.judging.joining import join
from rilco.judging.offline import judge_offline
from rilco.judging.opinion import ask_outside
from rilco.judging.record import Source
from rilco.judging.result import Audit, load_audit
from rilco.judging.windows import in_pieces
from rilco.runs.how import How
from rilco.runs.paths import DEMONSTRATIONS
from rilco.tasks.observations import read_keys
from rilco.tasks.trust import trust

if TYPE_CHECKING:
    from rilco.config import RunConfig
    from rilco.judging.simulator import Classified
    from rilco.runs.folder import Run

__all__ = ["STEPS", "Audit", "audit", "audit_run", "load_audit"]
STEPS = 300_000
Say = Callable[[str], None]


def audit(
    demos: Given | None = None,
    *,
    env: Any = None,
    env_kwargs: Mapping[str, Any] | None = None,
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
    settings: Mapping[str, Any] | None = None,
    config: AuditConfig = AuditConfig(),
    progress: Callable[[str, float], None] | None = None,
    say: Say = lambda line: None,
    check: Callable[[Demonstrations], None] = lambda demos: None,
    how: How | None = None,
) -> Audit:
    """Judge demonstrations, files of them, or arrays as `train` takes them; the same as `rilco audit`.

    Without an environment it takes seconds. With `env` or a Bullet `task`, RIL-Co is trained for `steps` transitions
    in the folder `out`, and its classifiers are a further opinion; `offline` leaves them out. `good` and `bad` name
    demonstrators or demonstrations that you vouch for. `say` gets what should be known before training; `check` may refuse what
    was loaded.

        >>> audit = rilco.audit("mine.hdf5")
        >>> audit.demonstrations
        Demonstrations(obs=[600, 3], action=[600, 1], episodes=12, demonstrators=1, known=[])
        >>> audit.save("audit")
        PosixPath('audit/index.html')
    """
    from rilco.options import make_config

    run_config, obs_keys = None, read_keys(obs_keys)
    shown: tuple[str, ...] = ()
    in_memory = demos is not None and not are_paths(demos)
    if env is not None or task is not None:
        wanted: dict[str, Any] = {
            "task": task,
            "env": env,
            "env_kwargs": env_kwargs,
            "demos": DEMONSTRATIONS if in_memory else demos,  # written where training needs them
            "noise_rate": noise_rate,
            "demo_kind": demo_kind,
        }
        wanted |= {
            "obs_keys": obs_keys or None,
            "steps": steps,
            "seed": seed,
            "method": "ril-co",
        }
        run_config = make_config(wanted | dict(settings or {}))
        shown = () if offline else run_config.task.shown()
    held = None if demos is None else from_memory(demos, shown or obs_keys)
    loaded, source = _load(held, run_config, noise_rate, seed, obs_keys, shown)
    check(loaded)
    source = dataclasses.replace(source, pieces=pieces, good=tuple(map(str, good)), bad=tuple(map(str, bad)))
    classify = None
    if run_config is not None and not offline:
        memory = loaded if in_memory else None
        options = {"seeds": seeds, "pieces": pieces, "how": how or How(quiet=True)}
        classify = _training(run_config, None if out is None else Path(out), memory, config, options)
    return _judge(loaded, source, config, run_config, classify, good, bad, cut, progress, say)


def audit_run(
    run: Run,
    *,
    offline: bool = False,
    good: Sequence[str | int] = (),
    bad: Sequence[str | int] = (),
    cut: float | None = None,
    pieces: int = 0,
    trust_env: bool = False,
    config: AuditConfig = AuditConfig(),
    progress: Callable[[str, float], None] | None = None,
    say: Say = lambda line: None,
    check: Callable[[Demonstrations], None] = lambda demos: None,
    how: How | None = None,
) -> Audit:
    """Judge the demonstrations that a RIL-Co run learns from; its own classifiers are the further opinion.

    `trust_env` allows the run's `config.json` to name a module that is imported.
    """
    from rilco.judging.classifiers import check_auditable
    from rilco.judging.simulator import classify_run

    run_config = run.config
    if trust_env:
        trust(run_config.task.name)
    if not offline:
        check_auditable(run_config, run.path)
    shown = () if offline else run_config.task.shown()
    loaded, source = _load(
        None, run_config, run_config.noise_rate, run_config.seed, run_config.obs_keys, shown
    )
    check(loaded)
    source = dataclasses.replace(source, pieces=pieces, good=tuple(map(str, good)), bad=tuple(map(str, bad)))

    def classify() -> Classified:
        return classify_run(run, config, pieces=pieces, how=how or How(quiet=True))

    return _judge(
        loaded, source, config, run_config, None if offline else classify, good, bad, cut, progress, say
    )


# -- how it goes ---------------------------------------------------------------------------------------------------


def _load(
    demos: Demonstrations | Paths | None,
    config: RunConfig | None,
    noise_rate: float | None,
    seed: int,
    obs_keys: Sequence[str],
    shown: Sequence[str],
) -> tuple[Demonstrations, Source]:
    """The demonstrations, and where to find them again. Of named parts, those that an environment has shown are taken."""
    keys: dict[str, Any] = {"obs_keys": tuple(shown or obs_keys), "flat_too": bool(shown)}
    environment = None if config is None else config.task.name
    if isinstance(demos, Demonstrations):
        return demos, Source(
            obs_keys=keys["obs_keys"], environment=environment, fingerprint=demos.fingerprint()
        )
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
        parts = [load_file(file, **keys) for file in files]
        episodes = tuple(len(np.unique(part.episode)) for part in parts)
        loaded = concatenate(parts)
    else:
        loaded = load_demonstrations(files, noise_rate, seed=seed, **keys)
    return loaded, Source(
        tuple(str(file.absolute()) for file in files),
        episodes,
        noise_rate,
        seed,
        keys["obs_keys"],
        environment=environment,
        fingerprint=loaded.fingerprint(),
    )


def _training(
    config: RunConfig,
    out: Path | None,
    memory: Demonstrations | None,
    rules: AuditConfig,
    options: Mapping[str, Any],
) -> Callable[[], Classified]:
    """Trains RIL-Co when called, in `out` or in a place that is removed again."""
    from rilco.judging.simulator import train_and_classify, training_steps

    training_steps(config, rules)  # too few steps are refused at once

    def classify() -> Classified:
        with scratch("audit") as temporary:
            folder = temporary if out is None else out
            wanted = config
            if memory is not None:
                folder.mkdir(parents=True, exist_ok=True)
                save_demonstrations(memory, folder / DEMONSTRATIONS)
                wanted = dataclasses.replace(config, demos=(str((folder / DEMONSTRATIONS).absolute()),))
            return train_and_classify(wanted, folder, rules, **options)

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
    """The offline judges first, then those from outside, then RIL-Co's classifiers where they are asked, then the user's cut."""
    demos = in_pieces(whole, source.pieces)
    notes = before.check_demonstrations(demos, config.judges)
    if classify is not None and run_config is not None:
        notes += before.check_environment(whole, run_config.task)
    for note in notes:
        say(note)
    verdict = judge_offline(
        _plainly_named(demos), config.judges, good=_plain(good), bad=_plain(bad), progress=progress
    )
    for opinion in ask_outside(demos, len(verdict.demonstrations)):
        verdict = join(verdict, opinion, config)
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
