"""Tiny environments that each isolate one way in which a policy learner can fail.

They are climbed in order: a learner that cannot predict a constant will not learn to act. All have one number
to see, one to choose, and episodes of a fixed length, and their right answers are known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rilco.policy.learner import Actor, PolicyLearner, Rollout
from rilco.tasks.actions import Actions


@dataclass(frozen=True)
class Probe:
    """A batch of environments in NumPy."""

    observe: Callable[[np.random.Generator, np.ndarray], np.ndarray]
    """`observe(rng, age [B]) -> obs [B]`, where age counts the steps since the reset"""

    reward: Callable[[np.ndarray, np.ndarray], np.ndarray]
    """`reward(obs [B], action [B]) -> [B]`"""

    length: int = 1
    """Steps in an episode."""

    time_limit: bool = False
    """Whether episodes end by truncation; otherwise the last step is terminal."""


def blank(rng: np.random.Generator, age: np.ndarray) -> np.ndarray:
    """Nothing to see."""
    return np.zeros(age.shape)


def coin(rng: np.random.Generator, age: np.ndarray) -> np.ndarray:
    """-1 or 1, at random."""
    return rng.choice([-1.0, 1.0], size=age.shape)


def clock(rng: np.random.Generator, age: np.ndarray) -> np.ndarray:
    """How old the episode is."""
    return age.astype(np.float64)


CONSTANT = Probe(blank, reward=lambda obs, action: np.ones_like(obs))
"""Is anything learned? The value is 1."""

VALUE_BY_OBS = Probe(coin, reward=lambda obs, action: obs)
"""Does the critic look? The value is the observation."""

DISCOUNT = Probe(clock, reward=lambda obs, action: obs, length=2)
"""Does value flow backwards? It is 1 on the last step, where the reward is, and the discount on the first."""

ACTION = Probe(blank, reward=lambda obs, action: -np.square(action - 0.5))
"""Is the advantage followed? The best action is 0.5."""

ACTION_BY_OBS = Probe(coin, reward=lambda obs, action: -np.square(action - 0.5 * obs))
"""Does the actor look? The best action is half the observation."""

TIME_LIMIT = Probe(blank, reward=lambda obs, action: np.full_like(obs, 0.2), length=3, time_limit=True)
"""Is a time limit not the end? The value is 0.2 / (1 - discount), and 0.2 * 3 steps at most if it is."""


CHOICE = Probe(blank, reward=lambda obs, action: (action == 1).astype(np.float64))
"""Is the advantage followed? The best of the choices 0, 1 and 2 is 1."""

CHOICE_BY_OBS = Probe(coin, reward=lambda obs, action: (action == 1 + obs).astype(np.float64))
"""Does the actor look? The best choice is 0 for -1, and 2 for 1."""

CHOICES = Actions((), (3,), (0.0,))


def train_on(
    probe: Probe,
    learner: PolicyLearner,
    state: Any,
    to_key: Callable[[int], object],
    *,
    iterations: int,
    num_envs: int = 32,
    num_steps: int = 8,
    actions: Actions = Actions((1,)),
) -> Any:
    """Alternate rollouts and updates, and return the learner's state."""
    rng = np.random.default_rng(0)
    # Ages start apart, or every episode would end on the same steps of a rollout.
    age = np.arange(num_envs) % probe.length
    obs = probe.observe(rng, age)
    for iteration in range(iterations):
        rollout, age, obs = _collect(probe, state.params.actor, actions, rng, age, obs, num_steps)
        state, _ = learner.update(state, rollout, to_key(iteration))
    return state


def act(actor: Actor, obs: np.ndarray) -> np.ndarray:
    """Mean actions [B] for obs [B]."""
    return outputs(actor, obs)[:, 0]


def outputs(actor: Actor, obs: np.ndarray) -> np.ndarray:
    """Of the network: [B, A] for obs [B]."""
    x = obs[:, None]
    *hidden, head = ({name: np.asarray(array) for name, array in layer.items()} for layer in actor.layers)
    for layer in hidden:
        x = np.tanh(x @ layer["w"] + layer["b"])
    return np.asarray(x @ head["w"] + head["b"])


def _collect(
    probe: Probe,
    actor: Actor,
    actions: Actions,
    rng: np.random.Generator,
    age: np.ndarray,
    obs: np.ndarray,
    num_steps: int,
) -> tuple[Rollout, np.ndarray, np.ndarray]:
    std = np.exp(np.asarray(actor.log_std))
    steps = []
    for _ in range(num_steps):
        noise = actions.noise(rng, len(obs)) if actions.choices else rng.normal(size=(*obs.shape, 1))
        action = actions.act(outputs(actor, obs), noise, std)
        reward = probe.reward(obs, actions.decode(action)[:, 0])
        ended = age == probe.length - 1
        steps.append((obs, action, reward, ended))
        age = np.where(ended, 0, age + 1)
        obs = probe.observe(rng, age)
    all_obs, taken, rewards, ends = (np.stack(column) for column in zip(*steps, strict=True))
    never = np.zeros_like(ends)
    rollout = Rollout(
        obs=np.float32(all_obs)[..., None],
        action=np.float32(taken),
        reward=np.float32(rewards),
        terminated=never if probe.time_limit else ends,
        truncated=ends if probe.time_limit else never,
        last_obs=np.float32(obs)[..., None],
    )
    return rollout, age, obs
