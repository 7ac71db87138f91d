"""Parts of pages and drawings that stand by themselves: text made safe, elements, one page without a network."""

from __future__ import annotations

import html
import json
from typing import Any


def escape(text: object) -> str:
    """Text as it may stand in HTML and SVG, in attributes too; characters that XML forbids become a question mark."""
    return html.escape("".join(c if c in "\t\n\r" or c >= " " else "?" for c in str(text)), quote=True)


def element(name: str, content: str = "", /, **attributes: object) -> str:
    """An element around content that is markup already; `class_` is written class, `stroke_width` stroke-width."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{content}</{name}>"


def embedded_json(value: Any) -> str:
    """JSON that may stand in a script element: nothing in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def page(title: str, style: str, body: str, script: str = "") -> str:
    """One HTML file that needs nothing else."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}\n"
        + (f"<script>{script}</script>\n" if script else "")
        + "</body>\n</html>\n"
    )
