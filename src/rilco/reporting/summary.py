"""The results in sentences, all of them computed."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

from rilco.experiment.published import POLICY, RATES, REFERENCE, RUNS, TASKS, CellKey, load_published
from rilco.experiment.statistics import SIGNIFICANT, welch
from rilco.methods import find
from rilco.reporting.cells import Cell, Sorted
from rilco.reporting.seeds import VERDICTS, SeedComparison
from rilco.reporting.style import (
    in_order,
    length_text,
    method_style,
    place_label,
    rate_label,
    signed,
    task_label,
)
from rilco.words import listed, plural

LONGER = 1.1
"""Runs whose lengths differ by more than this factor are not equally long."""
MOST = 3
"""Cells that are named as the furthest from the published."""


def summary(found: Sorted, seeds: Sequence[SeedComparison]) -> list[str]:
    """The sentences at the top of the page, the most important first."""
    if found.cells:
        cells = found.cells
        return [_extent(cells), *_leaders(cells), *_agreement(seeds), _missing(cells)]
    if found.others:
        return [
            "No run here is of the paper’s grid, so there is nothing to compare with the published results."
        ]
    return ["No run here has an evaluation that the report can use yet; below is what was found."]


def _extent(cells: Mapping[CellKey, Cell]) -> str:
    published, counts = load_published(), [len(cell.runs) for cell in cells.values()]
    covered, runs = sum(key in published for key in cells), sum(counts)
    lengths = length_text(length for cell in cells.values() for length in cell.lengths)
    each = plural(max(counts), "seed")
    seeds = each if min(counts) == max(counts) else f"{min(counts)} to {each}"
    more = (
        f" Besides, {plural(len(cells) - covered, 'cell')} that it does not have."
        if len(cells) > covered
        else ""
    )
    return (
        f"{plural(runs, 'run')} of {lengths} transitions {'covers' if runs == 1 else 'cover'} {covered} of the paper’s "
        f"{len(published)} cells, with {seeds} a cell.{more} A cell is a task, a noise rate and a method. The paper ran each "
        f"{RUNS} times, for 20 M transitions."
    )


def _leaders(cells: Mapping[CellKey, Cell]) -> list[str]:
    """The best methods at the highest and at the lowest rate at which RIL-Co has a rival."""
    contests: dict[float, dict[str, dict[str, Cell]]] = {}
    for rate, task in itertools.product(reversed(RATES), TASKS):
        here = {key.method: cell for key, cell in cells.items() if key[:3] == (task, POLICY, rate)}
        if REFERENCE in here and len(here) > 1:
            contests.setdefault(rate, {})[task] = here
    rates = list(contests)
    return [_leader_sentence(rate, contests[rate]) for rate in dict.fromkeys((*rates[:1], *rates[-1:]))]


def _leader_sentence(rate: float, contests: Mapping[str, Mapping[str, Cell]]) -> str:
    """RIL-Co against the best other method of each task."""
    groups: dict[str, list[str]] = {"is ahead of every other on": [], "is level on": [], "is behind on": []}
    ahead, level, behind = groups.values()
    for task, rivals in contests.items():
        best = max((method for method in rivals if method != REFERENCE), key=lambda m: rivals[m].final.mean)
        lead = rivals[REFERENCE].final.mean - rivals[best].final.mean
        tested = welch(rivals[REFERENCE].finals, rivals[best].finals)
        told_apart = tested is None or tested.p_value < SIGNIFICANT
        group = level if not told_apart else ahead if lead > 0 else behind
        group.append(f"{task_label(task)} ({signed(lead)} against {in_prose(best)})")
    methods = plural(len({method for rivals in contests.values() for method in rivals}), "method")
    parts = [f"{phrase} {listed(places)}" for phrase, places in groups.items() if places]
    explained = " Level means no significant difference by Welch’s test." if level else ""
    return f"At noise rate {rate:g}, among {methods} run here, RIL-Co {'; it '.join(parts)}.{explained}"


def _agreement(rows: Sequence[SeedComparison]) -> list[str]:
    """The verdicts on our runs beside the published, and where they differ most."""
    if not rows:
        return []
    counts = Counter(row.verdict for row in rows)
    said = listed(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    sentence = f"Of {plural(len(rows), 'comparison')} with the published runs: {said}."
    if off := [row for row in rows if row.verdict in ("above", "below")]:
        furthest = sorted(off, key=lambda row: -abs(row.gap))[:MOST]
        sentence += (
            f" Furthest off: {listed(f'{cell_name(row.key)} ({signed(row.gap)})' for row in furthest)}."
        )
    return [sentence]


def _missing(cells: Mapping[CellKey, Cell]) -> str:
    """Whole methods, tasks and rates that have no run, so that a reader need not search the table."""
    published = load_published()
    missing = sum(key not in cells for key in published)
    run = {part for key in cells for part in key}
    if not missing:
        return "Every cell of the paper has been run here."
    absent = {
        "method": [in_prose(name) for name in in_order(k.method for k in published) if name not in run],
        "task": [task_label(task) for task in TASKS if task not in run],
        "noise rate": [f"{rate:g}" for rate in RATES if rate not in run],
    }
    parts = [
        f"{what}{'s' if len(names) > 1 else ''} {listed(names)}" for what, names in absent.items() if names
    ]
    if all(key.noise == POLICY for key in cells):
        parts.append("the Gaussian-noise experiment")
    whole = f" Nothing was run of {listed(parts)}." if parts else ""
    return f"Not run here: {missing} of the paper’s {len(published)} cells.{whole}"


def caveats(found: Sorted) -> list[str]:
    """What to keep in mind when reading the summary."""
    cells = (*found.cells.values(), *found.others.values())
    counts = {
        "Cells with a single run, which has no spread": sum(len(c.runs) == 1 for c in found.cells.values()),
        "Runs that are not finished yet": sum(cell.unfinished for cell in cells),
        "Runs that are left out of the comparison": len(found.aside),
        "Entries of the results folder that could not be used": len(found.skipped),
    }
    sentences = [f"{what}: {count}." for what, count in counts.items() if count]
    if unequal := _unequal_lengths(found.cells):
        sentences.append(
            f"Some methods ran longer than others at {listed(unequal)}: who is ahead there may only have run longer."
        )
    return sentences


def _unequal_lengths(cells: Mapping[CellKey, Cell]) -> list[str]:
    """Places of the grid at which methods were run for different lengths, except cloning, which has none."""
    places: dict[tuple[str, str, float | None], set[int]] = {}
    for key, cell in cells.items():
        if find(key.method).makes_transitions:
            places.setdefault((key.task, key.noise, key.noise_rate), set()).add(max(cell.lengths))
    return [place_label(*place) for place, found in places.items() if max(found) > LONGER * min(found)]


def in_prose(method: str) -> str:
    """A method's name without its brackets, for sentences that have their own."""
    return method_style(method).label.replace(" (", " ").rstrip(")")


def cell_name(key: CellKey) -> str:
    kind = "" if key.noise == POLICY else ", Gaussian"
    return f"{in_prose(key.method)} on {task_label(key.task)} at {rate_label(key.noise_rate)}{kind}"
