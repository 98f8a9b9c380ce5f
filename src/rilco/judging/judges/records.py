"""Do the recorded actions explain what happened?

The world answers all demonstrators alike: from one state and the next the action between them can be told. A record in which the
actions are a tenth, the opposite, or another column of that, or of another time, was written down wrongly, however well its
demonstrator acted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.material import Material
from rilco.judging.neighbours import medians
from rilco.judging.opinion import Opinion
from rilco.judging.regression import Crossfit, crossfit, smooth_features
from rilco.words import plural

NAME = "records"


def judge_records(material: Material, config: JudgingConfig, *, apart: np.ndarray) -> Opinion:
    """A charge against records that fit what happened only when they are scaled, turned round or moved in time. It never praises.

    Those `apart` [D] live elsewhere: what happens there may be unknown, and they take no part.
    """
    count = material.count
    silent = Opinion(NAME, 0.0, "", np.zeros(count), np.full(count, 0.5), ("Not heard.",) * count)
    enough = ~apart & (material.pairs > 2)
    if enough.sum() < config.min_demonstrations:
        return replace(silent, why="Too few demonstrations share places for their records to be compared.")
    fit = _what_happened(material, enough, config)
    told, doubt = _explain(fit, enough, config)
    far = np.log(medians(doubt, fit.demo, count, empty=1.0))
    far = np.where(enough, far - np.median(far[enough]), np.inf)
    scale = _compare(fit, told, count)
    usual = np.median(scale.correlation[enough], axis=0)
    if usual.max() < config.record_fits[0]:
        why = f"What happened tells the actions badly: a typical correlation is {usual.max():.2f}."
        return replace(silent, why=why)
    error = medians(fit.errors(told), fit.demo, count, empty=0.0) + config.least_error
    worse = enough & (far <= config.record_near) & (error > config.record_worse * np.median(error[enough]))
    near = far <= config.nobody_there
    fault, doubted = _wrong_scales(scale, usual, near, worse, config)
    late, gain = _lateness(fit, told, material, config)
    gain = np.where(near & enough, gain, 0.0)
    off = gain >= config.record_late[0]
    charged = (fault | doubted).any(1) | off
    # Most records cannot be wrong: then the world is not as alike as was thought.
    standing = 1.0 if charged[enough].mean() < 0.5 else 0.0
    faulty = np.asarray(fault.any(1))
    proven = faulty | (gain >= config.record_late[1])
    charge = standing * np.where(proven, config.proven, 0.5 - config.alone)
    worst = np.where(fault | doubted, 1.0, 0.0) + np.abs(np.log(np.clip(scale.slope, 0.02, 50.0)))
    column = worst.argmax(1)
    slope, correlation = (values[np.arange(count), column] for values in (scale.slope, scale.correlation))
    return Opinion(
        NAME,
        standing,
        why=f"From what happened next, the actions are told with a typical correlation of {usual.max():.2f}.",
        score=-np.maximum(worst.max(1) * near, gain),
        good=np.where(charged, 0.5 - charge, 0.5),
        reasons=tuple(
            _when(int(late[i]), bool(proven[i]), config)
            if off[i] and not faulty[i]
            else _reason(which, float(slope[i]), len(usual), config)
            if charged[i]
            else "Its actions explain what happened."
            for i, which in enumerate(column.tolist())
        ),
        evidence={
            "slope": slope,
            "correlation": correlation,
            "late": late.astype(np.float64),
            "gain": gain,
        },
    )


def _what_happened(material: Material, enough: np.ndarray, config: JudgingConfig) -> Crossfit:
    """Actions from a state and the step to the next one."""
    rows = material.sample(config.record_pairs, config.sample_least, config.error_pairs)
    rows = rows[np.isin(rows, material.first[1:] - 1, invert=True) & enough[material.demo[rows]]]
    state = material.obs[rows].astype(np.float64)
    step = material.obs[rows + 1] - state
    step = np.clip(step / np.maximum(step.std(0), 1e-9), -config.record_clip, config.record_clip)
    return crossfit(material, rows, smooth_features(np.hstack([state, step]), config), config.ridge, config)


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
            fits = np.all(~_beyond(_compare(fit, told, len(size)).slope, config.record_trust), axis=1)
            trust = np.where(size > 0, np.where(fits, 1.0, 0.05) / (1.0 + (error / usual) ** 4), 0.0)
        if usual < 0.98 * best:
            best, weight_of_best = usual, weight
        if start == 0 and fits[judged].mean() >= config.record_agree:
            break
    told, doubt, _ = fit.predict(weight_of_best[fit.demo], doubt=True, choice=choice)
    return told, doubt


class Scale(NamedTuple):
    """Recorded actions beside those that were told; all [D, action_dim]."""

    slope: np.ndarray
    """As a multiple of what was told."""
    correlation: np.ndarray
    moves: np.ndarray
    """How much they ought to vary, in units of what is usual."""


def _compare(fit: Crossfit, told: np.ndarray, count: int) -> Scale:
    def sums(values: np.ndarray) -> np.ndarray:
        return np.stack([np.bincount(fit.demo, column, count) for column in values.T], 1)

    size = np.maximum(np.bincount(fit.demo, minlength=count), 1)[:, None]
    real, told = (values - (sums(values) / size)[fit.demo] for values in (fit.action, told))
    variance, own, both = sums(told * told) / size, sums(real * real) / size, sums(real * told) / size
    moves = np.sqrt(variance / np.maximum(np.median(variance, axis=0), 1e-12))
    return Scale(both / (variance + 1e-9), both / np.sqrt(variance * own + 1e-18), moves)


def _wrong_scales(
    scale: Scale, usual: np.ndarray, near: np.ndarray, worse: np.ndarray, config: JudgingConfig
) -> tuple[np.ndarray, np.ndarray]:
    """[D, action_dim] whose actions are a wrong multiple of what happened beyond doubt, and whose may be."""
    seldom, always = config.record_fits
    looked = near[:, None] & (scale.moves >= config.record_moves)
    match = np.abs(scale.correlation) >= config.record_match
    fault = looked & match & (usual >= seldom) & _beyond(scale.slope, config.record_slope)
    doubted = looked & worse[:, None] & (usual >= always) & _beyond(scale.slope, config.record_doubt)
    return fault, doubted


def _lateness(
    fit: Crossfit, told: np.ndarray, material: Material, config: JudgingConfig
) -> tuple[np.ndarray, np.ndarray]:
    """[D] how many steps late the actions are that fit what happened best; and by how much the logarithm of the error is less
    there, beyond what is usual. It is 0 where too few pairs are nearer then."""
    count, most = material.count, config.record_steps
    begin, end = (material.first[fit.demo + i] for i in (0, 1))

    def errors(late: np.ndarray | int) -> np.ndarray:
        """[M] if actions are so many steps late; not a number where there is no such step."""
        rows = fit.rows + late
        off = told - material.action[np.clip(rows, begin, end - 1)]
        return np.where((rows >= begin) & (rows < end), np.sqrt(np.square(off).mean(1)), np.nan)

    def typical(error: np.ndarray) -> np.ndarray:
        known = ~np.isnan(error)
        found = medians(error[known], fit.demo[known], count, empty=np.inf) + config.least_error
        return np.where(np.bincount(fit.demo[known], minlength=count) >= config.min_pairs, found, np.inf)

    of_lag = np.stack([typical(errors(k)) for k in range(-most, most + 1)], 1)
    late = of_lag.argmin(1) - most
    now, then = errors(0), errors(late[fit.demo])
    sign = np.bincount(fit.demo, np.nan_to_num(np.sign(now - then)), count)
    proof = sign / np.sqrt(np.maximum(np.bincount(fit.demo, ~np.isnan(then), count), 1))
    gain = np.zeros(count)
    judged = np.isfinite(of_lag[:, most])
    if judged.any():
        gain[judged] = np.log(of_lag[judged, most] / of_lag[judged].min(1))
        gain[judged] -= np.median(gain[judged])
    gain = np.where(proof >= config.record_sign, gain, 0.0)
    return np.where(gain > 0.0, late, 0), gain


def _beyond(slope: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    return np.asarray((slope < bounds[0]) | (slope > bounds[1]))


def _when(late: int, proven: bool, config: JudgingConfig) -> str:
    often = " or more" if abs(late) == config.record_steps else ""
    how = f"{plural(abs(late), 'step')}{often} {'late' if late > 0 else 'early'}"
    return f"Its actions {'were' if proven else 'may have been'} written down {how}: what happened says so."


def _reason(column: int, slope: float, dims: int, config: JudgingConfig) -> str:
    which = f"Action {column}" if dims > 1 else "The action"
    if slope < -0.5:
        return f"{which} has the wrong sign: what happened next says so."
    if _beyond(np.array(slope), config.record_slope):
        return f"{which} is {slope:.2g} times what happened next asks for: other units, a wrong column, or a wrong time."
    return f"{which} fits what happened next badly ({slope:.2g} times what it should be): written down late, for instance."
