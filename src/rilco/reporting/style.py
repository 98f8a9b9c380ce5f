"""How methods and tasks are called and drawn: the same in every figure, legend and table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rilco.experiment.published import ABLATION, MAIN, TASKS
from rilco.methods import Look, find

# For methods without a look of their own, in the order in which they turn up.
MORE = (("#882255", "*"), ("#999933", "<"), ("#332288", ">"), ("#44AA99", "h"))
MARKERS = {  # corners in a box from -1 to 1, y downwards, for the swatches of the page; a circle has none
    "o": "",
    "s": "-.8,-.8 .8,-.8 .8,.8 -.8,.8",
    "^": "0,-1 .95,.8 -.95,.8",
    "v": "0,1 .95,-.8 -.95,-.8",
    "<": "-1,0 .8,-.95 .8,.95",
    ">": "1,0 -.8,-.95 -.8,.95",
    "D": "0,-1 1,0 0,1 -1,0",
    "P": "-.35,-1 .35,-1 .35,-.35 1,-.35 1,.35 .35,.35 .35,1 -.35,1 -.35,.35 -1,.35 -1,-.35 -.35,-.35",
    "X": "-.9,-.5 -.5,-.9 0,-.4 .5,-.9 .9,-.5 .4,0 .9,.5 .5,.9 0,.4 -.5,.9 -.9,.5 -.4,0",
    "*": "0,-1 .25,-.3 1,-.3 .4,.15 .6,.9 0,.45 -.6,.9 -.4,.15 -1,-.3 -.25,-.3",
    "h": "0,-1 .87,-.5 .87,.5 0,1 -.87,.5 -.87,-.5",
}
TASK_LABELS = {"halfcheetah": "HalfCheetah", "hopper": "Hopper", "walker2d": "Walker2D", "ant": "Ant"}

FIGURE_STYLE: Any = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.labelsize": 9,
    "axes.labelcolor": "#444444",
    "axes.edgecolor": "#999999",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "xtick.color": "#777777",
    "ytick.color": "#777777",
    "xtick.labelcolor": "#333333",
    "ytick.labelcolor": "#333333",
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
    "legend.fontsize": 9,
    "svg.fonttype": "none",  # text stays text: smaller, sharp, and in the reader's own font
    "svg.hashsalt": "rilco",  # the same figure gives the same bytes
    "savefig.dpi": 180,
}
EXPERT_LINE: dict[str, Any] = {"linestyle": (0, (1, 2)), "linewidth": 0.8}
PUBLISHED_LINE: dict[str, Any] = {"linestyle": (0, (4, 2)), "linewidth": 1.1, "alpha": 0.85}


def method_style(method: str, known: Iterable[str] = ()) -> Look:
    """A method's look; `known` is the list of all methods, so that those without one differ from each other."""
    if look := find(method).look:
        return look
    new = [name for name in known if find(name).look is None]
    colour, marker = MORE[(new.index(method) if method in new else 0) % len(MORE)]
    return Look(method, colour, marker)


def task_label(task: str) -> str:
    return TASK_LABELS.get(task, task)


def in_order(methods: Iterable[str]) -> list[str]:
    """The paper's methods as the paper lists them, then its ablations, then others by name."""
    order = list(dict.fromkeys((*MAIN, *ABLATION)))
    return sorted(set(methods), key=lambda name: (order.index(name) if name in order else len(order), name))


def tasks_in_order(tasks: Iterable[str]) -> list[str]:
    return sorted(set(tasks), key=lambda name: (TASKS.index(name) if name in TASKS else len(TASKS), name))


def rate_label(rate: float | None) -> str:
    return "as given" if rate is None else f"{rate:g}"


def number(value: float) -> str:
    """A return for a table: whole, with a true minus sign."""
    text = f"{value:,.0f}".replace("-", "−")
    return "0" if text == "−0" else text


def millions(transitions: float) -> str:
    """`15.4 M`, `5 M`, `0.3 M`, and single transitions where there are hardly any."""
    value = transitions / 1e6
    if value >= 10:
        return f"{value:.3g} M"
    return f"{value:.2g} M" if transitions >= 1000 else f"{transitions:,.0f}"
