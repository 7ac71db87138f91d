"""Plain values: the texts, numbers, truth values, lists and tables that JSON and TOML can both hold.

The standard library reads TOML but does not write it; what we write are such values and nothing else.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def is_plain(value: Any) -> bool:
    """Whether JSON gives the value back as it is (numpy's numbers and arrays are not plain)."""
    if isinstance(value, Mapping):
        return all(type(key) is str and is_plain(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    return value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))


def toml_key(name: str) -> str:
    """A name as it stands in a table header or before an equals sign."""
    return name if BARE_KEY.fullmatch(name) else _text(name)


def toml_value(value: Any) -> str:
    """A plain value on one line; tables are written inline."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{toml_key(k)} = {toml_value(v)}" for k, v in _stated(value)) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    raise TypeError(f"{value!r} cannot be written as TOML")


def toml_lines(table: Mapping[str, Any]) -> str:
    """One `key = value` line for each entry that is not None, which TOML cannot say."""
    return "".join(f"{toml_key(key)} = {toml_value(value)}\n" for key, value in _stated(table))


def _stated(table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(key, value) for key, value in table.items() if value is not None]


def _text(value: str) -> str:
    # JSON's escapes are TOML's, except for DEL, which TOML wants escaped too.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
