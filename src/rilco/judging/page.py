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
import os
import re
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Any

from rilco.files import write_atomically
from rilco.judging.pictures import Gallery, Moment
from rilco.judging.record import Audit

_SURE = (
    (0.99, "Almost certain"),
    (0.95, "Very sure"),
    (0.8, "Fairly sure"),
    (0.6, "Not very sure"),
    (0.0, "Unsure"),
)


def write_page(audit: Audit, path: str | os.PathLike[str], frames: Gallery | None = None) -> None:
    """Write the page; `frames` are pictures of some demonstrations, from `take_pictures`."""
    # A file name may hold bytes that are no text; they must not stop the page from being written.
    write_atomically(Path(path), render_page(audit, frames).encode("utf-8", "replace"))


def render_page(audit: Audit, frames: Gallery | None = None) -> str:
    """The page as text."""
    template, style, script = _assets()
    policy = (
        f"default-src 'none'; img-src data:; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {name: html.escape(text) for name, text in _words(audit).items()}
    parts |= {"policy": policy, "style": style, "script": script, "data": _data(audit, frames or Gallery())}
    # In one pass: what is put in is not searched for further places.
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template)


@functools.cache
def _assets() -> tuple[str, str, str]:
    """The template, the style, and the scripts as one."""
    folder = files("rilco.judging") / "assets"
    scripts = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".js")), key=lambda file: file.name
    )
    script = "\n".join(file.read_text(encoding="utf-8") for file in scripts)
    template, style = ((folder / name).read_text(encoding="utf-8") for name in ("page.html", "page.css"))
    return template, style, f'"use strict";\n(() => {{\n{script}}})();\n'


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _data(audit: Audit, frames: Gallery) -> str:
    """JSON that nothing in it can end early: no tag can begin without its `<`."""
    table: dict[str, Any] = asdict(audit)
    table["pictures"] = {
        index: {"worst": _moment(pictures.worst), "best": _moment(pictures.best)}
        for index, pictures in frames.pictures.items()
    }
    table["pictures_note"] = frames.note
    text = json.dumps(table, allow_nan=False, separators=(",", ":"))  # ASCII, so lone surrogates are safe too
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _moment(moment: Moment | None) -> dict[str, Any] | None:
    if moment is None:
        return None
    images = [f"data:image/jpeg;base64,{base64.b64encode(image).decode()}" for image in moment.images]
    return {"steps": moment.steps, "images": images}


def _words(audit: Audit) -> dict[str, str]:
    """What the head of the page says, for readers without scripts too."""
    verdict, noise = audit.verdict, audit.noise_fraction
    pairs = sum(demo.pairs for demo in audit.demonstrations)
    makers = len(audit.demonstrators)
    return {
        "title": f"Audit of {audit.task}",
        "kind": verdict.kind,
        "task": audit.task,
        "headline": _headline(audit),
        "sentence": verdict.sentence,
        "sure": _how_sure(verdict.confidence),
        "confidence": "" if verdict.confidence is None else percent(verdict.confidence),
        "noise": "unknown" if noise is None else percent(noise.estimate),
        "interval": "" if noise is None else f"{percent(noise.low)} to {percent(noise.high)}",
        "judged": _count(len(audit.demonstrations), "demonstration"),
        "pairs": _count(pairs, "pair") + (f", {_count(makers, 'demonstrator')}" if makers else ""),
        "transitions": _count(audit.transitions, "transition"),
        "seeds": _count(len(audit.seeds), "seed"),
    }


def _how_sure(confidence: float | None) -> str:
    if confidence is None:
        return "Undecided"
    return next(words for least, words in _SURE if confidence >= least)


def _headline(audit: Audit) -> str:
    dropped, count = sum(not audit.keeps(demo) for demo in audit.demonstrations), len(audit.demonstrations)
    return {
        "mixed": f"{dropped:,} of {_count(count, 'demonstration')} {'looks' if dropped == 1 else 'look'} bad",
        "clean": "These demonstrations look clean",
        "inseparable": "Good and bad cannot be told apart here",
        "majority-bad": "Most of this data may be bad",
    }[audit.verdict.kind]


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(share: float) -> str:
    """Never 100% or 0% of what is not quite all or none."""
    text = f"{100 * share:.1f}".removesuffix(".0")
    if 0 < share < 1 and text in ("0", "100"):
        return "<0.1%" if text == "0" else ">99.9%"
    return f"{text}%"
