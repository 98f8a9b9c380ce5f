"""The rooms of the house, by the table in docs/architecture.md: they depend one way, and some need no JAX."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src"
WITHOUT_JAX = ("rewards.config", "policy.config", "policy.saved", "policy.averaging")
"""Modules that need no JAX in rooms that do."""
WITH_JAX = ("cli.throughput", "cli.example")
"""Modules that need JAX in rooms that do not."""


class Room(NamedTuple):
    name: str
    without_jax: bool


def read_rooms(text: str) -> list[Room]:
    """The table's rows, from the top."""
    rows = re.findall(r"^\| `([a-z.]+)` \|.*\|([^|]*)\|$", text, re.MULTILINE)
    return [Room(name, jax.strip() == "yes") for name, jax in rows]


def imports(tree: ast.AST, modules: set[str]) -> set[str]:
    """The modules that some code imports, be it inside a function; not what only a type checker reads."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inside & modules
            if inside - modules:
                found.add(node.module)
        found |= imports(node, modules)
    return found & modules


def read_graph(source: Path) -> dict[str, set[str]]:
    """Module -> the modules of the same tree that it imports."""
    files = {
        ".".join(file.relative_to(source).with_suffix("").parts).removesuffix(".__init__"): file
        for file in source.rglob("*.py")
    }
    return {
        module: imports(ast.parse(file.read_text()), set(files)) - {module} for module, file in files.items()
    }


def room_of(module: str, rooms: list[Room]) -> str:
    """The longest name that fits."""
    inside = module.removeprefix("rilco.")
    fitting = [room.name for room in rooms if inside == room.name or inside.startswith(f"{room.name}.")]
    return max(fitting, key=len, default=f"{module} (in no row of docs/architecture.md)")


def upward(graph: dict[str, set[str]], rooms: list[Room]) -> list[str]:
    """Imports that lead to a room further up."""
    height = {room.name: -number for number, room in enumerate(rooms)}
    return [
        f"{module} imports {other}"
        for module, others in sorted(graph.items())
        for other in sorted(others)
        if height[room_of(module, rooms)] < height[room_of(other, rooms)]
    ]


ROOMS = read_rooms((ROOT / "docs" / "architecture.md").read_text())
GRAPH = read_graph(SOURCE)


def test_every_module_has_a_room_and_every_room_a_module() -> None:
    assert {room_of(module, ROOMS) for module in GRAPH} == {room.name for room in ROOMS}


def test_rooms_depend_one_way() -> None:
    assert upward(GRAPH, ROOMS) == []


def test_no_modules_import_one_another_in_a_circle() -> None:
    try:
        TopologicalSorter(GRAPH).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def test_what_only_reads_needs_no_jax() -> None:
    free = {room.name for room in ROOMS if room.without_jax}
    modules = [
        module
        for module in sorted(GRAPH)
        if module.removeprefix("rilco.") not in WITH_JAX
        and (room_of(module, ROOMS) in free or module.removeprefix("rilco.") in WITHOUT_JAX)
    ]
    code = f"""
import importlib, sys
for name in {modules}:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:  # an extra that is not installed
        if error.name.partition(".")[0] == "rilco":
            raise
    if "jax" in sys.modules:
        sys.exit(f"{{name}} imports JAX")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


IN_A_RUN = ("config.json", "metrics.jsonl", "best.safetensors", "last.safetensors", ".lock")
FOLDERS_IN_A_RUN = ("checkpoints", "events", "phases")


def spelled(tree: ast.AST) -> list[str]:
    """Names of what a run folder holds, among the strings of some code. Docstrings may say them."""
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
    ]
    return [text for text in strings if text in FOLDERS_IN_A_RUN or any(name in text for name in IN_A_RUN)]


def test_only_one_room_spells_the_names_in_a_run_folder() -> None:
    found = {
        str(file.relative_to(SOURCE)): spelled(ast.parse(file.read_text()))
        for file in SOURCE.rglob("*.py")
        if file.parent.name != "runs"
    }
    assert {file: names for file, names in found.items() if names} == {}
    assert spelled(ast.parse("path / 'config.json'")) == ["config.json"]


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """Two rooms, the lower of which looks up from inside a function."""
    for file, text in {
        "rilco/top.py": "from rilco.low import thing",
        "rilco/low/__init__.py": "",
        "rilco/low/thing.py": "def late():\n    if True:\n        from rilco import top",
        "rilco/low/typed.py": "if TYPE_CHECKING:\n    from rilco.top import name",
    }.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    return tmp_path


def test_a_late_import_counts(house: Path) -> None:
    graph = read_graph(house)
    assert upward(graph, [Room("top", False), Room("low", False)]) == ["rilco.low.thing imports rilco.top"]
    with pytest.raises(CycleError):
        TopologicalSorter(graph).prepare()
