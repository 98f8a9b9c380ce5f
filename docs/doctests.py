"""For mkdocstrings: an example that stands at a docstring's left edge is code, not a quotation of a quotation."""

import re
from typing import Any

import griffe


class Doctests(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring:
            paragraphs = obj.docstring.value.split("\n\n")
            obj.docstring.value = "\n\n".join(
                re.sub("^", "    ", each, flags=re.MULTILINE) if each.startswith(">>>") else each
                for each in paragraphs
            )
