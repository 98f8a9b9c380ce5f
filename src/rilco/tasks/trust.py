"""On whose word an environment is made.

Naming an environment `module:Id-v0` or `module:factory` runs that module's code. The user may do so. A file may not,
unless the user has named the same environment in this process, or trusts the file.
"""

from __future__ import annotations

from rilco.errors import TaskError

ADAPTERS = ("GymV21Environment-v0", "GymV26Environment-v0")
"""Registered ids that import whatever their keyword arguments say."""
_TRUSTED: set[str] = set()  # names that hold for the rest of this process


def trust(name: str) -> None:
    """From now on this environment may be made, whoever names it."""
    _TRUSTED.add(name)


def imports_code(name: str) -> bool:
    """Whether to make this environment imports more than what is registered with Gymnasium."""
    return ":" in name or name in ADAPTERS


def is_trusted(name: str, named_by: str) -> bool:
    """Whether the environment may be made: it is registered already, or the user named it.

    What the user names, not a file, is trusted for the rest of the process. So its runs can be resumed.
    """
    if not named_by:
        trust(name)
    return name in _TRUSTED or not imports_code(name)


def require_trust(name: str, named_by: str) -> None:
    """Raises TaskError unless the environment may be made."""
    if not is_trusted(name, named_by):
        module = name.rpartition(":")[0]
        imported = f"the module {module!r}" if module else "what its keyword arguments name"
        raise TaskError(
            f"{named_by}: names the environment {name!r}. To make it, {imported} would be imported and its code run. "
            "If you trust whoever wrote the file, add --trust-env; from Python, trust_env=True."
        )
