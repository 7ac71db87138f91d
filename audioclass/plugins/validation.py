"""Does a class that a plugin offers look like a component of its kind; `audioclass.testing` then tells if it is one."""

from __future__ import annotations

import dataclasses
import inspect
import re
import typing
from typing import Any

from audioclass import contracts
from audioclass.errors import PluginError
from audioclass.hookspecs import KINDS
from audioclass.parameters import parameters_of

NAME = re.compile(r"[a-z][a-z0-9_]*")


def check_list(classes: Any, hook: str) -> list[type[Any]]:
    """What a hook returned, if it is a list of classes."""
    if not isinstance(classes, (list, tuple)) or not all(isinstance(cls, type) for cls in classes):
        raise PluginError(f"{hook} returned {classes!r}, must return a list of classes")
    return list(classes)


def check_class(cls: type[Any], kind: str) -> None:
    """Refuse a class without a name, parameters that are no fields, and members that its contract lacks."""
    name = getattr(cls, "name", None)
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise PluginError(f"{cls.__name__}.name is {name!r}, must be lower-case letters, digits and underscores")
    made_with = getattr(cls, "__dataclass_params__", None)
    if made_with is None or not made_with.frozen:
        raise PluginError(f"{kind} {name!r}: {cls.__name__} must be a frozen dataclass")
    try:
        parameters_of(cls)
    except (TypeError, NameError) as error:
        raise PluginError(f"{kind} {name!r}: {error}") from error
    contract = KINDS[kind].contract
    alternatives = typing.get_args(contract) or (contract,)  # of a union of Protocols one must be satisfied
    flaws = [_first_flaw(cls, alternative) for alternative in alternatives]
    if all(flaws):
        raise PluginError(f"{kind} {name!r}: {' or '.join(flaws)}")


def is_of_contracts(cls: type) -> bool:
    """Whether it is one of our Protocols, and not what these inherit from."""
    return cls.__module__.startswith(f"{contracts.__name__}.")


def members(contract: type) -> dict[str, Any]:
    """What a Protocol asks for: None for an attribute, the function for a method."""
    asked: dict[str, Any] = {}
    for cls in reversed(contract.__mro__):
        if is_of_contracts(cls):
            public = {name: value for name, value in vars(cls).items() if not name.startswith("_")}
            asked |= {name: None for name, value in public.items() if isinstance(value, property)}
            asked |= {name: value for name, value in public.items() if inspect.isfunction(value)}
    return asked


def _first_flaw(cls: type, contract: type) -> str:
    fields = {field.name for field in dataclasses.fields(cls)}
    for name, method in members(contract).items():
        if not hasattr(cls, name) and name not in fields:
            return f"{cls.__name__} has no {name!r}"
        if method is not None and not _takes(getattr(cls, name), method):
            return f"{cls.__name__}.{name} takes {_arguments(getattr(cls, name))}, must take {_arguments(method)}"
    return ""


def _takes(given: Any, asked: Any) -> bool:
    """Whether the method can be called with the arguments of the contract, in their order."""
    try:
        inspect.signature(given).bind(*inspect.signature(asked).parameters)
    except (TypeError, ValueError):
        return False
    return True


def _arguments(method: Any) -> str:
    names = [name for name in inspect.signature(method).parameters if name != "self"] if callable(method) else []
    return f"({', '.join(names)})"
