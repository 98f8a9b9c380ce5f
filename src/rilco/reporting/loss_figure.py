"""The losses as rilco computes them, with the formulas of the paper's table as dots."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rilco.reporting.drawing import Figure, Panel

Function = Callable[[Any], Any]


class LossStyle(NamedTuple):
    label: str
    colour: str
    dashes: Any
    place: tuple[float, float]
    """Where the label stands in the panel of the loss itself."""
    place_of_sum: tuple[float, float] | None = None


STYLES = {
    "logistic": LossStyle("logistic", "#0072B2", "-", (-2.95, 1.2), (0.0, 1.52)),
    "hinge": LossStyle("hinge", "#CC79A7", (0, (6, 1.5)), (-1.1, 2.35), (-1.75, 3.6)),
    "unhinged": LossStyle("unhinged", "#404040", (0, (1, 1)), (0.35, -1.6), (2.4, 1.75)),
    "normalized-logistic": LossStyle("normalized logistic", "#009E73", (0, (5, 1, 1, 1)), (-2.95, 0.40)),
    "normalized-hinge": LossStyle("normalized hinge", "#CC79A7", (0, (3, 1.5)), (-0.85, 1.0)),
    "sigmoid": LossStyle("sigmoid", "#0072B2", (0, (2, 1)), (1.6, 0.24)),
    "ap": LossStyle("AP", "#D55E00", "-", (0.75, 0.42)),
}
UNBOUNDED, BOUNDED = (
    ("logistic", "hinge", "unhinged"),
    ("normalized-logistic", "normalized-hinge", "sigmoid", "ap"),
)


def loss_figure() -> Figure:
    return Figure(
        "losses",
        [
            Panel(
                "Unbounded losses l(z)",
                "Logistic, hinge and unhinged loss against the margin z from -3 to 3: all grow without bound as z "
                "falls; the unhinged loss is the line 1 - z and falls below 0.",
                functools.partial(_draw_losses, names=UNBOUNDED),
            ),
            Panel(
                "Bounded losses l(z)",
                "Normalized logistic, normalized hinge, sigmoid and AP loss against the margin z from -3 to 3: all "
                "fall from about 1 to about 0 and are 0.5 at z = 0.",
                functools.partial(_draw_losses, names=BOUNDED),
            ),
            Panel(
                "Symmetry: l(z) + l(−z)",
                "The sum of each loss at z and at minus z: 1 everywhere for the four bounded losses, 2 everywhere for "
                "the unhinged loss; for logistic and hinge it grows away from 0.",
                _draw_sums,
            ),
        ],
    )


def _draw_losses(axes: Any, names: Sequence[str]) -> None:
    for name in names:
        _draw(axes, name, lambda loss, z: loss(z))
        axes.text(*STYLES[name].place, STYLES[name].label, color=STYLES[name].colour)
    axes.set(xlabel="margin z", xlim=(-3.1, 3.1))
    axes.margins(y=0.08)


def _draw_sums(axes: Any) -> None:
    for name in (*UNBOUNDED, *BOUNDED):
        _draw(axes, name, lambda loss, z: loss(z) + loss(-z))
        place = STYLES[name].place_of_sum
        if place is not None:
            axes.text(*place, STYLES[name].label, color=STYLES[name].colour, ha="center")
    axes.text(0.0, 1.07, "all bounded ones", color=STYLES["ap"].colour, ha="center")
    axes.set(xlabel="margin z", xlim=(-3.1, 3.1), ylim=(0.7, 4.2))


def _draw(axes: Any, name: str, value: Callable[[Function, np.ndarray], Any]) -> None:
    from rilco.losses import LOSSES

    z, dots = np.linspace(-3.0, 3.0, 121), np.linspace(-3.0, 3.0, 13)
    style = STYLES[name]
    ours = np.asarray(value(LOSSES[name].fn, z.astype(np.float32)))
    axes.plot(z, ours, color=style.colour, linestyle=style.dashes)
    axes.plot(dots, value(table_of_losses()[name], dots), ".", color=style.colour, markersize=5)


@functools.cache
def table_of_losses() -> dict[str, Function]:
    """Table 1 of the paper as it stands there, apart from our numerically safe code."""

    def logistic(z: np.ndarray) -> np.ndarray:
        return np.log(1.0 + np.exp(-z))

    def hinge(z: np.ndarray) -> np.ndarray:
        return np.maximum(1.0 - z, 0.0)

    def sigmoid(z: np.ndarray) -> np.ndarray:
        return 1.0 / (1.0 + np.exp(z))

    def normalized(loss: Function) -> Function:
        return lambda z: loss(z) / (loss(z) + loss(-z))

    return {
        "logistic": logistic,
        "hinge": hinge,
        "unhinged": lambda z: 1.0 - z,
        "normalized-logistic": normalized(logistic),
        "normalized-hinge": normalized(hinge),
        "sigmoid": sigmoid,
        "ap": lambda z: 0.5 * normalized(logistic)(z) + 0.5 * sigmoid(z),
    }
