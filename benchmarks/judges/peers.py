"""Judges of one shape: demonstrations in, a score for each out, higher is better. None sees a reward or a label.

Episodes are numbered from 0 in the order of the pairs, as `sets.py` hands them over. The peers are written here after
their papers, small and with scikit-learn's networks; `tools.py` asks the packages of others.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import digamma

from rilco.data.record import Demonstrations

SEED = 0


class Scores(NamedTuple):
    """What a judge says."""

    score: np.ndarray
    """[D] higher is better."""
    keep: np.ndarray | None = None
    """[D] bool: what it would keep. None: it only ranks, and the best-scored true share is kept for it."""


Judge = Callable[[Demonstrations], Scores]


def length(demos: Demonstrations) -> Scores:
    """Control: the number of pairs."""
    return Scores(np.bincount(demos.episode).astype(float))


def speed(demos: Demonstrations) -> Scores:
    """Control: how far the observation moves in one step, in standard units."""
    return Scores(_mean(demos, np.linalg.norm(_steps(demos, _standard(demos.obs)), axis=1)))


def random(demos: Demonstrations) -> Scores:
    """Control: chance."""
    return Scores(np.random.default_rng(SEED).random(int(demos.episode.max()) + 1))


def cloning_error(demos: Demonstrations, folds: int = 5) -> Scores:
    """Minus the squared error of a network that was cloned from the other demonstrations."""
    obs, action = _standard(demos.obs), _standard(demos.action)
    error = np.empty(len(demos))
    for fold, part in enumerate(_parts(demos, folds)):
        predicted = _fit(obs[~part], action[~part], seed=fold)(obs[part])
        error[part] = np.square(predicted - action[part]).mean(1)
    return Scores(-_mean(demos, error))


def mutual_information(demos: Demonstrations, components: int = 8) -> Scores:
    """DemInf (Hejna et al. 2025): a demonstration's mean part in the mutual information of states and actions.

    Kraskov's estimator in random batches of 1024, for 5 to 7 neighbours, four passes, clipped at the 1st and 99th
    percentile. Whitened principal components stand for the paper's variational autoencoders, single actions for chunks.
    """
    state, action = (_components(_standard(x), components) for x in (demos.obs, demos.action))
    rng, total = np.random.default_rng(SEED), np.zeros(len(demos))
    batches = max(1, len(demos) // 1024)
    for _ in range(4):
        for rows in np.array_split(rng.permutation(len(demos)), batches):
            total[rows] += _ksg(state[rows], action[rows])
    return Scores(_mean(demos, np.clip(total, *np.percentile(total, (1, 99)))))


def bcnd(demos: Demonstrations, members: int = 5, rounds: int = 5) -> Scores:
    """BCND (Sasaki and Yamashina 2021): the mean weight that a demonstration's pairs have at the end.

    An ensemble is cloned from disjoint parts; in each round a pair counts by its likelihood under the last round's
    ensemble. The spread of its Gaussians is one for each action dimension, that of the first round.
    """
    obs, action = _standard(demos.obs), _standard(demos.action)
    weight, spread = np.ones(len(demos)), None
    for turn in range(rounds):
        ensemble = [
            _fit(obs[part], action[part], weight[part], seed=members * turn + k)
            for k, part in enumerate(_parts(demos, members))
        ]
        errors = np.stack([member(obs) - action for member in ensemble])
        spread = np.sqrt(np.square(errors).mean((0, 1))) + 1e-6 if spread is None else spread
        likelihood = np.exp(-0.5 * np.square(errors / spread).sum(2)).mean(0)
        weight = likelihood / likelihood.mean()
    return Scores(_mean(demos, weight))


def isolation_forest(demos: Demonstrations) -> Scores:
    """scikit-learn's IsolationForest on means, spreads and steps of observations and actions."""
    from sklearn.ensemble import IsolationForest

    both = np.hstack([_standard(demos.obs), _standard(demos.action)])
    means = _mean(demos, both)
    spreads = np.sqrt(np.maximum(_mean(demos, np.square(both)) - np.square(means), 0.0))
    features = np.hstack([means, spreads, _mean(demos, np.abs(_steps(demos, both)))])
    return Scores(IsolationForest(n_estimators=300, random_state=SEED).fit(features).score_samples(features))


def ours(demos: Demonstrations) -> Scores:
    """`rilco audit` without a simulator: the score of each judgement, and what the verdict keeps."""
    from rilco.judging.offline import judge_offline

    judged = judge_offline(demos).demonstrations
    return Scores(
        np.array([one.score for one in judged]), np.array([one.decision == "keep" for one in judged])
    )


OURS = "rilco audit, offline"
JUDGES: dict[str, Judge] = {
    OURS: ours,
    "cross-fitted BC error": cloning_error,
    "mutual information (DemInf)": mutual_information,
    "BCND's weights": bcnd,
    "IsolationForest": isolation_forest,
    "length": length,
    "speed": speed,
    "random": random,
}
CONTROLS = ("length", "speed", "random")
HINDSIGHT = ("length", "speed")
"""Longer or shorter, faster or slower: the sign that fits the truth is taken, so that these controls are as hard as can be."""


def _standard(values: np.ndarray) -> np.ndarray:
    """Mean 0 and variance 1; a constant dimension stays 0."""
    values = values.astype(np.float64)
    spread = values.std(0)
    return (values - values.mean(0)) / np.where(spread > 1e-8, spread, np.inf)


def _mean(demos: Demonstrations, values: np.ndarray) -> np.ndarray:
    """The mean over each demonstration's pairs, of [N] or of [N, K]."""
    sums = np.zeros((int(demos.episode.max()) + 1, *values.shape[1:]))
    np.add.at(sums, demos.episode, values)
    return (sums.T / np.bincount(demos.episode)).T


def _steps(demos: Demonstrations, values: np.ndarray) -> np.ndarray:
    """Change to the next pair of the same demonstration; its last pair has the change before it."""
    steps = np.diff(values, axis=0, append=values[-1:])
    last = np.flatnonzero(np.diff(demos.episode, append=-1))
    steps[last] = np.where(np.bincount(demos.episode)[:, None] > 1, steps[last - 1], 0.0)
    return steps


def _parts(demos: Demonstrations, count: int) -> Iterator[np.ndarray]:
    """Masks [N] of random parts, of whole demonstrations."""
    total = int(demos.episode.max()) + 1
    part = np.random.default_rng(SEED).permutation(total) % min(count, total)
    return (part[demos.episode] == k for k in range(min(count, total)))


def _components(values: np.ndarray, most: int) -> np.ndarray:
    """The first principal components, each with variance 1."""
    left, size, _ = np.linalg.svd(values - values.mean(0), full_matrices=False)
    return (left * np.sqrt(len(values)))[:, : min(most, int((size > 1e-6 * size[0]).sum()))]


def _ksg(state: np.ndarray, action: np.ndarray, neighbours: tuple[int, ...] = (5, 6, 7)) -> np.ndarray:
    """[n] each pair's term of Kraskov's estimator, without the constants."""
    far_state, far_action = _distances(state), _distances(action)
    ranks = [min(k, len(state) - 1) for k in neighbours]
    radii = np.partition(np.maximum(far_state, far_action), ranks, axis=1)[:, ranks]
    terms = np.zeros(len(state))
    for radius in radii.T[:, :, None]:
        for far in (far_state, far_action):
            # A pair counts itself: one more than its neighbours. The floor is for points that coincide.
            terms -= digamma(np.maximum(np.count_nonzero(far < radius, axis=1), 1))
    return terms / len(neighbours)


def _distances(points: np.ndarray) -> np.ndarray:
    points = points.astype(np.float32)
    norm = np.square(points).sum(1)
    return np.sqrt(np.maximum(norm[:, None] + norm - 2.0 * points @ points.T, 0.0))


def _fit(
    obs: np.ndarray, action: np.ndarray, weight: np.ndarray | None = None, *, seed: int
) -> Callable[[np.ndarray], np.ndarray]:
    """A small network, cloned by weighted squared error."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPRegressor

    epochs = min(100, max(20, 100_000 // len(obs)))  # few pairs are seen more often
    network = MLPRegressor(
        hidden_layer_sizes=(64, 64),
        learning_rate_init=2e-3,
        batch_size=min(128, len(obs)),
        max_iter=epochs,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network.fit(obs, action if action.shape[1] > 1 else action.ravel(), sample_weight=weight)
    return lambda obs: network.predict(obs).reshape(len(obs), -1)
