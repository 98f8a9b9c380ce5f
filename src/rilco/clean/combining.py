"""What `ril-co-clean` ends with: the mean of its last clones, as one policy."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rilco.config import RunConfig
from rilco.evaluation import evaluate
from rilco.files import write_atomically
from rilco.policy.averaging import mean_policy
from rilco.policy.saved import Policy
from rilco.runs.books import EVALUATION_SEED_OFFSET, evaluation_record, rounded
from rilco.runs.folder import Run

RECORD, POLICY = "3-policy.json", "3-policy.safetensors"


class Combined(NamedTuple):
    """What is remembered of the policy."""

    evaluation: dict[str, float]
    seconds: float


def combine(
    config: RunConfig, clones: Sequence[Run], phases: Path, *, transitions: int, workers: int | None
) -> Combined:
    """The policy, made now or before, in the folder `phases`. `transitions` led to it."""
    record = phases / RECORD
    if not record.exists():
        begun = time.monotonic()
        policy = mean_policy([clone.last_policy for clone in clones])
        card = {**policy.card, "method": config.method, "seed": config.seed, "transitions": transitions}
        policy = dataclasses.replace(policy, card=card)
        policy.save(phases / POLICY)
        evaluation = _evaluate(policy, config, workers)
        combined = Combined(evaluation, round(time.monotonic() - begun, 3))
        write_atomically(record, json.dumps(combined._asdict(), indent=1).encode())
    return Combined(**json.loads(record.read_text()))


def _evaluate(policy: Policy, config: RunConfig, workers: int | None) -> dict[str, Any]:
    """As every run's evaluations, and from the same start states; nothing where none are wanted."""
    if config.evaluate_every < 0:
        return {}
    seed, episodes = config.seed + EVALUATION_SEED_OFFSET, config.evaluation_episodes
    outcome = evaluate(policy, task=config.task, episodes=episodes, seed=seed, workers=workers)
    return rounded(evaluation_record(outcome))
