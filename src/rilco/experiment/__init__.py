"""Many runs as one thing: grids, engines that work through them, and the folder of their results.

from rilco.experiment import Grid, paper, read_results
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Imported when first used: the process of a run must not wait for what it does not need.
_EXPORTS = {
    "Grid": "rilco.experiment.grid",
    "paper": "rilco.experiment.published",
    "read_results": "rilco.runs.results",
    "thin": "rilco.runs.results",
}
__all__ = ["Grid", "paper", "read_results", "thin"]

if TYPE_CHECKING:
    from rilco.experiment.grid import Grid
    from rilco.experiment.published import paper
    from rilco.runs.results import read_results, thin


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'rilco.experiment' has no attribute {name!r}")
    return getattr(importlib.import_module(_EXPORTS[name]), name)
