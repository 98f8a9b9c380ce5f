"""What MkDocs does beside its own: see mkdocs.yml."""

import re
from pathlib import Path
from typing import Any

import griffe
from mkdocs.structure.files import File, Files

RUNS = "../results/README.md"  # on GitHub; it is outside of docs


def on_files(files: Files, config: Any) -> None:
    """The list of runs becomes a page of the site."""
    text = (Path(config.docs_dir) / RUNS).read_text()
    files.append(File.generated(config, "runs.md", content=text))


def on_page_markdown(markdown: str, **_: Any) -> str:
    return markdown.replace(f"]({RUNS})", "](runs.md)")


class Doctests(griffe.Extension):
    """An example at a docstring's left edge is code. Markdown would take `>>>` for quotations."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            paragraphs = obj.docstring.value.split("\n\n")
            obj.docstring.value = "\n\n".join(
                re.sub("^", "    ", each, flags=re.MULTILINE) if each.startswith(">>>") else each
                for each in paragraphs
            )
