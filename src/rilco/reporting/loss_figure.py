"""The losses as rilco computes them, with the formulas of the paper's table as dots."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rilco.reporting.drawing import Figure, Panel

Function = Callable[[Any], Any]

STYLES: dict[str, tuple[str, Any]] = {  # colour and dashes
    "logistic": ("#0072B2", "-"),
    "hinge": ("#CC79A7", (0, (6, 1.5))),
    "unhinged": ("#404040", (0, (1, 1))),
    "normalized-logistic": ("#009E73", (0, (5, 1, 1, 1))),
    "normalized-hinge": ("#CC79A7", (0, (3, 1.5))),
    "sigmoid": ("#0072B2", (0, (2, 1))),
    "ap": ("#D55E00", "-"),
}
UNBOUNDED = ("logistic", "hinge", "unhinged")
BOUNDED = ("normalized-logistic", "normalized-hinge", "sigmoid", "ap")


def _logistic(z: np.ndarray) -> np.ndarray:
    return np.log(1.0 + np.exp(-z))


def _hinge(z: np.ndarray) -> np.ndarray:
    return np.maximum(1.0 - z, 0.0)


def _sigmoid(z: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(z))


def _normalized(loss: Function, z: np.ndarray) -> np.ndarray:
    return loss(z) / (loss(z) + loss(-z))


PUBLISHED: dict[str, Function] = {
    "logistic": _logistic,
    "hinge": _hinge,
    "unhinged": lambda z: 1.0 - z,
    "normalized-logistic": functools.partial(_normalized, _logistic),
    "normalized-hinge": functools.partial(_normalized, _hinge),
    "sigmoid": _sigmoid,
    "ap": lambda z: 0.5 * _normalized(_logistic, z) + 0.5 * _sigmoid(z),
}
"""Table 1 of the paper as it stands there, apart from our numerically safe code."""


def loss_figure() -> Figure:
    return Figure(
        "losses",
        [
            Panel(
                "Unbounded losses l(z)",
                "Logistic, hinge and unhinged loss against the margin z from -3 to 3: all grow without bound as z "
                "falls; the unhinged loss is the line 1 - z and falls below 0.",
                functools.partial(_draw, names=UNBOUNDED, legend="upper right"),
            ),
            Panel(
                "Bounded losses l(z)",
                "Normalized logistic, normalized hinge, sigmoid and AP loss against the margin z from -3 to 3: all "
                "fall from about 1 to about 0 and are 0.5 at z = 0.",
                functools.partial(_draw, names=BOUNDED, legend="lower left"),
            ),
            Panel(
                "Symmetry: l(z) + l(−z)",
                "The sum of each loss at z and at minus z: 1 everywhere for the four bounded losses, 2 everywhere for "
                "the unhinged loss; for logistic and hinge it grows away from 0.",
                functools.partial(_draw, names=(*UNBOUNDED, "ap"), legend="upper center", summed=True),
            ),
        ],
    )


def _draw(axes: Any, names: Sequence[str], legend: str, summed: bool = False) -> None:
    """Ours as lines, the paper's as dots; `summed` adds the loss of the other sign."""
    import jax.numpy as jnp

    from rilco.losses import LOSSES

    z, dots = jnp.linspace(-3.0, 3.0, 121), np.linspace(-3.0, 3.0, 13)
    for name in names:
        colour, dashes = STYLES[name]
        ours, theirs = LOSSES[name].fn, PUBLISHED[name]
        line, points = ours(z), theirs(dots)
        label = "AP" if name == "ap" else name.replace("-", " ")
        if summed:
            line, points = line + ours(-z), points + theirs(-dots)
            label = "all bounded ones" if name in BOUNDED else label
        axes.plot(np.asarray(z), np.asarray(line), color=colour, linestyle=dashes, label=label)
        axes.plot(dots, points, ".", color=colour, markersize=5)
    axes.set(xlabel="margin z", xlim=(-3.1, 3.1))
    axes.margins(y=0.08)
    axes.legend(loc=legend, fontsize=8, handlelength=1.4)
