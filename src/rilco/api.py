"""The Python face of the command line."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rilco.config import RunConfig
from rilco.data.formats import save_demonstrations
from rilco.data.loading import Given, are_paths, from_memory
from rilco.errors import ConfigError, RunError
from rilco.files import scratch
from rilco.methods import find
from rilco.options import make_config
from rilco.policy.saved import Policy
from rilco.runs.folder import Run, check_free
from rilco.runs.how import Callback, How
from rilco.runs.paths import DEMONSTRATIONS, START, holds_run
from rilco.tasks.table import Task
from rilco.tasks.trust import trust
from rilco.training import train_run


def load_run(path: str | os.PathLike[str]) -> Run:
    """Open the run in a folder; raises RunError where there is none.

    >>> rilco.load_run("runs/mine").evaluations()[-1]["eval_episodes"]
    100
    """
    RunConfig.load(path)
    return Run(Path(path))


def train(
    out: str | os.PathLike[str],
    *,
    method: str | None = None,
    task: str | Task | None = None,
    env: Any = None,
    env_kwargs: Mapping[str, Any] | None = None,
    demos: Given | None = None,
    obs_keys: str | Sequence[str] = (),
    noise_rate: float | None = None,
    steps: float | None = None,
    seed: int | None = None,
    start_from: Policy | str | os.PathLike[str] | None = None,
    resume: bool = False,
    trust_env: bool = False,
    workers: int | None = None,
    quiet: bool = False,
    callback: Callback | Sequence[Callback] = (),
    settings: Mapping[str, Any] | None = None,
) -> Run:
    """Train a policy in the folder `out`; the same as `rilco train`.

    Give a Bullet `task` or any Gymnasium `env`: an id, a class or function of a module with its `env_kwargs`, an
    `EnvSpec`, or a `Task`. Give `demos` for every method that imitates: files; or what is in memory, which is written
    into the folder: `Demonstrations`, arrays `(obs, action, episode)`, or a table of such arrays. `obs_keys` chooses
    among named parts of observations, of environment and demonstrations alike.
    `start_from` is the policy to begin with, as `load_policy` takes it: a run, a file, a name such as `hopper#1`, or a `Policy`.
    `settings` reaches every other field of `RunConfig`: `{"classifier.lam": 0.3, "evaluate_every": 50_000}`.
    `callback`, or each of several, sees each line of metrics; if one returns False, the run ends there and can be
    resumed. With `resume` the run in `out` goes on where its last checkpoint is; options left out are taken from it.
    `trust_env` allows its `config.json` to name a module that is imported.

        >>> rilco.train("runs/mine", env="Pendulum-v1", demos="mine.hdf5", method="ril-co", steps=2_000, quiet=True)
        Run(path=PosixPath('runs/mine'))
    """
    folder, own = Path(out), demos is not None and not are_paths(demos)
    options = {
        "method": method,
        "task": task,
        "env": env,
        "env_kwargs": env_kwargs,
        "demos": folder / DEMONSTRATIONS if own else demos,
        "obs_keys": obs_keys or None,
        "noise_rate": noise_rate,
        "steps": steps,
        "seed": seed,
        "start_from": folder / START if isinstance(start_from, Policy) else start_from,
    }
    config = make_config({**options, **(settings or {})}, stored=RunConfig.load(out) if resume else None)
    if trust_env:
        trust(config.task.name)
    written: dict[str, Callable[[Path], None]] = {}
    if own:
        held = from_memory(demos, config.task.shown() or config.task.obs_keys)
        written[DEMONSTRATIONS] = functools.partial(save_demonstrations, held)
    if isinstance(start_from, Policy):
        written[START] = start_from.save
    how = How(workers=workers, quiet=quiet, callbacks=_callbacks(callback))
    if resume:
        _check_same(folder, written)
        return train_config(config, out, how=how, resume=True)
    check_free(folder)
    with _written(folder, written):
        return train_config(config, out, how=how)


def _check_same(folder: Path, files: Mapping[str, Callable[[Path], None]]) -> None:
    """Refuses to go on with other things in memory than a run began with."""
    for name, save in files.items():
        with scratch("given") as temporary:
            save(temporary / name)
            before = folder / name
            if before.exists() and before.read_bytes() != (temporary / name).read_bytes():
                raise RunError(
                    f"{before}: this run began with other contents. Leave that option out to go on as begun, or "
                    "choose another folder."
                )


@contextlib.contextmanager
def _written(folder: Path, files: Mapping[str, Callable[[Path], None]]) -> Iterator[None]:
    """Write what was given in memory into the folder of a new run. One that never begins leaves nothing behind."""
    new = not folder.exists()
    for name, save in files.items():
        folder.mkdir(parents=True, exist_ok=True)
        save(folder / name)
    try:
        yield
    finally:
        if files and not holds_run(folder):
            for name in files:
                (folder / name).unlink(missing_ok=True)
            if new:
                folder.rmdir()


def _callbacks(given: Any) -> tuple[Callback, ...]:
    several = (given,) if callable(given) else given
    if not isinstance(several, list | tuple) or not all(
        callable(c) and not isinstance(c, type) for c in several
    ):
        raise ConfigError(f"callback={given!r}: expected a function of a line of metrics, or a list of them.")
    return tuple(several)


def train_config(
    config: RunConfig, out: str | os.PathLike[str], *, how: How | None = None, resume: bool = False
) -> Run:
    """Train what a configuration says: one run (`rilco.training.train_run`), or the phases of `ril-co-clean`."""
    if find(config.method).runner != "several":
        return train_run(config, out, how=how, resume=resume)
    from rilco.clean.phases import train_clean  # here, because the other methods do not need it

    return train_clean(config, Path(out), how or How(), resume=resume)
