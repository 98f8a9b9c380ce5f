"""Modules from outside the package, which register methods, formats and judges of their own when they are imported."""

from __future__ import annotations

import importlib
import os

from rilco.errors import ConfigError

MODULES = "RILCO_MODULES"
"""An environment variable: the modules, with commas between them."""


def import_modules() -> None:
    """Import what the variable names, which it takes in a process that a user did not start in Python."""
    for module in filter(None, map(str.strip, os.environ.get(MODULES, "").split(","))):
        try:
            importlib.import_module(module)
        except ImportError as error:
            raise ConfigError(
                f"{MODULES}={os.environ[MODULES]}: {module} cannot be imported ({error}). Name modules that Python finds "
                "here; PYTHONPATH adds folders to search."
            ) from error
