"""Several policies as one: a network that holds them all side by side and gives the mean of their actions."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from scipy.linalg import block_diag

from rilco.policy.saved import OBS_EPSILON, Policy


def mean_policy(policies: Sequence[Policy]) -> Policy:
    """Join policies of the same shape: the mean of their mean actions, with their mean variance.

    Exact up to rounding, except where one of them would clip an observation that the first does not. The hidden layers are
    as many times as wide as there are policies.
    """
    if len(policies) == 1:
        return policies[0]
    first, count = policies[0], len(policies)
    networks = [_seeing_as(policy, first) for policy in policies]
    layers = []
    for depth, parts in enumerate(zip(*networks, strict=True)):
        weights, biases = zip(*parts, strict=True)
        last = depth == len(first.layers) - 1
        if depth == 0 and last:
            weight = np.mean(weights, axis=0)
        elif depth == 0:
            weight = np.concatenate(weights, axis=1)  # all see the observation
        elif last:
            weight = np.concatenate(weights, axis=0) / count
        else:
            weight = block_diag(*weights)
        bias = np.mean(biases, axis=0) if last else np.concatenate(biases)
        layers.append((weight.astype(np.float32), bias.astype(np.float32)))
    variance = np.mean([np.exp(2.0 * policy.log_std) for policy in policies], axis=0)
    return dataclasses.replace(first, layers=layers, log_std=(0.5 * np.log(variance)).astype(np.float32))


def _seeing_as(policy: Policy, other: Policy) -> list[tuple[np.ndarray, np.ndarray]]:
    """The policy's layers, for observations that are normalised as the other's."""
    (weight, bias), *rest = policy.layers
    ours, theirs = (1.0 / np.sqrt(one.obs_var.astype(np.float64) + OBS_EPSILON) for one in (policy, other))
    shift = (other.obs_mean.astype(np.float64) - policy.obs_mean) * ours
    return [(weight * (ours / theirs)[:, None], bias + shift @ weight), *rest]
