"""What a run is: one frozen record, stored as `config.json` in its folder."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from rilco.errors import ConfigError, RunError
from rilco.methods import check_method, needs_demonstrations
from rilco.policy.acktr import AcktrConfig
from rilco.rewards.classifier import ClassifierConfig
from rilco.tasks.table import Task

FORMAT = "rilco-run-1"


@dataclass(frozen=True)
class RunConfig:
    """Everything that the result of a run depends on."""

    method: str = "ril-co"
    """How the reward is learned (see `rilco.methods`), or `acktr` for the environment's own reward."""
    task: Task = field(default_factory=lambda: Task(task="halfcheetah"))
    """The environment."""
    demos: tuple[str, ...] = ()
    """Demonstration files; none for `acktr`."""
    noise_rate: float | None = None
    """Mix the files by the paper's noise protocol at this rate; None takes all pairs as they are."""
    steps: int = 20_000_000
    """Transitions in all, rounded up to whole iterations."""
    seed: int = 1
    """Of everything random in the run."""
    num_envs: int = 32
    """Environments that act side by side."""
    num_steps: int = 20
    """Steps of each environment in an iteration."""
    freeze_normalizer_after: int = 10
    """Iterations after which imitation keeps its observation statistics; `acktr` never freezes them."""
    evaluate_every: int = 100_000
    """Transitions between evaluations; 0 evaluates only at the end, -1 never."""
    evaluation_episodes: int = 10
    """Episodes of the deterministic policy in an evaluation."""
    snapshot_every: int = 0
    """Transitions between policy snapshots kept in the run folder; 0 keeps none."""
    classifier: ClassifierConfig = field(default_factory=ClassifierConfig)
    """The reward learner's settings."""
    acktr: AcktrConfig = field(default_factory=AcktrConfig)
    """The policy learner's settings."""

    def __post_init__(self) -> None:
        check_method(self.method)
        for name in ("steps", "num_envs", "num_steps", "evaluation_episodes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be at least 1; got {getattr(self, name)}.")
        if not 0 <= self.seed < 2**31:
            raise ConfigError(f"--seed {self.seed}: expected a whole number from 0 to {2**31 - 1}.")
        if self.noise_rate is not None and not 0.0 <= self.noise_rate < 0.5:
            raise ConfigError(
                f"--noise-rate {self.noise_rate}: expected a rate from 0 to below 0.5 (most of the data must be "
                "the expert's); 0.4 means four in ten pairs, nominally."
            )
        if needs_demonstrations(self.method) and not self.demos:
            raise ConfigError(
                f"--method {self.method} imitates, so it needs demonstrations: give --demos FILE..."
            )
        if not needs_demonstrations(self.method) and self.demos:
            raise ConfigError(f"--method {self.method} learns from the true reward and takes no --demos.")

    @property
    def transitions_per_iteration(self) -> int:
        return self.num_envs * self.num_steps

    @property
    def iterations(self) -> int:
        return -(-self.steps // self.transitions_per_iteration)

    def every(self, transitions: int) -> int:
        """An interval in transitions as a number of iterations, at least one."""
        return max(1, round(transitions / self.transitions_per_iteration))

    def to_json(self) -> str:
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str, where: str) -> RunConfig:
        try:
            table = json.loads(text)
            if table.pop("format") != FORMAT:
                raise RunError(
                    f"{where}: not a run of format {FORMAT!r}; it is from another version of rilco."
                )
            table["task"] = Task(**table["task"])
            table["demos"] = tuple(table["demos"])
            table["classifier"] = ClassifierConfig(**_tuples(table["classifier"]))
            table["acktr"] = AcktrConfig(**_tuples(table["acktr"]))
            return cls(**table)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise RunError(f"{where}: not a rilco run's configuration ({error!r}).") from error

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> RunConfig:
        file = Path(folder) / "config.json"
        try:
            text = file.read_text()
        except OSError as error:
            raise RunError(
                f"{folder}: not a run folder ({file.name} could not be read: {error.strerror}). Expected the folder "
                "that was given as --out to `rilco train`."
            ) from error
        return cls.from_json(text, str(file))

    def difference(self, other: RunConfig) -> list[str]:
        """Lines that say which settings differ, for the error that refuses to resume."""
        return [
            f"{f.name}: {getattr(self, f.name)} -> {getattr(other, f.name)}"
            for f in fields(self)
            if getattr(self, f.name) != getattr(other, f.name)
        ]


def _tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    """JSON has lists where the records have tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}
