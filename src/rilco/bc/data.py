"""Demonstrations as behaviour cloning uses them: on the device once, split into trained and held-out pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from rilco.bc.config import BcConfig
from rilco.data.index import EpisodeIndex
from rilco.data.record import Demonstrations
from rilco.errors import DemonstrationError
from rilco.normalizer import Normalizer
from rilco.seeding import DEMONSTRATIONS, generator
from rilco.tasks.actions import AS_THEY_ARE, Actions

MOST_CHECKED = 10_000
"""Most pairs that a validation loss is measured on, so that validating millions takes no longer than training."""

BLOCK = 100_000  # pairs at a time where a copy of all of them would be large


class CloningData(NamedTuple):
    """Pairs, and which of them serve for what. Rows are indices, so that no pair is stored twice."""

    obs: jax.Array  # [N, obs_dim] raw
    action: jax.Array  # [N, action_dim] as learners write them
    weight: jax.Array | None  # [N], mean 1 over the trained and over the checked pairs; None: all the same
    normalizer: Normalizer  # of the trained pairs' observations, fixed
    trained_rows: jax.Array  # [M] int32
    checked_rows: jax.Array  # [K] int32: held-out pairs, or trained ones where none is held out


def prepare(
    demos: Demonstrations,
    config: BcConfig,
    seed: int,
    weights: Sequence[float] | np.ndarray | None = None,
    actions: Actions = AS_THEY_ARE,
) -> CloningData:
    """Hold out, take the statistics of the rest, and bring everything to the device. `actions` say how to write them."""
    validation = config.validation
    weight = None if weights is None else _checked_weights(weights, len(demos))
    if config.start_weight != 1.0:
        starts = np.where(demos.index.step < config.start_steps, config.start_weight, 1.0)
        weight = starts if weight is None else weight * starts
    held = held_out(demos.index, validation, seed)
    counts = np.ones(len(demos), bool) if weight is None else weight > 0
    trained, checked = np.flatnonzero(counts & ~held), np.flatnonzero(counts & held)
    if len(trained) == 0 or (validation > 0 and len(checked) == 0):
        raise DemonstrationError(
            f"{len(demos)} demonstration pairs, {int(counts.sum())} of them with a weight above 0, leave "
            f"{len(trained)} to train on and {len(checked)} held out; both need at least one. Give more "
            "demonstrations, or set bc.validation to 0 to hold nothing out."
        )
    checked = checked if validation > 0 else trained
    if len(checked) > MOST_CHECKED:
        checked = checked[np.linspace(0, len(checked) - 1, MOST_CHECKED).astype(int)]  # evenly spaced
    if weight is not None:
        # Mean 1 in either part: the learning rate then means the same whatever their unit is.
        weight = weight / np.where(held, weight[checked].mean(), weight[trained].mean())
    return CloningData(
        jnp.asarray(demos.obs),
        jnp.asarray(actions.encode(demos.action)),
        None if weight is None else jnp.asarray(weight, jnp.float32),
        statistics(demos.obs, trained, weight, config.farthest),
        jnp.asarray(trained, jnp.int32),
        jnp.asarray(checked, jnp.int32),
    )


def held_out(index: EpisodeIndex, share: float, seed: int) -> np.ndarray:
    """Mask [N] of the pairs to hold out: whole episodes, evenly spread in their order from a random start.

    Files follow one another, so an even spread takes its share of each of them. Of a single episode a stretch of
    consecutive pairs is held out: single pairs would have nearly identical neighbours among the rest.
    """
    pairs, episodes = len(index.order), len(index)
    if share == 0:
        return np.zeros(pairs, bool)
    place = generator(seed, DEMONSTRATIONS).uniform()
    if episodes == 1:
        size = min(max(1, round(share * pairs)), pairs - 1)
        start = int(place * (pairs - size + 1))
        return (np.arange(pairs) >= start) & (np.arange(pairs) < start + size)
    count = min(max(1, round(share * episodes)), episodes - 1)
    chosen = index.by_appearance[((np.arange(count) + place) * episodes / count).astype(int)]
    return np.isin(index.number, chosen)


def statistics(
    obs: np.ndarray, rows: np.ndarray, weight: np.ndarray | None = None, farthest: float = 0.0
) -> Normalizer:
    """Mean and variance of the observations [N, obs_dim] in `rows`, by weight.

    A feature that never varies keeps its unit: dividing by its deviation of 0 would blow up whatever it is later. Where a
    value lies more than `farthest` deviations off the mean, unless that is 0, the variance is raised.
    """
    blocks = np.array_split(rows, -(-len(rows) // BLOCK))
    shares = [np.ones(len(block)) if weight is None else weight[block].astype(np.float64) for block in blocks]
    total = sum(share.sum() for share in shares)
    pairs = list(zip(blocks, shares, strict=True))
    mean = sum(share @ obs[block].astype(np.float64) for block, share in pairs) / total
    var = sum(share @ np.square(obs[block] - mean) for block, share in pairs) / total
    if farthest:
        reach = np.max([np.abs(obs[block] - mean).max(0) for block in blocks], axis=0)
        var = np.maximum(var, np.square(reach / farthest))
    var = np.where(var > 1e-12 * np.square(mean), var, 1.0)
    return Normalizer(*(jnp.asarray(array, jnp.float32) for array in (mean, var, total)))


def _checked_weights(weights: Sequence[float] | np.ndarray, pairs: int) -> np.ndarray:
    weight = np.asarray(weights, np.float64)
    if weight.shape != (pairs,) or not np.all(np.isfinite(weight)) or np.any(weight < 0):
        raise DemonstrationError(
            f"weights: got an array of the shape {list(weight.shape)}; expected [{pairs}], one for each "
            "pair, all of them finite and 0 or more."
        )
    return weight
