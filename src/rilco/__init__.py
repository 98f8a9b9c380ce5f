"""rilco: imitation learning that survives bad demonstrations."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# Imported when first used: `import rilco` and deploying a policy need neither JAX nor a simulator.
_EXPORTS = {
    "Demonstrations": "rilco.data.record",
    "Policy": "rilco.policy.saved",
    "RilcoError": "rilco.errors",
    "Run": "rilco.runs.folder",
    "RunConfig": "rilco.config",
    "evaluate": "rilco.api",
    "load_demonstrations": "rilco.data.loading",
    "load_policy": "rilco.policy.saved",
    "train": "rilco.api",
}
__all__ = [
    "Demonstrations",
    "Policy",
    "RilcoError",
    "Run",
    "RunConfig",
    "evaluate",
    "load_demonstrations",
    "load_policy",
    "train",
]

if TYPE_CHECKING:
    from rilco.api import evaluate, train
    from rilco.config import RunConfig
    from rilco.data.loading import load_demonstrations
    from rilco.data.record import Demonstrations
    from rilco.errors import RilcoError
    from rilco.policy.saved import Policy, load_policy
    from rilco.runs.folder import Run


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
    return sorted([*globals(), *__all__])
