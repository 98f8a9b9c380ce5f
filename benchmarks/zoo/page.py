"""The README's table of the design half, written from the truth that the zoo's files hold."""

from __future__ import annotations

import json
from pathlib import Path

README = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- table: written by make.py --table -->", "<!-- end of table -->"


def write_table(zoo: Path) -> None:
    """Puts the table between its marks in the README; all files of the design half must be there."""
    text = README.read_text()
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    README.write_text(f"{before}{BEGIN}\n{table(zoo)}\n{END}{after}")


def table(zoo: Path) -> str:
    """One row for each mixture; the last word's are left out, since who designs judges reads this."""
    rows = [
        "| mixture | task | demonstrations | pairs | bad (of pairs) | faults | what makes it hard |",
        "|---|---|---|---|---|---|---|",
    ]
    for file in sorted(zoo.glob("design/*.truth.json")):
        truth = json.loads(file.read_text())
        bad = f"{truth['bad_by_demonstrations']:.0%} ({truth['bad_by_pairs']:.0%})"
        cells = [truth["mixture"], truth["task"], truth["demonstrations"], truth["pairs"], bad]
        rows.append(
            "| " + " | ".join(map(str, [*cells, ", ".join(truth["faults"]) or "none", truth["hard"]])) + " |"
        )
    return "\n".join(rows)
