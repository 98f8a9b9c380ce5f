"""Every code block of README.md and docs runs, in order, page by page, with the small settings below."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
import pytest

import rilco
from rilco.cli import cli

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ELSEWHERE = {"extending.md": "tests/test_outside.py runs its code"}

SMALL = {"num_envs": 2, "num_steps": 10, "evaluation_episodes": 1, "final_episodes": 1}
QUICK = "--steps 40 --workers 1 --quiet " + " ".join(f"--set {name}={value}" for name, value in SMALL.items())
REPLACED = [
    (r"--(gradient-)?steps \S+", ""),
    (r"rilco train --method bc", "rilco train --gradient-steps 50 --quiet --method bc"),
    (r"rilco (train|experts train) (?!--(gradient-)?steps)", rf"rilco \1 {QUICK} "),
    (r"--snapshot-every 50k", "--snapshot-every 20"),
    (r"steps=1e6", f"steps=40, workers=1, quiet=True, settings={SMALL}"),
    (r"gradient_steps=100_000", "gradient_steps=200"),
    (r"--episodes \d+", "--episodes 1"),
    (r"halfcheetah|walker2d|ant\b", "hopper"),  # one standard dataset for all
    (
        r"rilco sweep paper --only .* --out",
        "rilco sweep paper --only task=hopper noise_rate=0.4 method=bc --seeds 1 --steps 640 --out",
    ),
    (r"range\(1, 6\)", "range(1, 2)"),
    (r"\(0.25, 0.75\)", "(0.25,)"),
    (r"2e6", "640"),
    (r"rilco demos collect", "rilco demos collect --pairs 500"),
    (r"runs/expert/policy/snapshots/\S+", "hopper#6"),
    (r'\["ril-co", "gail-ap"\]', '["bc"]'),
]
"""What a reader would wait for, made short."""

PARSED = [
    r"ril-co-clean",  # tests/clean runs it
    r"rilco audit (--env|runs)",  # minutes of training: tests/judging/test_simulator.py
    r"rilco sweep paper (--out|--dry-run|--engine)",  # weeks, and a cluster: tests/experiment
    r"HalfCheetahBulletEnv-v0",  # the authors' files
]
"""Commands whose options are checked and no more."""
HOURS = ("audit-evidence.md", "results.md")  # of their commands, too


class Block(NamedTuple):
    language: str
    code: str
    line: int


def blocks(text: str) -> Iterator[Block]:
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield Block(found[1] or "sh", found[2], text[: found.start()].count("\n") + 2)


def shorten(code: str) -> str:
    for pattern, short in REPLACED:
        code = re.sub(pattern, short, code)
    return code


def parse(words: list[str]) -> None:
    """Check the options of a command without running it."""
    command: click.Command | None = cli
    while isinstance(command, click.Group):
        name, *words = words
        command = command.get_command(click.Context(command), name)
    assert command is not None, f"no such command: {name}"
    command.make_context(name, words)


def run_line(line: str, page: Path) -> None:
    """One line of a shell block. What is not rilco's is only looked at."""
    line = re.sub(r"\s# .*", "", line)
    program, *words = [word for word in shlex.split(line) if not re.match(r"[A-Z_]+=", word)]
    if program == "make":
        subprocess.run(["make", "-n", *words], cwd=ROOT, check=True, capture_output=True)
    elif program == "pip":
        known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        assert set(re.findall(r"\[(.*)\]", line)[0].split(",")) <= set(known)
    elif program == "python":
        script = f"{words[1].replace('.', '/')}.py" if words[0] == "-m" else words[0]
        assert (ROOT / script).is_file(), script
    elif page.name in HOURS or any(re.search(pattern, line) for pattern in PARSED):
        assert program == "rilco", line
        parse([word.replace("RATE", "0.4") for word in words])
    else:
        assert program == "rilco", line
        try:
            cli(shlex.split(shorten(line))[1:], standalone_mode=False)
        except SystemExit as ended:
            if ended.code:
                raise


def run_block(block: Block, names: dict[str, object], page: Path) -> None:
    file = re.match(r"# (\w+\.py)\n", block.code)
    if block.language == "python" and file:
        Path(file[1]).write_text(shorten(block.code))
    elif block.language == "python":
        exec(compile(shorten(block.code), f"{page.name}:{block.line}", "exec"), names)
    elif block.code.startswith("#!"):
        subprocess.run(["bash", "-n"], input=block.code, text=True, check=True)
    elif block.language == "yaml":
        run_line(re.findall(r"entrypoint: (.*)", block.code)[0], page)
    else:
        for line in re.split(r"\n|&&", block.code.replace("\\\n", "").strip()):
            run_line(line, page)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The reader's own files: 24 episodes of Hopper-v5, the last six by somebody who does something else."""
    rng = np.random.default_rng(0)
    episode = np.repeat(np.arange(24), 40)
    obs = rng.normal(0, 1, (len(episode), 11)) + 3.0 * (episode >= 18)[:, None]
    action = np.clip(0.3 * obs[:, :3] * np.where(episode < 18, 1, -1)[:, None], -1, 1)
    demos = rilco.Demonstrations(obs, action, episode=episode)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recordings").mkdir()
    for name in ("mine.hdf5", "mine.npz", "others.h5", "demos.npz", "recordings/anna.hdf5"):
        rilco.save_demonstrations(demos, name)
    shutil.copy("mine.hdf5", "recordings/ben.hdf5")
    Path("decisions.csv").write_text("index,decision\n0,keep\n23,drop\n")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            marks=[pytest.mark.bullet] if re.search(r"--task|task=|sweep paper", page.read_text()) else [],
            id=page.stem,
        )
        for page in PAGES
        if page.name not in ELSEWHERE and "```" in page.read_text()
    ],
)
def test_the_code_of_a_page_runs(page: Path, folder: Path) -> None:
    names: dict[str, object] = {}
    for block in blocks(page.read_text()):
        try:
            run_block(block, names, page)
        except Exception as error:
            error.add_note(f"{page.relative_to(ROOT)}, line {block.line}:\n{block.code}")
            raise


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, small",
    [
        ("demonstrations", ("GRADIENT_STEPS = 5_000", "GRADIENT_STEPS = 100")),
        pytest.param("ril-co-beside-gail", ("STEPS = 40_000", "STEPS = 1_280"), marks=pytest.mark.bullet),
    ],
)
def test_a_notebook_runs_and_holds_its_outputs(name: str, small: tuple[str, str]) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(ROOT / "docs" / "notebooks" / f"{name}.ipynb", as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1)), "run it from the top"
    assert sum("image/png" in output.get("data", {}) for cell in cells for output in cell.outputs) == 2
    assert small[0] in cells[0].source
    elsewhere = rf"{small[0].split()[0]}|rilco\.(Task|evaluate)"  # a small budget and another machine print other numbers
    lasting = [cell for cell in cells if not re.search(elsewhere, cell.source)]
    stored = [printed(cell) for cell in lasting]
    cells[0].source = cells[0].source.replace(*small)
    nbclient.NotebookClient(
        notebook, timeout=900, resources={"metadata": {"path": ROOT / "docs" / "notebooks"}}
    ).execute()
    assert stored == [printed(cell) for cell in lasting], "run it again"


def printed(cell: Any) -> str:
    """What a cell printed, without its pictures."""
    shown = [output for output in cell.outputs if "image/png" not in output.get("data", {})]
    return "".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in shown)


def test_the_reference_lists_every_public_name() -> None:
    listed = re.findall(r"^::: [\w.]+\.(\w+)$", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE)
    assert set(rilco.__all__) <= set(listed)


def test_the_numbers_of_the_pages_are_those_of_results() -> None:
    from benchmarks.write_results import write

    assert write(check=True) == [], "run python -m benchmarks.write_results"
