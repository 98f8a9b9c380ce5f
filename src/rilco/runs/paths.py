"""Where things are in a run's folder. These names are spelled nowhere else."""

from __future__ import annotations

from pathlib import Path

CONFIG = "config.json"
METRICS = "metrics.jsonl"
CHECKPOINTS = "checkpoints"
EVENTS = "events"
LOCK = ".lock"
AUDIT = "audit"
DEMONSTRATIONS = "demonstrations.npz"  # given as an object, and written down
PHASES = "phases"  # of a run that is made of several
POLICIES = "policy"
SNAPSHOTS = "snapshots"


def policy_file(run: Path, name: str) -> Path:
    """`best`, `last`, or a snapshot's name."""
    return run / POLICIES / f"{name}.safetensors"


def snapshot_name(transitions: int) -> str:
    return f"{SNAPSHOTS}/{transitions:010d}"


def snapshots(run: Path) -> list[Path]:
    """Policies that were kept for good, in the order of training."""
    return sorted(policy_file(run, f"{SNAPSHOTS}/-").parent.glob("*.safetensors"))


def holds_run(folder: Path) -> bool:
    """Whether a run began in this folder, however it went on."""
    return (folder / CONFIG).exists()
