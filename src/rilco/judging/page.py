"""The page of an audit: one HTML file that needs no network, and no server to be opened.

The template, the style and the scripts are package data in `assets`. Everything that comes from the data is
escaped where it is put into the template, or travels as JSON and is shown as text; and the page's policy names the
hashes of its own script and style, so that a browser runs nothing else even if an escape were missing.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rilco.judging.before import plain
from rilco.judging.joining import proposed_cut
from rilco.judging.pictures import Film, Gallery
from rilco.judging.signals import choose_signals
from rilco.words import capitalised, listed, plural

if TYPE_CHECKING:
    from rilco.data.record import Demonstrations
    from rilco.judging.result import Audit
    from rilco.judging.verdict import Verdict

CLASSIFIERS = "RIL-Co's classifiers"
"""What the page calls the scores of pairs as a signal."""


def render_page(audit: Audit, gallery: Gallery = Gallery()) -> str:
    """The page as text."""
    template, style, script = _assets()
    policy = (
        f"default-src 'none'; img-src data:; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {name: html.escape(text) for name, text in _words(audit).items()}
    parts |= {"policy": policy, "style": style, "script": script, "data": _as_json(page_data(audit, gallery))}
    # In one pass: what is put in is not searched for further places.
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template)


@functools.cache
def _assets() -> tuple[str, str, str]:
    """The template, the style, and the scripts as one."""
    folder = files("rilco.judging") / "assets"
    names = sorted(file.name for file in folder.iterdir() if file.name.endswith(".js"))
    script = "\n".join((folder / name).read_text(encoding="utf-8") for name in names)
    template, style = ((folder / name).read_text(encoding="utf-8") for name in ("page.html", "page.css"))
    return template, style, f'"use strict";\n(() => {{\n{script}}})();\n'


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _as_json(table: dict[str, Any]) -> str:
    """JSON that nothing in it can end early: no tag can begin without its `<`."""
    text = json.dumps(table, allow_nan=False, separators=(",", ":"))  # ASCII, so lone surrogates are safe too
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def page_data(audit: Audit, gallery: Gallery) -> dict[str, Any]:
    """What the page's script reads: a column a property, and every text once."""
    verdict, demos = audit.verdict, audit.demonstrations
    judged = verdict.demonstrations
    extra = None if audit.scores is None else (CLASSIFIERS, audit.scores)
    return {
        "demos": {
            "name": [one.name for one in judged],
            "maker": _coded([one.demonstrator for one in judged]),
            "pairs": [one.pairs for one in judged],
            "decision": "".join(one.decision[0] for one in judged),
            "likely": [round(100 * one.probability) for one in judged],
            "score": [float(f"{one.score:.5g}") for one in judged],
            "judge": _coded([one.judge for one in judged]),
            "reason": _coded([one.reason for one in judged]),
            "family": [one.family for one in judged],
            "return": _returns(demos, verdict),
            "label": _labels(demos, verdict),
        },
        "families": [
            {name: getattr(family, name) for name in ("name", "typical", "oddest", "majority")}
            for family in verdict.families
        ],
        "opinions": [
            {
                "judge": opinion.judge,
                "standing": opinion.standing,
                "why": opinion.why,
                "good": np.round(100 * opinion.good).astype(int).tolist() if opinion.standing > 0 else None,
                "reason": _coded(opinion.reasons) if opinion.standing > 0 else None,
            }
            for opinion in verdict.opinions
        ],
        "unsure": [audit.config.judges.unsure_from, audit.config.judges.unsure_to],
        "cut": proposed_cut(verdict),
        "assumption": verdict.assumption,
        "majority": verdict.majority.sentence,
        "signals": choose_signals(demos, verdict, extra).to_json(),
        "films": {index: _film(film) for index, film in gallery.films.items()},
        "note": gallery.note,
        "source": asdict(audit.source),
        "files": [Path(file).name for file in audit.source.files],
    }


def _coded(values: Sequence[str]) -> dict[str, Any]:
    """Each text once, and the place of everyone's."""
    known: dict[str, int] = {}
    return {"of": [known.setdefault(value, len(known)) for value in values], "texts": list(known)}


def _returns(demos: Demonstrations, verdict: Verdict) -> list[float] | None:
    if demos.reward is None or not np.isfinite(demos.reward).all():
        return None
    return [float(f"{value:.5g}") for value in np.bincount(verdict.of_pair, demos.reward).tolist()]


def _labels(demos: Demonstrations, verdict: Verdict) -> str | None:
    """`e` for an expert's demonstration, `n` for another's; the audit itself has not seen it."""
    if demos.expert is None:
        return None
    share = np.bincount(verdict.of_pair, demos.expert) / np.bincount(verdict.of_pair)
    return "".join("e" if value > 0.5 else "n" for value in share.tolist())


def _film(film: Film) -> dict[str, Any]:
    images = [f"data:image/jpeg;base64,{base64.b64encode(image).decode()}" for image in film.images]
    return {"steps": film.steps, "images": images}


def _words(audit: Audit) -> dict[str, str]:
    """What the head of the page says, for readers without scripts too."""
    verdict, judged = audit.verdict, audit.verdict.demonstrations
    pairs = {
        word: sum(one.pairs for one in judged if one.decision == word) for word in ("keep", "drop", "unsure")
    }
    counts = {word: sum(one.decision == word for one in judged) for word in pairs}
    files = [plain(Path(file).name) for file in audit.source.files] or ["demonstrations"]
    named = audit.source.environment or listed(files, most=3)
    total = max(1, sum(pairs.values()))
    sure = how_sure(verdict)
    return {
        "title": f"Audit of {named}",
        "named": named,
        "headline": headline(verdict),
        "summary": verdict.summary,
        "assumption": verdict.assumption,
        "majority": capitalised(verdict.majority.sentence),
        "sure": "Sure" if is_sure(verdict) else "Not sure",
        "confidence": "" if sure is None else f"confidence {percent(sure)}",
        **{word: f"{counts[word]:,}" for word in counts},
        **{f"{word}_share": f"{percent(pairs[word] / total)} of the pairs" for word in pairs},
        "notes": " ".join(audit.notes),
    }


def how_sure(verdict: Verdict) -> float | None:
    """None where nothing is decided, or where the words say that the majority is in doubt: a number would say otherwise."""
    decided = verdict.majority.agree and not all(verdict.decisions == "unsure")
    return verdict.confidence if decided else None


def is_sure(verdict: Verdict) -> bool:
    """By the one threshold, `JudgingConfig.sure`."""
    return verdict.sure and how_sure(verdict) is not None


def headline(verdict: Verdict) -> str:
    """The verdict in half a dozen words, with its doubt."""
    judged = verdict.demonstrations
    dropped, unsure = (sum(one.decision == word for one in judged) for word in ("drop", "unsure"))
    if unsure == len(judged):
        return "No judge can tell good from bad here"
    if dropped and is_sure(verdict):
        verb = "looks" if dropped == 1 else "look"
        return f"{dropped:,} of {len(judged):,} demonstrations {verb} bad"
    if dropped:
        share = np.isin(verdict.of_pair, np.flatnonzero(verdict.decisions == "drop")).mean()
        return f"Probably bad: {dropped:,} of {len(judged):,} demonstrations, {percent(float(share))} of the pairs"
    if unsure:
        return f"Doubtful: {unsure:,} of {plural(len(judged), 'demonstration')}"
    return (
        "These demonstrations look clean" if is_sure(verdict) else "These demonstrations are probably clean"
    )


def percent(share: float) -> str:
    """Never 100% or 0% of what is not quite all or none."""
    text = f"{100 * share:.1f}".removesuffix(".0")
    if 0 < share < 1 and text in ("0", "100"):
        return "<0.1%" if text == "0" else ">99.9%"
    return f"{text}%"
