"""Demonstrations that every format's tests write and read."""

from __future__ import annotations

import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from rilco.data.formats import FORMATS, Format
from rilco.data.record import Demonstrations

NEED_PYARROW = {"imitation", "lerobot"}


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


@pytest.fixture
def full_demos(demos: Demonstrations) -> Demonstrations:
    """The same pairs with every field known, and arranged as awkwardly as the record allows.

    Episodes come back after others, one changes hands halfway, one ends twice over and one for no reason, the
    ids have gaps, and there is a demonstrator without a pair.
    """
    return replace(
        demos,
        episode=np.repeat([7, 2, 7, 3], 3),
        demonstrator=np.repeat([1, 0], [7, 5]),
        terminated=np.isin(np.arange(12), [3, 5]),
        truncated=np.isin(np.arange(12), [5, 8]),
        expert=np.arange(12) < 7,
        noise_rate=0.4,
        demonstrator_names=("n\u00e4ive", "expert", "unused"),
    )


@pytest.fixture(params=FORMATS, ids=lambda known: known.name)
def known(request: pytest.FixtureRequest) -> Format:
    """Each format, where what it needs is installed."""
    if request.param.name in NEED_PYARROW:
        pytest.importorskip("pyarrow")
    return request.param


@pytest.fixture
def written() -> Path:
    """Datasets of `expected` that the libraries themselves have written."""
    return Path(__file__).parent / "written"


@pytest.fixture
def expected() -> Demonstrations:
    """What the datasets in the folder `written` hold, by a formula."""
    return Demonstrations(
        np.arange(36).reshape(12, 3) / 8,
        np.arange(24).reshape(12, 2) / -16,
        episode=np.repeat([0, 1, 2], [5, 4, 3]),
        reward=np.arange(12) / 4,
    )


@pytest.fixture
def no_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if pyarrow were not installed."""
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)


def differences(one: Demonstrations, other: Demonstrations) -> list[str]:
    """The fields in which they differ, be it in type, in shape or in any value."""
    return [
        field.name
        for field in fields(Demonstrations)
        for a, b in [(getattr(one, field.name), getattr(other, field.name))]
        if field.compare
        if type(a) is not type(b)
        or (isinstance(a, np.ndarray) and (a.dtype, a.shape) != (b.dtype, b.shape))
        or not np.array_equal(a, b)
    ]
