"""Demonstrations for the tests of audits: an expert at full throttle and drivers who give little of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.environments import Vehicle, env_id

from rilco.clean import phases
from rilco.data.formats import save_demonstrations
from rilco.data.record import Demonstrations
from rilco.judging.audit_config import AuditConfig

WORSE = (0.3, 0.2, 0.1, 0.0, -0.1)  # shares of full throttle
EPISODE, EXPERT_EPISODES, WORSE_EPISODES = 60, 20, 3  # 3 of 7 pairs are not the expert's
STRETCH = 3200  # transitions; enough for so simple a task
STEPS = 25_600
HOW_SHORT = AuditConfig(stretch_transitions=STRETCH)
# Networks that compile quickly; all tests share them.
SETTINGS: dict[str, Any] = {"acktr.hidden_sizes": [16], "classifier.hidden": [32, 32]}
OPTIONS: dict[str, Any] = {"env": env_id("Vehicle"), "steps": STEPS, **SETTINGS}


def demonstrate(share: float, episodes: int, seed: int = 0) -> Demonstrations:
    """Whole episodes of a driver who gives this share of full throttle."""
    rng = np.random.default_rng([seed, int(100 * share) + 100])
    throttle = np.full(2, share * Vehicle.FULL_THROTTLE)
    obs = []
    for _ in range(episodes):
        velocity = Vehicle.start(rng)
        for _ in range(EPISODE):
            obs.append(velocity)
            velocity = Vehicle.drive(velocity, throttle)
    return Demonstrations(
        np.array(obs, np.float32),
        np.tile(throttle, (len(obs), 1)),
        episode=np.arange(len(obs)) // EPISODE,
        reward=np.mean(obs, axis=1),
        expert=np.full(len(obs), share == 1.0),
        demonstrator_names=(f"driver-{share:g}.npz",),
    )


def write_files(folder: Path, worse: Sequence[float] = WORSE) -> list[str]:
    """A file for each driver, the expert's first."""
    files = []
    for share in (1.0, *worse):
        files.append(str(folder / f"driver-{share:g}.npz"))
        save_demonstrations(
            demonstrate(share, EXPERT_EPISODES if share == 1.0 else WORSE_EPISODES), files[-1]
        )
    return files


@pytest.fixture(scope="module")
def short_stretches() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(phases, "RULES", HOW_SHORT)
        yield


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
