"""What is measured of each demonstration: one number for each trait, [D], higher is odder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from rilco.judging.config import JudgingConfig
from rilco.judging.gaps import core
from rilco.judging.material import Material
from rilco.judging.neighbours import medians
from rilco.judging.regression import crossfit, smooth_features

WORDS = {
    "long": "takes long",
    "roundabout": "takes detours",
    "rests": "moves little",
    "elsewhere": "spends its second half elsewhere",
    "stops": "stops where the others do not",
    "unfinished": "stops before it is done",
    "still": "hardly changes its action",
    "restless": "changes its action a lot",
    "vigour": "acts more or less strongly than is usual",
    "weak": "acts more weakly than the others in the same places",
    "unlike": "acts unlike the others in the same places",
}

OF_ACTIONS = ("weak", "unlike")
"""What can be said of a part of a demonstration as well."""


def measure(
    material: Material, seen: Mapping[str, np.ndarray], heard: np.ndarray, config: JudgingConfig
) -> dict[str, np.ndarray]:
    """`seen` is what other judges saw (`judge_manner`); only those `heard` [D] say what is usual."""
    return {
        **_motion(material),
        "vigour": _vigour(material, heard, config),
        "elsewhere": _elsewhere(material, heard, config),
        "unfinished": _unfinished(material, heard, config),
        "stops": seen["stops"],
        "weak": -seen["slope"],
        "unlike": np.log(seen["error"]),
    }


def _motion(material: Material) -> dict[str, np.ndarray]:
    count, demo, pairs = material.count, material.demo, material.pairs
    inside = np.diff(demo) == 0  # [N - 1] steps within a demonstration
    change, moved = _squares(np.diff(material.action, axis=0)), _squares(np.diff(material.obs, axis=0))

    def total(values: np.ndarray) -> np.ndarray:
        return np.bincount(demo[:-1][inside], values[inside], count)

    typical = 0.5 * np.log(medians(change[inside], demo[:-1][inside], count, empty=0.0) + 1e-4)
    path = total(np.sqrt(moved))
    straight = np.sqrt(_squares(material.obs[material.first[1:] - 1] - material.obs[material.first[:-1]]))
    slow = np.sqrt(moved) < 0.1 * np.sqrt(np.median(moved[inside]))
    return {
        "long": np.log(pairs),
        "roundabout": np.log(path + 1e-3) - np.log(straight + 1e-3),
        "rests": total(slow) / np.maximum(pairs - 1, 1),
        "still": -typical,
        "restless": typical,
    }


def _vigour(material: Material, heard: np.ndarray, config: JudgingConfig) -> np.ndarray:
    """How far the spread of each dimension of the actions is from the usual, as a root mean square over the dimensions."""
    pairs, squares = material.pairs, np.zeros(material.count)
    for column in material.action.T.astype(np.float64):
        mean, square = (np.bincount(material.demo, values) / pairs for values in (column, np.square(column)))
        spread = np.log(np.sqrt(np.maximum(square - np.square(mean), 0.0)) + 0.02)
        centre, width = core(spread[heard], np.sqrt(pairs[heard]))
        far = np.abs(spread - centre) / max(width, config.least_width)
        squares += np.square(np.minimum(far, config.manner_most))
    return np.asarray(np.log(np.sqrt(squares / material.action.shape[1]) + 0.3))


def _elsewhere(material: Material, heard: np.ndarray, config: JudgingConfig) -> np.ndarray:
    """The dimension in which the mean state of the second half is farthest from the usual."""
    place = np.arange(len(material.demo)) - material.first[material.demo]
    rows = np.flatnonzero(2 * place >= material.pairs[material.demo])
    size = np.bincount(material.demo[rows], minlength=material.count)
    farthest = np.zeros(material.count)
    for column in material.obs.T:
        mean = np.bincount(material.demo[rows], column[rows], material.count) / size
        centre, spread = core(mean[heard], np.sqrt(material.pairs[heard]))
        farthest = np.maximum(farthest, np.abs(mean - centre) / max(spread, config.least_width))
    return np.log(np.minimum(farthest, config.manner_most) + 0.5)


def _unfinished(material: Material, heard: np.ndarray, config: JudgingConfig) -> np.ndarray:
    """How much time the others had left in states like the last one."""
    rows = material.sample(config.fit_pairs, config.sample_least, config.error_pairs)
    left = np.log(material.first[material.demo[rows] + 1] - rows)[:, None]
    fit = crossfit(
        material, rows, smooth_features(material.obs[rows].astype(np.float64), config), config.ridge, config
    )
    fit = replace(fit, action=(left - left.mean()) / max(float(left.std()), 1e-9))
    size, trust, choice = np.bincount(fit.demo), heard.astype(np.float64), None
    for _ in range(3):
        told, _, choice = fit.predict((trust / size)[fit.demo], choice=choice)
        error = fit.of_demonstrations(fit.errors(told)) + config.least_error
        trust = heard / (1.0 + (error / np.median(error[heard])) ** 4)
    return np.asarray(told[np.cumsum(size) - 1, 0])


def _squares(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.square(values, dtype=np.float64).mean(1))
