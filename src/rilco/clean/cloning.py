"""The third phase of `ril-co-clean`: clones of the kept demonstrations, and of what they then practised; and their mean,
which is the policy.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rilco.bc.config import BcConfig
from rilco.clean.config import CleanConfig
from rilco.clean.practice import Practice, make_pool, practise
from rilco.config import RunConfig
from rilco.data.formats import load_file
from rilco.evaluation import evaluate
from rilco.files import read_record, write_atomically
from rilco.methods import find
from rilco.policy.averaging import mean_policy
from rilco.policy.saved import Policy
from rilco.runs.folder import Run
from rilco.runs.how import How
from rilco.runs.loop import EVALUATION_SEED_OFFSET, evaluation_record, rounded
from rilco.training import train_if_needed

CLONES, PRACTICE = "3-clones", "3-practice"
KEPT, DROPPED = "kept.npz", "dropped.npz"
RECORD, POLICY = "3-policy.json", "3-policy.safetensors"
CLONE_SEEDS = 1_000_000  # apart from one another, and from those of a user's runs
SEEDS = 2**31  # that there are


@dataclass(frozen=True)
class Spent:
    """What something took."""

    transitions: int
    seconds: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.transitions + other.transitions, self.seconds + other.seconds)


def time_of(runs: Sequence[Run]) -> Spent:
    """For runs whose transitions are counted elsewhere, or are none of the simulator's."""
    return Spent(0, sum(run.metrics()[-1]["seconds"] for run in runs))


def clone_and_practise(
    config: RunConfig, phases: Path, how: How, *, separated: bool
) -> tuple[list[Run], Spent]:
    """The last clones, and what all of it took. What is in the folder already is left alone.

    Where good and bad are not `separated`, clones would practise what is bad, too: then they do not.
    """
    clones = _clone(config, phases, 0, how)
    spent = time_of(clones)
    for practised in range(config.clean.rounds if separated else 0):
        practice = _practise(config, clones, phases, practised, how)
        spent += Spent(practice.transitions, practice.seconds)
        if not practice.worth_imitating:
            break
        clones = _clone(config, phases, practised + 1, how)
        spent += time_of(clones)
    return clones, spent


def _clone(config: RunConfig, phases: Path, practised: int, how: How) -> list[Run]:
    """All clones, after so many rounds of practice."""
    clones = []
    for number in range(1, config.clean.clones + 1):
        how.say(
            f"Clone {number} of {config.clean.clones}{f', after round {practised} of practice' if practised else ''}"
        )
        path = phases / CLONES / str(practised) / str(number)
        clones.append(train_if_needed(_clone_config(config, phases, practised, number), path, how))
    return clones


def _clone_config(config: RunConfig, phases: Path, practised: int, number: int) -> RunConfig:
    """Of the clone with this number."""
    iterations = -(-config.clean.gradient_steps // config.bc.steps_per_iteration)
    steps = iterations * config.transitions_per_iteration
    clean, files = config.clean, of_what_was_kept(phases)
    bc = dataclasses.replace(
        config.bc,
        learning_rate=clean.learning_rate,
        decay_steps=iterations * config.bc.steps_per_iteration,
        farthest=clean.farthest,
    )
    files["demos"] += tuple(str(_attempts(phases, before).absolute()) for before in range(practised))
    if practised == 0 and (phases / DROPPED).exists():
        bc = dataclasses.replace(bc, start_weight=clean.start_weight)
    return dataclasses.replace(
        as_method(config, "bc", steps=steps),
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
    record = out.with_suffix(".json")
    if not record.exists():
        begun = time.monotonic()
        record.parent.mkdir(exist_ok=True)
        policies, starts = [clone.last_policy for clone in clones], config.clean.practice_starts
        with make_pool(config, policies[0], how.num_workers) as pool:
            practice = practise(
                policies, load_file(phases / KEPT), pool, out, practised=practised, starts=starts, how=how
            )
        practice = practice._replace(seconds=round(time.monotonic() - begun, 3))
        write_atomically(record, json.dumps(practice._asdict(), indent=1).encode())
    practice = read_record(Practice, record)
    how.say(practice.sentence())
    return practice


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
    """A phase's configuration."""
    classifier = config.classifier
    reads = find(method).reads
    bc = config.bc if "bc." in reads else BcConfig()
    if (
        "classifier.pseudo_labels" not in reads
    ):  # where it has no effect, and without it something would have to be known
        classifier = dataclasses.replace(classifier, pseudo_labels=True)
    return dataclasses.replace(
        config, method=method, steps=steps, classifier=classifier, bc=bc, clean=CleanConfig()
    )


# -- their mean ------------------------------------------------------------------------------------


class Combined(NamedTuple):
    """What is remembered of the policy."""

    evaluation: dict[str, float]
    seconds: float


def combine(
    config: RunConfig, clones: Sequence[Run], phases: Path, how: How, *, transitions: int
) -> Combined:
    """The policy, made now or before, in the folder `phases`. `transitions` led to it."""
    record = phases / RECORD
    if not record.exists():
        begun = time.monotonic()
        policy = mean_policy([clone.last_policy for clone in clones])
        card = {**policy.card, "method": config.method, "seed": config.seed, "transitions": transitions}
        policy = dataclasses.replace(policy, card=card)
        policy.save(phases / POLICY)
        evaluation = _evaluate(policy, config, how)
        combined = Combined(evaluation, round(time.monotonic() - begun, 3))
        write_atomically(record, json.dumps(combined._asdict(), indent=1).encode())
    return read_record(Combined, record)


def _evaluate(policy: Policy, config: RunConfig, how: How) -> dict[str, Any]:
    """As every run's evaluations, and from the same start states; nothing where none are wanted."""
    if config.evaluate_every < 0:
        return {}
    seed, episodes = config.seed + EVALUATION_SEED_OFFSET, config.evaluation_episodes
    outcome = evaluate(policy, task=config.task, episodes=episodes, seed=seed, workers=how.workers)
    return rounded(evaluation_record(outcome))
