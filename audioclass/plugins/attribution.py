"""Components of third parties whose failures are told: which component, of which distribution and version.

What a manager makes of a plugin's class is an instance of a subclass, whose methods of the contract catch whatever is
raised in them and look at what they give. Our own components are made as they are. An instance that goes to another
process takes its attribution along.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import traceback
import typing
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from audioclass import contracts
from audioclass.errors import (
    AudioclassError,
    ComponentError,
    ComponentRefusal,
    UsageError,
    named_text_of,
    text_of,
)
from audioclass.hookspecs import NOT_INSTALLED
from audioclass.plugins.results import flaw_of_result, refusal_of_result
from audioclass.plugins.validation import is_of_contracts, members

TRACEBACK = "AUDIOCLASS_TRACEBACK"
# Ways to say that these data or values cannot be used; who calls a component may go on without it.
REFUSALS = (ValueError, ArithmeticError, Warning)
REFUSALS_OF_READERS = (*REFUSALS, LookupError, TypeError)
SETTLED = (AudioclassError, KeyboardInterrupt, GeneratorExit)  # has its own words, or is the user's
OURS = ("audioclass", "builtins", "dataclasses", "typing")


@dataclass(frozen=True)
class Origin:
    """Which component it is and where it comes from, as it stands in errors."""

    kind: str
    name: str
    distribution: str
    version: str

    def __str__(self) -> str:
        version = f"({NOT_INSTALLED})" if self.version == NOT_INSTALLED else self.version
        return f"{self.kind.replace('_', ' ')} {self.name!r} of {self.distribution} {version}"


def failure_of(origin: Origin, error: BaseException, method: str = "") -> AudioclassError:
    """The error that tells a user which component failed: a refusal where the exception is one.

    With AUDIOCLASS_TRACEBACK the traceback goes to standard error, also where a batch goes on without the recording.
    """
    if os.environ.get(TRACEBACK, "") not in ("", "0"):
        traceback.print_exception(error)
    if method == "__post_init__" and isinstance(error, ValueError):
        return UsageError(f"{origin}: {text_of(error) or type(error).__name__}")
    if isinstance(error, REFUSALS_OF_READERS if method == "read" else REFUSALS):
        text = text_of(error) if type(error) is ValueError else named_text_of(error)
        return ComponentRefusal(f"{origin}: {text or type(error).__name__}")
    return ComponentError(f"{origin}: {named_text_of(error)}")


@contextmanager
def attributing(origin: Origin, *, passing: tuple[type[BaseException], ...] = ()) -> Iterator[None]:
    """Turn whatever a component raises into an error that names it; what is `passing` stays as it is."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, SETTLED + passing):
            raise
        raise failure_of(origin, error) from error


def attributed(cls: type[Any], origin: Origin) -> type[Any]:
    """A subclass that is the class in all it does, and says who it is where that fails."""
    return _attributed(typing.cast(Hashable, cls), origin)  # a class is, though mypy does not see it


@functools.cache
def _attributed(cls: Any, origin: Origin) -> type[Any]:
    namespace = {name: wrapped for name in _guarded_names() if (wrapped := _wrapped(cls, name, origin)) is not None}
    reduce: Callable[..., Any] = cls.__reduce_ex__

    def reduce_attributed(self: Any, protocol: Any) -> Any:
        """To be made by the class, of which the other process makes the subclass again."""
        made_by, arguments, *rest = reduce(self, protocol)
        plain = tuple(cls if argument is subclass else argument for argument in arguments)
        return _made_again, (cls, origin, made_by, plain), *rest

    identity = {
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
        "__origin__": origin,
    }
    members_of_it = {**identity, **namespace, "__slots__": (), "__reduce_ex__": reduce_attributed}
    subclass: type[Any] = type(cls)(cls.__name__, (cls,), members_of_it)
    return subclass


def origin_of(component: Any) -> Origin:
    """Where a component comes from that a manager made of a third party's class."""
    origin: Origin = type(component).__origin__
    return origin


def _made_again(cls: type[Any], origin: Origin, made_by: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """An instance as it is made in another process: of the subclass again."""
    subclass = attributed(cls, origin)
    return made_by(*(subclass if argument is cls else argument for argument in arguments))


@functools.cache
def _guarded_names() -> tuple[str, ...]:
    """Every member that some contract asks for or knows as an ability."""
    protocols = [one for one in vars(contracts).values() if getattr(one, "_is_protocol", False)]
    names = {name for protocol in protocols if is_of_contracts(protocol) for name in members(protocol)}
    return (*sorted(names - {"name"}), "__post_init__")


def _wrapped(cls: type[Any], name: str, origin: Origin) -> Any:
    """The member with its guard; None where there is nothing of a third party to guard."""
    member = inspect.getattr_static(cls, name, None)
    if isinstance(member, (staticmethod, classmethod)):
        function = member.__func__
        return None if _is_ours(function) else type(member)(_guarded(function, name, origin))
    if isinstance(member, (property, functools.cached_property)):
        return property(_guarded(functools.partial(member.__get__), name, origin))
    if inspect.isfunction(member) and (name == "__post_init__" or not _is_ours(member)):
        return _guarded(member, name, origin)
    return None


def _is_ours(function: Any) -> bool:
    return getattr(function, "__module__", "").partition(".")[0] in OURS


def _guarded(function: Callable[..., Any], name: str, origin: Origin) -> Callable[..., Any]:
    is_attribute = isinstance(function, functools.partial)
    passing: tuple[type[BaseException], ...] = (AudioclassError, KeyboardInterrupt)
    if is_attribute:
        passing += (AttributeError,)  # says that there is none
    if origin.kind == "format":
        passing += (OSError,)  # of the stream, which is ours

    def call(*arguments: Any, **named: Any) -> Any:
        try:
            with _numpy_as_before():
                result = function(*arguments, **named)
        except BaseException as error:
            if isinstance(error, passing):
                raise
            raise failure_of(origin, error, name) from error
        return result if is_attribute else _looked_at(origin, name, (*arguments, *named.values()), result)

    return call if is_attribute else functools.wraps(function)(call)


def _numpy_as_before() -> AbstractContextManager[Any]:
    """What numpy does about overflow and NaN stays ours, whatever a component sets."""
    numpy = sys.modules.get("numpy")  # most commands that only list components do without it
    return nullcontext() if numpy is None else numpy.errstate()


def _looked_at(origin: Origin, method: str, arguments: tuple[Any, ...], result: Any) -> Any:
    """The result, where it is what the contract promises; parts of it that are components in turn are guarded too."""
    flaw = flaw_of_result(origin.kind, method, arguments, result)
    if flaw:
        raise ComponentError(f"{origin}: {flaw}")
    if refusal := refusal_of_result(origin.kind, method, arguments, result):
        raise ComponentRefusal(f"{origin}: {refusal}")
    if method == "stream":
        return _AttributedStream(result, arguments[-1], origin)
    if method in ("with_transitions", "with_durations", "with_formats"):
        return _adopted(result, origin)
    return result


def _adopted(component: Any, origin: Origin) -> Any:
    """A component that another made of itself, attributed like the other."""
    if "__origin__" in vars(type(component)) or not hasattr(component, "__dict__"):
        return component
    adopted = object.__new__(attributed(type(component), origin))
    vars(adopted).update(vars(component))
    return adopted


class _AttributedStream:
    """The stream of a smoother, whose failures are told like the smoother's."""

    def __init__(self, stream: Any, n_labels: int, origin: Origin) -> None:
        self._stream, self._n_labels, self._origin = stream, n_labels, origin

    def push(self, P: Any) -> Any:
        return self._asked("push", P)

    def finish(self) -> Any:
        return self._asked("finish")

    def _asked(self, method: str, *arguments: Any) -> Any:
        with attributing(self._origin):
            smoothed = getattr(self._stream, method)(*arguments)
        flaw = flaw_of_result("smoother", method, (self._n_labels, *arguments), smoothed)
        if flaw:
            raise ComponentError(f"{self._origin}: {flaw}")
        return smoothed
