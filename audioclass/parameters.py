"""Parameters: the fields of a frozen dataclass, each stating its range, scale and meaning once.

That one statement serves validation, the command line, the searches and the documentation:

    @component
    class Gaussian:
        sigma: float = parameter(1.0, above=0.0, scale="log", search=(0.1, 20.0), help="distance at which it fades")
"""

from __future__ import annotations

import dataclasses
import math
import re
import tomllib
import types
import typing
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from typing import Any, Literal, TypeVar, dataclass_transform

from audioclass.errors import UsageError, unknown_name
from audioclass.plain import toml_value

T = TypeVar("T")
Scale = Literal["linear", "log"]
BETWEEN = re.compile(r",(?![^\[]*\])")  # a comma that is not inside a list
SCALARS = {"float": float, "int": int, "bool": bool, "str": str}


@dataclass(frozen=True)
class Parameter:
    """One parameter as its class states it; `default` is None and `required` true where none is given."""

    name: str
    type: str
    default: Any = None
    required: bool = False
    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    scale: Scale = "linear"
    search: tuple[float, float] | None = None
    choices: tuple[str, ...] = ()
    help: str = ""

    def accept(self, value: Any) -> Any:
        """The value as a plain one of the parameter's type, or a ValueError that names it."""
        optional = self.type.endswith("?")
        if value is None and optional:
            return None
        base = self.type.rstrip("?")
        if not base.startswith("list of "):
            return self._accept_scalar(value, base)
        if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
            example = f", such as {list(self.default)}" if self.default else ""
            raise ValueError(f"{self.name}={value!r} must be a {base} in brackets{example}")
        return tuple(self._accept_scalar(item, base.removeprefix("list of ")) for item in value)

    def parse(self, text: str) -> Any:
        """The value that a user typed: TOML's spelling, with quotes optional around a text."""
        if self.type.rstrip("?") == "str":
            return self.accept(text)
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text
        return self.accept(value)

    @property
    def limits(self) -> str:
        """What a value must be, as it stands in errors and in the documentation; empty when anything goes."""
        if self.choices:
            return "one of " + ", ".join(self.choices)
        if self.above == 0 and self.high is None and self.below is None:
            return "positive"
        bounds = (("at least", self.low), ("above", self.above), ("at most", self.high), ("below", self.below))
        return " and ".join(f"{word} {bound:g}" for word, bound in bounds if bound is not None)

    @property
    def searchable(self) -> tuple[float, float] | None:
        """The interval a search walks: the stated one, else the closed range, else none."""
        if self.search is None and self.low is not None and self.high is not None:
            return (self.low, self.high)
        return self.search

    def stated(self) -> dict[str, Any]:
        """What the class says of the parameter, as plain values: the manifest's table."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {
            field.name: values[field.name] for field in dataclasses.fields(self) if values[field.name] != field.default
        }

    def _accept_scalar(self, value: Any, base: str) -> Any:
        value = _as_scalar(self.name, value, base)
        if self.choices and value not in self.choices:
            raise unknown_name(self.name, str(value), self.choices)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and not self._within(value):
            raise ValueError(f"{self.name}={value!r} must be {self.limits}")
        return value

    def _within(self, value: float) -> bool:
        return (
            (self.low is None or value >= self.low)
            and (self.above is None or value > self.above)
            and (self.high is None or value <= self.high)
            and (self.below is None or value < self.below)
        )


def parameter(
    default: Any = dataclasses.MISSING,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
    scale: Scale = "linear",
    search: tuple[float, float] | None = None,
    choices: Sequence[str] = (),
    help: str = "",  # noqa: A002 (the word that typer and argparse use)
) -> Any:
    """A dataclass field that states its range; `low` and `high` are allowed values, `above` and `below` are not.

    `search` is the interval that a search walks, on a `linear` or `log` scale; it need not be all that is allowed.
    """
    stated = {"low": low, "high": high, "above": above, "below": below, "scale": scale, "search": search}
    metadata = {"audioclass": stated | {"choices": tuple(choices), "help": help}}
    return dataclasses.field(default=default, metadata=metadata)


# `parameter` is no field specifier to type checkers: they would not see a default that is given by position.
@dataclass_transform(frozen_default=True)
def component(cls: type[T]) -> type[T]:
    """Make a class a component: a frozen dataclass whose parameters are checked whenever an instance is made.

    A `__post_init__` of its own runs after the checks, on values that are in range.
    """
    finish = getattr(cls, "__post_init__", None)

    def check(self: Any) -> None:
        check_parameters(self)
        if finish is not None:
            finish(self)

    cls.__post_init__ = check  # type: ignore[attr-defined]
    return dataclass(frozen=True)(cls)


def parameters_of(cls: type[Any]) -> tuple[Parameter, ...]:
    """The parameters of a class: the fields of its dataclass, in order."""
    return _parameters_of(typing.cast(Hashable, cls))  # a class is, though mypy does not see it


@cache
def _parameters_of(cls: Any) -> tuple[Parameter, ...]:
    hints = typing.get_type_hints(cls)
    return tuple(parameter_of(field, hints[field.name]) for field in dataclasses.fields(cls) if field.init)


def parameter_of(field: dataclasses.Field[Any], hint: Any) -> Parameter:
    """What a field of a dataclass states of its parameter."""
    return Parameter(
        name=field.name,
        type=_type_name(field.name, hint),
        default=None if field.default is dataclasses.MISSING else field.default,
        required=field.default is dataclasses.MISSING,
        **field.metadata.get("audioclass", {}),
    )


def check_parameters(component: Any) -> None:
    """Refuse values outside their range and keep the rest as plain ones."""
    for parameter in parameters_of(type(component)):
        try:
            value = parameter.accept(getattr(component, parameter.name))
        except ValueError as error:
            raise UsageError(f"{getattr(component, 'name', type(component).__name__)}: {error}") from error
        object.__setattr__(component, parameter.name, value)


def parameter_values(component: Any) -> dict[str, Any]:
    """The parameters of a component as plain values: what a model saves and `make` takes back."""
    return {parameter.name: getattr(component, parameter.name) for parameter in parameters_of(type(component))}


def make(cls: type[Any], values: Mapping[str, Any]) -> Any:
    """An instance with these parameters; an unknown one gets a suggestion, one out of range a ValueError."""
    known = {parameter.name: parameter for parameter in parameters_of(cls)}
    for name in values:
        if name not in known:
            raise unknown_name(f"parameter of {cls.name}", name, known)
    missing = [name for name, parameter in known.items() if parameter.required and name not in values]
    if missing:
        raise UsageError(f"{cls.name}: parameter {missing[0]!r} must be given")
    component = cls(**values)
    check_parameters(component)  # a class that does not check itself is checked here
    return component


def with_parameters(component: Any, changes: Mapping[str, Any]) -> Any:
    """The same component with some of its parameters changed."""
    return make(type(component), {**parameter_values(component), **changes})


def component_text(component: Any) -> str:
    """A component as the text that makes it again: `name`, or `name:parameter=value,…`.

    >>> from audioclass.kernels.gaussian import Gaussian
    >>> component_text(Gaussian(sigma=2.0))
    'gaussian:sigma=2.0'
    """
    values = {name: value for name, value in parameter_values(component).items() if value is not None}
    texts = [f"{name}={value if isinstance(value, str) else toml_value(value)}" for name, value in values.items()]
    return ":".join(filter(None, [component.name, ",".join(texts)]))


def parse_component(text: str) -> tuple[str, list[str]]:
    """The name and the assignments of `name:parameter=value,…`.

    >>> parse_component("gaussian:sigma=2")
    ('gaussian', ['sigma=2'])
    """
    name, colon, assignments = text.partition(":")
    return name, [each.strip() for each in BETWEEN.split(assignments)] if colon else []


def parse_assignments(cls: type[Any], texts: Sequence[str]) -> dict[str, Any]:
    """The values of `name=value` texts that a user typed."""
    known = {parameter.name: parameter for parameter in parameters_of(cls)}
    values = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"{text!r} must be NAME=VALUE")
        if name not in known:
            raise unknown_name(f"parameter of {cls.name}", name, known)
        try:
            values[name] = known[name].parse(value)
        except ValueError as error:
            raise UsageError(f"{cls.name}: {error}") from error
    return values


def _type_name(name: str, hint: Any) -> str:
    """`float`, `int`, `bool`, `str`, `list of` one of these, with a question mark where None is allowed."""
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        inner = [item for item in typing.get_args(hint) if item is not type(None)]
        if len(inner) == 1:
            return _type_name(name, inner[0]) + "?"
    if typing.get_origin(hint) is tuple and typing.get_args(hint)[1:] == (...,):
        return "list of " + _type_name(name, typing.get_args(hint)[0])
    if hint in SCALARS.values():
        return str(hint.__name__)
    if typing.get_origin(hint) is Literal and all(isinstance(choice, str) for choice in typing.get_args(hint)):
        return "str"
    raise TypeError(f"parameter {name!r}: type {hint} must be float, int, bool, str, a tuple of one of them, or | None")


def _as_scalar(name: str, value: Any, base: str) -> Any:
    if base == "float" and isinstance(value, Real) and not _is_bool(value):
        if not math.isfinite(value):
            raise ValueError(f"{name}={value!r} must be finite")
        return float(value)
    if base == "int" and isinstance(value, Integral) and not _is_bool(value):
        return int(value)
    if base == "int" and isinstance(value, Real) and not _is_bool(value) and float(value).is_integer():
        return int(float(value))
    if base == "bool" and _is_bool(value):
        return bool(value)
    if base == "str" and isinstance(value, str):
        return str(value)
    raise ValueError(f"{name}={value!r} must be {'an' if base == 'int' else 'a'} {base}")


def _is_bool(value: Any) -> bool:
    return type(value).__name__ in ("bool", "bool_")  # numpy's own truth value is no Python bool
