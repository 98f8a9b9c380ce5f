"""The configuration of a run: one frozen record, stored as `config.json` in its folder."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from rilco.bc.config import BcConfig
from rilco.clean.config import CleanConfig
from rilco.errors import ConfigError, RilcoError, RunError, check_choice, check_noise_rate, whole
from rilco.files import as_record, brief, parse_object
from rilco.methods import POLICY_LEARNERS, find
from rilco.policy.config import AcktrConfig, PpoConfig
from rilco.rewards.config import ClassifierConfig, VildConfig
from rilco.runs.paths import CONFIG, DEMONSTRATIONS, START
from rilco.tasks.table import Task

FORMAT = "rilco-run-"
VERSION = 2
"""Version of what a run computes. Version 1 learned its first iteration from raw observations, and all its evaluations had the
same start states. Its runs can be read and compared, but not resumed."""
DEMO_KINDS = ("policy", "matched", "gaussian")
PLACE = ("method", "task", "demos", "noise_rate", "demo_kind", "steps", "seed")
"""Settings in which runs of a comparison differ."""
LOOKS = ("evaluate_every", "evaluation_episodes", "final_episodes", "snapshot_every")
"""Settings that only say when a run is evaluated, and what it keeps."""


@dataclass(frozen=True)
class RunConfig:
    """Everything that the result of a run depends on.

    >>> config = rilco.load_run("runs/mine").config
    >>> config.method, config.classifier.loss
    ('ril-co', 'ap')
    """

    method: str = "ril-co"
    """How to learn (see `rilco.methods`): a way to imitate, or `acktr` or `ppo` on the environment's own reward."""
    task: Task = field(default_factory=lambda: Task(task="halfcheetah"))
    """The environment; of cloning it may be none, `Task()`."""
    demos: tuple[str, ...] = ()
    """Demonstration files. None, but a noise rate: the standard dataset of the task (`rilco.data.standard`)."""
    noise_rate: float | None = None
    """Mix the files by the paper's noise protocol at this rate; None takes all pairs as they are."""
    demo_kind: str = "policy"
    """Non-experts of the standard dataset: worse policies, such policies "matched" with the authors' in what they do, or the
    expert with "gaussian" noise on its actions."""
    obs_keys: tuple[str, ...] = ()
    """Which named parts of the files make up an observation, for formats that name them."""
    nonexpert_demos: tuple[str, ...] = ()
    """Files of pairs that are known to be non-expert."""
    episodes_as_demonstrators: bool = False
    """Take each episode for a demonstrator of its own, where nothing says who made which."""
    steps: int = 20_000_000
    """Transitions in all, rounded up to whole iterations."""
    seed: int = 1
    """Seed of everything random in the run."""
    num_envs: int = 32
    """Environments that act side by side."""
    num_steps: int = 20
    """Steps of each environment in an iteration."""
    freeze_normalizer_after: int = 11
    """Iterations in which every step moves the observation statistics. Then imitation keeps them; on the true reward
    they move once an iteration. 0 takes those of the demonstrations."""
    evaluate_every: int = 100_000
    """Transitions between evaluations; 0 evaluates only at the end, -1 never."""
    evaluation_episodes: int = 10
    """Episodes of the deterministic policy in an evaluation, each time from other starts."""
    final_episodes: int = 100
    """Episodes of the last evaluation."""
    snapshot_every: int = 0
    """Transitions between policy snapshots kept in the run folder; 0 keeps none."""
    classifier: ClassifierConfig = field(default_factory=ClassifierConfig)
    """The reward learner's settings."""
    vild: VildConfig = field(default_factory=VildConfig)
    """VILD's settings, beside its classifier's."""
    lasting_ends: bool = False
    """Whether the learned reward of a terminal step is paid for ever after, as if the episode stayed there. For tasks that
    end by themselves, well or badly: a reward above 0 else pays for not ending."""
    start_from: str = ""
    """A policy file, run folder or name (`hopper#1`) whose policy training begins with; empty begins at random."""
    hold_actor_for: int = 50
    """Iterations that such a policy is left alone, until the critic, and the classifiers, have caught up with it."""
    policy_learner: str = "acktr"
    """Learner of the policy: `acktr` or `ppo`."""
    acktr: AcktrConfig = field(default_factory=AcktrConfig)
    """ACKTR's settings."""
    ppo: PpoConfig = field(default_factory=PpoConfig)
    """PPO's settings."""
    bc: BcConfig = field(default_factory=BcConfig)
    """Behaviour cloning's settings."""
    clean: CleanConfig = field(default_factory=CleanConfig)
    """Settings of `ril-co-clean`, beside those of its phases."""
    version: int = VERSION
    """Version of the computation. Runs of older ones can only be read."""

    def __post_init__(self) -> None:
        method = find(self.method)
        whole("steps", self.steps)
        for name in ("num_envs", "num_steps", "evaluation_episodes", "final_episodes"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}: expected at least 1; got {getattr(self, name)}.")
        if not 0 <= self.seed < 2**31:
            raise ConfigError(f"--seed {self.seed}: expected a whole number from 0 to {2**31 - 1}.")
        if self.noise_rate is not None:
            check_noise_rate(self.noise_rate)
        least = 0 if method.imitates else 1
        if self.freeze_normalizer_after < least:
            raise ConfigError(
                f"freeze_normalizer_after must be at least {least}; got {self.freeze_normalizer_after}. Nothing learns from "
                "raw observations."
            )
        if not self.task.name and (method.runner != "cloning" or self.evaluate_every >= 0):
            what = "evaluated" if method.runner == "cloning" else "trained"
            raise ConfigError(
                f"Choose an environment: --task NAME, or --env GYMNASIUM_ID. Without one, {self.method} cannot be {what}."
            )
        self._check_demonstrations()
        check_choice("--policy-learner", self.policy_learner, POLICY_LEARNERS)
        if method.policy_learner not in ("", self.policy_learner):
            raise ConfigError(
                f"--method {self.method} with --policy-learner {self.policy_learner}: on the true reward the method "
                "is the learner. Leave one of them out."
            )
        if not self.classifier.pseudo_labels and not self.nonexpert_demos:
            raise ConfigError(
                "--no-pseudo-labels: leaves the classifiers without any non-expert pair; give --nonexpert-demos too."
            )

    def _check_demonstrations(self) -> None:
        if not find(self.method).imitates:
            if self.demos:
                raise ConfigError(f"--method {self.method} learns from the true reward and takes no --demos.")
            return
        check_choice("--demo-kind", self.demo_kind, DEMO_KINDS)
        if self.demos and self.demo_kind != "policy":
            raise ConfigError(
                f"--demo-kind {self.demo_kind}: is about the standard datasets, and --demos was given. Leave one out."
            )
        if not self.demos and (self.noise_rate is None or self.task.task is None):
            raise ConfigError(
                f"--method {self.method} imitates, so it needs demonstrations: give --demos FILE..., or, with a "
                "Bullet --task, a --noise-rate alone to use its standard dataset. From Python, demos=audit.kept is "
                "None where an audit was not sure enough to keep anything."
            )

    @classmethod
    def defaults(cls) -> RunConfig:
        """Every default but that of the method: this one needs no demonstrations."""
        return cls(method="acktr")

    @property
    def policy_settings(self) -> AcktrConfig | PpoConfig:
        """Settings of the policy learner in use."""
        return self.ppo if self.policy_learner == "ppo" else self.acktr

    def with_policy_settings(self, **changes: Any) -> RunConfig:
        """With other settings of the policy learner in use."""
        changed: dict[str, Any] = {self.policy_learner: replace(self.policy_settings, **changes)}
        return replace(self, **changed)

    @property
    def transitions_per_iteration(self) -> int:
        return self.num_envs * self.num_steps

    @property
    def iterations(self) -> int:
        return -(-self.steps // self.transitions_per_iteration)

    @property
    def transitions(self) -> int:
        """Those of a whole run, whose last iteration is a whole one, too."""
        return self.iterations * self.transitions_per_iteration

    def every(self, transitions: int) -> int:
        """An interval in transitions as a number of iterations, at least one."""
        return max(1, round(transitions / self.transitions_per_iteration))

    def flat(self) -> dict[str, Any]:
        """The settings as one table, those of parts with a dot: `classifier.lam`."""
        table: dict[str, Any] = {}
        for own in fields(self):
            value = getattr(self, own.name)
            if isinstance(value, Task):
                table[own.name] = value.name
            elif is_dataclass(value):
                table |= {f"{own.name}.{part.name}": getattr(value, part.name) for part in fields(value)}
            else:
                table[own.name] = value
        return table

    def changed(self) -> dict[str, Any]:
        """The flat settings that are not the defaults, which are the paper's, and tell runs of one place apart."""
        usual = RunConfig.defaults().flat()
        left_out = (*PLACE, *LOOKS)
        return {
            name: value
            for name, value in self.flat().items()
            if name not in left_out and value != usual[name]
        }

    def to_json(self) -> str:
        table = asdict(self)
        del table["task"]["named_by"]  # whoever reads it knows the file
        return json.dumps({"format": f"{FORMAT}{table.pop('version')}", **table}, indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, where: str) -> RunConfig:
        versions = {f"{FORMAT}{version}": version for version in range(1, VERSION + 1)}
        try:
            table = parse_object(text, where)
            stored = str(table.pop("format", None))
            if stored in versions:
                config = as_record(cls, {**table, "version": versions[stored]}, where)
                return replace(config, task=replace(config.task, named_by=where))
        except RilcoError as error:
            raise RunError(f"{where}: not a rilco run's configuration ({error}).") from error
        raise RunError(
            f"{where}: not a rilco run's configuration, or it is from another version of rilco: its format is "
            f"{brief(stored)}, and this version reads {', '.join(versions)}."
        )

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> RunConfig:
        file = Path(folder) / CONFIG
        try:
            text = file.read_bytes()
        except OSError as error:
            why = (
                f"{file.name} could not be read: {error.strerror}"
                if file.exists()
                else f"it holds no {CONFIG}"
            )
            raise RunError(
                f"{folder}: not a run folder ({why}). Expected the folder that was given as --out to `rilco train`."
            ) from error
        config = cls.from_json(text, str(file))
        here = Path(os.path.abspath(folder))

        def found(path: str) -> str:
            """What a run wrote into its folder is there, also where the folder was moved."""
            own = here / Path(path).name
            return str(own) if own.name in (DEMONSTRATIONS, START) and own.exists() else path

        demos = tuple(map(found, config.demos))
        return replace(config, demos=demos, start_from=found(config.start_from))

    def difference(self, other: RunConfig) -> dict[str, tuple[Any, Any]]:
        """The settings that differ, with both values."""
        pairs = {f.name: (getattr(self, f.name), getattr(other, f.name)) for f in fields(self)}
        return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def in_words(difference: dict[str, tuple[Any, Any]]) -> str:
    return "; ".join(f"{name}: {ours} -> {theirs}" for name, (ours, theirs) in difference.items())
