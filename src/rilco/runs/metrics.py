"""The lines of a run's metrics: one JSON object an iteration, in the order of transitions.

They are read in three ways: all of them, those with an evaluation, and the end of a file that may be growing. A last
line without its newline is still being written, and does not count. Lines from before a checkpoint must have the
checksum that the checkpoint remembers.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import Any, NamedTuple

from rilco.errors import RunError
from rilco.files import brief, is_number, parse_object
from rilco.runs.checkpoint import written_metrics
from rilco.runs.paths import CHECKPOINTS, METRICS

STOPPED = "stopped_early"
"""Key in the last line of a run that finished before its configured length."""
INEXACT = "inexact_resume"
"""Key in the first line after a resume that could not bring the environments back exactly."""
TAIL = 256 * 1024  # bytes at the end of the metrics that hold the newest evaluation, with room to spare

Line = dict[str, Any]


def read_metrics(folder: str | os.PathLike[str]) -> list[Line]:
    """All lines."""
    file = Path(folder) / METRICS
    lines = _checked(Path(folder)).split(b"\n")[:-1]
    return [parse_line(line, file, number) for number, line in enumerate(lines, start=1)]


def read_evaluations(folder: Path) -> tuple[list[Line], Line]:
    """The lines with an evaluation, and the last line of all, empty where there is none.

    The other lines are not parsed: there may be tens of thousands.
    """
    file = folder / METRICS
    if not file.exists():
        return [], {}  # configured, and not begun yet
    raw = _checked(folder).split(b"\n")[:-1]
    lines, before = [], 0
    last: Line = {}
    for number, line in enumerate(raw, start=1):
        evaluated = b'"eval_return"' in line
        if not evaluated and number < len(raw):
            if not (line.startswith(b"{") and line.endswith(b"}")):
                raise RunError(f"{file}: line {number} is torn. Restore the file, or run the run again.")
            continue
        last = parse_line(line, file, number)
        if last["transitions"] <= before:
            raise RunError(
                f"{file}: line {number} goes back to {last['transitions']:,} transitions after {before:,}, which no "
                "run writes. Two runs may have been joined; restore the file, or run the run again."
            )
        before = last["transitions"]
        if evaluated:
            lines.append(last)
    return lines, last


class Progress(NamedTuple):
    """How far a run is, by the end of its metrics."""

    done: int = 0  # transitions
    last_return: float | None = None  # of the newest evaluation
    stopped: bool = False  # whether the run stopped early by itself
    seconds: float = 0.0  # time that the run took so far, over all its processes


def read_progress(folder: Path) -> Progress:
    """Progress by the last whole lines. A file that is growing, or not there yet, is no error."""
    file = folder / METRICS
    with contextlib.suppress(RunError, IndexError):
        lines = _bytes(file, TAIL).split(b"\n")[:-1]
        last = parse_line(lines[-1], file, len(lines))
        evaluated = next((line for line in reversed(lines) if b'"eval_return"' in line), None)
        newest = {} if evaluated is None else parse_line(evaluated, file, 0)
        stopped, seconds = bool(last.get(STOPPED)), float(last.get("seconds", 0.0))
        return Progress(last["transitions"], newest.get("eval_return"), stopped, seconds)
    return Progress()


def parse_line(line: bytes, file: Path, number: int) -> Line:
    """A line as a table, with a whole number of transitions and, if evaluated, finite returns."""
    where = f"{file}: line {number}"
    try:
        table = parse_object(line, where)
    except RunError as error:
        raise RunError(f"{where} is not a line of a run's metrics ({error}).") from error
    transitions = table.get("transitions")
    if type(transitions) is not int or not 1 <= transitions < 2**63:
        raise RunError(f"{where}: expected a number of transitions, found {brief(transitions)}.")
    for name in ("eval_return", "eval_std"):
        if "eval_return" in table and not is_number(table.get(name)):
            raise RunError(f"{where}: {name} is {brief(table.get(name))}, not a finite number.")
    if not is_number(table.get("seconds", 0.0)):
        raise RunError(f"{where}: seconds is {brief(table['seconds'])}, not a finite number.")
    return table


def _checked(folder: Path) -> bytes:
    """The content of the metrics, checked against the newest checkpoint."""
    written = written_metrics(folder / CHECKPOINTS)  # first, since both may be growing
    file = folder / METRICS
    data = _bytes(file)
    if written is not None and hashlib.sha256(data[: written.size]).hexdigest() != written.sha256:
        raise RunError(
            f"{file}: its first {written.size} bytes are not those that the run wrote. Something changed them since; "
            "restore the file, or run the run again."
        )
    return data


def _bytes(file: Path, tail: int | None = None) -> bytes:
    """The bytes of the whole file, or its last ones."""
    try:
        with file.open("rb") as opened:
            if tail is not None:
                opened.seek(max(0, opened.seek(0, os.SEEK_END) - tail))
            return opened.read()
    except OSError as error:
        raise RunError(f"{file}: could not be read ({error.strerror}).") from error
