"""Everything that the page shows, gathered before any HTML is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rilco.reporting.aggregate import Expert, MethodScore
from rilco.reporting.cells import Sorted
from rilco.reporting.drawing import Figure
from rilco.reporting.media import Strip, Video
from rilco.reporting.seeds import SeedComparison


@dataclass(frozen=True)
class Content:
    root: Path
    """The results folder; paths are shown relative to it."""
    found: Sorted
    """Its runs."""
    figures: Mapping[str, Figure]
    """By name."""
    experts: Mapping[str, Expert]
    """By task."""
    scores: Mapping[float, Sequence[MethodScore]]
    """By noise rate."""
    seeds: Sequence[SeedComparison] = ()
    """Of the cells that have published runs."""
    strips: Sequence[Strip] = ()
    """Rendered frames."""
    videos: Sequence[Video] = ()
    """Of runs."""
    more_videos: int = 0
    """How many there are besides."""
    complaints: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Whose frames could not be rendered, by reason."""
