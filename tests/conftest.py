"""Settings that every test runs under, and the fixtures that several of them share."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

_ROOT = Path(__file__).resolve().parents[1]

# JAX and the BLAS libraries read these once, at their import, and worker processes inherit them. One thread
# each: a spinning BLAS pool in every worker is slower than none, and sums then always run in the same order.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("MPLBACKEND", "Agg")
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# Compiling takes most of the time of a first session. It is done once, also for the processes that tests start and for
# later sessions: `make clean` forgets it. A program suits the processor that it was compiled for.
_CPUINFO = Path("/proc/cpuinfo")
_PROCESSOR = _CPUINFO.read_text().partition("flags")[2].partition("\n")[0] if _CPUINFO.exists() else ""
_COMPILED = _ROOT / "build" / f"compiled-{hashlib.sha256(_PROCESSOR.encode()).hexdigest()[:12]}"
if os.access(_ROOT, os.W_OK):
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(_COMPILED))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")

# A program runs for a moment here: compiling it quickly is worth more than its speed. XLA ends a process at a flag that
# it does not know, so only the pinned version gets these. One test has what users have: that of kill -9.
_QUICK = (
    "--xla_backend_optimization_level=0",
    "--xla_llvm_disable_expensive_passes=true",
    "--xla_cpu_use_fusion_emitters=false",
)
_PINNED = (_ROOT / "constraints.txt").read_text().split()
if "XLA_FLAGS" not in os.environ and f"jaxlib=={importlib.metadata.version('jaxlib')}" in _PINNED:
    os.environ["XLA_FLAGS"] = " ".join(_QUICK)

# No test may depend on how fast the machine is; under CI no test may depend on luck either.
_UNTIMED = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("local", **_UNTIMED)
hypothesis.settings.register_profile("ci", derandomize=True, print_blob=True, database=None, **_UNTIMED)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")

_SHARED_DIR = _ROOT.parent / "shared"

_NO_BULLET = importlib.util.find_spec("pybullet") is None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what uses `shared_dir` as shared, so that -m sees it, and skip what is marked if it is absent.

    Files with many slow tests come first, so that no process is left alone with one in the end.
    """
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])
    absent = pytest.mark.skip(reason=f"no folder '{_SHARED_DIR.name}' next to the project")
    for item in items:
        if item.get_closest_marker("bullet") and _NO_BULLET:
            item.add_marker(pytest.mark.skip(reason="could not import 'pybullet'"))
        if "shared_dir" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.shared)
        if item.get_closest_marker("shared") and not _SHARED_DIR.is_dir():
            item.add_marker(absent)


def pytest_collection_finish() -> None:
    """A program that a killed process left half-written is compiled again."""
    if "jax" in sys.modules and _COMPILED.exists():
        from rilco.learning import remove_torn

        remove_torn(_COMPILED)


_LASTING = (
    "next to the project",  # published demonstrations
    "root may write anywhere",
    "the superuser may read everything",
    "no disk can be mounted here",
    "read-only even for root",
    "this HDF5 has no szip",
)
"""Reasons for which a test may be skipped in CI. Every other one is a failure there: an installation could lift it."""
_LIFTABLE: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Note what was skipped without one of these reasons. PyBullet ends with Python 3.11, so nothing lifts that."""
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
    ends = sys.version_info >= (3, 12) and "'pybullet'" in reason
    if report.skipped and not ends and not any(words in reason for words in _LASTING):
        _LIFTABLE.append(f"{report.nodeid}: {reason}")


pytest_collectreport = pytest_runtest_logreport  # of whole modules


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if os.environ.get("CI") and _LIFTABLE:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if os.environ.get("CI") and _LIFTABLE:
        terminalreporter.section("skipped, although an installation could lift it: a failure in CI")
        terminalreporter.write_line("\n".join(_LIFTABLE))


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of published demonstrations and curves that may stand next to the project."""
    return _SHARED_DIR


@pytest.fixture(scope="session", autouse=True)
def trusted_environments() -> None:
    """The tests' own environments are trusted, so that no test depends on which of them another has named."""
    from tests import environments

    from rilco.tasks.trust import trust

    for name in vars(environments):
        trust(f"tests.environments:{name}")
        trust(environments.env_id(name))


@pytest.fixture(autouse=True)
def strict_jax() -> Iterator[None]:
    """Make JAX refuse implicit dtype and rank promotion: a stray float64 or a silent broadcast then fails.

    Wherever JAX is loaded. Optax is let off: its Adam raises a Python float to an int32 count.
    """
    if "jax" not in sys.modules:
        yield
        return
    import jax
    import optax

    correct = optax.tree.bias_correction

    def bias_correction(*arguments: Any) -> Any:
        with jax.numpy_dtype_promotion("standard"):
            return correct(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(optax.tree, "bias_correction", bias_correction)
        with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
            yield
