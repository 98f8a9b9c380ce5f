"""The runs behind docs/results.md, in the order in which they are worth having.

    AUTHORS_FILES=path/to/demos rilco sweep benchmarks/evidence.py:start_up --out runs/evidence

AUTHORS_FILES names the folder with the authors' demonstrations, one folder a task.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rilco.tasks.robots import ROBOTS

Options = dict[str, Any]


def start_up() -> Iterator[Options]:
    """The first two million of `headline`, which go on from here (`--steps 5e6`)."""
    yield from _cells(("hopper", "halfcheetah"), ("ril-co", "gail-logistic"), range(1, 6), 2e6)


def headline() -> Iterator[Options]:
    """Rate 0.4, five million."""
    yield from _cells(("hopper", "halfcheetah"), ("ril-co", "gail-logistic", "gail-ap"), range(1, 6), 5e6)


def long() -> Iterator[Options]:
    """Where the published curves part between five and ten million."""
    yield from _cells(("walker2d", "ant"), ("ril-co",), range(1, 4), 10e6)
    yield from _cells(("walker2d", "ant"), ("gail-logistic",), range(1, 3), 10e6)


def others() -> Iterator[Options]:
    """The other methods."""
    yield from _cells(("hopper", "halfcheetah", "walker2d", "ant"), ("bc",), range(1, 4), 2e6)
    methods = ("ril-co-logistic", "ril-p", "fairl", "vild", "gail-unhinged")
    yield from _cells(("hopper", "halfcheetah"), methods, range(1, 3), 2e6)


def ours() -> Iterator[Options]:
    """The datasets that come with rilco. Matched ones there are of Hopper."""
    for tasks, kind in ((("hopper", "halfcheetah"), "policy"), (("hopper",), "matched")):
        yield from _cells(tasks, ("ril-co", "gail-logistic"), range(1, 4), 5e6, files=False, demo_kind=kind)


def clean() -> Iterator[Options]:
    """Rate 0."""
    yield from _cells(
        ("hopper", "halfcheetah"), ("ril-co", "gail-logistic"), range(1, 3), 5e6, noise_rate=0.0
    )


def gaussian() -> Iterator[Options]:
    """Ant with noise on the expert's actions."""
    methods = ("ril-co", "vild", "gail-logistic")
    yield from _cells(("ant",), methods, (1,), 10e6, files=False, demo_kind="gaussian")


def _cells(
    tasks: Sequence[str],
    methods: Sequence[str],
    seeds: Sequence[int],
    steps: float,
    *,
    files: bool = True,
    **more: Any,
) -> Iterator[Options]:
    """Seed by seed, so that an unfinished sweep has something of everything."""
    for seed in seeds:
        for task in tasks:
            for method in methods:
                options = {
                    "task": task,
                    "method": method,
                    "seed": seed,
                    "steps": steps,
                    "evaluate_every": 40_000,
                }
                if files:
                    options["demos"] = str(Path(os.environ["AUTHORS_FILES"]) / ROBOTS[task].stock_id)
                yield {"noise_rate": 0.4, **options, **more}
