"""The static manifest of a distribution: its components as a table that is read without importing them.

A third party ships `audioclass-plugin.toml`, which `audioclass plugins manifest` writes from the classes. Ours is JSON,
which starts faster, and is made when the package is built.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from audioclass.errors import PluginError, unknown_name
from audioclass.hookspecs import API_VERSION, KINDS
from audioclass.parameters import Parameter, parameters_of
from audioclass.plain import toml_lines

MANIFEST = "audioclass-plugin.toml"
BUILTIN_MANIFEST = "audioclass-plugin.json"
SCHEMA = 2  # of the table; raised when a key changes its meaning
PARAMETER_KEYS = frozenset(item.name for item in dataclasses.fields(Parameter))


@dataclass(frozen=True)
class Entry:
    """A component as it is listed: what it is called, what can be set, and which distribution it comes from.

    `facts` holds what else the kind lists, such as the suffix of a file format.
    """

    kind: str
    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    module: str
    distribution: str
    version: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """What no two entries may share: the option that chooses them, and the name."""
        return KINDS[self.kind].namespace, self.name


def describe(cls: type[Any], kind: str, module: str, distribution: str, version: str) -> Entry:
    """The entry of a class."""
    summary = (inspect.getdoc(cls) or "").split("\n")[0]
    facts = {name: getattr(cls, name) for name in KINDS[kind].facts if hasattr(cls, name)}
    return Entry(kind, cls.name, summary, parameters_of(cls), module, distribution, version, facts)


def explain_difference(listed: Entry, actual: Entry) -> str:
    """What the manifest lists otherwise than the class states it; empty where they agree."""
    before, now = _flat(listed), _flat(actual)
    for key in before | now:
        if before.get(key) != now.get(key):
            return f"{key} is {before.get(key, 'missing')} in the manifest and {now.get(key, 'missing')} in the class"
    return ""


def _flat(entry: Entry) -> dict[str, str]:
    """Every fact of an entry by itself, as text."""
    table = _table(entry)
    parameters = {one.pop("name"): one for one in table.pop("parameters")}
    facts = {key: repr(value) for key, value in table.items()}
    facts |= {f"{key} of parameter {name!r}": repr(one[key]) for name, one in parameters.items() for key in one}
    return facts


def sort_entries(entries: Sequence[Entry]) -> list[Entry]:
    """Entries in the order of listings: by kind, then by name."""
    order = {name: i for i, name in enumerate(KINDS)}
    return sorted(entries, key=lambda entry: (order[entry.kind], entry.name))


def write_manifest(entries: Sequence[Entry]) -> str:
    """The manifest of a third party, as TOML."""
    text = "# The components of this distribution; written by `audioclass plugins manifest`.\n"
    text += f"schema = {SCHEMA}\napi = {API_VERSION}\n"
    for entry in sort_entries(entries):
        table = _table(entry)
        parameters = table.pop("parameters")
        text += "\n[[entries]]\n" + toml_lines(table)
        for parameter in parameters:
            text += "[[entries.parameters]]\n" + toml_lines(parameter)
    return text


def write_builtin_manifest(entries: Sequence[Entry]) -> str:
    """Our own manifest, as JSON."""
    tables = [_table(entry) for entry in sort_entries(entries)]
    return json.dumps({"schema": SCHEMA, "api": API_VERSION, "entries": tables}, ensure_ascii=False)


def read_manifest(text: str, distribution: str, version: str) -> tuple[Entry, ...]:
    """The entries of a manifest; a PluginError says what is wrong with it."""
    try:
        table = json.loads(text) if text.startswith("{") else tomllib.loads(text)
        _refuse_other_versions(table)
        return tuple(_read_entry(entry, distribution, version) for entry in table.get("entries", []))
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise PluginError(f"{MANIFEST}: {error}") from error


def _refuse_other_versions(table: Mapping[str, Any]) -> None:
    api = table.get("api")
    if isinstance(api, int) and api > API_VERSION:
        raise PluginError(f"{MANIFEST}: made for API {api}, this audioclass has API {API_VERSION}; upgrade audioclass")
    if table.get("schema") != SCHEMA:
        raise PluginError(
            f"{MANIFEST}: schema {table.get('schema')!r}, this version reads {SCHEMA}; "
            "`audioclass plugins manifest` writes it anew"
        )


def _table(entry: Entry) -> dict[str, Any]:
    """The entry as plain values, without what the distribution's metadata tells."""
    table = {"kind": entry.kind, "name": entry.name, "summary": entry.summary, "module": entry.module}
    parameters = [parameter.stated() for parameter in entry.parameters]
    return table | ({"facts": dict(entry.facts)} if entry.facts else {}) | {"parameters": parameters}


def _read_entry(table: dict[str, Any], distribution: str, version: str) -> Entry:
    stated = {key: table[key] for key in ("kind", "name", "summary", "module")}
    for key, value in stated.items():
        if not isinstance(value, str):
            raise PluginError(f"{MANIFEST}: {key} = {value!r} must be a text")
    if stated["kind"] not in KINDS:
        raise PluginError(f"{MANIFEST}: {unknown_name('kind', stated['kind'], KINDS)}")
    parameters = tuple(map(_read_parameter, table.get("parameters", [])))
    facts = _with_tuples(table.get("facts", {}))
    return Entry(**stated, parameters=parameters, distribution=distribution, version=version, facts=facts)


def _read_parameter(table: dict[str, Any]) -> Parameter:
    for key in table:
        if key not in PARAMETER_KEYS:
            raise PluginError(f"{MANIFEST}: {unknown_name('key of a parameter', key, PARAMETER_KEYS)}")
    return Parameter(**_with_tuples(table))


def _with_tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    """Lists are tuples on the Python side."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
