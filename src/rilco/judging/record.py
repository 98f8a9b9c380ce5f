"""An audit on disk: audit.json, demonstrations.csv and pairs.npz. The page lies beside them."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from rilco.data.formats import robomimic
from rilco.errors import AuditError, RilcoError, suggestion
from rilco.files import as_record, read_object
from rilco.judging.audit_config import AuditConfig
from rilco.judging.before import plain
from rilco.judging.opinion import Opinion
from rilco.judging.verdict import DECISIONS, Decision, Family, Judgement, Majority, Verdict

FORMAT = "rilco-audit-2"
JSON, CSV, PAIRS = "audit.json", "demonstrations.csv", "pairs.npz"
PAGE, DELETE = "index.html", "episodes_to_delete.txt"
COLUMNS = (
    "index",
    "name",
    "demonstrator",
    "pairs",
    "decision",
    "probability",
    "score",
    "family",
    "judge",
    "reason",
)


@dataclass(frozen=True)
class Source:
    """Where the judged demonstrations came from: enough to read them again."""

    files: tuple[str, ...] = ()
    """Files and folders; none where the demonstrations were given in memory."""
    episodes: tuple[int, ...] = ()
    """Of each file, where the demonstrations are the files' episodes one after the other."""
    noise_rate: float | None = None
    """At which they were mixed by the paper's protocol, if they were."""
    seed: int | None = None
    """Of that mixing."""
    obs_keys: tuple[str, ...] = ()
    """Named parts that make up an observation."""
    pieces: int = 0
    """Pairs in a piece, where they were judged in pieces."""
    environment: str | None = None
    """Name of the environment, where one was given."""
    good: tuple[str, ...] = ()
    """What the user vouched for."""
    bad: tuple[str, ...] = ()
    """What the user called bad."""
    fingerprint: str = ""
    """Of the demonstrations."""


def write_record(
    verdict: Verdict, source: Source, config: AuditConfig, scores: np.ndarray | None, notes: tuple[str, ...]
) -> dict[str, bytes]:
    """The files of an audit, by name, ready to be written."""
    columns = {
        field.name: [getattr(one, field.name) for one in verdict.demonstrations]
        for field in fields(Judgement)
    }
    table = {
        "format": FORMAT,
        "sure": verdict.sure,
        "confidence": verdict.confidence,
        "summary": verdict.summary,
        "assumption": verdict.assumption,
        "notes": notes,
        "majority": asdict(verdict.majority),
        "families": [asdict(family) for family in verdict.families],
        "opinions": [_opinion_table(opinion) for opinion in verdict.opinions],
        "demonstrations": columns,
        "source": asdict(source),
        "config": asdict(config),
    }
    pairs: dict[str, np.ndarray] = {
        "demonstration": verdict.of_pair.astype(np.int32),
        "keep": np.array([one.decision == "keep" for one in verdict.demonstrations])[verdict.of_pair],
        "drop": np.array([one.decision == "drop" for one in verdict.demonstrations])[verdict.of_pair],
    }
    if scores is not None:
        pairs["classifier_score"] = scores.astype(np.float32)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **pairs)  # type: ignore[arg-type]
    return {
        CSV: to_csv(verdict).encode("utf-8", "replace"),
        PAIRS: buffer.getvalue(),
        DELETE: episodes_to_delete(verdict, source).encode("utf-8", "replace"),
        JSON: (json.dumps(table, allow_nan=False) + "\n").encode(),
    }


def to_csv(verdict: Verdict) -> str:
    """A row a demonstration, in their own order. `rilco audit apply` reads it back."""
    names = {family.index: family.name for family in verdict.families}
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for one in verdict.demonstrations:
        row = {name: getattr(one, name) for name in COLUMNS}
        # A probability beside "unsure" would say otherwise.
        row["probability"] = "" if one.decision == "unsure" else f"{one.probability:.3f}"
        row |= {"score": f"{one.score:.6g}", "family": names.get(one.family, "")}
        writer.writerow(row)
    return out.getvalue()


def episodes_to_delete(verdict: Verdict, source: Source) -> str:
    """The dropped demonstrations, by what each file calls them; with the command where the file is LeRobot's."""
    dropped = np.array([one.index for one in verdict.demonstrations if one.decision == "drop"], np.int64)
    if source.pieces or not source.episodes:
        return "".join(f"{index}\n" for index in dropped)
    lines, first = [], 0
    for file, count in zip(source.files, source.episodes, strict=True):
        mine = (dropped[(dropped >= first) & (dropped < first + count)] - first).tolist()
        lines += [f"# {file}", *_called(Path(file), mine)] if mine else []
        if mine and (Path(file) / "meta" / "info.json").is_file():
            # Its --root is another folder for what is read than for what is written.
            home, name = shlex.quote(str(Path(file).parent)), shlex.quote(Path(file).name)
            lines.append(
                f"# HF_LEROBOT_HOME={home} lerobot-edit-dataset --repo_id {name} --new_repo_id {name}_kept "
                f'--operation.type delete_episodes --operation.episode_indices "{mine}"'
            )
        first += count
    return "".join(f"{plain(line)}\n" for line in lines)


def _called(file: Path, episodes: list[int]) -> list[str]:
    """Their numbers; in a file of robomimic their names, which may begin at demo_1 and have gaps."""
    try:
        names = robomimic.names(file)
        return [names[episode] for episode in episodes]
    except (OSError, RilcoError):  # of another format, or no longer there
        return list(map(str, episodes))


def read_decisions(path: Path, verdict: Verdict) -> dict[int, Decision]:
    """Decisions by index, from a CSV with the columns `index` and `decision`; AuditError says what is wrong with it."""
    try:
        rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"), newline="")))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise AuditError(
            f"{path}: could not be read ({error}). Expected the decisions.csv of an audit's page."
        ) from error
    count, found = len(verdict.demonstrations), {}
    for line, row in enumerate(rows, 2):
        index, decision = (row.get("index") or "").strip(), (row.get("decision") or "").strip()
        if not index.isdigit() or int(index) >= count:
            raise AuditError(
                f"{path}, line {line}: the index is {index!r}; expected a number from 0 to {count - 1}. Is it of another audit?"
            )
        if decision not in DECISIONS:
            raise AuditError(
                f"{path}, line {line}: the decision is {decision!r}; expected {', '.join(DECISIONS)}.{suggestion(decision, DECISIONS)}"
            )
        known = verdict.demonstrations[int(index)].name
        if row.get("name") not in (None, known, known.encode("utf-8", "replace").decode()):
            raise AuditError(
                f"{path}, line {line}: demonstration {index} is called {row['name']!r}, but {known!r} in the audit. These "
                "decisions are of another audit."
            )
        if int(index) in found:
            raise AuditError(f"{path}, line {line}: demonstration {index} is decided twice.")
        found[int(index)] = decision
    if not found:
        raise AuditError(f"{path}: holds no decision. Expected a table with the columns index and decision.")
    return found


def read_record(folder: Path) -> tuple[Verdict, Source, AuditConfig, np.ndarray | None, tuple[str, ...]]:
    """What `write_record` wrote; raises AuditError unless its parts fit together."""
    path = folder / JSON if folder.is_dir() else folder
    try:
        table = read_object(path)
        if table.get("format") != FORMAT:
            raise AuditError(
                f"its format is not {FORMAT!r}. One of another version of rilco must be made again."
            )
        with np.load(path.with_name(PAIRS), allow_pickle=False) as arrays:
            return _read(table, dict(arrays))
    except Exception as error:  # what is missing or damaged shows itself in many ways
        reason = str(error) if isinstance(error, RilcoError) else f"{type(error).__name__}: {error}"
        raise AuditError(
            f"{path}: not a whole audit: {reason.removeprefix(f'{path}: ').rstrip('.')}. Expected the folder that `rilco audit` wrote."
        ) from error


def _read(
    table: Mapping[str, Any], pairs: Mapping[str, np.ndarray]
) -> tuple[Verdict, Source, AuditConfig, np.ndarray | None, tuple[str, ...]]:
    columns = table["demonstrations"]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    judged = tuple(as_record(Judgement, row, f"demonstration {place}") for place, row in enumerate(rows))
    for place, one in enumerate(judged):
        if one.index != place or not 0.0 <= one.probability <= 1.0 or one.pairs < 1:
            raise AuditError(f"demonstration {place} holds a value that cannot be.")
    of_pair = pairs["demonstration"].astype(np.int64)
    if np.bincount(of_pair, minlength=len(judged)).tolist() != [one.pairs for one in judged]:
        raise AuditError(f"{PAIRS} has other demonstrations than {JSON}.")
    verdict = Verdict(
        demonstrations=judged,
        families=tuple(as_record(Family, row, "families") for row in table["families"]),
        opinions=tuple(_read_opinion(row, len(judged)) for row in table["opinions"]),
        majority=as_record(Majority, table["majority"], "majority"),
        sure=bool(table["sure"]),
        confidence=float(table["confidence"]),
        summary=str(table["summary"]),
        assumption=str(table["assumption"]),
        of_pair=of_pair,
    )
    source, config = (
        as_record(Source, table["source"], "source"),
        as_record(AuditConfig, table["config"], "config"),
    )
    return verdict, source, config, pairs.get("classifier_score"), tuple(map(str, table["notes"]))


def _opinion_table(opinion: Opinion) -> dict[str, Any]:
    reasons = sorted(set(opinion.reasons))
    place = {reason: i for i, reason in enumerate(reasons)}
    return {
        "judge": opinion.judge,
        "standing": opinion.standing,
        "why": opinion.why,
        "score": _short(opinion.score),
        "good": _short(opinion.good),
        "reasons": reasons,
        "reason": [place[reason] for reason in opinion.reasons],
    }


def _read_opinion(table: Mapping[str, Any], count: int) -> Opinion:
    score, good = np.array(table["score"], np.float64), np.array(table["good"], np.float64)
    reasons = tuple(table["reasons"][i] for i in table["reason"])
    if not len(score) == len(good) == len(reasons) == count:
        raise AuditError(f"the opinion of {table['judge']} is not of {count} demonstrations.")
    return Opinion(str(table["judge"]), float(table["standing"]), str(table["why"]), score, good, reasons)


def _short(values: np.ndarray) -> list[float]:
    """Six significant digits: more would only make files larger."""
    return [float(f"{value:.6g}") for value in np.nan_to_num(values).tolist()]
