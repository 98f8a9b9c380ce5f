"""How methods and tasks are called and drawn: the same in every figure, legend and table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rilco.experiment.published import ABLATION, GAUSSIAN, MAIN, TASKS
from rilco.methods import Look, find

# For methods without a look of their own, in the order in which they turn up.
MORE = (("#882255", "*"), ("#999933", "<"), ("#332288", ">"), ("#44AA99", "h"))
TASK_LABELS = {"halfcheetah": "HalfCheetah", "hopper": "Hopper", "walker2d": "Walker2D", "ant": "Ant"}
INK, EXPERT_INK = "#444444", "#888888"
EXPERT_LINE: dict[str, Any] = {"linestyle": (0, (1, 2)), "linewidth": 0.8}
HOLLOW: dict[str, Any] = {"markerfacecolor": "white", "linestyle": ""}
PUBLISHED_LINE: dict[str, Any] = {"linestyle": (0, (4, 2)), "linewidth": 1.1, "alpha": 0.85}


def method_style(method: str, known: Iterable[str] = ()) -> Look:
    """A method's look; `known` lists all methods of a figure, so that those without one differ from each other."""
    if look := find(method).look:
        return look
    new = [name for name in known if find(name).look is None]
    colour, marker = MORE[(new.index(method) if method in new else 0) % len(MORE)]
    return Look(method, colour, marker)


def task_label(task: str) -> str:
    return TASK_LABELS.get(task, task)


def in_order(names: Iterable[str]) -> list[str]:
    """Tasks and methods as the paper lists them, its ablations after the other methods; then others by name."""
    order = {name: place for place, name in enumerate(dict.fromkeys((*TASKS, *MAIN, *ABLATION)))}
    return sorted(set(names), key=lambda name: (order.get(name, len(order)), name))


def rate_label(rate: float | None) -> str:
    return "as given" if rate is None else f"{rate:g}"


def place_label(task: str, noise: str, rate: float | None) -> str:
    """`Ant, 0.4, Gaussian`."""
    return f"{task_label(task)}, {rate_label(rate)}" + (", Gaussian" if noise == GAUSSIAN else "")


def minus(text: str) -> str:
    """With true minus signs."""
    return text.replace("-", "−")


def number(value: float) -> str:
    """A return for a table: whole, with a true minus sign."""
    text = minus(f"{value:,.0f}")
    return "0" if text == "−0" else text


def signed(value: float) -> str:
    text = number(value)
    return f"+{text}" if value > 0 and text != "0" else text


def millions(transitions: float) -> str:
    """`15.4 M`, `5 M`, `0.3 M`; below a thousand, the number itself."""
    value = transitions / 1e6
    if value >= 10:
        return f"{value:.3g} M"
    return f"{value:.2g} M" if transitions >= 1000 else f"{transitions:,.0f}"


def length_text(lengths: Iterable[int]) -> str:
    """`5 M`, or `2 M to 5 M`."""
    ends = sorted(lengths)
    low, high = millions(ends[0]), millions(ends[-1])
    return high if low == high else f"{low} to {high}"
