"""The names of what a run's folder holds. They are spelled nowhere else."""

from __future__ import annotations

from pathlib import Path

CONFIG = "config.json"
METRICS = "metrics.jsonl"
CHECKPOINTS = "checkpoints"
EVENTS = "events"
LOCK = ".lock"
AUDIT = "audit"
DEMONSTRATIONS = "demonstrations.npz"  # those that were given as an object
START = "start.safetensors"  # the policy to begin with, that was given as an object
PHASES = "phases"  # the parts of a run that has several
POLICIES = "policy"
SNAPSHOTS = "snapshots"


def policy_file(run: Path, name: str) -> Path:
    """The file of the policy `best`, `last`, or of a snapshot."""
    return run / POLICIES / f"{name}.safetensors"


def snapshot_name(transitions: int) -> str:
    return f"{SNAPSHOTS}/{transitions:010d}"


def snapshots(run: Path) -> list[Path]:
    """The files of all snapshots, in the order of training."""
    return sorted((run / POLICIES / SNAPSHOTS).glob("*.safetensors"))


def holds_run(folder: Path) -> bool:
    """Whether a run began in this folder, however it went on."""
    return (folder / CONFIG).exists()
