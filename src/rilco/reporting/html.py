"""HTML from Python values. Text is escaped unless it is `Markup` already, so that no name can become a tag."""

from __future__ import annotations

import base64
import html


class Markup(str):
    """A piece of finished HTML."""


def element(name: str, *children: str, **attributes: str | bool) -> Markup:
    """`<name attributes>children</name>`; `class_` and `data_x` are written `class` and `data-x`."""
    text = []
    for key, value in attributes.items():
        if value is False:
            continue
        key = key.rstrip("_").replace("_", "-")
        text.append(f" {key}" if value is True else f' {key}="{html.escape(str(value), quote=True)}"')
    opening = f"<{name}{''.join(text)}>"
    if name == "img":
        return Markup(opening)
    return Markup(f"{opening}{joined(*children)}</{name}>")


def joined(*children: str) -> Markup:
    return Markup("".join(child if isinstance(child, Markup) else html.escape(child) for child in children))


def data_uri(kind: str, data: bytes) -> str:
    """A file as an address of its own, so that the page needs nothing beside it."""
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"
