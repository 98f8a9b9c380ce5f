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
__all__ = list(_EXPORTS)

if TYPE_CHECKING:
    from rilco.api import load_run as load_run
    from rilco.api import train as train
    from rilco.bc.training import clone as clone
    from rilco.config import RunConfig as RunConfig
    from rilco.data.collect import collect as collect
    from rilco.data.formats import save_demonstrations as save_demonstrations
    from rilco.data.loading import load_demonstrations as load_demonstrations
    from rilco.data.mixing import mix as mix
    from rilco.data.record import Demonstrations as Demonstrations
    from rilco.errors import RilcoError as RilcoError
    from rilco.evaluation import evaluate as evaluate
    from rilco.experiment.sweep import sweep as sweep
    from rilco.judging.audit import Audit as Audit
    from rilco.judging.audit import audit as audit
    from rilco.judging.audit import load_audit as load_audit
    from rilco.policy.saved import Policy as Policy
    from rilco.policy.saved import load_policy as load_policy
    from rilco.reporting.build import report as report
    from rilco.runs.folder import Run as Run
    from rilco.runs.tensorboard import TensorBoard as TensorBoard
    from rilco.tasks.table import Task as Task


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
