"""Which of several clones `ril-co-clean` goes on with: they are tried out in the simulator, before RIL-Co's classifiers."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rilco.bookkeeping import EVALUATION_SEED_OFFSET, evaluation_record, rounded
from rilco.cleaning.attempts import make_pool
from rilco.cleaning.trials import Trials, hold_trials, trial_transitions
from rilco.config import RunConfig
from rilco.evaluation import evaluate
from rilco.files import write_atomically
from rilco.interrupt import StopSignal
from rilco.policy.saved import Policy
from rilco.rollout.pool import default_workers
from rilco.run import Run
from rilco.training import load_state

RECORD, POLICY = "3-chosen.json", "3-chosen.safetensors"


class Choice(NamedTuple):
    """What is remembered of the clones, once one is chosen."""

    clone: int
    """Counted from 1."""
    transitions: int
    """Of the trials."""
    seconds: float
    evaluation: dict[str, float]
    scores: list[list[float]]
    """Of every clone: how expert-like it was in its heats."""

    def sentence(self) -> str:
        own = self.scores[self.clone - 1]
        last = sorted(np.mean(heats) for heats in self.scores if len(heats) == len(own))
        return (
            f"Chosen: clone {self.clone}, expert-like by {last[-1]:.3f} in {len(own)} heats; the last one that it was "
            f"compared with, by {last[-2]:.3f}."
        )


def choose(
    config: RunConfig,
    search: Run,
    clones: Sequence[Run],
    phases: Path,
    *,
    made: int,
    say: Callable[[str], None],
    workers: int | None,
    stop: StopSignal,
) -> Choice:
    """The choice among finished clones, made now or before; its policy is then in the folder `phases`.

    `made` are the transitions before it.
    """
    record = phases / RECORD
    if not record.exists():
        choice, policy = _choose(config, search, clones, say, workers or default_workers(), stop)
        card = {**policy.card, "method": config.method, "seed": config.seed}
        card["transitions"] = made + choice.transitions
        dataclasses.replace(policy, card=card).save(phases / POLICY)
        write_atomically(record, json.dumps(choice._asdict(), indent=1).encode())
    choice = Choice(**json.loads(record.read_text()))
    if len(clones) > 1:
        say(choice.sentence())
    return choice


def _choose(
    config: RunConfig,
    search: Run,
    clones: Sequence[Run],
    say: Callable[[str], None],
    workers: int,
    stop: StopSignal,
) -> tuple[Choice, Policy]:
    begun = time.monotonic()
    policies = [clone.last_policy for clone in clones]
    trials = Trials([[]], 0)
    if len(policies) > 1:
        trials = _try_out(policies, search, config, workers, say, stop)
    evaluation = _evaluate(policies[trials.best], config, workers)
    transitions = trial_transitions(len(policies), config.num_envs, config.clean.trial_steps)
    choice = Choice(
        trials.best + 1, transitions, round(time.monotonic() - begun, 3), evaluation, trials.scores
    )
    return choice, policies[trials.best]


def _try_out(
    policies: Sequence[Policy],
    search: Run,
    config: RunConfig,
    workers: int,
    say: Callable[[str], None],
    stop: StopSignal,
) -> Trials:
    with make_pool(config, policies[0], config.clean.trial_steps, workers) as pool:
        return hold_trials(policies, load_state(search), pool, say=say, stop=stop)


def _evaluate(policy: Policy, config: RunConfig, workers: int) -> dict[str, Any]:
    """As every run's evaluations, and from the same start states; nothing where none are wanted."""
    if config.evaluate_every < 0:
        return {}
    seed, episodes = config.seed + EVALUATION_SEED_OFFSET, config.evaluation_episodes
    outcome = evaluate(policy, task=config.task, episodes=episodes, seed=seed, workers=workers)
    return rounded(evaluation_record(outcome))
