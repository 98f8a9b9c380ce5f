"""The runs of the paper: Tangkaratt et al., Robust Imitation Learning from Noisy Demonstrations (AISTATS 2021)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from rilco.config import RunConfig
from rilco.errors import ConfigError, suggestion
from rilco.experiment.grid import Grid
from rilco.tasks.robots import ROBOTS

STEPS = 20_000_000
SEEDS = (1, 2, 3, 4, 5)
NOISE_RATES = (0.0, 0.1, 0.2, 0.3, 0.4)
COMPARED = ("ril-co", "gail-logistic", "gail-unhinged", "gail-ap", "fairl", "vild", "bc")
ABLATION = ("ril-co", "ril-co-logistic", "ril-p", "ril-p-logistic")
GAUSSIAN = tuple(method for method in COMPARED if method != "bc")  # as section 4.3 has it

# Part -> methods and noise rates; all but `gaussian` are of all four tasks.
PARTS = {
    "main": (COMPARED, NOISE_RATES),  # figure 2, and the learning curves of the appendix
    "ablation": (ABLATION, NOISE_RATES),  # figure 5
    "gaussian": (GAUSSIAN, (0.4,)),  # figure 6: Ant only
    "headline": (COMPARED, (0.4,)),  # figure 3: the part of `main` at the highest noise rate
}


def paper(
    parts: Sequence[str] = ("main", "ablation", "gaussian"),
    *,
    seeds: Sequence[int] = SEEDS,
    steps: int = STEPS,
    demos_root: str | os.PathLike[str] | None = None,
) -> Iterator[RunConfig]:
    """Every run of the paper, once, seed by seed, so that an unfinished sweep has something of everything.

    Demonstrations are the tasks' standard datasets, or, with `demos_root`, the files in its folders of the tasks'
    names (`AntBulletEnv-v0`, as the authors call them, or `ant`).
    """
    for part in parts:
        if part not in PARTS:
            raise ConfigError(
                f"--part {part}: the paper has no such part; it has {', '.join(PARTS)}.{suggestion(part, PARTS)}"
            )
    # An ordered set: `ril-co` is in two parts.
    cells = dict.fromkeys(cell for part in parts for cell in _cells(part))
    if demos_root is not None and any(kind == "gaussian" for _, kind, _, _ in cells):
        raise ConfigError(
            f"--demos-root {demos_root}: Gaussian noise is only known of the standard dataset. Choose the other parts "
            "(--part main --part ablation), or leave --demos-root out."
        )
    for seed in seeds:
        for task, kind, noise_rate, method in cells:
            demos = None if demos_root is None else str(_folder(Path(demos_root), task))
            yield from Grid(
                task=task,
                method=method,
                noise_rate=noise_rate,
                demo_kind=kind,
                demos=demos,
                seed=seed,
                steps=steps,
            )


def _cells(part: str) -> Iterator[tuple[str, str, float, str]]:
    methods, noise_rates = PARTS[part]
    kind, tasks = ("gaussian", ("ant",)) if part == "gaussian" else ("policy", tuple(ROBOTS))
    for task in tasks:
        for noise_rate in noise_rates:
            for method in methods:
                yield task, kind, noise_rate, method


def _folder(root: Path, task: str) -> Path:
    """The folder of a task's files: named after the task, or as PyBullet names its environment."""
    known = [task, f"{task}bulletenv-v0"]
    try:
        found = [child for child in sorted(root.iterdir()) if child.name.lower() in known and child.is_dir()]
    except OSError as error:
        raise ConfigError(
            f"--demos-root {root}: could not be read ({error.strerror}). It names a folder with a folder of "
            "demonstration files for every task."
        ) from error
    if len(found) != 1:
        raise ConfigError(
            f"--demos-root {root}: expected one folder of {task} demonstrations in it, named {task!r} or as PyBullet "
            f"names the environment; found {', '.join(folder.name for folder in found) or 'none'}."
        )
    return found[0]
