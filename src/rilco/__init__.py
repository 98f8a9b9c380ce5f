"""rilco: imitation learning that survives bad demonstrations."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# Imported when first used: `import rilco` and deploying a policy need neither JAX nor a simulator.
_EXPORTS = {
    "Audit": "rilco.judging.audit",
    "Demonstrations": "rilco.data.record",
    "Policy": "rilco.policy.saved",
    "RilcoError": "rilco.errors",
    "Run": "rilco.runs.folder",
    "RunConfig": "rilco.config",
    "Task": "rilco.tasks.table",
    "TensorBoard": "rilco.runs.tensorboard",
    "audit": "rilco.judging.audit",
    "clone": "rilco.bc.training",
    "collect": "rilco.data.collect",
    "evaluate": "rilco.evaluation",
    "load_audit": "rilco.judging.audit",
    "load_demonstrations": "rilco.data.loading",
    "load_policy": "rilco.policy.saved",
    "load_run": "rilco.api",
    "mix": "rilco.data.mixing",
    "report": "rilco.reporting.build",
    "save_demonstrations": "rilco.data.formats",
    "sweep": "rilco.experiment.sweep",
    "train": "rilco.api",
}
__all__ = [
    "Audit",
    "Demonstrations",
    "Policy",
    "RilcoError",
    "Run",
    "RunConfig",
    "Task",
    "TensorBoard",
    "audit",
    "clone",
    "collect",
    "evaluate",
    "load_audit",
    "load_demonstrations",
    "load_policy",
    "load_run",
    "mix",
    "report",
    "save_demonstrations",
    "sweep",
    "train",
]

if TYPE_CHECKING:
    from rilco.api import load_run, train
    from rilco.bc.training import clone
    from rilco.config import RunConfig
    from rilco.data.collect import collect
    from rilco.data.formats import save_demonstrations
    from rilco.data.loading import load_demonstrations
    from rilco.data.mixing import mix
    from rilco.data.record import Demonstrations
    from rilco.errors import RilcoError
    from rilco.evaluation import evaluate
    from rilco.experiment.sweep import sweep
    from rilco.judging.audit import Audit, audit, load_audit
    from rilco.policy.saved import Policy, load_policy
    from rilco.reporting.build import report
    from rilco.runs.folder import Run
    from rilco.runs.tensorboard import TensorBoard
    from rilco.tasks.table import Task


def _register_environments() -> None:
    """Make `gymnasium.make("rilco/HalfCheetahBullet-v0")` work after `import rilco`."""
    try:
        from rilco.tasks.registration import register_environments
    except ImportError:  # a policy can be deployed where Gymnasium is not installed
        return
    register_environments()


_register_environments()


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'rilco' has no attribute {name!r}")
    return getattr(importlib.import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
