"""The Python face of the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rilco.config import RunConfig
from rilco.data.formats import save_demonstrations
from rilco.data.loading import Given, from_memory
from rilco.data.record import Demonstrations
from rilco.errors import ConfigError
from rilco.methods import find
from rilco.options import make_config
from rilco.runs.folder import Run, check_free
from rilco.runs.how import Callback, How
from rilco.runs.paths import DEMONSTRATIONS, holds_run
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
    task: str | None = None,
    env: Any = None,
    env_kwargs: Mapping[str, Any] | None = None,
    demos: Given | None = None,
    noise_rate: float | None = None,
    steps: float | None = None,
    seed: int | None = None,
    start_from: str | os.PathLike[str] | None = None,
    resume: bool = False,
    trust_env: bool = False,
    workers: int | None = None,
    quiet: bool = False,
    callback: Callback | Sequence[Callback] = (),
    settings: Mapping[str, Any] | None = None,
) -> Run:
    """Train a policy in the folder `out`; the same as `rilco train`.

    Give a Bullet `task` or any Gymnasium `env`: an id, a class or function of a module with its `env_kwargs`, or an
    `EnvSpec`. Give `demos` for every method that imitates: files; or what is in memory, which is written into the
    folder: `Demonstrations`, arrays `(obs, action, episode)`, or a table of such arrays.
    `start_from` is the policy to begin with: a file, a run's folder, or a name such as `hopper#1`.
    `settings` reaches every other field of `RunConfig`: `{"classifier.lam": 0.3, "evaluate_every": 50_000}`.
    `callback`, or each of several, sees each line of metrics; if one returns False, the run ends there and can be
    resumed. With `resume` the run in `out` goes on where its last checkpoint is; options left out are taken from it.
    `trust_env` allows its `config.json` to name a module that is imported.

        >>> rilco.train("runs/mine", env="Pendulum-v1", demos="mine.hdf5", method="ril-co", steps=2_000, quiet=True)
        Run(path=PosixPath('runs/mine'))
    """
    demos = from_memory(demos)
    own = Path(out) / DEMONSTRATIONS if isinstance(demos, Demonstrations) else None
    options = {
        "method": method,
        "task": task,
        "env": env,
        "env_kwargs": env_kwargs,
        "demos": demos if own is None else own,
        "noise_rate": noise_rate,
        "steps": None if steps is None else int(steps),
        "seed": seed,
        "start_from": start_from,
        **(settings or {}),
    }
    config = make_config(options, stored=RunConfig.load(out) if resume else None)
    if trust_env:
        trust(config.task.name)
    how = How(workers=workers, quiet=quiet, callbacks=_callbacks(callback))
    if not resume:
        check_free(Path(out))
    if own is None or not isinstance(demos, Demonstrations) or resume:
        return train_config(config, out, how=how, resume=resume)
    existed = own.parent.exists()
    own.parent.mkdir(parents=True, exist_ok=True)
    save_demonstrations(demos, own)
    try:
        return train_config(config, out, how=how)
    finally:
        if not holds_run(own.parent):  # it never began, and leaves nothing behind
            own.unlink(missing_ok=True)
            if not existed:
                own.parent.rmdir()


def _callbacks(given: Any) -> tuple[Callback, ...]:
    several = (given,) if callable(given) else given
    if not isinstance(several, list | tuple) or not all(map(callable, several)):
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
