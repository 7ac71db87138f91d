"""Plain values: the texts, numbers, truth values, lists and tables that JSON and TOML can both hold.

TOML is written with one line for each key, whatever its value: lines are what people compare and edit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def is_plain(value: Any) -> bool:
    """Whether JSON gives the value back as it is (numpy's numbers and arrays are not plain)."""
    if isinstance(value, Mapping):
        return all(type(key) is str and is_plain(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    return value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))


def toml_key(name: str) -> str:
    """A name as it stands in a table header or before an equals sign."""
    return _dumped({name: 0}).removesuffix(" = 0\n")


def toml_value(value: Any) -> str:
    """A plain value on one line; tables are written inline."""
    # Beside a number in a list: tables by themselves would be written as sections.
    return _dumped({"x": [0, _stated(value)]}).removeprefix("x = [0, ").removesuffix("]\n")


def toml_lines(table: Mapping[str, Any]) -> str:
    """One `key = value` line for each entry that is not None, which TOML cannot say."""
    return "".join(f"{toml_key(key)} = {toml_value(value)}\n" for key, value in _stated(table).items())


def _dumped(table: Mapping[str, Any]) -> str:
    """The table as text, each list on one line: a text has no line ends of its own, they are escaped."""
    from tomli_w import dumps  # only who writes needs it

    return dumps(table, indent=0).replace("[\n", "[").replace(",\n]", "]").replace(",\n", ", ")


def _stated(value: Any) -> Any:
    """Without the entries that are None, at any depth."""
    if isinstance(value, Mapping):
        return {key: _stated(item) for key, item in value.items() if item is not None}
    return [_stated(item) for item in value] if isinstance(value, (list, tuple)) else value
