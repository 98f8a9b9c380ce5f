"""Which of several clones `ril-co-clean` goes on with: they are tried out in the simulator, before RIL-Co's classifiers."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rilco.bookkeeping import EVALUATION_SEED_OFFSET
from rilco.config import RunConfig
from rilco.evaluation import evaluate
from rilco.files import write_atomically
from rilco.interrupt import StopSignal
from rilco.policy.saved import Policy, load_policy
from rilco.rollout.layout import Sizes
from rilco.rollout.pool import RolloutPool, default_workers
from rilco.run import Run
from rilco.training import load_state
from rilco.trials import Trials, count_heats, hold_trials

RECORD, POLICY = "3-chosen.json", "3-chosen.safetensors"
TRIED = 2
"""Snapshots of each clone that are tried out: the last ones. From one to the next it may lose a fall, or find one."""


class Choice(NamedTuple):
    """What is remembered of the clones, once one is chosen."""

    clone: int
    """Counted from 1."""
    gradient_steps: int
    """That it had made."""
    transitions: int
    """Of the trials."""
    seconds: float
    """Of cloning and of the trials."""
    evaluation: dict[str, float]
    scores: dict[str, list[float]]
    """Of everything that was tried, by clone and gradient steps: how expert-like it was in its heats."""

    def sentence(self) -> str:
        own = self.scores[_name(self.clone, self.gradient_steps)]
        last = sorted(np.mean(heats) for heats in self.scores.values() if len(heats) == len(own))
        return (
            f"Chosen: clone {self.clone} after {self.gradient_steps:,} gradient steps, expert-like by {last[-1]:.3f} in "
            f"{len(own)} heats; the last one that it was compared with, by {last[-2]:.3f}."
        )


def trial_transitions(clones: int, num_envs: int, trial_steps: int) -> int:
    """That choosing takes at most; where there is no choice, none."""
    return count_heats(clones * TRIED) * num_envs * trial_steps if clones > 1 else 0


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
    if choice.scores:
        say(choice.sentence())
    return choice


class _Candidate(NamedTuple):
    clone: int
    gradient_steps: int
    policy: Policy


def _choose(
    config: RunConfig,
    search: Run,
    clones: Sequence[Run],
    say: Callable[[str], None],
    workers: int,
    stop: StopSignal,
) -> tuple[Choice, Policy]:
    begun = time.monotonic()
    candidates = [one for number, clone in enumerate(clones, 1) for one in _candidates(clone, number)]
    best, transitions, scores = candidates[-1], 0, {}
    if len(clones) > 1:
        trials = _try_out(candidates, search, config, workers, say, stop)
        best = candidates[trials.best]
        transitions = sum(map(len, trials.scores)) * config.num_envs * config.clean.trial_steps
        names = (_name(one.clone, one.gradient_steps) for one in candidates)
        scores = dict(zip(names, trials.scores, strict=True))
    evaluation = _evaluate(best.policy, config, workers)
    seconds = sum(clone.metrics()[-1]["seconds"] for clone in clones) + time.monotonic() - begun
    facts = (best.clone, best.gradient_steps, transitions, round(seconds, 3), evaluation, scores)
    return Choice(*facts), best.policy


def _candidates(clone: Run, number: int) -> list[_Candidate]:
    """Policies of a clone to choose from; the last one only, if it has no snapshots."""
    snapshots = sorted((clone.path / "policy" / "snapshots").glob("*.safetensors"))[-TRIED:]
    policies = [load_policy(file) for file in snapshots] or [clone.last_policy]
    a_transition = clone.config.bc.steps_per_iteration / clone.config.transitions_per_iteration
    return [_Candidate(number, round(one.card["transitions"] * a_transition), one) for one in policies]


def _name(clone: int, gradient_steps: int) -> str:
    return f"clone {clone} at {gradient_steps}"


def _try_out(
    candidates: Sequence[_Candidate],
    search: Run,
    config: RunConfig,
    workers: int,
    say: Callable[[str], None],
    stop: StopSignal,
) -> Trials:
    policies = [one.policy for one in candidates]
    dims = (policies[0].obs_dim, policies[0].action_dim, policies[0].hidden_sizes)
    sizes = Sizes(config.num_envs, config.clean.trial_steps, *dims)
    with RolloutPool(config.task, sizes, seed=config.seed, num_workers=workers) as pool:
        return hold_trials(policies, load_state(search), pool, say=say, stop=stop)


def _evaluate(policy: Policy, config: RunConfig, workers: int) -> dict[str, Any]:
    """As every run's evaluations, and from the same start states; nothing where none are wanted."""
    if config.evaluate_every < 0:
        return {}
    seed, episodes = config.seed + EVALUATION_SEED_OFFSET, config.evaluation_episodes
    outcome = evaluate(policy, task=config.task, episodes=episodes, seed=seed, workers=workers)
    values = {
        "eval_return": outcome.returns.mean(),
        "eval_std": outcome.returns.std(),
        "eval_length": outcome.lengths.mean(),
    }
    return {name: float(f"{value:.5g}") for name, value in values.items()}
