"""The third phase of `ril-co-clean`: clones of the kept demonstrations, and of what they then practised; and their mean,
which is the policy.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from rilco.bc.config import BcConfig
from rilco.clean.config import CleanConfig
from rilco.clean.practice import Practice, make_pool, practise
from rilco.config import RunConfig
from rilco.data.formats import load_file
from rilco.evaluation import evaluate
from rilco.files import read_record, write_atomically
from rilco.methods import find
from rilco.policy.averaging import mean_policy
from rilco.runs.folder import Run
from rilco.runs.how import How
from rilco.runs.loop import EVALUATION_SEED_OFFSET, evaluation_record, rounded
from rilco.training import train_if_needed

CLONES, PRACTICE = "3-clones", "3-practice"
KEPT, DROPPED = "kept.npz", "dropped.npz"
RECORD, POLICY = "3-policy.json", "3-policy.safetensors"
CLONE_SEEDS = 1_000_000  # apart from one another, and from those of a user's runs
SEEDS = 2**31  # that there are
_Record = TypeVar("_Record", bound=NamedTuple)


def once(record: type[_Record], file: Path, make: Callable[[], _Record]) -> _Record:
    """What is remembered of a part of a phase in this file. If there is none, the part is done now."""
    if not file.exists():
        begun = time.monotonic()
        made = make()._asdict() | {"seconds": round(time.monotonic() - begun, 3)}
        write_atomically(file, json.dumps(made, indent=1).encode())
    return read_record(record, file)


def clone_and_practise(
    config: RunConfig, phases: Path, how: How, *, separated: bool
) -> tuple[list[Run], list[Practice]]:
    """The last clones, and the rounds of practice before them. What is in the folder already is left alone.

    Where good and bad are not `separated`, clones would practise what is bad, too: then they do not.
    """
    clones, rounds = _clone(config, phases, 0, how), list[Practice]()
    while separated and len(rounds) < config.clean.rounds:
        rounds.append(_practise(config, clones, phases, len(rounds), how))
        how.say(rounds[-1].sentence())
        if not rounds[-1].worth_imitating:
            break
        clones = _clone(config, phases, len(rounds), how)
    return clones, rounds


def _clone(config: RunConfig, phases: Path, practised: int, how: How) -> list[Run]:
    """All clones, after so many rounds of practice."""
    clones, after = [], f", after round {practised} of practice" if practised else ""
    for number in range(1, config.clean.clones + 1):
        how.say(f"Clone {number} of {config.clean.clones}{after}")
        path = phases / CLONES / str(practised) / str(number)
        clones.append(train_if_needed(_clone_config(config, phases, practised, number), path, how))
    return clones


def _clone_config(config: RunConfig, phases: Path, practised: int, number: int) -> RunConfig:
    """Of the clone with this number."""
    clean, files = config.clean, of_what_was_kept(phases)
    files["demos"] += tuple(str(_attempts(phases, before).absolute()) for before in range(practised))
    iterations = -(-clean.gradient_steps // config.bc.steps_per_iteration)
    dropped = practised == 0 and (phases / DROPPED).exists()
    bc = dataclasses.replace(
        config.bc,
        learning_rate=clean.learning_rate,
        decay_steps=iterations * config.bc.steps_per_iteration,
        farthest=clean.farthest,
        start_weight=clean.start_weight if dropped else config.bc.start_weight,
    )
    return dataclasses.replace(
        as_method(config, "bc", steps=iterations * config.transitions_per_iteration),
        **files,
        seed=(config.seed + (number - 1) * CLONE_SEEDS) % SEEDS,
        start_from="",
        policy_learner="acktr",
        bc=bc,
        evaluate_every=-1,
    )


def _practise(config: RunConfig, clones: Sequence[Run], phases: Path, practised: int, how: How) -> Practice:
    """A round after so many others, made now or before."""
    out = _attempts(phases, practised)

    def make() -> Practice:
        out.parent.mkdir(exist_ok=True)
        policies, starts = [clone.last_policy for clone in clones], config.clean.practice_starts
        kept = load_file(phases / KEPT)
        with make_pool(config, policies[0], how.num_workers) as pool:
            return practise(policies, kept, pool, out, practised=practised, starts=starts, how=how)

    return once(Practice, out.with_suffix(".json"), make)


def _attempts(phases: Path, practised: int) -> Path:
    """The good ones of the round of practice after so many others; files are counted from 1."""
    return phases / PRACTICE / f"{practised + 1}.npz"


def of_what_was_kept(phases: Path) -> dict[str, Any]:
    """A configuration's files: the kept demonstrations in the place of whatever the run was given."""
    kept = str((phases / KEPT).absolute())
    return {
        "demos": (kept,),
        "noise_rate": None,
        "demo_kind": "policy",
        "obs_keys": (),
        "nonexpert_demos": (),
    }


def as_method(config: RunConfig, method: str, *, steps: int) -> RunConfig:
    """A phase's configuration. Settings that it has no use for are the default ones."""
    reads, classifier = find(method).reads, config.classifier
    if "classifier.pseudo_labels" not in reads:  # without them something would have to be known
        classifier = dataclasses.replace(classifier, pseudo_labels=True)
    bc = config.bc if "bc." in reads else BcConfig()
    changes: dict[str, Any] = {"classifier": classifier, "bc": bc, "clean": CleanConfig()}
    return dataclasses.replace(config, method=method, steps=steps, **changes)


# -- their mean ------------------------------------------------------------------------------------


class Combined(NamedTuple):
    """What is remembered of the policy."""

    evaluation: dict[str, float]
    seconds: float = 0.0


def combine(
    config: RunConfig, clones: Sequence[Run], phases: Path, how: How, *, transitions: int
) -> Combined:
    """The policy, made now or before, in the folder `phases`. `transitions` led to it.

    It is evaluated as every run is, from the same start states; without a finish, as at the end of a run.
    """

    def make() -> Combined:
        policy = mean_policy([clone.last_policy for clone in clones])
        card = {**policy.card, "method": config.method, "seed": config.seed, "transitions": transitions}
        policy = dataclasses.replace(policy, card=card)
        policy.save(phases / POLICY)
        if config.evaluate_every < 0:
            return Combined({})
        last = config.clean.finish == "none"
        outcome = evaluate(
            policy,
            task=config.task,
            episodes=config.final_episodes if last else config.evaluation_episodes,
            seed=config.seed + EVALUATION_SEED_OFFSET,
            workers=how.workers,
        )
        return Combined(rounded(evaluation_record(outcome)))

    return once(Combined, phases / RECORD, make)
