"""Do the recorded actions explain what happened?

The world answers all demonstrators alike: from one state and the next the action between them can be told. A record in which the
actions are a tenth, the opposite, or another column of that was written down wrongly, however well its demonstrator acted.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.material import Material
from rilco.judging.neighbours import medians
from rilco.judging.opinion import Opinion
from rilco.judging.regression import Crossfit, crossfit, smooth_features

NAME = "records"


def judge_records(material: Material, config: JudgingConfig, *, apart: np.ndarray) -> Opinion:
    """A charge against records that fit what happened only when they are scaled or turned round. It never praises.

    Those `apart` [D] live elsewhere: what happens there may be unknown, and they take no part.
    """
    count, dims = material.count, material.action.shape[1]
    silent = Opinion(NAME, 0.0, "", np.zeros(count), np.full(count, 0.5), ("Not heard.",) * count)
    enough = ~apart & (material.pairs > 2)
    if enough.sum() < config.min_demonstrations:
        return replace(silent, why="Too few demonstrations share places for their records to be compared.")
    rows = material.sample(config.record_pairs, config.sample_least, config.error_pairs)
    inner = np.isin(rows, material.first[1:] - 1, invert=True) & enough[material.demo[rows]]
    rows = rows[inner]
    state = material.obs[rows].astype(np.float64)
    step = material.obs[rows + 1] - state
    step = np.clip(step / np.maximum(step.std(0), 1e-9), -config.record_clip, config.record_clip)
    features = smooth_features(np.hstack([state, step]), config)
    fit = crossfit(material, rows, features, config.ridge, config)
    told, doubt = _explain(fit, enough, config)
    far = np.log(medians(doubt, fit.demo, count, empty=1.0))
    far = np.where(enough, far - np.median(far[enough]), np.inf)
    slope, correlation, moves = _compare(fit, told, count)
    usual = np.array([np.median(correlation[enough, k]) for k in range(dims)])
    seldom, always = config.record_fits
    if usual.max() < seldom:
        why = f"What happened tells the actions badly: a typical correlation is {usual.max():.2f}."
        return replace(silent, why=why)
    looked = (far <= config.nobody_there)[:, None] & (moves >= config.record_moves)
    match = np.abs(correlation) >= config.record_match
    fault = looked & match & (usual >= seldom) & _beyond(slope, config.record_slope)
    error = medians(fit.errors(told), fit.demo, count, empty=0.0) + config.least_error
    worse = enough & (far <= config.record_near) & (error > config.record_worse * np.median(error[enough]))
    doubted = looked & worse[:, None] & (usual >= always) & _beyond(slope, config.record_doubt)
    charged = (fault | doubted).any(1)
    # Most records cannot be wrong: then the world is not as alike as was thought.
    standing = 1.0 if charged[enough].mean() < 0.5 else 0.0
    charge = standing * np.where(fault.any(1), config.proven, 0.5 - config.alone)
    worst = np.where(fault | doubted, 1.0, 0.0) + np.abs(np.log(np.clip(slope, 0.02, 50.0)))
    rows_of, column = np.arange(count), worst.argmax(1)
    return Opinion(
        NAME,
        standing,
        why=f"From what happened next, the actions are told with a typical correlation of {usual.max():.2f}.",
        score=-np.where(looked, worst, 0.0).max(1),
        good=np.where(charged, 0.5 - charge, 0.5),
        reasons=tuple(
            _reason(k, float(slope[i, k]), dims, config)
            if charged[i]
            else "Its actions explain what happened."
            for i, k in enumerate(column.tolist())
        ),
        evidence={"slope": slope[rows_of, column], "correlation": correlation[rows_of, column]},
    )


def _explain(fit: Crossfit, enough: np.ndarray, config: JudgingConfig) -> tuple[np.ndarray, np.ndarray]:
    """[M, action_dim] the actions as what happened tells them, by the fit that agrees best with most demonstrations; and [M] how
    doubtful each is.

    A fit to all may settle between two ways to write actions down. Unless nearly all agree with it, others start from a few
    demonstrations each.
    """
    size = np.bincount(fit.demo, minlength=len(enough))
    judged = np.flatnonzero(size > 0)
    rng = np.random.default_rng(0)
    few = max(2, min(config.record_part, len(judged) // 2))
    best, weight_of_best = np.inf, np.ones(len(size))
    choice = None
    for start in range(config.record_starts):
        trust = np.zeros(len(size))
        trust[judged if start == 0 else rng.choice(judged, few, replace=False)] = 1.0
        for _ in range(config.rounds):
            weight = np.maximum(trust, 1e-3) / np.maximum(size, 1)
            told, _, choice = fit.predict(weight[fit.demo], choice=choice)
            error = medians(fit.errors(told), fit.demo, len(size), empty=np.inf) + config.least_error
            usual = float(np.median(error[judged]))
            slope, _, _ = _compare(fit, told, len(size))
            fits = np.all(~_beyond(slope, config.record_trust), axis=1)
            trust = np.where(size > 0, np.where(fits, 1.0, 0.05) / (1.0 + (error / usual) ** 4), 0.0)
        if usual < 0.98 * best:
            best, weight_of_best = usual, weight
        if start == 0 and fits[judged].mean() >= config.record_agree:
            break
    told, doubt, _ = fit.predict(weight_of_best[fit.demo], doubt=True, choice=choice)
    return told, doubt


def _compare(fit: Crossfit, told: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[D, action_dim] recorded actions as a multiple of `told`; their correlation; and how much they ought to vary, in units of
    what is usual."""

    def sums(values: np.ndarray) -> np.ndarray:
        return np.stack([np.bincount(fit.demo, column, count) for column in values.T], 1)

    size = np.maximum(np.bincount(fit.demo, minlength=count), 1)[:, None]
    real, told = (values - (sums(values) / size)[fit.demo] for values in (fit.action, told))
    variance, own, both = sums(told * told) / size, sums(real * real) / size, sums(real * told) / size
    moves = np.sqrt(variance / np.maximum(np.median(variance, axis=0), 1e-12))
    return both / (variance + 1e-9), both / np.sqrt(variance * own + 1e-18), moves


def _beyond(slope: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    return np.asarray((slope < bounds[0]) | (slope > bounds[1]))


def _reason(column: int, slope: float, dims: int, config: JudgingConfig) -> str:
    which = f"Action {column}" if dims > 1 else "The action"
    if slope < -0.5:
        return f"{which} has the wrong sign: what happened next says so."
    if _beyond(np.array(slope), config.record_slope):
        return f"{which} is {slope:.2g} times what happened next asks for: other units, a wrong column, or a wrong time."
    return f"{which} fits what happened next badly ({slope:.2g} times what it should be): written down late, for instance."
