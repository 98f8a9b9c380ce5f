"""Many runs: grids, the engines that work through them, and what the paper ran and published."""

from rilco.experiment.grid import Grid

__all__ = ["Grid"]
