"""The static manifest of a distribution, `audioclass-plugin.toml`: what it offers, readable without importing it.

`audioclass plugins manifest` writes it from the classes, so that it never has to be kept in step by hand.
"""

from __future__ import annotations

import dataclasses
import inspect
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from audioclass.errors import PluginError, unknown_name
from audioclass.hookspecs import KINDS
from audioclass.parameters import Parameter, parameters_of
from audioclass.plain import toml_lines

MANIFEST = "audioclass-plugin.toml"
SCHEMA = 1


@dataclass(frozen=True)
class Offer:
    """A component that somebody offers: what it is called, what it can be told, and where it came from."""

    kind: str
    name: str
    summary: str
    parameters: tuple[Parameter, ...]
    module: str
    distribution: str
    version: str
    suffix: str = ""  # of a label format: the files that are written in it

    @property
    def key(self) -> tuple[str, str]:
        """What no two offers may share: the option that chooses them, and the name."""
        return KINDS[self.kind].namespace, self.name


def describe(cls: type, kind: str, module: str, distribution: str, version: str) -> Offer:
    """The offer that a class makes."""
    summary = (inspect.getdoc(cls) or "").split("\n")[0]
    suffix = cls.suffix if kind == "format" else ""
    return Offer(kind, cls.name, summary, parameters_of(cls), module, distribution, version, suffix)


def write_manifest(offers: Sequence[Offer]) -> str:
    """The text of the manifest, offers in order of kind and name."""
    text = f"# What this distribution offers; written by `audioclass plugins manifest`.\nschema = {SCHEMA}\n"
    for offer in sorted(offers, key=lambda offer: (list(KINDS).index(offer.kind), offer.name)):
        said = {"kind": offer.kind, "name": offer.name, "summary": offer.summary, "module": offer.module}
        text += "\n[[offers]]\n" + toml_lines(said | ({"suffix": offer.suffix} if offer.suffix else {}))
        for parameter in offer.parameters:
            text += "[[offers.parameters]]\n" + toml_lines(parameter.stated())
    return text


def read_manifest(text: str, distribution: str, version: str) -> tuple[Offer, ...]:
    """The offers of a manifest; a PluginError says what is wrong with it."""
    try:
        table = tomllib.loads(text)
        if table.get("schema") != SCHEMA:
            raise PluginError(f"{MANIFEST}: schema {table.get('schema')!r}, this version reads {SCHEMA}")
        return tuple(_read_offer(offer, distribution, version) for offer in table.get("offers", []))
    except (tomllib.TOMLDecodeError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise PluginError(f"{MANIFEST}: {error}") from error


def _read_offer(table: dict[str, Any], distribution: str, version: str) -> Offer:
    stated = {key: table[key] for key in ("kind", "name", "summary", "module")}
    stated["suffix"] = table.get("suffix", "")
    for key, value in stated.items():
        if not isinstance(value, str):
            raise PluginError(f"{MANIFEST}: {key} = {value!r} must be a text")
    if stated["kind"] not in KINDS:
        raise PluginError(f"{MANIFEST}: {unknown_name('kind', stated['kind'], KINDS)}")
    parameters = tuple(map(_read_parameter, table.get("parameters", [])))
    return Offer(**stated, parameters=parameters, distribution=distribution, version=version)


def _read_parameter(table: dict[str, Any]) -> Parameter:
    """Lists are tuples on the Python side; unknown keys are a TypeError that names them."""
    known = {field.name for field in dataclasses.fields(Parameter)}
    for key in table:
        if key not in known:
            raise PluginError(f"{MANIFEST}: {unknown_name('key of a parameter', key, known)}")
    return Parameter(**{key: tuple(value) if isinstance(value, list) else value for key, value in table.items()})
