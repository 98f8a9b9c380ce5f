"""Demonstrations that every format's tests write and read."""

from __future__ import annotations

import numpy as np
import pytest

from rilco.demonstrations import Demonstrations


@pytest.fixture
def demos() -> Demonstrations:
    """Twelve pairs of one demonstrator, in three episodes, with rewards."""
    rng = np.random.default_rng(0)
    return Demonstrations(
        rng.normal(size=(12, 3)),
        rng.normal(size=(12, 2)),
        episode=np.repeat([0, 1, 2], [5, 4, 3]),
        reward=rng.normal(size=12),
    )
