"""What MkDocs does beside its own: see mkdocs.yml."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe
from mkdocs.structure.files import File, Files

OUTSIDE = {"../results/README.md": "runs.md", "../results/zoo/README.md": "zoo.md"}
"""What is outside of docs, as its links on GitHub have it, and the pages of the site that it becomes."""


def on_files(files: Files, config: Any) -> None:
    """What is outside of docs, and the notebooks, become pages of the site."""
    for file, page in OUTSIDE.items():
        text = re.sub(r"\]\((\.\./)+docs/", "](", (Path(config.docs_dir) / file).read_text())
        files.append(File.generated(config, page, content=text.replace("](zoo/README.md)", "](zoo.md)")))
    for notebook in [file for file in files if file.src_uri.endswith(".ipynb")]:
        page = notebook.src_uri.removesuffix("ipynb") + "md"
        pictures: list[bytes] = []
        cells = json.loads(notebook.content_string)["cells"]
        text = "\n\n".join(part for cell in cells for part in _parts(cell, Path(page).stem, pictures))
        origin = f"*This page is a notebook, as it was run: [{notebook.name}.ipynb]({notebook.name}.ipynb).*"
        title, _, rest = text.partition("\n")
        files.append(File.generated(config, page, content=f"{title}\n\n{origin}\n{rest}"))
        for number, picture in enumerate(pictures, start=1):
            name = page.replace(".md", f"-{number}.png")
            files.append(File.generated(config, name, content=picture))


def _parts(cell: dict[str, Any], name: str, pictures: list[bytes]) -> Iterator[str]:
    """A notebook's cell as Markdown: text, or code and what it printed and drew. Its pictures are added to the others."""
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    printed = ""
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "image/png" not in data:
            printed += "".join(output.get("text") or [*data["text/plain"], "\n"])
    if printed:
        yield f"```text\n{printed.rstrip()}\n```"
    for output in cell["outputs"]:
        if "image/png" in output.get("data", {}):
            pictures.append(base64.b64decode(output["data"]["image/png"]))
            yield f"![What the code above draws]({name}-{len(pictures)}.png)"


def on_page_markdown(markdown: str, **_: Any) -> str:
    markdown = re.sub(r"\]\((notebooks/[\w-]+)\.ipynb\)", r"](\1.md)", markdown)
    for file, page in OUTSIDE.items():
        markdown = re.sub(rf"\]\(((?:\.\./)*){re.escape(file)}(#[\w-]+)?\)", rf"](\1{page}\2)", markdown)
    return markdown


class Doctests(griffe.Extension):
    """An example at a docstring's left edge is code. Markdown would take `>>>` for quotations."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            paragraphs = obj.docstring.value.split("\n\n")
            obj.docstring.value = "\n\n".join(
                re.sub("^", "    ", each, flags=re.MULTILINE) if each.startswith(">>>") else each
                for each in paragraphs
            )
