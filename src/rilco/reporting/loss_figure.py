"""The losses as rilco computes them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from rilco.reporting.drawing import Figure, Panel

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
    """The losses of the margin; `summed` adds those of its negative."""
    import jax.numpy as jnp

    from rilco.losses import LOSSES

    z = jnp.linspace(-3.0, 3.0, 121)
    for name in names:
        colour, dashes = STYLES[name]
        loss = LOSSES[name].fn
        label = "AP" if name == "ap" else name.replace("-", " ")
        if summed and name in BOUNDED:
            label = "all bounded ones"
        values = loss(z) + loss(-z) if summed else loss(z)
        axes.plot(np.asarray(z), np.asarray(values), color=colour, linestyle=dashes, label=label)
    axes.set(xlabel="margin z", xlim=(-3.1, 3.1))
    axes.margins(y=0.08)
    axes.legend(loc=legend, fontsize=8, handlelength=1.4)
